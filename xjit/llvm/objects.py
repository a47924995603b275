"""Object files: running passes, machine code of a module, and the symbols that it may leave to the process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xjit import jobs
from xjit.llvm import elf

if TYPE_CHECKING:
    from xjit.llvm.targets import Target

_EXACT_MATH = (
    *("fma", "fmod", "sqrt", "rint", "roundeven", "floor", "ceil", "trunc", "round", "fabs", "copysign"),
    *("ldexp", "fmin", "fmax"),
)
ALLOWED_EXTERNALS = frozenset(
    ("memset", "memcpy", "memmove", *_EXACT_MATH, *(f"{name}f" for name in _EXACT_MATH)),
)
"""Symbols an object may leave to the process: the C library's, which every Python process has.

Only such as every C library computes alike: results do not depend on which one a machine has.
"""


class UnresolvedSymbolError(RuntimeError):
    """An object refers to symbols that are not on the allow-list; loading it would end the process."""


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Runs passes over a module, in place, and frees them."""
    try:
        _called("LLVMPY_RunNewModulePassManager", passes, module, builder)
    finally:
        # Its class inherits two ways to free itself, of which llvmlite's own clean-up finds the empty one: 40 to 70
        # KiB would stay behind for each module.
        from llvmlite.binding.newpassmanagers import NewPassManager

        NewPassManager._dispose(passes)
        passes.detach()


def declared_symbols(module: Any) -> tuple[str, ...]:
    """Functions that a module declares and calls, LLVM's own intrinsics left out."""
    names = (function.name for function in module.functions if function.is_declaration)
    return tuple(sorted(name for name in names if not name.startswith("llvm.")))


def emit_object(module: Any, target: Target) -> tuple[bytes, tuple[str, ...]]:
    """Machine code of an optimised module and its external symbols; refuses those a process may not have."""
    from xjit.llvm.targets import target_machine

    code = _emitted(target_machine(target), module)
    symbols = elf.symbols(code)
    externals = declared_symbols(module) if symbols is None else symbols.undefined
    check_externals(externals)
    return code, externals


def _emitted(machine: Any, module: Any) -> bytes:
    if not jobs.worker():
        return bytes(machine.emit_object(module))
    from llvmlite.binding import ffi

    with ffi.OutputString() as problem:
        buffer = _called("LLVMPY_TargetMachineEmitToMemory", machine, module, 1, problem)
        if not buffer:
            raise RuntimeError(str(problem))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _called(name: str, *arguments: Any) -> Any:
    """The result of a function of LLVM that takes long.

    Threads that share a job call it at a time: they have contexts and code generators of their own, so that the lock
    of llvmlite, under which all calls are made otherwise, is not needed.
    """
    from llvmlite.binding import ffi

    function = getattr(ffi.lib, name)
    if not jobs.worker():
        return function(*arguments)
    return jobs.aside(lambda: getattr(function, "_cfn", function)(*arguments))


def check_externals(symbols: Sequence[str]) -> None:
    """Raises UnresolvedSymbolError unless every symbol is on the allow-list."""
    unknown = sorted(set(symbols) - ALLOWED_EXTERNALS)
    if unknown:
        raise UnresolvedSymbolError(f"the object needs symbols that are not allowed: {', '.join(unknown)}")
