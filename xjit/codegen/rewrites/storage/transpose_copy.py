"""Copy rows into columns in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops import show
from xjit.ir.loops.intexpr import IntExpr, minimum, variable
from xjit.ir.loops.nodes import Block, Buffer, Kernel, Let, Load, Loop, Store, TransposeBlock, Value, Var
from xjit.ir.loops.walk import buffers


@dataclass(frozen=True, slots=True)
class TransposeCopy:
    """Copy elements, in two loops that do nothing else, in square blocks that are transposed in registers.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = x[j, i]
    after       for i in 0 .. n by 8:                   TransposeCopy("i", "j", (8,))
                  for j in 0 .. m by 8:
                    out[i, j] = transposed x[j, i] of min(-j + m, 8) x min(-i + n, 8)

    Several copies follow each other, each in loops of its own with ``blocks`` of its own.
    """

    rows: str
    columns: str
    blocks: tuple[int, ...]

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that compute something, or copy what they write, and elements that lie apart."""
        _, outer = found(kernel, self.rows)
        match outer.body:
            case (Loop(variable=self.columns) as inner,):
                pass
            case _:
                raise RefusedError(f"the loop over {self.rows} has more in it than that over {self.columns}")
        for one in (outer, inner):
            if one.step != 1 or not one.kind.is_ordered:
                raise RefusedError(f"the loop over {one.variable} is {one.kind.value} by {one.step}, not for by 1")
        if self.rows in inner.start.names() | inner.stop.names():
            raise RefusedError(f"the bounds of the loop over {self.columns} depend on {self.rows}")
        copies = list(_copies(inner.body))
        if len(copies) != len(self.blocks):
            raise RefusedError(f"the loops make {len(copies)} copies, not {len(self.blocks)}")
        written = {one.to for one in copies}
        if len(written) < len(copies) or any(one.origin.buffer in written for one in copies):
            raise RefusedError("a buffer is written twice, or copied from and to")
        known = buffers(kernel)
        body = (
            self._in_blocks(outer, inner, one, block, known) for one, block in zip(copies, self.blocks, strict=True)
        )
        return with_statements(kernel, outer, tuple(body))

    def _in_blocks(self, outer: Loop, inner: Loop, copy: _Copy, block: int, known: dict[str, Buffer]) -> Loop:
        """The loops over blocks of one copy; ``i`` of a block goes along columns, ``j`` along rows."""
        along, down = (
            (_axis(copy.index, name), _axis(copy.origin.index, name)) for name in (self.columns, self.rows)
        )
        _see_that_they_lie_side_by_side(known[copy.to], along[0])
        _see_that_they_lie_side_by_side(known[copy.origin.buffer], down[1])
        columns, rows = (minimum(one.stop - variable(one.variable), block) for one in (inner, outer))
        origin = copy.origin.buffer, copy.origin.index
        turn = TransposeBlock(copy.to, copy.index, *origin, (columns, rows), along, down)
        return replace(outer, body=(replace(inner, body=(turn,), step=block),), step=block)


@dataclass(frozen=True, slots=True)
class _Copy:
    """An element that is stored as it has been loaded."""

    to: str
    index: tuple[IntExpr, ...]
    origin: Load


def _copies(block: Block) -> Iterator[_Copy]:
    """Yield the copies that a block makes; RefusedError if it does anything else."""
    loaded: dict[str, Value] = {}
    for one in block:
        match one:
            case Let(name, Load() as value):
                loaded[name] = value
            case Store(buffer, index, value):
                origin = loaded.get(value.name, value) if isinstance(value, Var) else value
                if not isinstance(origin, Load):
                    raise RefusedError(f"what is stored in {buffer} is computed")
                yield _Copy(buffer, index, origin)
            case _:
                raise RefusedError(f"{show.block_lines((one,))[0]} is no copy")


def _axis(index: tuple[IntExpr, ...], name: str) -> int:
    """The axis along which a loop moves an index, by one."""
    axes = [axis for axis, expr in enumerate(index) if name in expr.names()]
    if len(axes) != 1 or name in (index[axes[0]] - variable(name)).names():
        raise RefusedError(f"the loop over {name} does not go along one axis, by one")
    return axes[0]


def _see_that_they_lie_side_by_side(buffer: Buffer, axis: int) -> None:
    if buffer.strides[axis].value != 1:
        raise RefusedError(f"elements along axis {axis} of {buffer.name} do not lie side by side")
