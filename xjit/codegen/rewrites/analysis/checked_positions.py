"""Positions from memory that a loop checks before it looks elements up by them.

    p = k[j]                                   p is a position, which is compared with the bounds -9 and 9
    inside = ((p >= -9) & (p < 9))
    bad = or(bad, not(inside))

A check is a condition that a flag is told of where it does not hold: it hardly ever does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Accumulate, Const, FromInt, Let, Load, Loop, Prim, Value, Var
from xjit.ir.loops.walk import names
from xjit.types import INT64, dtype_class

Bound = tuple[str, Var, Value]
"""A comparison, ``lt`` or ``ge``, of a position with what stays the same in the loop."""

_OF_INTEGERS = frozenset(("cast", "copy", "add", "sub", "mul"))
"""Operations by which a position may be made of a loaded integer: little work, which is done twice."""


@dataclass(frozen=True, slots=True)
class CheckedPositions:
    """The bounds that hold where no position is negative and each is below the sizes that it is compared with.

    That is so if no bound from below is above zero.
    """

    bounds: tuple[Bound, ...]

    @property
    def positions(self) -> tuple[Var, ...]:
        """The positions, in order."""
        return tuple(dict.fromkeys(at for _, at, _ in self.bounds))

    @property
    def sizes(self) -> dict[Var, list[Value]]:
        """The sizes that each position is below."""
        return {at: [one for name, of, one in self.bounds if name == "lt" and of == at] for at in self.positions}

    @property
    def floors(self) -> tuple[Value, ...]:
        """The bounds from below."""
        return tuple(dict.fromkeys(one for name, _, one in self.bounds if name == "ge"))


def checked_positions(loop: Loop) -> CheckedPositions:
    """The positions that the body of a loop checks, outside of blocks in it."""
    reading = _Reading(loop)
    found = dict[Bound, None]()
    for one in loop.body:
        match one:
            case Accumulate(reducer="or", value=Prim("not", (condition,))):
                own = [reading.bound(leaf) for leaf in reading.conditions(condition)]
                known = [bound for bound in own if bound is not None]
                if len(known) == len(own):
                    found.update(dict.fromkeys(known))
    return CheckedPositions(tuple(found))


class _Reading:
    """The names that the body of a loop gives, and their values."""

    def __init__(self, loop: Loop) -> None:
        self._given = {one.name: one.value for one in loop.body if isinstance(one, Let)}
        self._inside = names((loop,)) | changed((loop,))

    def conditions(self, value: Value) -> Iterator[Value]:
        """Yield the conditions that a condition is made of."""
        match self._meant(value):
            case Prim("and", (one, other)):
                yield from (*self.conditions(one), *self.conditions(other))
            case meant:
                yield meant

    def bound(self, condition: Value) -> Bound | None:
        """The bound of a position that a condition is; None if it is another one."""
        match condition:
            case Prim("lt" | "ge" as name, (one, bound)):
                at = self._position(one)
                if at is None or not self._stays(bound) or (name == "ge" and not _may_be_zero(bound)):
                    return None
                return name, at, bound
        return None

    def _meant(self, value: Value) -> Value:
        """The value behind a name, or the value itself."""
        while isinstance(value, Var) and value.name in self._given:
            value = self._given[value.name]
        return value

    def _position(self, value: Value) -> Var | None:
        """The name of a position from memory, also where it is the value only if that is not negative."""
        match value:
            case Var(name) if name in self._given:
                meant = self._given[name]
                if isinstance(meant, Var):
                    return self._position(meant)
                if isinstance(meant, Prim) and meant.name == "select":
                    return self._position(meant)
                return value if value.dtype == INT64 and self._is_from_memory(meant) else None
            case Prim("select", (condition, _, kept)):
                at = self._position(kept)
                return at if at is not None and self._asks_for_sign(condition, at) else None
        return None

    def _asks_for_sign(self, condition: Value, at: Var) -> bool:
        """Return whether a condition is that a position is negative."""
        match self._meant(condition):
            case Prim("lt", (one, Const(literal))):
                return self._position(one) == at and literal.item() == 0
        return False

    def _is_from_memory(self, value: Value) -> bool:
        """Return whether a value is a loaded integer, or little work with one."""
        meant = self._meant(value)
        if isinstance(meant, Prim) and meant.name in _OF_INTEGERS:
            integers = all(dtype_class(one.dtype) in "PI" for one in meant.operands)
            moving = [one for one in meant.operands if not self._stays(one)]
            return integers and bool(moving) and all(map(self._is_from_memory, moving))
        return isinstance(meant, Load) and dtype_class(meant.dtype) in "PI"

    def _stays(self, value: Value) -> bool:
        """Return whether a value is a number, or a name of what stays the same in the loop."""
        match value:
            case Var(name):
                return name not in self._inside
            case FromInt(expr):
                return expr.names().isdisjoint(self._inside)
        return isinstance(value, Const)


def _may_be_zero(bound: Value) -> bool:
    """Return whether a bound from below is not known to be above zero."""
    return not isinstance(bound, Const) or bool(bound.literal.item() <= 0)
