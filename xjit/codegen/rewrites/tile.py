"""Cut a nest of loops into tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.record import RefusedError, Rewrite, applied
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.split import Split
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Kernel


@dataclass(frozen=True, slots=True)
class Tile:
    """Cut loops that are one in the next into tiles: loops over tiles around loops over what is in one.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[j, i] = x[i, j]
    after       for bi in 0 .. n by 16:                 Tile(("i", "j"), (16, 8), ("bi", "bj"))
                  for bj in 0 .. m by 8:
                    for i in bi .. min(bi + 16, n):
                      for j in bj .. min(bj + 8, m):
                        out[j, i] = x[i, j]
    """

    loops: tuple[str, ...]
    lengths: tuple[int, ...]
    tiles: tuple[str, ...]

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses what splits or their new order refuse."""
        if not len(self.loops) == len(self.lengths) == len(self.tiles):
            raise RefusedError("as many lengths and names of tiles as loops are expected")
        return applied(kernel, self.rewrites())

    def rewrites(self) -> Sequence[Rewrite]:
        """The rewrites that this is the name of."""
        splits = map(Split, self.loops, self.lengths, self.tiles)
        return *splits, Reorder((*self.tiles, *self.loops))
