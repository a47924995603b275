"""Make one loop of two, one in the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.scalars import see_that_no_line_ends
from xjit.codegen.rewrites.analysis.surroundings import extent, known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, substitute, variable
from xjit.ir.loops.nodes import UNKNOWN, Block, Buffer, Kernel, LetInt, Loop
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import buffers, integers, loads, statements, stores, substituted, with_indices


@dataclass(frozen=True, slots=True)
class Collapse:
    """Make one loop of two, one in the other, over all pairs of their iterations; their order stays.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i, j] + 1.0)
    after       for k in 0 .. m*n:                      Collapse("i", "j", "k")
                  i = (k // m)
                  j = (k % m)
                  out[i, j] = (x[i, j] + 1.0)

    Threads share the pairs where there are few rows. Where all elements lie behind each other in memory, as of
    arguments whose rows follow each other without gaps, or of scratch that is a line, nothing is divided: k runs
    from i*m to before (i + 1)*m for each i.
    """

    outer: str
    inner: str
    both: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops with steps, with something between them, of two kinds, or not of a rectangle."""
        path, outer = found(kernel, self.outer)
        match outer.body:
            case (Loop() as inner,) if inner.variable == self.inner:
                pass
            case _:
                raise RefusedError(f"the loop over {self.outer} has more in it than the loop over {self.inner}")
        if outer.kind is not inner.kind:
            raise RefusedError(f"the loop over {self.outer} is {outer.kind.value}, that inside {inner.kind.value}")
        if (outer.step, inner.step) != (1, 1):
            raise RefusedError(f"the loop over {self.outer} or {self.inner} has steps")
        if self.outer in inner.start.names() | inner.stop.names():
            raise RefusedError(f"the bounds of the loop over {self.inner} depend on {self.outer}")
        for name in (self.outer, self.inner):
            see_that_no_line_ends(inner.body, name)
        line = self._line(kernel, outer, inner)
        if line is not None:
            return with_statements(kernel, outer, (line,))
        if self.both in (self.outer, self.inner):
            raise RefusedError(
                f"the pairs of {self.outer} and {self.inner} are no line, and have no name of their own"
            )
        known = known_before(kernel, path)
        rows, columns = extent(known, outer), extent(known, inner)
        pair = variable(self.both)
        if columns.value == 0:
            raise RefusedError(f"the loop over {self.inner} has no iterations")
        place = LetInt(self.outer, outer.start + pair // columns), LetInt(self.inner, inner.start + pair % columns)
        both = replace(outer, variable=self.both, start=constant(0), stop=rows * columns, body=(*place, *inner.body))
        return with_statements(kernel, outer, (both,))

    def _line(self, kernel: Kernel, outer: Loop, inner: Loop) -> Loop | None:
        """One loop over what both touch, if that is i*m + j of everything."""
        if inner.start.value != 0 or not Ranges().at_most(constant(0), inner.stop):
            return None
        if {self.outer, self.inner} & _other_names(inner.body):
            return None
        columns, pair = inner.stop, variable(self.both)
        row = {self.outer: variable(self.outer) * columns, self.inner: variable(self.inner)}
        own = {self.outer: constant(0), self.inner: pair}
        known = buffers(kernel)
        for name, index in _elements(inner.body):
            moved = [
                substitute(substitute(at, own), {self.both: sum(row.values(), start=constant(0))}) for at in index
            ]
            if not _is_same_place(known[name], index, moved):
                return None
        body = substituted(inner.body, own)
        return replace(outer, variable=self.both, start=outer.start * columns, stop=outer.stop * columns, body=body)


def _elements(block: Block) -> Iterator[tuple[str, tuple[IntExpr, ...]]]:
    """Yield the buffer and the index of everything that is loaded or stored."""
    yield from ((load.buffer, load.index) for load in loads(block))
    yield from ((store.buffer, store.index) for store in stores(block))


def _other_names(block: Block) -> set[str]:
    """The names in integers that are no index of an element."""
    rest = with_indices(block, lambda _, index: ())
    return {name for one in statements(rest) for expr in integers(one) for name in expr.names()}


def _is_same_place(buffer: Buffer, index: Sequence[IntExpr], moved: Sequence[IntExpr]) -> bool:
    """Return whether two indices are of one place in memory, and only along axes of unknown extents not the same."""
    apart = constant(0)
    for one, other, stride, length in zip(index, moved, buffer.strides, buffer.extents, strict=True):
        if one != other and length != UNKNOWN:
            return False
        apart = apart + (other - one) * stride
    return apart.value == 0
