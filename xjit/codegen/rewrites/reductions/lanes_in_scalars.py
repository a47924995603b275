"""Lanes that are scalars, where LLVM would not compute their elements side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import start_of
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Accumulate, Carry, Kernel, Let, LetInt, Loop, Prim, Statement, Value, Var
from xjit.ir.loops.walk import names, renamed


@dataclass(frozen=True, slots=True)
class LanesInScalars:
    """Add the elements of each lane into a scalar of its own: computed one by one, they need not wait in scratch.

    before      for j in 0 .. 8*n:
                  s = add(s, x[j]) in 8 lanes
    after       carry s_0: f64 = 0.0                    LanesInScalars("j")
                carry s_1: f64 = 0.0
                carry s_2: f64 = 0.0
                carry s_3: f64 = 0.0
                carry s_4: f64 = 0.0
                carry s_5: f64 = 0.0
                carry s_6: f64 = 0.0
                carry s_7: f64 = 0.0
                for j in 0 .. 8*n by 8:
                  s_0 = add(s_0, x[j])
                  j_1 = j + 1
                  s_1 = add(s_1, x[j_1])
                  j_2 = j + 2
                  s_2 = add(s_2, x[j_2])
                  j_3 = j + 3
                  s_3 = add(s_3, x[j_3])
                  j_4 = j + 4
                  s_4 = add(s_4, x[j_4])
                  j_5 = j + 5
                  s_5 = add(s_5, x[j_5])
                  j_6 = j + 6
                  s_6 = add(s_6, x[j_6])
                  j_7 = j + 7
                  s_7 = add(s_7, x[j_7])
                s = add(s, (((s_0 + s_4) + (s_2 + s_6)) + ((s_1 + s_5) + (s_3 + s_7))))

    Lanes are added up in halves, as those of vectors are. A vector of what has just been stored element by element is
    late: the processor cannot hand on several stores to one load.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops in which nothing is added in lanes, or in which more is done."""
        _, loop = found(kernel, self.loop)
        sums = [one for one in loop.body if isinstance(one, Accumulate)]
        sizes = {one.lanes for one in sums}
        if len(sizes) != 1 or 0 in sizes or loop.step != 1:
            raise RefusedError(f"the loop over {self.loop} adds in lanes of {len(sizes)} sizes, or not at all")
        if not all(isinstance(one, Let | LetInt | Accumulate) for one in loop.body):
            raise RefusedError(f"the loop over {self.loop} does more than to add")
        return with_statements(kernel, loop, tuple(_written(loop, sums, min(sizes), Names(kernel))))


def _written(loop: Loop, sums: Sequence[Accumulate], lanes: int, taken: Names) -> Iterator[Statement]:
    """Yield the scalars of all lanes, the loop over groups, and what adds them up."""
    scalars = {one.name: [taken.fresh(f"{one.name}_{lane}") for lane in range(lanes)] for one in sums}
    for one in sums:
        yield from (Carry(name, start_of(one)) for name in scalars[one.name])
    body = list[Statement]()
    given = frozenset((*names(loop.body), loop.variable))
    for lane in range(lanes):
        own = tuple(_into(one, scalars, lane) for one in loop.body)
        copies = taken.copies((replace(loop, body=own),), str(lane), given) if lane else {}
        if lane:
            body.append(LetInt(copies[loop.variable], variable(loop.variable) + lane))
        body += renamed(own, copies)
    yield replace(loop, body=tuple(body), step=lanes)
    for one in sums:
        total = _halves([Var(name, one.value.dtype) for name in scalars[one.name]], one.reducer)
        yield replace(one, value=total, lanes=0)


def _into(one: Statement, scalars: dict[str, list[str]], lane: int) -> Statement:
    return replace(one, name=scalars[one.name][lane], lanes=0) if isinstance(one, Accumulate) else one


def _halves(values: Sequence[Value], reducer: str) -> Value:
    """The values combined as a tree of halves."""
    while len(values) > 1:
        half = len(values) // 2
        pairs = zip(values[:half], values[half:], strict=True)
        values = [Prim(reducer, pair, pair[0].dtype) for pair in pairs]
    return values[0]
