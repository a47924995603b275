"""The launch of a kernel: the iterations that its parallel loops share among threads, from ``lo`` to ``hi``.

    parallel i0 in 0 .. n0:          parallel i0 in lo .. hi:
      ...                              ...

    parallel b0 in 0 .. n0 by 64:    parallel b0_block in lo .. hi:
      ...                              b0 = 64*b0_block
                                       ...

What the parts of a result are made by, its borders and its interior, is one kernel whose iterations they share:

    parallel i0 in 0 .. n0:          lo0 = max(lo - first0, 0)        # its own part of the launch
      ...                            hi0 = min(hi - first0, steps0)
                                     parallel i0 in lo0 .. hi0:       # the interior
                                       ...
    parallel once0 in 0 .. 1:        lo1 = max(lo - first1, 0)
      ...                            hi1 = min(hi - first1, steps1)
                                     parallel once0 in lo1 .. hi1:    # a border: one step
                                       ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.lowering.naive.loop_bounds import Bounds
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, as_int, evaluate, maximum, minimum, variable
from xjit.ir.loops.nodes import LAUNCHED, Alloc, Block, Kernel, LetInt, Loop, LoopKind, Statement
from xjit.ir.loops.walk import integers, path_to, replaced, statements


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel that runs the iterations from ``lo`` to ``hi``, and how many there are in all."""

    kernel: Kernel
    extent: int


def launched(kernel: Kernel, nest: LoopBuilder) -> Launch:
    """Give the parallel loops of a kernel, one in each of its nests, their part of a launch.

    Where nothing is shared one thread does all.
    """
    values = dict(nest.words.values())
    body: list[Statement] = []
    loops = [_shared(one) for one in kernel.body]
    count, number, steps = sum(one is not None for one in loops), 0, 0
    for statement, shared in zip(kernel.body, loops, strict=True):
        if shared is None:
            body.append(statement)
            continue
        extent = evaluate(_steps(shared), values)
        bounds: Bounds = LAUNCHED
        given: Block = ()
        if count > 1:
            nest.section, number = number, number + 1
            bounds, given = _part(nest, steps, extent)
        body += (*given, *replaced((statement,), shared, (_with_bounds(shared, bounds, nest),)))
        steps += extent
    whole = replace(kernel, body=tuple(body))
    return Launch(replace(whole, words=tuple(_used(whole, nest))), steps if count else 1)


def _shared(statement: Statement) -> Loop | None:
    """The parallel loop in a statement."""
    path = path_to((statement,), lambda one: isinstance(one, Loop) and one.kind is LoopKind.PARALLEL)
    match path:
        case (*_, Loop() as loop):
            return loop
    return None


def _steps(loop: Loop) -> IntExpr:
    """The number of iterations of a loop."""
    return (loop.stop - loop.start + (loop.step - 1)) // loop.step


def _part(nest: LoopBuilder, first: int, extent: int) -> tuple[Bounds, Block]:
    """The part of a launch that is a nest's own, behind iterations of others, and the names of its bounds."""
    before, count = nest.word("first", first, "first"), nest.word("steps", extent, "steps")
    low, high = LAUNCHED
    names = nest.fresh("lo"), nest.fresh("hi")
    given = LetInt(names[0], maximum(low - before, 0)), LetInt(names[1], minimum(high - before, count))
    return (variable(names[0]), variable(names[1])), given


def _with_bounds(loop: Loop, bounds: Bounds, nest: LoopBuilder) -> Loop:
    """The loop over a part of its iterations, which are counted from 0."""
    low, high = bounds
    if loop.start.value == 0 and loop.step == 1:
        return replace(loop, start=low, stop=high)
    counter = nest.fresh(f"{loop.variable}_block")
    begin = LetInt(loop.variable, loop.start + variable(counter) * as_int(loop.step))
    return Loop(counter, low, high, (begin, *loop.body), loop.kind)


def _used(kernel: Kernel, nest: LoopBuilder) -> Iterator[str]:
    """Yield the words of the table that a kernel reads, in the order in which they came up."""
    found = [one for argument in kernel.arguments for one in argument.buffer.strides]
    for statement in statements(kernel.body):
        found += integers(statement)
        found += statement.buffer.strides if isinstance(statement, Alloc) else ()
    names = {name for one in dict.fromkeys(found) for name in one.words()}
    return (name for name, _ in nest.words.values() if name in names)
