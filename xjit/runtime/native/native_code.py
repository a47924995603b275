"""Compile the runtime's own LLVM text and hand out the addresses of what it defines.

The pool, the entry and the allocator need atomics, calls through pointers and the C-API of the interpreter,
which kernels do not; they are therefore written as LLVM assembly instead of the kernel language.  The text
names no address of this process: whatever it needs is stored by Python into exported global words, so the
object code depends on the processor only.
"""

from __future__ import annotations

import ctypes
import re
import sys
from typing import Any, Protocol

from xjit import jobs
from xjit.llvm import digests, objects, toolchain
from xjit.runtime.loading import loader


class Store(Protocol):
    """Keeps small files between processes, such as the disk cache; it never raises."""

    def get(self, key: str) -> bytes | None:
        """The entry under a key, or None."""

    def put(self, key: str, data: bytes) -> object:
        """Keep an entry if possible."""

    def reject(self, key: str) -> object:
        """Remove an entry that is of no use."""


_kept_engines: list[Any] = []
_stores: list[Store] = []


def use_store(store: Store | None) -> None:
    """Choose where object code of the runtime is kept between processes; None keeps it nowhere."""
    _stores[:] = [] if store is None else [store]


def supported() -> bool:
    """Return whether the native runtime pieces can exist here: 64-bit, little-endian, CPython with its lock."""
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    return (
        sys.implementation.name == "cpython"
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and not free_threaded
    )


class NativeModule:
    """Machine code of one LLVM text, kept until the process ends.

    Threads may be asleep inside the code when the interpreter shuts down, so it is never unloaded.  Where
    everything lies is asked once, when it is loaded: handlers of forks, which must not use LLVM, need it too.
    """

    def __init__(self, text: str) -> None:
        self._functions, self._globals = jobs.run(lambda: _addresses(text, _load(text)))

    def function(self, name: str) -> int:
        """Address of an exported function; ``LookupError`` when the text defines no such function."""
        if name not in self._functions:
            raise LookupError(f"native module defines no function {name!r}")
        return self._functions[name]

    def word(self, name: str) -> ctypes.c_int64:
        """The exported 64-bit global variable ``name`` as a live ctypes object."""
        return ctypes.c_int64.from_address(self._global(name))

    def half_word(self, name: str) -> ctypes.c_int32:
        """The exported 32-bit global variable ``name`` as a live ctypes object."""
        return ctypes.c_int32.from_address(self._global(name))

    def bind(self, **values: int) -> None:
        """Store each value in the exported 64-bit global variable of that name."""
        for name, value in values.items():
            self.word(name).value = value

    def _global(self, name: str) -> int:
        if name not in self._globals:
            raise LookupError(f"native module defines no variable {name!r}")
        return self._globals[name]


def c_function_address(library: ctypes.CDLL, name: str) -> int:
    """Address of a C function, 0 when the library has none of that name."""
    try:
        function = getattr(library, name)
    except AttributeError:
        return 0
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


_FUNCTION = re.compile(r"^define (?!internal |private )[^@\n]*@([\w.]+)\(", re.MULTILINE)
_GLOBAL = re.compile(r"^@([\w.]+) += (?!internal |private |external )", re.MULTILINE)


def _addresses(text: str, engine: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Return the addresses of the exported functions and global variables of ``text``."""
    functions = {name: int(engine.get_function_address(name)) for name in _FUNCTION.findall(text)}
    variables = {name: int(engine.get_global_value_address(name)) for name in _GLOBAL.findall(text)}
    return functions, variables


def _load(text: str) -> Any:
    """The llvmlite execution engine that holds the machine code of ``text``."""
    toolchain.imported("llvmlite.binding")
    import llvmlite.binding as llvm

    from xjit.llvm import targets

    target = targets.host()
    object_code = _object_code(text, target)
    holder = llvm.parse_assembly(f'target triple = "{target.triple}"')
    engine = llvm.create_mcjit_compiler(holder, targets.new_target_machine(target))
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    _kept_engines.append(engine)
    return engine


def _object_code(text: str, target: Any) -> bytes:
    """The object file of ``text``, from the store when it is there."""
    processor = (target.triple, target.cpu, target.features)
    key = digests.digest("runtime", digests.versions(), *processor, text)
    for store in _stores:
        kept = store.get(key)
        if kept is None:
            continue
        try:
            return _checked(loader.unpack(kept), text)
        except (ValueError, RuntimeError):
            store.reject(key)
    object_code, externals = _compile(text, target)
    for store in _stores:
        store.put(key, loader.pack(loader.StoredObject(object_code, "", externals)))
    return object_code


def _checked(stored: loader.StoredObject, text: str) -> bytes:
    """The object code, if it has the functions of ``text`` and needs nothing that a process may lack."""
    loader.check_object(stored.object_code, _FUNCTION.findall(text), stored.externals)
    return stored.object_code


def _compile(text: str, target: Any) -> tuple[bytes, tuple[str, ...]]:
    """Parse, verify, simplify and emit ``text``; the symbols that it leaves to the process."""
    import llvmlite.binding as llvm

    from xjit.llvm import targets

    targets.initialize()
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = targets.data_layout(target)
    module.verify()
    _simplify(module, target)
    return objects.emit_object(module, target)


def _simplify(module: Any, target: Any) -> None:
    """Inline the small helpers and tidy up; the loops here are short, so the full pipeline gains nothing."""
    import llvmlite.binding as llvm

    from xjit.llvm import targets

    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    options = llvm.create_pipeline_tuning_options()
    builder = llvm.create_pass_builder(targets.target_machine(target), options)
    objects.run_passes(passes, module, builder)
