"""The search for the first place of an extreme: one Fold, which several rewrites know."""

from __future__ import annotations

from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import Const, Fold, FromInt, Load, Prim, Statement, Value, Var
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, INT64

ZERO = Const(Literal.of(0, INT64))


@dataclass(frozen=True, slots=True)
class FirstExtreme:
    """A value compared with the ``best`` so far: where it is better, its position is the ``place``.

    best, place = max(best, x), select((((max(best, x) != best) & (best == best)) | (s64(j) == 0)), s64(j), place)
    """

    best: Var
    place: Var
    reducer: str
    value: Value
    position: IntExpr

    @property
    def fold(self) -> Fold:
        """The statement."""
        better = Prim(self.reducer, (self.best, self.value), self.best.dtype)
        here = FromInt(self.position, INT64)
        place = Prim("select", (is_new(self.best, better, here), here, self.place), INT64)
        return Fold((self.best.name, self.place.name), (better, place))


def is_new(best: Value, better: Value, place: Value) -> Value:
    """Return whether what is found at a place is better than the best so far, or the first of all. NaN stays the
    best.
    """
    changed = Prim("and", (Prim("ne", (better, best), BOOL), Prim("eq", (best, best), BOOL)), BOOL)
    return Prim("or", (changed, Prim("eq", (place, ZERO), BOOL)), BOOL)


def first_extreme(one: Statement) -> FirstExtreme | None:
    """The search that a statement is, if it is one."""
    match one:
        case Fold(
            (_, _), (Prim(reducer, (Var() as best, value)), Prim("select", (_, FromInt(at, _), Var() as place)))
        ):
            search = FirstExtreme(best, place, reducer, value, at)
            return search if search.fold == one else None
    return None


def step_of(load: Load, loop: str) -> tuple[int, Load] | None:
    """The axis along which a load moves, one position at each step of a loop, and the load at step 0."""
    step = variable(loop)
    moved = [axis for axis, at in enumerate(load.index) if loop in at.names()]
    if len(moved) != 1:
        return None
    (axis,) = moved
    first = load.index[axis] - step
    if loop in first.names():
        return None
    return axis, Load(load.buffer, (*load.index[:axis], first, *load.index[axis + 1 :]), load.dtype, load.apart)
