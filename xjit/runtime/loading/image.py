"""Linked machine code: an image that is copied to its address and patched there, without LLVM.

An image has three parts, each in pages of its own: code, which nobody may write to once it can run, constants, and
data. What depends on the address of the image, or of a function of the C library, is listed as patches. ::

    name of the format, machine, alignment, sizes and counts
    names of functions, of variables, and of what comes from the C library
    places of functions and of variables
    patches
    code, constants, data
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xjit.dataclass import dataclass

X86_64, AARCH64 = 62, 183
"""ELF's numbers of the processor families whose objects are linked."""

Patch: TypeAlias = tuple[int, int, int, int]
"""A place that the address of a symbol and an addend are written to: place, addend, number of the symbol, kind."""
ITSELF = -1
"""The number that stands for the image itself."""
WORD = 0
"""The kind of patches that are a word of 64 bits; 1 to 4 are 16 bits of one, the lowest first, in a move of ARM's."""
_LAST_KIND = 4

_MAGIC = b"xjit-image-1\n"
_HEADER = struct.Struct("<HIQQQQIIII")
_WORD = struct.Struct("<Q")
_INSTRUCTION = struct.Struct("<I")
_PATCH = struct.Struct("<QqiI")
_PAGES = (1 << 12, 1 << 16)
_PART_BITS = 16
_ALL_BITS, _PART = (1 << 64) - 1, 0xFFFF
_OPERAND = 5  # bits behind the 16 bits in a move

# Linux, on both machines.
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 0x02, 0x20
_MACHINES = {"x86_64": X86_64, "aarch64": AARCH64}


@dataclass(frozen=True, slots=True)
class Image:
    """Machine code that is linked but for its address. ``zeros`` are the bytes of data behind the given ones."""

    machine: int
    page: int
    code: bytes
    constants: bytes
    data: bytes
    zeros: int
    functions: Mapping[str, int]
    variables: Mapping[str, int]
    externals: tuple[str, ...]
    patches: tuple[Patch, ...]

    @property
    def starts(self) -> tuple[int, int, int, int]:
        """The places of code, constants and data, and the end."""
        constants = rounded(len(self.code), self.page)
        data = constants + rounded(len(self.constants), self.page)
        return 0, constants, data, data + rounded(len(self.data) + self.zeros, self.page)


def rounded(size: int, step: int) -> int:
    """The next multiple of a step.

    >>> rounded(5, 4)
    8
    """
    return -(-size // step) * step


def is_image(code: bytes) -> bool:
    """Return whether these bytes are meant to be an image."""
    return code.startswith(_MAGIC)


def to_bytes(image: Image) -> bytes:
    """The image as it is kept."""
    names = "\n".join((*image.functions, *image.variables, *image.externals)).encode()
    sizes = (len(image.code), len(image.constants), len(image.data), image.zeros)
    counts = (len(image.functions), len(image.variables), len(image.externals), len(image.patches))
    parts = [_MAGIC, _HEADER.pack(image.machine, image.page, *sizes, *counts), _WORD.pack(len(names)), names]
    parts += map(_WORD.pack, (*image.functions.values(), *image.variables.values()))
    parts += (_PATCH.pack(*patch) for patch in image.patches)
    return b"".join((*parts, image.code, image.constants, image.data))


def from_bytes(data: bytes) -> Image:
    """The image that was kept; ValueError for bytes that are none."""
    try:
        image = _parsed(data)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"damaged image: {error}") from error
    _check(image)
    return image


def _parsed(data: bytes) -> Image:
    if not is_image(data):
        raise ValueError("damaged image: another format")
    place = len(_MAGIC)

    def taken(size: int) -> bytes:
        nonlocal place
        place += size
        if place > len(data):
            raise ValueError("damaged image: shorter than it says")
        return data[place - size : place]

    machine, page, code, constants, variables, zeros, *counts = _HEADER.unpack(taken(_HEADER.size))
    functions, places, externals, patches = counts
    names = taken(*_WORD.unpack(taken(_WORD.size))).decode().split("\n")
    starts = (start for (start,) in _WORD.iter_unpack(taken(_WORD.size * (functions + places))))
    listed = tuple(_PATCH.iter_unpack(taken(_PATCH.size * patches)))
    parts = taken(code), taken(constants), taken(variables)
    if place != len(data) or len(names) != max(functions + places + externals, 1):
        raise ValueError("damaged image: longer than it says")
    named = list(zip(names, starts, strict=False))
    last = tuple(names[functions + places :])
    return Image(machine, page, *parts, zeros, dict(named[:functions]), dict(named[functions:]), last, listed)


def _check(image: Image) -> None:
    """ValueError for an image that contradicts itself: patches would be written to other memory."""
    if image.page not in _PAGES:
        raise ValueError(f"damaged image: pages of {image.page} bytes")
    _, _, data, end = image.starts
    if not all(place < end for place in (*image.functions.values(), *image.variables.values())):
        raise ValueError("damaged image: a symbol lies outside")
    end, count = data + len(image.data), len(image.externals)
    for place, _, symbol, kind in image.patches:
        size = _WORD.size if kind == WORD else _INSTRUCTION.size
        if place + size > end or not ITSELF <= symbol < count or kind > _LAST_KIND:
            raise ValueError("damaged image: a patch lies outside")


# Loading


def can_load() -> bool:
    """Return whether images can be loaded in this process; where they cannot, LLVM loads objects."""
    machine = _machine()
    return machine == X86_64 or (machine == AARCH64 and _cache_flush() is not None)


def _machine() -> int:
    """The number of the processor family, 0 for systems on which images are not loaded."""
    if sys.platform != "linux" or sys.byteorder != "little" or ctypes.sizeof(ctypes.c_void_p) != _WORD.size:
        return 0
    return _MACHINES.get(os.uname().machine, 0)


class LoadedImage:
    """An image in memory, until this object goes; not at the end of the process, when threads may be in the code."""

    def __init__(self, image: Image) -> None:
        if image.machine != _machine() or not can_load():
            raise ValueError("damaged image: it is for another machine")
        self.size = max(image.starts[-1], image.page)
        self.address = _memory(self.size)
        _fill(image, self.address)
        self.functions = {name: self.address + place for name, place in image.functions.items()}
        self.variables = {name: self.address + place for name, place in image.variables.items()}

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing() and hasattr(self, "address"):
            _libc().munmap(self.address, self.size)


def _memory(size: int) -> int:
    address = _libc().mmap(None, size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    if address in (None, _ALL_BITS):
        raise MemoryError(f"no memory for {size} bytes of machine code")
    return int(address)


def _fill(image: Image, address: int) -> None:
    """Copies an image to its address, and lets its code run, which cannot be changed from then on."""
    code, constants, data, _ = image.starts
    parts = ((code, image.code), (constants, image.constants), (data, image.data))
    memory = bytearray(data + len(image.data))
    for start, content in parts:
        memory[start : start + len(content)] = content
    _patch(memory, image, address)
    for start, content in parts:
        ctypes.memmove(address + start, bytes(memory[start : start + len(content)]), len(content))
    _protect(address, constants, _READ | _EXECUTE)
    _protect(address + constants, data - constants, _READ)
    flush = _cache_flush() if image.machine == AARCH64 else None
    if flush is not None:
        flush(address, address + len(image.code))


def _patch(memory: bytearray, image: Image, address: int) -> None:
    symbols = [*map(_external, image.externals), address]
    for place, addend, symbol, kind in image.patches:
        value = (symbols[symbol] + addend) & _ALL_BITS
        if kind == WORD:
            _WORD.pack_into(memory, place, value)
        else:
            (instruction,) = _INSTRUCTION.unpack_from(memory, place)
            part = value >> (kind - 1) * _PART_BITS & _PART
            _INSTRUCTION.pack_into(memory, place, instruction & ~(_PART << _OPERAND) | part << _OPERAND)


def _protect(address: int, size: int, rights: int) -> None:
    if size and _libc().mprotect(address, size, rights):
        raise OSError(ctypes.get_errno(), "machine code may not be loaded here")


def _external(name: str) -> int:
    """The address of a function of the C library."""
    for library in (None, "libm.so.6"):
        try:
            found = ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
        if found:
            return found
    raise ValueError(f"this process has no function {name}")


@functools.cache
def _libc() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_size_t]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@functools.cache
def _cache_flush() -> Any:
    """The routine that makes written code visible to processors that do not look themselves; None without one."""
    try:
        flush = ctypes.CDLL("libgcc_s.so.1").__getattr__("__clear_cache")
    except (OSError, AttributeError):
        return None
    flush.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return flush
