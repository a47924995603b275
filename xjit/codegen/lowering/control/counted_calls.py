"""Calls of a loop that end where its own counter says, which counts turns all the same: one test for each turn.

    turn = lo                                       end = i + (hi - lo)
    while more and turn < hi:                       while more and i < end:
      s = s + a[i]; i = i + 1; more = i < n           s = s + a[i]; i = i + 1; more = i < n
      turn = turn + 1                               more = i < n

LLVM goes on while ``i`` is below the smaller one of ``end`` and ``n``; whether there are more turns is computed again
behind the loop.
"""

from __future__ import annotations

import numpy as np

from xjit.codegen.lowering.control.places import Places
from xjit.fusion.control.trips import conjuncts, step_of
from xjit.fusion.plan import LoopKernelStep
from xjit.ir.context import CONSTANT, PARAMETER
from xjit.ir.loops.build import both, less, number, plus, position
from xjit.ir.loops.nodes import LAUNCHED, Block, Carry, Fold, If, Loop, Var, While
from xjit.ir.loops.walk import statements
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_forms import counter_and_limit
from xjit.types import INT64, dtype_class


def counter_of_calls(step: LoopKernelStep, body: Block) -> int | None:
    """The place of a carried counter that goes up by one to a limit; None where turns are long, or there is none."""
    if any(isinstance(one, Loop | While) for one in statements(body)):
        return None
    first, turn = step.first.plan.graph, step.turn.plan.graph
    if not all(map(_is_plain, first.nodes)):
        return None
    for condition in conjuncts(first.outputs[0]):
        found = counter_and_limit(condition.element)
        counter = None if found is None or found[2] else condition.inputs[found[0].index]
        if counter in first.parameters and counter.aval.dtype == INT64:
            place = first.parameters.index(counter)
            if place < len(turn.outputs) - 1 and step_of(turn, place) == 1:
                return place
    return None


def _is_plain(node: Node) -> bool:
    """Return whether a node of a condition is cheap to compute again, and the same then."""
    if node.op in (PARAMETER, CONSTANT):
        return True
    return node.op.kind is Kind.ELEMENTWISE and not node.aval.rank and dtype_class(node.inputs[0].aval.dtype) in "PI"


def counted_turns(places: Places, carried: tuple[Node, Node], body: Block) -> Block:
    """The turns of a call, where ``carried`` says if there are more turns, and counts them.

    Where the counter, or the number of turns, is so large that their sum may be none, the call ends with the loop.
    """
    more, counter = map(places.loaded, carried)
    end, turns = Var(places.nest.fresh("end"), INT64), position(LAUNCHED[1] - LAUNCHED[0])
    most = int(np.iinfo(INT64).max)
    small = both(less(counter, number(most // 2)), less(turns, number(most // 2)))
    known = If(small, (Fold((end.name,), (plus(counter, turns),)),))
    return Carry(end.name, number(most)), known, While(both(more, less(counter, end)), body)
