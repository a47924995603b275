"""Makes machine code callable: images without LLVM, and objects that cannot be linked by llvmlite.

Nothing of Numba is needed to run cached kernels.
"""

from __future__ import annotations

import struct
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xjit import jobs
from xjit.dataclass import dataclass, field
from xjit.runtime.loading import image

_FOREVER: list[Any] = []
_UNUSED: deque[Any] = deque()


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class LoadedKernel:
    """Machine code in memory, for as long as this object lives; ``address`` is where its function starts."""

    address: int
    symbol: str
    _engine: Any = field(repr=False)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # Only LLVM can unmap the code that it has loaded, and this runs wherever the last reference happens to go: in
        # a garbage collection, in a thread that holds other locks, while another thread forks. Whoever loads next
        # does it.
        if not is_finalizing():
            _UNUSED.append(self._engine)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """The entry of a cache for a compiled module: an image or an object."""

    object_code: bytes
    symbol: str
    externals: tuple[str, ...]


def load_object(
    object_code: bytes, symbol: str, *, externals: Sequence[str] | None = None, forever: bool = False
) -> LoadedKernel:
    """Loads an image, or an object file, and finds its function.

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
    _UNUSED.clear()  # unmaps what is unused
    code = linked(object_code, (symbol,), externals)
    if image.is_image(code):
        loaded = _loaded_image(code, (symbol,))
        return LoadedKernel(loaded.functions[symbol], symbol, loaded)
    engine = _new_engine(code)
    return LoadedKernel(int(engine.get_function_address(symbol)), symbol, engine)


def load_module(
    stored: StoredObject, functions: Sequence[str], variables: Callable[[], Sequence[str]]
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The addresses of the functions and variables of a module, whose code is kept until the process ends.

    Raises what :func:`load_object` raises.
    """
    code = stored.object_code
    if image.is_image(code):
        loaded = _loaded_image(code, functions)
        _FOREVER.append(loaded)
        return loaded.functions, loaded.variables
    check_object(code, functions, stored.externals)
    engine = _new_engine(code)
    _FOREVER.append(engine)
    return (
        {name: int(engine.get_function_address(name)) for name in functions},
        {name: int(engine.get_global_value_address(name)) for name in variables()},
    )


def linked(code: bytes, needed: Iterable[str], externals: Sequence[str] | None) -> bytes:
    """The image of an object, for this process and for others; an image, or what cannot be linked, as it is.

    Raises what :func:`load_object` raises.
    """
    if image.is_image(code):
        return code
    check_object(code, needed, externals)
    from xjit.runtime.loading import linking

    return linking.linked(code)


def check_object(code: bytes, needed: Iterable[str], externals: Sequence[str] | None) -> None:
    """Raises what :func:`load_object` raises, without loading anything; ``needed`` are the object's own symbols."""
    if image.is_image(code):
        _check_image(image.from_bytes(code), needed)
        return
    from xjit.llvm import elf, objects

    symbols = elf.symbols(code)
    if symbols is None:
        if externals is None:
            raise ValueError("the external symbols of the object are not known")
        objects.check_externals(externals)
        return
    objects.check_externals(symbols.undefined)
    _check_functions(needed, symbols.defined)


def _loaded_image(code: bytes, needed: Iterable[str]) -> image.LoadedImage:
    found = image.from_bytes(code)
    _check_image(found, needed)
    return image.LoadedImage(found)


def _check_image(found: image.Image, needed: Iterable[str]) -> None:
    if found.externals:
        from xjit.llvm import objects

        objects.check_externals(found.externals)
    _check_functions(needed, found.functions.keys())


def _check_functions(needed: Iterable[str], defined: Iterable[str]) -> None:
    missing = set(needed).difference(defined)
    if missing:
        raise ValueError(f"the object has no function {', '.join(sorted(missing))}")


def _new_engine(code: bytes) -> Any:
    from xjit.llvm import toolchain

    toolchain.imported("llvmlite.binding")
    import llvmlite.binding as llvm

    from xjit.llvm import targets

    # An engine owns its target machine, so each needs one of its own.
    targets.initialize()
    target = targets.host()
    machine = targets.new_target_machine(target)
    module = llvm.parse_assembly(f'target triple = "{target.triple}"\n')
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


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
