"""Conditions on elements without which a loop of reductions takes nothing in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xjit.codegen.rewrites.analysis.scalars import scalars_of
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Accumulate, Const, Let, Load, Loop, Prim, Value, Var
from xjit.ir.loops.walk import mapped_value, parts
from xjit.ops.whole_arrays.reduce import REDUCERS
from xjit.types import BOOL, dtype_class

_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}
"""Comparisons by name, and those with the operands in the other order."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison of an element with a value that is the same for all elements: ``load comparison limit``."""

    load: Load
    comparison: str
    limit: Value

    @property
    def scalars(self) -> set[str]:
        """The scalars that the limit is made of."""
        return scalars_of(self.limit)

    def may_hold(self, least: Value, largest: Value) -> Iterator[Value]:
        """Yield conditions without which the comparison holds for no element between these; NaN fulfils them."""
        if self.comparison in ("lt", "le", "eq"):
            yield _not("le" if self.comparison == "lt" else "lt", self.limit, least)
        if self.comparison in ("gt", "ge", "eq"):
            yield _not("le" if self.comparison == "gt" else "lt", largest, self.limit)


def _not(comparison: str, one: Value, other: Value) -> Value:
    return Prim("not", (Prim(comparison, (one, other), BOOL),), BOOL)


def bounds_on_elements(loop: Loop) -> list[Bound]:
    """The bounds outside of which an element of a loop changes none of its reductions; none where it does more."""
    known = {one.name: one.value for one in loop.body if isinstance(one, Let)}
    common: dict[Value, None] | None = None
    for one in loop.body:
        if isinstance(one, Let):
            continue
        if not isinstance(one, Accumulate):
            return []
        found = dict.fromkeys(_conditions(_written_out(one.value, known), one.reducer))
        common = found if common is None else {value: None for value in common if value in found}
    return [bound for value in common or () if (bound := _bound(value, loop.variable)) is not None]


def _conditions(value: Value, reducer: str) -> Iterator[Value]:
    """Yield conditions without which a value is the identity of a reducer."""
    match value:
        case Prim("select", (condition, _, Const() as other)) if _is_identity(other, reducer):
            yield from _conjuncts(condition)
        case Prim("cast", (number,)) if reducer == "add":
            yield from _counted(number)


def _counted(value: Value) -> Iterator[Value]:
    """Yield conditions without which a number made of a truth value is zero."""
    match value:
        case Prim("cast", (operand,)):
            yield from _counted(operand)
        case _ if value.dtype == BOOL:
            yield from _conjuncts(value)


def _conjuncts(condition: Value) -> Iterator[Value]:
    match condition:
        case Prim("and", pair) if condition.dtype == BOOL:
            for one in pair:
                yield from _conjuncts(one)
        case _:
            yield condition


def _is_identity(value: Const, reducer: str) -> bool:
    """Return whether a number changes nothing that a reducer has made; of zeros both are."""
    known = REDUCERS.get(reducer)
    if known is None or reducer not in ("add", "min", "max") or dtype_class(value.dtype) not in "FIP":
        return False
    return bool(value.literal.item() == known.identity(value.dtype))


def _bound(value: Value, loop: str) -> Bound | None:
    """The bound that a condition is, if it compares an element of the loop with a value outside of it."""
    match value:
        case Prim(name, (one, other)) if name in _TURNED:
            for comparison, element, limit in ((name, one, other), (_TURNED[name], other, one)):
                if isinstance(element, Load) and _is_along(element, loop) and not _is_of_loop(limit):
                    return Bound(element, comparison, limit)
    return None


def _is_along(load: Load, loop: str) -> bool:
    """Return whether a loop goes along elements of a type that has bounds."""
    return any(loop in at.names() for at in load.index) and dtype_class(load.dtype) in "FI" and not load.apart


def _is_of_loop(value: Value) -> bool:
    """Return whether a value is more than scalars and numbers."""
    return any(not isinstance(one, Var | Const | Prim) for one in parts(value))


def _written_out(value: Value, known: Mapping[str, Value]) -> Value:
    """The value with the values of scalars in their place."""

    def found(one: Value) -> Value:
        return _written_out(known[one.name], known) if isinstance(one, Var) and one.name in known else one

    return mapped_value(value, found)
