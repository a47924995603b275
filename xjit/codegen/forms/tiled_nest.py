"""A group in tiles: what lies across the innermost loop is transposed before a tile is computed, or behind it, or
from buffer to buffer.

``tiles.py`` shows what that looks like, and decides on it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

from xjit.codegen.language.scalar_types import TURNED
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.scheduling.accesses import Access
from xjit.codegen.scheduling.schedule import Loop
from xjit.codegen.scheduling.tiles import Tiles, tile_bounds
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, as_int, minimum, variable
from xjit.ir.loops.nodes import LetInt, Load, Store, TransposeBlock
from xjit.types import DType


@dataclass(eq=False)
class TiledNest:
    """The loops of a group in tiles."""

    values: GroupValues
    tiles: Tiles

    def __post_init__(self) -> None:
        self.nest, self.bounds = self.values.nest, self.values.bounds
        self._rows, self._columns = self.tiles.rows, self.tiles.columns

    @property
    def work(self) -> float:
        """How much there is to compute, in additions."""
        return self.values.accesses.work(columns=False)

    def write(self) -> None:
        """All loops."""
        outer = self.values.plan.kept[:-2]
        self.bounds.open(outer)
        self._open_tile()
        if self.tiles.transposition.copies:
            for source, target in self.tiles.transposition.copies:
                self._copy_across(source, target)
        else:
            self._compute()
        self._close_tile()
        self.bounds.close_kept(len(outer))

    def _compute(self) -> None:
        """One tile, with what lies across in scratch."""
        accesses = self.values.accesses
        for access in dict.fromkeys(accesses.reads.values()):
            if self.tiles.holds(access):
                self._move(access, storage_dtype(access.node.aval.dtype), written=False)
        self.nest.open(self._rows.variable, self._rows.axes)
        indexed_values = [indexed for visited in accesses.visits for indexed in visited]
        element = functools.partial(self.values.store_all, range(len(self.values.group.statements)))
        self.values.loop(self._columns, tile_bounds(self._columns), indexed_values, element)
        self.nest.close(*tile_bounds(self._rows))
        for access in filter(None, accesses.writes):
            if self.tiles.holds(access):
                self._move(access, self.tiles.turned[access][1], written=True)

    # ------------------------------------------------------------------ the loops over tiles

    def _blocked(self) -> list[tuple[int, Loop]]:
        """The two loops with their numbers."""
        return list(enumerate(self.values.plan.kept))[-2:]

    def _open_tile(self) -> None:
        for number, loop in self._blocked():
            start, _ = tile_bounds(loop)
            size = self.tiles.transposition.size(number)
            self.nest.open(str(start))
            stop = minimum(start + size, self.bounds.extent(loop))
            self.nest.inner.statements.append(LetInt(f"{loop.variable}_stop", stop))

    def _close_tile(self) -> None:
        for number, _ in reversed(self._blocked()):
            start, stop, kind = self.bounds.kept(number)
            self.nest.close(start, stop, kind, self.tiles.transposition.size(number))

    # ------------------------------------------------------------------ what lies across

    def _move(self, access: Access, dtype: DType, *, written: bool) -> None:
        name = self.tiles.pointer(access, written, dtype)
        if access.moves[self._rows.axes[-1]] == 1:
            self._turn(access, name, dtype, written)
        else:
            self._copy(access, name, dtype, written)

    def _turn(self, access: Access, name: str, dtype: DType, written: bool) -> None:
        """Between a buffer and scratch, whole blocks in registers."""
        # What is contiguous in the buffer is the inner loop.
        with self._blocks(dtype, self._columns, self._rows):
            buffer, scratch = (name, self.tiles.index_of(access, name)), self.tiles.turned_place(access, dtype)
            columns, rows = self._left()
            down, along = self._axes(name, access)
            if written:
                turn = TransposeBlock(*buffer, *scratch, (rows, columns), (down, 0), (along, 1))
            else:
                turn = TransposeBlock(*scratch, *buffer, (columns, rows), (1, along), (0, down))
            self.nest.inner.statements.append(turn)

    def _axes(self, name: str, access: Access) -> tuple[int, int]:
        """The axes of a buffer along which the rows and the columns of a tile lie."""
        strides = (as_int(self.tiles.stride(access, name, loop)) for loop in (self._rows, self._columns))
        down, along = (self.nest.axes[name].index(stride) for stride in strides)
        return down, along

    def _copy_across(self, source: Access, target: Access) -> None:
        """From one buffer to another, whole blocks in registers; the one that is written is filled in order."""
        dtype, tiles = storage_dtype(source.node.aval.dtype), self.tiles
        with self._blocks(dtype, self._rows, self._columns):
            to, origin = tiles.pointer(target, True, dtype), tiles.pointer(source, False, dtype)
            write, read = (to, tiles.index_of(target, to)), (origin, tiles.index_of(source, origin))
            (to_down, to_along), (down, along) = self._axes(to, target), self._axes(origin, source)
            axes = (to_along, along), (to_down, down)
            self.nest.inner.statements.append(TransposeBlock(*write, *read, self._left(), *axes))

    def _left(self) -> tuple[IntExpr, IntExpr]:
        """What a block takes at most along the columns and along the rows."""
        columns, rows = (tile_bounds(loop)[1] - variable(loop.variable) for loop in (self._columns, self._rows))
        return columns, rows

    @contextlib.contextmanager
    def _blocks(self, dtype: DType, *loops: Loop) -> Iterator[None]:
        """The loops over the blocks of a tile."""
        for loop in loops:
            self.nest.open(loop.variable, loop.axes)
        yield
        for loop in reversed(loops):
            self.nest.close(*tile_bounds(loop), step=TURNED[dtype.itemsize])

    def _copy(self, access: Access, name: str, dtype: DType, written: bool) -> None:
        """Element by element, where the buffer has gaps or is walked backward."""
        for loop in (self._rows, self._columns):
            self.nest.open(loop.variable, loop.axes)
        scratch, buffer = self.tiles.turned_place(access, dtype), (name, self.tiles.index_of(access, name))
        target, source = (buffer, scratch) if written else (scratch, buffer)
        store = Store(*target, Load(*source, dtype), access.node.where)
        self.nest.inner.statements.append(store)
        for loop in (self._columns, self._rows):
            self.nest.close(*tile_bounds(loop))
