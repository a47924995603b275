"""Several rows at a time: a loop over rows around one over accumulators of columns.

    for j0 in range(b0, e0):                      for j0 in range(b0, h0, 4):
        x0 = ldw(m1, j0 - b0)                         j0_1 = j0 + 1
        for i0 in range(n):                           ...
            st(m0, i0, ldw(m0, i0) + x0 * ...)        x0 = ldw(m1, j0 - b0)
                                                      x0_1 = ldw(m1, j0_1 - b0)
                                                      ...
                                                      for i0 in range(n):
                                                          st(m0, i0, ldw(m0, i0) + x0 * ...)
                                                          st(m0, i0, ldw(m0, i0) + x0_1 * ...)
                                                          ...
                                                  for j0 in range(h0, e0):
                                                      ... as before

The compiler keeps the accumulator in a register in between.  Every column adds its rows in the same order as before,
so that no bit changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from xjit.codegen.scopes import Nest
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Let, LetInt, Loop, Statement, Store
from xjit.ir.loops.walk import renamed
from xjit.machine import Machine


def join_rows(nest: Nest, accumulators: Iterable[str]) -> None:
    """Takes several rows in each step of the loop that has just been closed."""
    loop = nest.inner.statements.pop()
    assert isinstance(loop, Loop)
    nest.inner.statements.extend(several_rows(loop, frozenset(accumulators), nest.fresh("h"), nest.machine))


def several_rows(loop: Loop, accumulators: Collection[str], whole: str, machine: Machine) -> tuple[Statement, ...]:
    """The loop with several rows in a step, and as it was for the rest; itself where it is of another shape.

    ``accumulators`` are the only buffers that it may write, ``whole`` is a new name for where the rest begins.
    """
    *before, inner = loop.body
    if not isinstance(inner, Loop) or loop.step != 1 or len(inner.body) > machine.joined_statements:
        return (loop,)
    if not all(isinstance(one, LetInt | Let) for one in before) or not _adds_up(inner, accumulators):
        return (loop,)
    names = [one.name for one in (*before, *inner.body) if isinstance(one, LetInt | Let)]
    rows: list[Statement] = []
    steps: list[Statement] = []
    for row in range(machine.joined_rows):
        new = {} if row == 0 else {name: f"{name}_{row}" for name in (loop.variable, *names)}
        if row:
            rows.append(LetInt(new[loop.variable], variable(loop.variable) + row))
        rows += renamed(tuple(before), new)
        steps += renamed(inner.body, new)
    end = loop.start + (loop.stop - loop.start) // machine.joined_rows * machine.joined_rows
    return (
        LetInt(whole, end),
        replace(
            loop,
            stop=variable(whole),
            step=machine.joined_rows,
            body=(*rows, replace(inner, body=tuple(steps))),
        ),
        replace(loop, start=variable(whole)),
    )


def _adds_up(inner: Loop, accumulators: Collection[str]) -> bool:
    """Whether the steps of the loop do not need each other: each reads and writes accumulators of its own."""
    return all(
        isinstance(one, LetInt | Let) or (isinstance(one, Store) and one.buffer in accumulators) for one in inner.body
    )
