"""The loop over chunks of a reduced axis, each with a result of its own.

for k in range(chunks):
    k_start = k * chunk
    k_stop = min(k_start + chunk, n0)
"""

from __future__ import annotations

import math

from xjit.codegen.lowering.scopes import Element, LoopBuilder
from xjit.codegen.scheduling.schedule import Schedule
from xjit.fusion.plan import FusionGroup
from xjit.ir.loops.intexpr import IntExpr, minimum, variable
from xjit.ir.loops.nodes import FromInt, LetInt
from xjit.types import INT64


def open_chunks(nest: LoopBuilder, group: FusionGroup, plan: Schedule) -> IntExpr:
    """Opens the loop and defines where the chunk starts and stops; the number of chunks."""
    assert group.chunk is not None and plan.chunked is not None
    loop = plan.reduced[plan.chunked]
    elements = group.chunk[1] * loop.extent // group.dims[group.chunk[0]]  # of all axes that the loop runs over
    size = nest.word("chunk", elements, "chunk")
    scope = nest.open("k", (group.chunk[0],))
    for number in group.chunk_numbers:
        scope.known[number] = Element(FromInt(variable("k"), INT64), None, scope)
    stop = minimum(variable("k_start") + size, nest.extent(loop.variable, loop.extent))
    scope.statements += [LetInt("k_start", variable("k") * size), LetInt("k_stop", stop)]
    return nest.word("chunks", math.ceil(loop.extent / elements), "n")
