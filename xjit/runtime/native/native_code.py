"""Compile the runtime's own LLVM text and hand out the addresses of what it defines.

The pool, the entry and the allocator need atomics, calls through pointers and the C-API of the interpreter,
which kernels do not; they are therefore written as LLVM assembly instead of the kernel language.  The text
names no address of this process: whatever it needs is stored by Python into exported global words, so the
object code depends on the processor only.

In a process that finds it on disk neither LLVM nor the forms of :mod:`xjit.runtime.native.native_text` are loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from xjit import jobs
from xjit.llvm import digests, processor
from xjit.runtime.loading import loader


class Store(Protocol):
    """Keeps small files between processes, such as the disk cache; it never raises."""

    def get(self, key: str) -> bytes | None:
        """The entry under a key, or None."""

    def put(self, key: str, data: bytes) -> object:
        """Keep an entry if possible."""

    def reject(self, key: str) -> object:
        """Remove an entry that is of no use."""


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
    The ``constants`` are those of :func:`xjit.runtime.native.native_text.expand`.
    """

    def __init__(self, text: str, **constants: int | str) -> None:
        self._functions, self._globals = jobs.run(lambda: _load(text, constants))

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


def _load(text: str, constants: Mapping[str, int | str]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The addresses of the functions and global variables that a text exports, from the store if it is there."""
    key = object_key(text, constants)
    for store in _stores:
        kept = store.get(key)
        if kept is None:
            continue
        try:
            return _loaded(loader.unpack(kept), text)
        except (ValueError, RuntimeError):
            store.reject(key)
    object_code, externals = _compile(text, constants)
    made = loader.StoredObject(loader.linked(object_code, _functions(text), externals), "", externals)
    for store in _stores:
        store.put(key, loader.pack(made))
    return _loaded(made, text)


def _loaded(stored: loader.StoredObject, text: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The addresses; ValueError or RuntimeError unless the code has the functions, and needs no more than it may."""
    return loader.load_module(stored, tuple(_functions(text)), lambda: tuple(_variables(text)))


_NOT_EXPORTED = ("internal ", "private ", "external ")


def _functions(text: str) -> Iterator[str]:
    for part in f"\n{text}".split("\ndefine ")[1:]:
        if not part.startswith(_NOT_EXPORTED):
            yield part[part.index("@") + 1 : part.index("(")]


def _variables(text: str) -> Iterator[str]:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("@") and equals and not value.strip().startswith(_NOT_EXPORTED):
            yield name[1:].strip()


def object_key(text: str, constants: Mapping[str, int | str]) -> str:
    """The key that the machine code of a text is kept under."""
    names = [f"{name}={value}" for name, value in constants.items()]
    machine = (processor.machine(),) if _is_plain() else processor.identity()
    return digests.digest("runtime", digests.versions(), sys.platform, *machine, *_makers(), text, *names)


def _is_plain() -> bool:
    """Return whether code for the oldest processor of the family is as good as any: where atomics are the same."""
    return processor.machine() == "x86_64"


def _makers() -> Iterator[str]:
    """The texts of the modules that make an image of a text, which are not loaded for it."""
    runtime = os.path.dirname(os.path.dirname(__file__))
    for path in ("native/native_text.py", "loading/linking.py"):
        with contextlib.suppress(OSError), open(os.path.join(runtime, path), encoding="utf-8") as file:
            yield file.read()


def _compile(text: str, constants: Mapping[str, int | str]) -> tuple[bytes, tuple[str, ...]]:
    """Parse, verify, simplify and emit ``text``; the symbols that it leaves to the process."""
    from xjit.llvm import toolchain

    toolchain.imported("llvmlite.binding")
    import llvmlite.binding as llvm

    from xjit.llvm import objects, targets
    from xjit.runtime.native import native_text

    target = targets.plain() if _is_plain() else targets.host()
    targets.initialize()
    module = llvm.parse_assembly(native_text.expand(text, **constants))
    module.triple = target.triple
    module.data_layout = targets.data_layout(target)
    module.verify()
    _simplify(module, target)
    return objects.emit_object(module, target)


def _simplify(module: Any, target: Any) -> None:
    """Inline the small helpers and tidy up; the loops here are short, so the full pipeline gains nothing."""
    import llvmlite.binding as llvm

    from xjit.llvm import objects, targets

    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    options = llvm.create_pipeline_tuning_options()
    builder = llvm.create_pass_builder(targets.target_machine(target), options)
    objects.run_passes(passes, module, builder)
