"""Truth values that the condition of a loop demands hold in every turn, which need not look at them.

    while_loop i ok                              while_loop i ok
      condition(i, ok) -> ok & (i < n)      ->     condition(i, ok) -> ok & (i < n)
      body(i, ok) -> i + 1, ok & (x[i] > 0)        body(i, ok) -> i + 1, True & (x[i] > 0)

What turns carry of conditions that must not fail is such a value: no turn has to wait for that of the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.dataclass import replace
from xjit.ir.node import Node
from xjit.ops.define.core import registry
from xjit.passes.loop_parts import LoopParts, substituted
from xjit.passes.turns.batched_values import constant
from xjit.types import BOOL


def with_required_truths(loop: LoopParts) -> LoopParts:
    """Return the loop with constants in the body for truth values without which there is no turn."""
    required = set(conjuncts(loop.condition.graph.outputs[0]))
    held = [one.before for one in loop.carried.values() if one.tested in required]
    if not held:
        return loop
    graph = substituted(loop.body.graph, {node: constant(True, BOOL, node) for node in held})
    return replace(loop, body=replace(loop.body, graph=graph))


def conjuncts(condition: Node) -> Iterator[Node]:
    """Yield the truth values that all hold where a condition does."""
    yield condition
    if condition.op is registry["and_"] and condition.aval.dtype == BOOL and not condition.aval.rank:
        for one in condition.inputs:
            yield from conjuncts(one)
