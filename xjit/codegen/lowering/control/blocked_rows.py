"""The kernel of a loop whose rows need no others: all turns of one block of rows, then those of the next one.

    while more:                              parallel b in 0 .. blocks:
      for i in 0 .. n:  x[i] = ...             while more:
                                                 for i in b_start .. b_stop:  x[i] = ...

Loops whose ends are equal for the shapes at hand end at one word. That rows do not reach into each other, as strides
say, becomes a fact of the kernel.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.rows import facts_of_rows, row_loops
from xjit.codegen.rewrites.block_rows import BlockRows
from xjit.codegen.rewrites.record import RefusedError, Rewrite, applied
from xjit.codegen.rewrites.storage.hold_elements import HoldElements
from xjit.codegen.rewrites.values.leave_rows import LeaveRows
from xjit.codegen.scheduling.ideas.rare import overwrites
from xjit.dataclass import replace
from xjit.errors import XjitError
from xjit.fusion.plan import LoopKernelStep
from xjit.ir.loops.intexpr import evaluate
from xjit.ir.loops.nodes import Kernel, Loop, While
from xjit.ir.loops.walk import replaced_all, statements, values
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.types import dtype_class


class NoBlocksError(XjitError):
    """Rows are not to be taken in blocks, which leaves the loop at this ``way`` to another plan."""

    way: tuple[int, ...] = ()


def in_blocks_of_rows(
    kernel: Kernel, nest: LoopBuilder, nodes: Sequence[Node], mask: str | None = None
) -> tuple[Kernel, tuple[Rewrite, ...]]:
    """The kernel in blocks of rows, and the rewrites; ``nodes`` are the values in its memory. Raises NoBlocksError.

    Blocks of rows that a ``mask`` leaves out are short, as they take as many turns as most of their rows. Rows of
    integers are gone through one by one.
    """
    values = dict(nest.words.values())
    loops = list(row_loops(kernel.body))
    ends = {evaluate(one.stop, values) for one in loops if not one.stop.names()}
    if len(ends) != 1 or any(one.stop.names() for one in loops):
        raise NoBlocksError(f"the loops have {len(ends)} different ends")
    (rows,) = ends
    alike = with_facts_of_rows(_with_one_end(kernel, loops), nest)
    least = nest.machine.least_row_block if any(map(_is_innermost, loops)) else 1
    size = block_length(rows, least, nodes, nest.machine)
    length = nest.word("block of rows", size if mask is None else min(size, nest.machine.masked_row_block), "rows")
    rewrites: list[Rewrite] = [BlockRows(length, nest.fresh("b"))]
    if mask is not None:
        share = 1 if all(map(_is_of_integers, loops)) else nest.machine.masked_share
        rewrites.append(LeaveRows(mask, length // share))
    try:
        blocked = applied(alike, tuple(rewrites))
    except RefusedError as error:
        raise NoBlocksError(str(error)) from None
    held = tuple(_with_elements_held(blocked, nest))
    return applied(blocked, held), (*rewrites, *held)


def reckoned_turns(step: LoopKernelStep, machine: Machine) -> float:
    """The turns of each row that threads reckon with, where the rows of a mask end as their numbers say."""
    if "masked" not in step.node.kwargs:
        return step.trips
    whole = all(dtype_class(node.aval.dtype) in "PI" for node in step.results)
    return min(step.trips, machine.masked_integer_turns if whole else machine.masked_turns)


def _with_elements_held(kernel: Kernel, nest: LoopBuilder) -> Iterator[Rewrite]:
    """Yield what keeps in registers what rows have that are gone through one by one."""
    for loop in [one for one in statements(kernel.body) if isinstance(one, Loop)]:
        if any(isinstance(one, While) for one in loop.body) and not overwrites(loop, nest.in_one_memory):
            rewrite = HoldElements(loop.variable)
            with contextlib.suppress(RefusedError):
                rewrite.apply(kernel)
                yield rewrite


def with_facts_of_rows(kernel: Kernel, nest: LoopBuilder) -> Kernel:
    """The kernel that knows which offsets stay inside of rows for the shapes at hand."""
    values = dict(nest.words.values())
    known = [fact for fact in facts_of_rows(kernel) if not fact.names() and evaluate(fact, values) >= 0]
    return replace(kernel, facts=(*kernel.facts, *dict.fromkeys(known)))


def _is_innermost(loop: Loop) -> bool:
    """Return whether no loop is inside of this one: vectors run along it."""
    return not any(isinstance(one, Loop) for one in statements(loop.body))


def _is_of_integers(loop: Loop) -> bool:
    """Return whether no value of a loop is a float: a processor computes several such rows in a cycle as it is."""
    return not any(dtype_class(value.dtype) in "FC" for one in statements(loop.body) for value in values(one))


def _with_one_end(kernel: Kernel, loops: Sequence[Loop]) -> Kernel:
    """The kernel whose loops end at the word that the first one ends at."""
    same = {id(one): (replace(one, stop=loops[0].stop),) for one in loops}
    return replace(kernel, body=replaced_all(kernel.body, same))


def block_length(rows: int, least: int, nodes: Sequence[Node], machine: Machine) -> int:
    """Return how many rows a block has: what they touch stays in the cache, and threads have some to share.

    A power of two, so that blocks begin where lines of memory do, or the ``least``.
    """
    bytes_of_row = max(1.0, sum(node.aval.nbytes for node in nodes if node.aval.size >= rows) / max(rows, 1))
    most = min(machine.row_block_bytes / bytes_of_row, rows / machine.row_blocks)
    return max(least, 1 << int(math.log2(max(most, 1.0))))
