"""The scalar types of the kernel language, by the names the language uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One scalar type; ``family`` is bool, int, float or complex, ``bits`` the size in memory."""

    name: str
    family: str
    bits: int
    signed: bool
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return self.bits // 8


def _kind(name: str, family: str, bits: int, dtype: str) -> Kind:
    return Kind(name, family, bits, name[0] == "i" or family in ("float", "complex"), np.dtype(dtype))


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        _kind("b1", "bool", 8, "bool"),
        *(_kind(f"i{bits}", "int", bits, f"int{bits}") for bits in (8, 16, 32, 64)),
        *(_kind(f"u{bits}", "int", bits, f"uint{bits}") for bits in (8, 16, 32, 64)),
        _kind("f32", "float", 32, "float32"),
        _kind("f64", "float", 64, "float64"),
        _kind("c64", "complex", 64, "complex64"),
        _kind("c128", "complex", 128, "complex128"),
    )
}


TURNED = {1: 16, 2: 16, 4: 8, 8: 8, 16: 4}
"""Rows and columns of the blocks that ``turn_T`` transposes, by the size of an element in bytes.

That is vectors of 128, 256 or 512 bits; from 8 bytes on a vector is a line of memory.
"""


STEPS = range(2, 9)
"""Distances of elements, one of which ``ld2`` to ``ld8`` skip at a time."""


class KernelTypeError(TypeError):
    """A text does not follow the kernel language: a word was given operands that it does not take."""


INTEGERS = tuple(name for name, kind in KINDS.items() if kind.family == "int")
FLOATS = ("f32", "f64")
COMPLEXES = {"c64": "f32", "c128": "f64"}
"""Complex types and the type of their parts."""
