"""Expected results of calls in Python: arrays of known types, in the form that a call returns them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xjit import tree
from xjit.dataclass import dataclass
from xjit.types import BOOL, COMPLEX128, FLOAT64, INT64, NAMES, ArrayType, DType, scalar_type, type_of

NUMBERS: dict[type, DType] = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}
"""The element types of Python's numbers."""


@dataclass(frozen=True, slots=True)
class Part:
    """One array or number of a result: the class of a number of Python's or NumPy's, and the type of the array."""

    number: type | None
    array: ArrayType


@dataclass(frozen=True, slots=True)
class Results:
    """The form of a result."""

    form: tree.Tree
    parts: tuple[Part, ...]

    @property
    def types(self) -> tuple[ArrayType, ...]:
        """The types of its arrays."""
        return tuple(part.array for part in self.parts)

    @property
    def arrays(self) -> Callable[[Any], tuple[Any, ...] | None]:
        """The function that takes the arrays out of a result, None out of one of another form."""

        if self.form == tree.LEAF:
            (part,) = self.parts
            return lambda result: (result,) if _fits(part, result) else None

        def taken(result: Any) -> tuple[Any, ...] | None:
            leaves, form = tree.flatten(result)
            if form != self.form or not all(map(_fits, self.parts, leaves)):
                return None
            return tuple(map(np.asarray, leaves))

        return taken


def _fits(part: Part, leaf: Any) -> bool:
    if part.number is not None:
        return type(leaf) is part.number and (type(leaf) is not int or -(2**63) <= leaf < 2**63)
    return type(leaf) is np.ndarray and bool(leaf.dtype == part.array.dtype) and leaf.shape == part.array.shape


def results_like(example: Any) -> Results | None:
    """The form of results of the same types as an example; None of what no graph holds.

    >>> [str(part.array) for part in results_like((np.ones((2, 3)), 1)).parts]
    ['f64[2,3]', 's64[]']
    """
    leaves, form = tree.flatten(example)
    parts = tuple(_parts(leaves))
    return Results(form, parts) if leaves and len(parts) == len(leaves) else None


def _parts(leaves: Any) -> Iterator[Part]:
    for leaf in leaves:
        if type(leaf) in NUMBERS:
            yield Part(type(leaf), scalar_type(NUMBERS[type(leaf)]))
        elif isinstance(leaf, np.generic) and leaf.dtype in NAMES:
            yield Part(type(leaf), scalar_type(leaf.dtype))
        elif type(leaf) is np.ndarray and leaf.dtype in NAMES:
            yield Part(None, type_of(leaf))


def copied(arrays: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function that takes arrays out of a result, as copies: programs write over memory."""

    def taken(result: Any) -> Any:
        found = arrays(result)
        return None if found is None else tuple(map(np.array, found))

    return taken
