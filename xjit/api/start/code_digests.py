"""Digests of what a trace depends on without guards of its own: code, classes, the versions and the machine.

Two processes in which they are equal run the same functions in the same way.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from xjit.capture.inner_functions import inner_function
from xjit.llvm.digests import digest, versions

# Settings of numerical libraries; what only limits threads decides no program.
_NUMERIC = ("XJIT_", "NUMBA_", "NPY_", "NUMPY_", "OPENBLAS_", "MKL_", "BLIS_", "OMP_", "GOTO_", "LLVM")
_OF_NO_PROGRAM = ("XJIT_CACHE_DIR", "XJIT_SHIPPED_DIR", "XJIT_FULL_TRACE", "XJIT_TRIALS")
_LIMITS = "_NUM_THREADS"
_HEAP_TYPE = 1 << 9  # the flag of classes that are made by a class statement

# What every class statement writes, or what says nothing about its code.
_WRITTEN_BY_PYTHON = frozenset(
    (
        "__module__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__firstlineno__",
        "__static_attributes__",
        "__annotations__",
    )
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType)


class UnknownCodeError(ValueError):
    """Something of which nobody can say whether it is the same in another process."""


def code_digest(code: types.CodeType) -> str:
    """Names what a code object does, and where it stands: errors name its lines."""
    return digest(*_code_parts(code))


def _code_parts(code: types.CodeType) -> Iterator[str]:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_firstlineno)
    yield from (code.co_filename, code.co_qualname, repr(counts))
    yield from (code.co_code.hex(), code.co_linetable.hex(), code.co_exceptiontable.hex())
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield from map(_constant_text, code.co_consts)


def _constant_text(value: Any) -> str:
    """A constant of code with its type: 1, 1.0 and True differ, and so do zeros of both signs."""
    kind = type(value)
    if kind is types.CodeType:
        return code_digest(value)
    if kind is tuple:
        return f"tuple{tuple(map(_constant_text, value))}"
    if kind is frozenset:
        return f"frozenset{sorted(map(_constant_text, value))}"
    if kind is slice:
        return f"slice{tuple(map(_constant_text, (value.start, value.stop, value.step)))}"
    if kind in _PLAIN:
        return f"{kind.__name__} {value!r}"
    raise UnknownCodeError(f"a constant of type {kind.__qualname__}")


def function_digest(function: types.FunctionType) -> str:
    """Names what a function does, its defaults, globals and closure aside, which are read one by one."""
    notes = [name if isinstance(name, str) else getattr(name, "__qualname__", "") for name in _notes(function)]
    return digest(str(function.__module__), function.__qualname__, code_digest(function.__code__), *notes)


def _notes(function: types.FunctionType) -> Iterator[Any]:
    """Return what code may ask a function for without a guard: names of attributes, the docstring, annotations."""
    yield from sorted(vars(function))
    yield function.__doc__ or ""
    for name, annotation in sorted(function.__annotations__.items()):
        yield from (name, annotation)


def is_of_users(cls: type) -> bool:
    """Return whether a class is written in Python, in no library that is known."""
    from xjit.capture.recording.traceable import is_library

    return bool(cls.__flags__ & _HEAP_TYPE) and not is_library(cls.__module__)


def class_digest(cls: type) -> str:
    """Names what a class and its bases define. Classes of libraries go by their names."""
    if type(cls) is not type and type(cls).__module__ not in ("abc", "enum"):
        raise UnknownCodeError(f"{cls.__qualname__} has a metaclass of its own")
    return digest(*(text for base in cls.__mro__ if base is not object for text in _class_parts(base)))


def _class_parts(cls: type) -> Iterator[str]:
    yield from (cls.__module__, cls.__qualname__)
    if cls.__module__.partition(".")[0] in sys.stdlib_module_names:
        return
    for name, value in sorted(vars(cls).items()):
        if name not in _WRITTEN_BY_PYTHON:
            yield from (name, _member_text(value))


def _member_text(value: Any) -> str:
    kind = type(value)
    parts = [value.fget, value.fset, value.fdel] if isinstance(value, property) else [value]
    functions = [inner_function(part) for part in parts if part is not None]
    if functions and None not in functions:
        return digest(kind.__qualname__, *(function_digest(one) for one in functions if one is not None))
    if kind in _PLAIN or kind is tuple:
        return _constant_text(value)
    if kind in _DESCRIPTORS or not hasattr(kind, "__get__"):
        return f"{kind.__module__}.{kind.__qualname__}"  # what is read of it has guards
    raise UnknownCodeError(f"an attribute of type {kind.__qualname__}")


# The process


def environment() -> str:
    """Names all that decides how a function is compiled, and the bits of what it computes, in this process."""
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if _decides(name))
    return digest(_versions_and_machine(), *settings)


def _decides(name: str) -> bool:
    return name.startswith(_NUMERIC) and name not in _OF_NO_PROGRAM and not name.endswith(_LIMITS)


@functools.cache
def _versions_and_machine() -> str:
    """Versions of Python, NumPy, Numba, llvmlite and this package, the processor, and the identity of the BLAS."""
    from xjit.llvm import processor

    python = (sys.version, str(sys.flags.optimize), sys.implementation.cache_tag or "")
    return digest(*python, np.__version__, _blas(), versions(), *processor.identity(), *_package())


def _blas() -> str:
    """Return what NumPy says about the BLAS library that it is built with."""
    config: Any = getattr(np, "__config__", None)
    return repr(getattr(config, "CONFIG", {}).get("Build Dependencies"))


def _package() -> tuple[str, ...]:
    """Names the state of this package: its version, and when each of its files was written."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return str(getattr(sys.modules["xjit"], "__version__", "")), repr(sorted(_files(folder)))


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """The modules in a folder and below it, with their sizes and times."""
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    yield entry.path, status.st_size, status.st_mtime_ns
                elif entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
