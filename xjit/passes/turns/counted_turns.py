"""The turns of loops that do nothing but count up to a known number: ``for i in range(begin, end, step)``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xjit.dataclass import dataclass
from xjit.ir.context import CONSTANT, PARAMETER
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Arg, Expr, Lit
from xjit.ir.scalar_forms import counter_and_limit, counter_and_step
from xjit.ops.define.core import registry
from xjit.passes.interpret import interpret
from xjit.passes.loop_parts import LoopParts, needed_by


@dataclass(frozen=True, slots=True, eq=False)
class CountedTurns:
    """The counter of a loop as its body sees it, and the values that it has, of which there are some.

    It is the carried value of this ``number``.
    """

    number: int
    counter: Node
    values: range

    def mean(self, counts: Sequence[Node | int]) -> float | None:
        """The mean product of counts over the turns, exact where they grow evenly; None if others decide on them."""
        nodes = tuple(one for one in counts if isinstance(one, Node))
        if any(one.op is PARAMETER and one is not self.counter for one in needed_by(nodes)):
            return None
        known = math.prod(one for one in counts if isinstance(one, int))
        graph, dtype = Graph("counts", (self.counter,), nodes), self.counter.aval.dtype
        first, middle, last = (
            math.prod(max(0, int(one)) for one in interpret(graph, [np.asarray(value, dtype)]))
            for value in (self.values[0], self.values[len(self.values) // 2], self.values[-1])
        )
        return known * (first + 4 * middle + last) / 6


def turns_of(loop: LoopParts, holds: int | None = None) -> CountedTurns | None:
    """The turns of a loop that does nothing but count up to a known number; None of others.

    The carried value of the number ``holds`` is taken to be true.
    """
    (condition,) = loop.condition.graph.outputs
    if holds is not None and condition.op is registry["and_"]:
        rest = [one for one in condition.inputs if one is not loop.carried[holds].tested]
        condition = rest[0] if len(rest) == 1 else condition
    found = counter_and_limit(condition.element)
    if found is None:
        return None
    limit, counter = _number_of(condition, found[1]), condition.inputs[found[0].index]
    for number, one in loop.carried.items():
        if one.tested is counter and limit is not None:
            begin, step = _number(one.start), _step(loop.after[number], one.before)
            if begin is not None and step is not None and step > 0:
                values = range(begin, limit + found[2], step)
                return CountedTurns(number, one.before, values) if values else None
    return None


def _step(after: Node, before: Node) -> int | None:
    """The number that a turn adds to a counter."""
    forms = counter_and_step(after.element)
    steps = [step for counter, step in forms if after.inputs[counter.index] is before]
    return _number_of(after, steps[0]) if steps else None


def _number_of(node: Node, expr: Expr) -> int | None:
    """The integer that an operand of the expression of a node is."""
    if isinstance(expr, Lit):
        return int(expr.literal.item())
    return _number(node.inputs[expr.index]) if isinstance(expr, Arg) else None


def _number(node: Node) -> int | None:
    known = node.op is CONSTANT and not node.aval.rank
    return int(node.param("value").item()) if known else None
