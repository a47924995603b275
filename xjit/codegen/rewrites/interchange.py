"""Run a loop in blocks, inside of the loops in its body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import meetings
from xjit.codegen.rewrites.analysis.directions import rereads
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.intervals import most
from xjit.codegen.rewrites.analysis.runs import Expansion, Inner, Part, Run, Runs
from xjit.codegen.rewrites.analysis.scalars import reordering
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.unroll_and_jam import Tail
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import Atom, IntExpr, as_int, constant, minimum, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, LetInt, Loop, LoopKind, Statement


@dataclass(frozen=True, slots=True)
class Interchange:
    """Run a loop in blocks, inside of the loops in its body; scalars become an element for each of its iterations.

    before      for j in 0 .. m:
                  carry t: f32 = 0.0
                  for i in 0 .. n:
                    v = sqrt(w[i])
                    t = add(t, (v * x[i, j]))
                  s[j] = t
    after       for b in 0 .. ((m + 3) // 4):           Interchange("j", ("i",), 4, "b")
                  b_start = 4*b
                  b_stop = min(b_start + 4, m)
                  alloc t_b: f32[4] for each iteration
                  for j in b_start .. b_stop:
                    t_b[-b_start + j] = 0.0
                  for i in 0 .. n:
                    v = sqrt(w[i])
                    for j_2 in b_start .. b_stop:
                      t_now = t_b[-b_start + j_2]
                      t_b[-b_start + j_2] = (t_now + (v * x[i, j_2]))
                  for j_3 in b_start .. b_stop:
                    t_now_2 = t_b[-b_start + j_3]
                    s[j_3] = t_now_2

    What does not depend on the loop is done once for a block, in the same loops as before. Values that later loops
    use wait in scratch if they come from scalars, others are computed again. The length of a block is positive.
    With an overlap all blocks have that length: the last one begins earlier.
    """

    loop: str
    into: tuple[str, ...]
    length: IntExpr | int
    block: str
    tail: Tail = Tail.LOOP

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where iterations need each other, and loops whose bounds depend on the one that comes inside."""
        path, loop = found(kernel, self.loop)
        if loop.step != 1 or loop.kind not in (LoopKind.SERIAL, LoopKind.PARALLEL):
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} by {loop.step}, not for by 1")
        room = most(as_int(self.length))
        if room is None:
            raise RefusedError(f"it is not known how many iterations {self.length} are at most")
        self._see_that_iterations_are_apart(path, loop)
        if self.tail is Tail.OVERLAP:
            self._see_that_blocks_may_overlap(kernel, path, loop)
        taken = Names(kernel)
        runs = Runs(loop, frozenset(self.into))
        expansion = Expansion(runs, self.block, variable(f"{self.block}_start"), taken)
        parts = self._loops(runs.parts, expansion, taken)
        return with_statements(kernel, loop, (self._blocks(loop, room, expansion, tuple(parts)),))

    def _see_that_iterations_are_apart(self, path: Sequence[Statement], loop: Loop) -> None:
        """Refuses where iterations of the loop need each other; those of parallel loops do not."""
        if loop.kind is LoopKind.PARALLEL:
            return
        reason = meetings(path) or reordering((loop,))
        if reason:
            raise RefusedError(f"iterations over {self.loop} do not run side by side: {reason}")

    def _see_that_blocks_may_overlap(self, kernel: Kernel, path: Sequence[Statement], loop: Loop) -> None:
        """Refuses where a block may have more iterations than the loop, or one may not run twice."""
        known = known_before(kernel, path)
        if not known.at_most(loop.start + as_int(self.length), loop.stop):
            raise RefusedError(f"the loop over {self.loop} may have fewer than {self.length} iterations")
        reason = rereads(known.within(loop.variable, loop.start, loop.stop), loop.body)
        if reason:
            raise RefusedError(f"an iteration over {self.loop} may not run twice: {reason}")

    def _loops(self, parts: Sequence[Part], expansion: Expansion, taken: Names) -> Iterator[Statement]:
        """Yield the statements of a block, with the loop around those that depend on it."""
        start, stop = (variable(f"{self.block}_{end}") for end in ("start", "stop"))
        if self.tail is Tail.OVERLAP:
            stop = start + as_int(self.length)
        for part in parts:
            match part:
                case Run():
                    body = tuple(expansion.of(part))
                    if body:
                        yield Loop(part.variable, start, stop, body)
                case Inner(loop, inside):
                    yield replace(loop, body=tuple(self._loops(inside, expansion, taken)))
                case _:
                    yield part

    def _blocks(self, loop: Loop, room: IntExpr, expansion: Expansion, body: Block) -> Loop:
        start, stop, length = (f"{self.block}_{name}" for name in ("start", "stop", "length"))
        whole = as_int(self.length)
        given = [] if whole.kind in (Atom.SUM, Atom.WORD) else [LetInt(length, whole)]
        step = variable(length) if given else whole
        first = loop.start + variable(self.block) * step
        if self.tail is Tail.OVERLAP:
            given += [LetInt(start, minimum(first, loop.stop - step)), LetInt(stop, variable(start) + step)]
        else:
            given += [LetInt(start, first), LetInt(stop, minimum(variable(start) + step, loop.stop))]
        allocs = (Alloc(Buffer.packed(name, dtype, room)) for name, dtype in expansion.buffers.values())
        count = (loop.stop - loop.start + (whole - 1)) // whole
        return Loop(self.block, constant(0), count, (*given, *allocs, *body), loop.kind)
