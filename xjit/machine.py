"""The sizes of a machine, and from where on something pays on it.

A number stands here if it is about speed, memory or time to compile: with any other numbers a program gives the same
bits. Numbers that decide bits, which are the same for all targets, are those of :mod:`xjit.numerics`.
"""

from __future__ import annotations

from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """All numbers about a machine that passes, planning, loops and programs ask for.

    Costs and work are in additions of one element.
    """

    # Costs.

    division_cost: float
    """Cost of a division or a square root of floats."""

    integer_division_cost: float
    """Cost of a quotient or a remainder of integers."""

    function_cost: float
    """Cost of what is no instruction of a processor, such as an exponential."""

    complex_factor: float
    """Cost of an operation on complex numbers, as a multiple of that on floats."""

    value_cost: float
    """Cost of a value besides its operation: names are registers, some of them in memory."""

    load_cost: float
    """Cost up to which a value is computed again rather than stored and loaded: about one load from the first-level
    cache."""

    access_cost: float
    """Cost of a load or a store of an element that is likely to be in the cache."""

    pass_cost: float
    """Cost of an element of a stage of tiles besides its operations, loads and stores."""

    tiling_cost: float
    """The same of an element of tiles that lie in memory: it is read ahead along pieces of rows only, and waits while
    stages run on scratch. One loop over 2000 x 2000 elements is faster although it computes 20 additions, or an
    exponential, more for each."""

    far_bytes: int
    """Bytes that tiles read and write from which on they lie in memory; fewer are in the last-level cache."""

    row_cost: float
    """Cost from which on storing a row for a later pass pays: about one division."""

    round_trip_cost: float
    """Cost of storing and loading an element of a large array."""

    # Lines of memory and vectors.

    vector_bytes: int
    """Bytes of a vector; elements that fill one by themselves are better left in one."""

    line_bytes: int
    """Bytes of a line of the cache; operands at longer steps do not use lines better in transposed tiles."""

    vector_step_bytes: int
    """Bytes of the step of a load up to which LLVM takes the elements out of whole vectors, once the text has the
    step. Of longer ones, and backward ones but -1, it makes gathers, of stores scatters: scalar code beats both."""

    gathered_steps: int
    """Elements that lie apart, and are little work, that a step of a loop moves: 4 take 0.75 of the time
    of one each, 8 no less."""

    # How much one kernel holds.

    kernel_operations: int
    """Operations of a kernel at most: one with more takes longer to compile than two."""

    most_parts: int
    """Parts of what is put together from pieces at most; more take longer to compile than a kernel that puts it
    together in memory."""

    most_places: int
    """Places at which a statement reads each of its values at most, in the mean; with more it is a stencil of
    stencils."""

    nested_elements: int
    """Elements of a reduction that runs as a loop within that of its reader; one of more is worth a kernel of its
    own."""

    small_reduction: int
    """Elements of reductions that share a kernel although they read different values."""

    most_siblings: int
    """Of the kernels that a statement could share although it needs nothing of theirs, so many are asked."""

    scanned_row_bytes: int
    """Bytes of a row that one kernel keeps of what its scans make, for later passes."""

    skew_steps: int
    """Steps that all scans of a loop keep for what runs behind: they are moved once per block."""

    called_functions: int
    """Vector functions that make a loop call them. A call costs a loop of few functions more than the tenth of its
    time that it costs at most in a loop of many, where what is inlined does not fit into registers and instruction
    caches either. A dozen functions inlined take 100 ms to compile, twelve calls 20."""

    # Short loops, written out.

    written_out_operations: int
    """Operations that writing out a loop over a few elements makes at most."""

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

    shared_column_blocks: int
    """Blocks into which threads share the columns of an array that stays in the second-level cache."""

    fewest_shared_columns: int
    """Columns of such a block at least."""

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

    register_bytes: int
    """Bytes of accumulators of columns that stay in registers for all rows, with room for what is added."""

    least_register_bytes: int
    """Bytes of these accumulators, at least: those of the shortest vector."""

    swept_bytes: int
    """Bytes that are read again for each block of these columns: the caches next to a core hold them."""

    strip_rows: int
    """Rows whose numbers are made ahead of the sums over columns: whole vectors of numbers, and few enough that the
    rows are still in the first-level cache for their second walk."""

    joined_rows: int
    """Rows that are added to accumulators of columns in one step: as many as make the loads and stores of the
    accumulators few."""

    joined_statements: int
    """Statements of a loop over columns beyond which it is busy without joining rows."""

    joined_results: int
    """Results that are summed side by side where they share what is read: their accumulators and what is read fit
    into registers."""

    joined_products: int
    """Products of a window at most that are added to an accumulator between its load and its store."""

    # Threads.

    shared_extent: int
    """Steps from which on a loop is worth sharing among threads where a longer one stands inside of it."""

    shared_blocks: int
    """The same of a loop over blocks or tiles, in each of which there is more to do."""

    update_parts: int
    """Parts of the columns of updates that threads share where rows may meet: each goes through all rows."""

    copied_work: float
    """Additions of a long loop for each element of an argument that it starts from, from which on it works on a copy:
    that begins at a line of memory, so that fewer vectors lie in two. A Cholesky factor of 400 rows, 811 additions
    for each element, takes 0.83 of the time then."""

    tested_ahead: int
    """Bytes of arguments from which on a loop tests its conditions ahead: copies in the cache are less work."""

    tested_work: float
    """Additions for each element of such arguments that testing all turns may take."""

    stored_ahead: int
    """So many times less than a copy has what is read behind an update, if it is to be stored ahead of that."""

    shared_lines: int
    """Lines of memory that such a part has of each row at least."""

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

    blocked_work: float
    """Work of all turns of a loop from which on they are done for one block of rows after the other."""

    most_blocked_work: float
    """Work of such turns at most: a block of rows is not left before its end, and signals wait."""

    blocked_turn_work: float
    """Work of a turn from which on blocks of rows may pay where nobody knows how many turns there are."""

    row_block_bytes: int
    """Bytes of what the turns of a loop touch for one block of rows: they stay in the second-level cache."""

    least_row_block: int
    """Rows of a block at least where vectors run over rows; one will do where loops inside of it have vectors."""

    shared_sums: int
    """Turns of a loop for each element that parts of it add to, at least, if each part is to have elements of its
    own: they are cleared before, and added up behind it."""

    masked_row_block: int
    """Rows at most of a block in which each has turns of its own: those that are done wait for the others."""

    masked_share: int
    """Of so many rows one is left when those that go on are gone through one by one: vectors do not pay any more."""

    masked_turns: int
    """Turns of loops of unknown length that threads reckon with: what looks for a root has about as many."""

    masked_integer_turns: int
    """The same of loops over integers: remainders, digits, roots and the like are found in some dozens of turns."""

    most_turns_at_a_time: int
    """Turns of loops of unknown length at a call at most: a call that is reckoned short is not left for signals."""

    row_blocks: int
    """Blocks of rows at least, if they are long enough: threads have some to share."""

    longest_turn: int
    """Operations at most of a graph that becomes a loop inside of a kernel: all of it is one function for LLVM."""

    long_piece: int
    """Steps of a piece beyond which it is a whole number of lines of memory."""

    piece_steps: int
    """Steps in which the elements of any type fill whole lines of memory."""

    # Products by BLAS.

    product_cost: float
    """Cost of one product of a matrix product, in additions."""

    lasting_products: int
    """Products that BLAS forms in tens of milliseconds, after which signals should not have to wait."""

    # Stencils of stencils, in overlapped tiles.

    tiled_bytes: int
    """Bytes of the values between stencils from which on they stay in scratch; fewer stay in cache anyway."""

    tile_bytes: int
    """Bytes of scratch for all windows of a tile: they stay in the second-level cache, and on the stack."""

    least_tiles: int
    """Tiles along an axis at least, so that threads have some to share."""

    narrowest_tile: int
    """Elements of pieces of rows at least, so that loops stay long."""

    # Turns of loops, in tiles of time.

    time_tiled_bytes: int
    """Bytes of what the turns of a loop change from which on several of them are done for one tile of rows after the
    other; fewer stay in the last-level cache from turn to turn."""

    time_tile_bytes: int
    """Bytes of the rows that the turns of a tile work on at a time: a thread's part of the last-level cache."""

    least_time_tiles: int
    """Such tiles at least, so that threads have some to share: of 200 rows in four tiles, five turns of three
    dimensions stay in the cache, and take 0.43 of the time."""

    time_tile_work: float
    """Work of the turns of a tile at most, in additions: a tile is not left before its end, and signals wait."""

    most_turns: int
    """Turns at most that are done for one tile."""

    band_work: float
    """Work of the rows that a nest of such a turn takes at a time, in additions: enough to be worth a call."""

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

    visits_of_copies: float
    """Times that turns of a loop read each element of an operand across its lines from which on a copy that lies
    along them pays: a loop of 200 turns over columns takes a third of the time."""

    window_share: float
    """Times that a window is larger than its border at least, if turns of a loop are to copy that in place of the
    window."""

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

    paired_near_bytes: int
    """Bytes beyond which more streams of memory than processors follow cost more than loads that are left out."""

    paired_far_loads: float
    """The same share for what touches more than that. Seven points of 160 x 160 x 160 floats of 8 bytes, which have
    two loads of seven in common, take 1.4 to 1.7 times as long two rows at a time; five points of a plane, with two
    of five, 0.8 to 0.9."""

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
        division_cost=4.0,
        integer_division_cost=8.0,
        function_cost=20.0,
        complex_factor=3.0,
        value_cost=0.5,
        load_cost=4.0,
        access_cost=1.0,
        pass_cost=2.0,
        tiling_cost=25.0,
        far_bytes=24 << 20,
        row_cost=6.0,
        round_trip_cost=2.0,
        vector_bytes=64,
        line_bytes=64,
        vector_step_bytes=32,
        gathered_steps=4,
        kernel_operations=1_200,
        most_parts=27,
        most_places=4,
        nested_elements=4096,
        small_reduction=65_536,
        most_siblings=4,
        scanned_row_bytes=65_536,
        skew_steps=1024,
        called_functions=12,
        written_out_operations=256,
        baked_extent=64,
        repeated_cost=10.0,
        strip_elements=512,
        stop_elements=4096,
        row_scratch_bytes=131_072,
        shared_column_blocks=4,
        fewest_shared_columns=128,
        column_block=4096,
        column_bytes=24_576,
        accumulator_bytes=262_144,
        accumulator_columns=16,
        register_bytes=128,
        least_register_bytes=16,
        swept_bytes=65_536,
        strip_rows=16,
        joined_rows=4,
        joined_statements=12,
        joined_results=8,
        joined_products=12,
        shared_extent=64,
        shared_blocks=16,
        update_parts=2,
        copied_work=400.0,
        tested_ahead=1 << 20,
        tested_work=16.0,
        stored_ahead=4,
        shared_lines=4,
        lone_share=0.125,
        parallel_work=500_000.0,
        piece_work=500_000.0,
        most_pieces=64,
        lasting_work=20_000_000.0,
        blocked_work=1_000_000.0,
        most_blocked_work=1e9,
        blocked_turn_work=20_000.0,
        row_block_bytes=262_144,
        least_row_block=32,
        shared_sums=8,
        masked_row_block=64,
        masked_share=8,
        masked_turns=8,
        masked_integer_turns=32,
        most_turns_at_a_time=4096,
        row_blocks=16,
        longest_turn=400,
        long_piece=1024,
        piece_steps=64,
        product_cost=0.125,
        lasting_products=2**30,
        tiled_bytes=4_194_304,
        tile_bytes=131_072,
        least_tiles=8,
        narrowest_tile=256,
        time_tiled_bytes=24 << 20,
        time_tile_bytes=8 << 20,
        least_time_tiles=4,
        time_tile_work=4e8,
        most_turns=32,
        band_work=8_000.0,
        transposed_columns=64,
        transposed_bytes=32_768,
        transposed_rows=256,
        fewest_transposed_rows=8,
        transposed_item_bytes=8,
        visits_of_copies=4.0,
        window_share=8.0,
        fewest_paired_rows=8,
        paired_scans=4,
        paired_bytes=16 << 20,
        paired_item_bytes=4,
        paired_row_bytes=8192,
        paired_loads=0.25,
        paired_near_bytes=6 << 20,
        paired_far_loads=0.35,
        packed_terms=32,
        packed_results=16,
        packed_rows=32,
        packed_bytes=16_384,
    )
