"""Makes object files callable, with llvmlite alone: nothing of Numba is needed to run cached kernels."""

from __future__ import annotations

import struct
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xjit import jobs
from xjit.dataclass import dataclass, field
from xjit.llvm import elf, objects

_FOREVER: list[Any] = []
_UNUSED: deque[Any] = deque()


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class LoadedKernel:
    """Machine code in memory, for as long as this object lives; ``address`` is where its function starts."""

    address: int
    symbol: str
    _engine: Any = field(repr=False)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # Only LLVM can unmap the code, and this runs wherever the last reference happens to go: in a garbage
        # collection, in a thread that holds other locks, while another thread forks. Whoever loads next does it.
        if not is_finalizing():
            _UNUSED.append(self._engine)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """The entry of a cache for a compiled module."""

    object_code: bytes
    symbol: str
    externals: tuple[str, ...]


def load_object(
    object_code: bytes, symbol: str, *, externals: Sequence[str] | None = None, forever: bool = False
) -> LoadedKernel:
    """Loads an object file and finds its function.

    ``externals`` are the symbols recorded when the object was made; they are consulted where the object
    format cannot be read.  ``forever`` keeps the code until the process ends, for code that other threads
    stay in. Raises UnresolvedSymbolError for external symbols that are not on the allow-list and ValueError
    when the file is damaged or lacks the function: either would end the process inside LLVM.
    """
    kernel = jobs.run(lambda: _loaded(object_code, symbol, externals))
    if forever:
        _FOREVER.append(kernel)
    return kernel


def _loaded(object_code: bytes, symbol: str, externals: Sequence[str] | None) -> LoadedKernel:
    import llvmlite.binding as llvm

    check_object(object_code, (symbol,), externals)
    _UNUSED.clear()  # unmaps what is unused
    engine = _new_engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    return LoadedKernel(int(engine.get_function_address(symbol)), symbol, engine)


def check_object(object_code: bytes, needed: Iterable[str], externals: Sequence[str] | None) -> None:
    """Raises what :func:`load_object` raises, without loading anything; ``needed`` are the object's own symbols."""
    symbols = elf.symbols(object_code)
    if symbols is None:
        if externals is None:
            raise ValueError("the external symbols of the object are not known")
        objects.check_externals(externals)
        return
    objects.check_externals(symbols.undefined)
    missing = set(needed) - symbols.defined
    if missing:
        raise ValueError(f"the object has no function {', '.join(sorted(missing))}")


def _new_engine() -> Any:
    import llvmlite.binding as llvm

    from xjit.llvm import targets

    # An engine owns its target machine, so each needs one of its own.
    targets.initialize()
    target = targets.host()
    machine = targets.new_target_machine(target)
    module = llvm.parse_assembly(f'target triple = "{target.triple}"\n')
    return llvm.create_mcjit_compiler(module, machine)


_HEADER = struct.Struct("<II")


def pack(stored: StoredObject) -> bytes:
    """The bytes of one cache entry."""
    symbol, externals = stored.symbol.encode(), "\n".join(stored.externals).encode()
    return _HEADER.pack(len(symbol), len(externals)) + symbol + externals + stored.object_code


def unpack(data: bytes) -> StoredObject:
    """The stored object of one cache entry; ValueError when the bytes are not one."""
    if len(data) < _HEADER.size:
        raise ValueError("a cache entry is shorter than its header")
    symbol_size, externals_size = _HEADER.unpack_from(data)
    middle, end = _HEADER.size + symbol_size, _HEADER.size + symbol_size + externals_size
    if end > len(data):
        raise ValueError("a cache entry is shorter than its header says")
    externals = tuple(data[middle:end].decode().split("\n")) if externals_size else ()
    return StoredObject(data[end:], data[_HEADER.size : middle].decode(), externals)
