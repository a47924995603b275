"""Run several loops through as one line of elements, a block at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import IDEMPOTENT
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.reductions.stage_sums import elements, staged, taken_from
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Accumulate, Alloc, Block, Grouping, Kernel, Let, LetInt, Loop, Order, Statement
from xjit.ir.loops.walk import statements


@dataclass(frozen=True, slots=True)
class StageLine:
    """Run loops that are one in the next through in blocks of all their elements, which wait in scratch side by side.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    s = add(s, x[i, j]) in blocks along i
    after       for b in 0 .. m*n by 512:               StageLine(("i", "j"), "b", "k")
                  b_end = min(b + 512, m*n)
                  alloc s_elements: f64[512] for each iteration
                  for i in (b // m) .. ((b_end + m - 1) // m):
                    i_first = i*m
                    j_start = max(0, b - i_first)
                    j_stop = min(b_end - i_first, m)
                    for j in j_start .. j_stop:
                      s_elements[-b + i*m + j] = x[i, j]
                  for k in b .. b_end:
                    s = add(s, s_elements[-b + k]) in blocks along b

    A block begins and ends anywhere in a row: what stands between the loops runs once for each block in a row. That
    may be names, and checks of the row that are the same if they are made again.
    """

    loops: tuple[str, ...]
    block: str
    step: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that are not a box, with more between them, or without sums along all of them."""
        _, outermost = found(kernel, self.loops[0])
        nest = self._nest(outermost)
        along = Order(Grouping.BLOCKS, variable(self.loops[0]))
        steps = [one for one in nest[-1].body if isinstance(one, Accumulate) and one.order == along]
        inside = [one for one in statements(outermost.body) if isinstance(one, Accumulate) and one.order == along]
        if not steps or len(steps) != len(inside):
            raise RefusedError(f"the loop over {self.loops[-1]} adds nothing in blocks along {self.loops[0]}")
        taken = Names(kernel)
        whole, size = (outermost.start, outermost.stop), _size(nest[1:])
        end = taken.fresh(f"{self.block}_end")
        start = variable(self.block)
        room = {one.name: elements(one, taken) for one in steps}
        rows = self._rows(nest, (start, variable(end)), taken)
        place = -start
        for number, loop in enumerate(nest):
            place = place + variable(loop.variable) * _size(nest[number + 1 :])
        adding = taken_from(room, steps, variable(self.step) - start, Order(Grouping.BLOCKS, start))
        body: Block = (
            LetInt(end, minimum(start + numerics.BLOCK, whole[1] * size)),
            *(Alloc(one) for one in room.values()),
            staged(rows, room, place),
            Loop(self.step, start, variable(end), adding),
        )
        line = Loop(self.block, whole[0] * size, whole[1] * size, body, step=numerics.BLOCK)
        return with_statements(kernel, outermost, (line,))

    def _nest(self, outermost: Loop) -> list[Loop]:
        nest, named = [outermost], {outermost.variable}
        for name in self.loops[1:]:
            match nest[-1].body:
                case (*before, Loop(variable=found) as inner) if found == name:
                    pass
                case _:
                    raise RefusedError(f"the loop over {nest[-1].variable} does not end with that over {name}")
            if not all(map(_may_be_repeated, before)) or inner.start.value != 0:
                raise RefusedError(f"the loop over {nest[-1].variable} has more in it than that over {name}")
            named |= {inner.variable, *(one.name for one in before if isinstance(one, Let | LetInt))}
            if not inner.stop.names().isdisjoint(named):
                raise RefusedError(f"the loop over {name} is not as long every time")
            nest.append(inner)
        if any(one.step != 1 or not one.kind.is_ordered for one in nest):
            raise RefusedError(f"the loops over {', '.join(self.loops)} do not run one by one")
        return nest

    def _rows(self, nest: Sequence[Loop], bounds: tuple[IntExpr, IntExpr], taken: Names) -> Loop:
        """The loops over the elements between bounds, which are counted along the line."""
        loop, size = nest[0], _size(nest[1:])
        if len(nest) == 1:
            return replace(loop, start=bounds[0], stop=bounds[1])
        inner = nest[1].variable
        first, start, stop = (
            taken.fresh(name) for name in (f"{loop.variable}_first", f"{inner}_start", f"{inner}_stop")
        )
        within: Block = (
            LetInt(first, variable(loop.variable) * size),
            LetInt(start, maximum(bounds[0] - variable(first), 0)),
            LetInt(stop, minimum(bounds[1] - variable(first), size)),
        )
        rest = self._rows(nest[1:], (variable(start), variable(stop)), taken)
        body = (*loop.body[:-1], *within, rest)
        return replace(loop, start=bounds[0] // size, stop=(bounds[1] + size - 1) // size, body=body)


def _may_be_repeated(one: Statement) -> bool:
    """Return whether a statement leaves the same if it runs again."""
    return isinstance(one, Let | LetInt) or (
        isinstance(one, Accumulate) and one.order is None and one.reducer in IDEMPOTENT
    )


def _size(loops: Sequence[Loop]) -> IntExpr:
    """The number of elements in the iterations of some loops."""
    size = constant(1)
    for loop in loops:
        size = size * loop.stop
    return size
