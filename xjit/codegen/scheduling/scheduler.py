"""The schedule of a kernel for processors: a list of rewrites of its naive loops.

Ideas look at the loops one after the other, each at those that the ideas before it have left, and yield rewrites.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from xjit import config
from xjit.codegen.lowering.buffers import Buffers
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import RefusedError, Rewrite, applied
from xjit.codegen.scheduling.ideas.checked_ahead import checks_ahead
from xjit.codegen.scheduling.ideas.columns import ColumnBlocks, in_blocks_of_columns, in_lanes
from xjit.codegen.scheduling.ideas.joined_windows import in_whole_windows
from xjit.codegen.scheduling.ideas.overlapped_tiles import in_overlapped_tiles
from xjit.codegen.scheduling.ideas.packed import in_packed_rows
from xjit.codegen.scheduling.ideas.pairs import in_pairs
from xjit.codegen.scheduling.ideas.rare import in_strips
from xjit.codegen.scheduling.ideas.reduction_loops import in_blocks_and_lanes
from xjit.codegen.scheduling.ideas.reused_scratch import reused_scratch
from xjit.codegen.scheduling.ideas.scattered_stores import before_scattered_stores
from xjit.codegen.scheduling.ideas.tiles import in_tiles
from xjit.codegen.scheduling.ideas.unrolled import in_copies
from xjit.codegen.scheduling.ideas.unrolled_rows import unrolled_rows
from xjit.codegen.scheduling.ideas.values_ahead import columns_ahead, functions_of_rows, rows_ahead
from xjit.codegen.scheduling.loop_order import Ordered
from xjit.codegen.scheduling.rows.row_storage import KeptValue, keep_rows
from xjit.codegen.scheduling.rows.scan_blocks import ScanPass, scans_in_blocks
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Kernel
from xjit.ir.loops.verify import verify


@dataclass(frozen=True, slots=True, eq=False)
class NaiveNest:
    """The loops of one group: ``loops`` names those of the kernel that each loop of its plan has become, in order.

    ``buffers`` knows the names of what the group touches; ``columns`` are the blocks that its columns run in, if
    their elements are combined one after the other. ``kept_values`` are expensive values that several passes over a
    row compute.
    """

    ordered: Ordered
    loops: Mapping[str, tuple[str, ...]]
    buffers: Buffers
    columns: ColumnBlocks | None = None
    kept_values: tuple[KeptValue, ...] = ()
    scan_passes: tuple[ScanPass, ...] = ()


class Idea(Protocol):
    """A reason to rewrite loops; rewrites that are yielded together are done together, or none of them.

    ``nest`` gives fresh names and words of the table.
    """

    def __call__(self, kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
        """Yield rewrites of a kernel."""
        ...


IDEAS: tuple[Idea, ...] = (
    in_overlapped_tiles,
    in_tiles,
    keep_rows,
    scans_in_blocks,
    in_packed_rows,
    in_copies,
    in_pairs,
    checks_ahead,
    in_blocks_and_lanes,
    in_blocks_of_columns,
    in_whole_windows,
    rows_ahead,
    functions_of_rows,
    columns_ahead,
    unrolled_rows,
    in_lanes,
    before_scattered_stores,
    in_strips,
    reused_scratch,
)
"""In the order in which they look at a kernel."""


def scheduled(
    kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder, ideas: Sequence[Idea] = IDEAS
) -> tuple[Kernel, tuple[Rewrite, ...]]:
    """Rewrite a kernel as the ideas say; return it with what was done, in order.  Refused rewrites are left out."""
    verified = config.flag("XJIT_VERIFY")
    if verified:
        verify(kernel)
    done: list[Rewrite] = []
    for idea in ideas:
        for rewrites in idea(kernel, nests, nest):
            try:
                kernel = applied(kernel, rewrites, verified=verified)
            except RefusedError:
                continue
            done += rewrites
    return kernel, tuple(done)
