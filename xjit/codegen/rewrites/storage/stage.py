"""Copy a row that a loop reads again and again into scratch before it."""

from __future__ import annotations

from xjit.codegen.rewrites.analysis.dependence import Touch, ranges_at, touches
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import Alloc, Buffer, Kernel, Load, Loop, Statement, Store, Value
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import Change, defined


@dataclass(frozen=True, slots=True)
class Stage:
    """Copy the last axis of a buffer at one place into scratch, and read it there inside of a loop.

    before      for i in k + 1 .. n:
                  for j in 0 .. n:
                    a[i, j] = a[i, j] - a[i, k] * a[k, j]
    after       alloc row: f32[n]                       Stage("a", "i", "row")
                for row_at in 0 .. n:
                  row[row_at] = a[k, row_at]
                for i in k + 1 .. n:
                  for j in 0 .. n:
                    a[i, j] = a[i, j] - a[i, k] * row[j]
    """

    buffer: str
    loop: str
    name: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the loop reads no row that stays the same, reads several, or may write to it."""
        path, loop = found(kernel, self.loop)
        buffer = next((one.buffer for one in kernel.arguments if one.buffer.name == self.buffer), None)
        if buffer is None:
            raise RefusedError(f"there is no buffer {self.buffer} among the arguments")
        touched = [touch for touch in touches(loop.body) if touch.buffer == self.buffer]
        inside = {loop.variable, *(name for touch in touched for one in touch.around for name in defined(one))}
        rows = {touch.index[:-1] for touch in touched if not touch.written and not _reads(touch.index[:-1], inside)}
        if len(rows) != 1:
            raise RefusedError(
                f"the loop over {self.loop} reads {len(rows)} rows of {self.buffer} that stay, not one"
            )
        (row,) = rows
        self._see_that_it_stays(touched, row, path)
        self._see_that_it_is_there(buffer, row, known_before(kernel, path))
        return with_statements(kernel, loop, (*self._copied(buffer, row), self._reading(loop, row)))

    def _see_that_it_stays(self, touched: list[Touch], row: tuple[IntExpr, ...], path: tuple[Statement, ...]) -> None:
        for touch in touched:
            known = ranges_at((*path, *touch.around))
            if touch.written and not any(known.apart(a, b) for a, b in zip(row, touch.index[:-1], strict=True)):
                place = ", ".join(map(str, touch.index))
                raise RefusedError(f"the loop over {self.loop} may write to the row: {self.buffer}[{place}]")

    def _see_that_it_is_there(self, buffer: Buffer, row: tuple[IntExpr, ...], known: Ranges) -> None:
        """Refuses where the row may be outside of the buffer, which does not matter to a loop without iterations."""
        for at, extent in zip(row, buffer.extents, strict=False):
            if not (known.at_most(constant(0), at) and known.below(at, extent)):
                raise RefusedError(f"the row of {self.buffer} may be outside of it where the loop has no iterations")

    def _copied(self, buffer: Buffer, row: tuple[IntExpr, ...]) -> tuple[Alloc, Loop]:
        at = variable(f"{self.name}_at")
        scratch = Buffer.packed(self.name, buffer.dtype, buffer.extents[-1])
        copy = Store(self.name, (at,), Load(self.buffer, (*row, at), buffer.dtype))
        return Alloc(scratch), Loop(f"{self.name}_at", at * 0, buffer.extents[-1], (copy,))

    def _reading(self, loop: Loop, row: tuple[IntExpr, ...]) -> Loop:
        def read(value: Value) -> Value:
            if isinstance(value, Load) and value.buffer == self.buffer and value.index[:-1] == row:
                return Load(self.name, value.index[-1:], value.dtype)
            return value

        (changed,) = Change(value=read).block((loop,))
        assert isinstance(changed, Loop)
        return changed


def _reads(index: tuple[IntExpr, ...], names: set[str]) -> bool:
    return any(expr.names() & names for expr in index)
