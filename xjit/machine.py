"""The sizes of a machine, and from where on something pays on it.

A number stands here if it is about speed, memory or time to compile: with any other numbers a program gives the same
bits. Numbers that decide bits, which are the same for all targets, are those of :mod:`xjit.numerics`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """All numbers about a machine that passes, planning, loops and programs ask for.

    Costs and work are in additions of one element.
    """

    # Lines of memory and vectors.

    line_bytes: int
    """Bytes of a line of the cache; operands at longer steps do not use lines better in transposed tiles."""

    vector_step_bytes: int
    """Bytes of the step of a load up to which LLVM takes the elements out of whole vectors, once the text has the
    step. Of longer ones, and backward ones but -1, it makes gathers, of stores scatters: scalar code beats both."""

    # Short loops, written out.

    baked_extent: int
    """Elements of a nested loop up to which its extent is in the text: the compiler need not be ready for others."""

    repeated_cost: float
    """Cost of an element of a sum up to which the loops over whole and rest of its lanes each compute it; beyond, a
    store and a load per element cost less."""

    # Blocks of loops.

    strip_elements: int
    """Elements of a strip, which runs again if one of its arguments was out of the range of the fast path."""

    stop_elements: int
    """Elements after which a fold is asked whether it is through, as after the first true one of ``any``."""

    row_scratch_bytes: int
    """Bytes of stack that one kernel may use for rows that wait between two passes."""

    # Reductions over slow axes, in blocks of columns.

    column_block: int
    """Columns that one thread accumulates at a time: their accumulators stay in the first-level cache, and pieces of
    rows are long enough for memory to be read ahead."""

    column_bytes: int
    """Bytes of accumulators that fill most of the first-level cache, and are loaded and stored for several rows at
    once. Rows with fewer are taken one by one, as memory is read ahead best along one stream."""

    accumulator_bytes: int
    """Bytes of stack for the accumulators of all columns of a block."""

    accumulator_columns: int
    """Columns of whole vectors: what blocks of columns are multiples of, and their least size."""

    strip_rows: int
    """Rows whose numbers are made ahead of the sums over columns: whole vectors of numbers, and few enough that the
    rows are still in the first-level cache for their second walk."""

    joined_rows: int
    """Rows that are added to accumulators of columns in one step: as many as make the loads and stores of the
    accumulators few."""

    joined_statements: int
    """Statements of a loop over columns beyond which it is busy without joining rows."""

    # Threads.

    shared_extent: int
    """Steps from which on a loop is worth sharing among threads where a longer one stands inside of it."""

    shared_blocks: int
    """The same of a loop over blocks or tiles, in each of which there is more to do."""

    lone_share: float
    """The share of the heaviest nest's work below which another nest of a kernel is one step of the shared loop."""

    parallel_work: float
    """Work, in additions, below which waking another thread costs more than it saves."""

    piece_work: float
    """Work that one piece of a shared loop should hold."""

    most_pieces: int
    """Pieces of a shared loop at most, unless they would last."""

    lasting_work: float
    """Work in one piece after which signals should not have to wait for its end: tens of milliseconds."""

    long_piece: int
    """Steps of a piece beyond which it is a whole number of lines of memory."""

    piece_steps: int
    """Steps in which the elements of any type fill whole lines of memory."""

    # Products by BLAS.

    product_cost: float
    """Cost of one product of a matrix product, in additions."""

    lasting_products: int
    """Products that BLAS forms in tens of milliseconds, after which signals should not have to wait."""

    # Operands that lie across each other, in transposed tiles.

    transposed_columns: int
    """Elements of a tile along the innermost loop. Tiles of 256 by 64 elements take 8 % off large arrays of float32,
    but a fifth more for arrays in the cache and twice the time for narrow ones."""

    transposed_bytes: int
    """Bytes of all tiles of a kernel: they stay in the first-level cache."""

    transposed_rows: int
    """Rows of a tile beyond which it gains nothing."""

    fewest_transposed_rows: int
    """Rows of a tile below which it costs more than it saves."""

    transposed_item_bytes: int
    """Bytes of the largest elements that go through a tile: larger ones would be copied twice, which costs more than
    it saves."""

    # Unroll and jam: two rows in a step.

    fewest_paired_rows: int
    """Rows from which on two go in a step: of fewer the one made twice counts, and threads want them for
    themselves."""

    paired_scans: int
    """Scans of a loop beyond which they keep the processor busy by themselves."""

    paired_bytes: int
    """Bytes beyond which memory counts, which is read ahead and written best in one place. There two rows in a step
    do not pay for scans of integers, which take a cycle, and for those of wider floats only along long rows: 20,000
    rows of 200 elements of 8 bytes take 1.7 times as long for floats, three times for integers."""

    paired_item_bytes: int
    """Bytes of floats up to which two rows in a step pay all the same."""

    paired_row_bytes: int
    """Bytes of a row from which on two in a step pay for wider floats too."""

    paired_loads: float
    """The least share of its loads that a row has in common with the next one for two in a step to pay."""

    # Short reductions whose results fill a row, over packed operands.

    packed_terms: int
    """Elements of such a reduction at most: their number of vectors fits into registers."""

    packed_results: int
    """Results in a row from which on packing pays."""

    packed_rows: int
    """Rows from which on packing pays: a few are enough."""

    packed_bytes: int
    """Bytes of all packed operands: they stay in the first-level cache."""


def processor() -> Machine:
    """The numbers for the processors that LLVM compiles for.

    >>> processor().line_bytes
    64
    """
    return Machine(
        line_bytes=64,
        vector_step_bytes=32,
        baked_extent=64,
        repeated_cost=10.0,
        strip_elements=512,
        stop_elements=4096,
        row_scratch_bytes=131_072,
        column_block=4096,
        column_bytes=24_576,
        accumulator_bytes=262_144,
        accumulator_columns=16,
        strip_rows=16,
        joined_rows=4,
        joined_statements=12,
        shared_extent=64,
        shared_blocks=16,
        lone_share=0.125,
        parallel_work=500_000.0,
        piece_work=500_000.0,
        most_pieces=64,
        lasting_work=20_000_000.0,
        long_piece=1024,
        piece_steps=64,
        product_cost=0.125,
        lasting_products=2**30,
        transposed_columns=64,
        transposed_bytes=32_768,
        transposed_rows=256,
        fewest_transposed_rows=8,
        transposed_item_bytes=8,
        fewest_paired_rows=8,
        paired_scans=4,
        paired_bytes=16 << 20,
        paired_item_bytes=4,
        paired_row_bytes=8192,
        paired_loads=0.25,
        packed_terms=32,
        packed_results=16,
        packed_rows=32,
        packed_bytes=16_384,
    )
