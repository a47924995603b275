"""Sums in the order of :mod:`xjit.numerics`, as the executor forms them: elements of a line wait for its end.

What machine code does in registers is done here in lists: loops before and after a rewrite have the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import numerics
from xjit.dataclass import dataclass, field
from xjit.ir.loops.nodes import Accumulate, Grouping

Scalar: TypeAlias = Any
Both: TypeAlias = Callable[[Scalar, Scalar], Scalar]
"""Combines two elements."""


@dataclass(slots=True)
class OrderedSums:
    """The elements that wait for the end of a line, by its loop and the scalar, and the errors of scalars."""

    waiting: dict[str, dict[str, tuple[Accumulate, list[Scalar]]]] = field(default_factory=dict)
    errors: dict[str, Scalar] = field(default_factory=dict)

    def copy(self) -> OrderedSums:
        """The same for an iteration that has scalars of its own."""
        return OrderedSums({}, dict(self.errors))

    def forget(self, names: Iterable[str]) -> None:
        """Note that scalars have got values."""
        for name in names:
            self.errors.pop(name, None)

    def wait(self, line: str, one: Accumulate, value: Scalar) -> None:
        """Keep an element to the end of a line."""
        self.waiting.setdefault(line, {}).setdefault(one.name, (one, []))[1].append(value)

    def ended(self, line: str) -> Iterable[tuple[Accumulate, list[Scalar]]]:
        """The elements that have waited for the end of a line."""
        return self.waiting.pop(line, {}).values()

    def total(self, one: Accumulate, before: Scalar, items: Sequence[Scalar], both: Both) -> Scalar:
        """The value of a scalar after the elements of a line."""
        dtype = one.value.dtype
        if one.order is None:
            return functools.reduce(both, _groups(items, one.lanes, both), before)
        if one.order.grouping is not Grouping.BLOCKS:
            lanes = (numerics.lanes(dtype),) if one.order.grouping is Grouping.LANES else ()
            return _in_lanes(before, items, (*lanes, numerics.FEW_LANES), both)
        for first in range(0, len(items), numerics.BLOCK):
            start = dtype.type(0 if one.reducer == "add" else 1)
            some = items[first : first + numerics.BLOCK]
            block = _in_lanes(start, some, (numerics.lanes(dtype), numerics.FEW_LANES), both)
            if numerics.keeps_errors(one.reducer, dtype):
                before = self.two_sum(one.name, before, block)
            else:
                before = both(before, np.float64(block))
        return before

    def two_sum(self, name: str, total: Scalar, value: Scalar) -> Scalar:
        """The sum of a scalar and a value, whose exact rounding error is added to the scalar's."""
        both = total + value
        taken = both - total
        lost = (total - (both - taken)) + (value - taken)
        self.errors[name] = self.errors.get(name, np.float64(0.0)) + lost
        return both

    def corrected(self, name: str, total: Scalar) -> Scalar:
        """The value of a scalar with its rounding errors, which are NaN once the total is infinite."""
        error = self.errors.get(name)
        return total if error is None or error != error else total + error


def _in_lanes(before: Scalar, items: Sequence[Scalar], lanes: Sequence[int], both: Both) -> Scalar:
    """Elements in whole groups of lanes, then of fewer, and the rest one by one, combined with what was before."""
    found: list[Scalar] = []
    for count in lanes:
        whole = len(items) - len(items) % count
        found += _groups(items[:whole], count, both)
        items = items[whole:]
    return functools.reduce(both, (*found, *items), before)


def _groups(items: Sequence[Scalar], lanes: int, both: Both) -> Sequence[Scalar]:
    """A whole number of groups, added lane by lane and then in a tree of halves; nothing where there are none."""
    sums = list(items[:lanes])
    for place, item in enumerate(items[lanes:]):
        sums[place % lanes] = both(sums[place % lanes], item)
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [both(*pair) for pair in zip(sums[:half], sums[half:], strict=True)]
    return sums
