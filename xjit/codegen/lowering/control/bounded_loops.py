"""Loops in turns that have no more turns than the call has left: they are not counted turn by turn.

    while x[j] > v and j >= 0 and turn < hi:        if j - 0 < hi - turn:
      x[j + 1] = x[j]                                 begin = j
      j = j - 1; turn = turn + 1                      while x[j] > v and j >= 0: x[j + 1] = x[j]; j = j - 1
                                                      turn = turn + (begin - j)
                                                    while x[j] > v and j >= 0 and turn < hi: ...

The second loop is that of a call with too few turns left, or that goes on in it; behind the first one it has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.lowering.control.places import Places
from xjit.dataclass import dataclass
from xjit.fusion.control.trips import conjuncts, step_of
from xjit.fusion.plan import LoopKernelStep
from xjit.ir.context import CONSTANT
from xjit.ir.loops.build import less, minus, plus, position
from xjit.ir.loops.nodes import LAUNCHED, Block, Const, Fold, If, Let, Loop, Value, Var, While
from xjit.ir.loops.walk import names, renamed, statements
from xjit.ir.node import Node
from xjit.ir.scalar_forms import in_order
from xjit.types import INT64


@dataclass(frozen=True, slots=True)
class Bound:
    """A carried value at a ``place`` that each turn brings one nearer to a ``limit``, from below or from above."""

    place: int
    limit: Node
    rises: bool

    def distance(self, counter: Value, limit: Value) -> Value:
        """The way from the one to the other."""
        return minus(limit, counter) if self.rises else minus(counter, limit)


def bound_of(step: LoopKernelStep) -> Bound | None:
    """The counter of a loop whose condition demands that it is not beyond a number that stays the same."""
    first, turn = step.first.plan.graph, step.turn.plan.graph
    carried = first.parameters[: len(turn.outputs) - 1]
    for condition in conjuncts(first.outputs[0]):
        found = in_order(condition.element)
        if found is None:
            continue
        below, above = (condition.inputs[one.index] for one in found)
        for counter, limit, way in ((below, above, 1), (above, below, -1)):
            stays = limit.op is CONSTANT or (limit in first.parameters and limit not in carried)
            if stays and counter in carried and counter.aval.dtype == limit.aval.dtype == INT64:
                place = carried.index(counter)
                if step_of(turn, place) == way:
                    return Bound(place, limit, way == 1)
    return None


def run_uncounted(places: Places, step: LoopKernelStep, more: Node, turn: str, body: Block) -> Iterator[If]:
    """Yield a loop of few turns that counts them in ``turn`` when it has ended; nothing where no number is its bound.

    A body with loops in it is not written twice.
    """
    found = bound_of(step)
    if found is None or any(isinstance(one, Loop | While) for one in statements(body)):
        return
    counter = places.loaded(step.results[found.place])
    known = found.limit.op is CONSTANT
    limit = Const(found.limit.param("value")) if known else places.loaded(found.limit)
    done, begin = Var(turn, INT64), Var(places.nest.fresh("begin"), INT64)
    left = minus(position(LAUNCHED[1]), done)
    own = renamed(body, {name: places.nest.fresh(f"{name}_all") for name in sorted(names(body))})
    now = plus(done, found.distance(begin, counter))
    loop = Let(begin.name, counter), While(places.loaded(more), own), Fold((turn,), (now,))
    yield If(less(found.distance(counter, limit), left), loop)
