"""Reductions: along rows, down columns, in chunks, inside of others; sums in the order that decides their bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.codegen.golden_programs.record import Array, golden, numbers
from tests.helpers import formulas
from xjit import ops

ROWS = numbers(64, 100)
LINE = numbers(100, seed=1)
SINGLE = numbers(64, 100, dtype=np.float32)
BYTES = numbers(64, 100, dtype=np.uint8)
LONG = numbers(100_000, dtype=np.float32)

# ---------------------------------------------------------------------- along rows


@golden(ROWS)
def row_sums(x: Array) -> Any:
    """A sum of floats: blocks of 512, in lanes, each block added with its rounding error."""
    return x.sum(axis=1)


@golden(ROWS)
def row_products(x: Array) -> Any:
    """A product runs in the same lanes as a sum."""
    return x.prod(axis=1)


@golden(ROWS)
def row_extremes(x: Array) -> Any:
    """Two reductions of one pass; extremes need no blocks."""
    return x.max(axis=1) - x.min(axis=1)


@golden(ROWS[:, ::-1])
def largest_of_what_runs_backward(x: Array) -> Any:
    """The order of what is compared is of no account: the loop runs forward."""
    return x.max(axis=1)


@golden(ROWS.T, any_size=False)
def sums_of_a_transposed_array(x: Array) -> Any:
    """Loops follow memory: what is summed first is what lies side by side."""
    return x.sum(axis=0)


@golden(numbers(64, 200)[:, ::2][:, :90], any_size=False)
def sum_of_a_view(x: Array) -> Any:
    """The rows of a view are one line of elements, whose values wait in scratch where they lie together."""
    return x.sum()


@golden(numbers(10, 40, 50)[:, ::3, :40], any_size=False)
def sum_of_a_view_of_three_axes(x: Array) -> Any:
    """A line of elements that three loops run through begins and ends within each of them."""
    return x.sum()


@golden(numbers(12, 40, 50))
def sum_of_outer_and_inner_axes(x: Array) -> Any:
    """Two axes are reduced around the one that is kept."""
    return x.sum(axis=(0, 2))


@golden(BYTES)
def sums_of_bytes(x: Array) -> Any:
    """Blocks of bytes add up in 32 bits: more of them fit into a vector."""
    return x.sum(axis=1)


@golden(BYTES)
def count_of_truths(x: Array) -> Any:
    """As many truth values as a block has add up in 16 bits."""
    return (x > 10).sum(axis=1)


@golden(BYTES)
def any_and_all(x: Array) -> Any:
    """A fold that nothing can change any more is left."""
    return (x > 19).any(axis=1) | (x > 0).all(axis=1)


@golden(SINGLE.astype(np.float16))
def sums_of_halves(x: Array) -> Any:
    """Half precision adds up in float32 and is rounded once."""
    return x.sum(axis=1)


@golden(numbers(64, 100, dtype=np.complex128))
def complex_sums(x: Array) -> Any:
    """A sum of complex numbers is one of their parts each."""
    return x.sum(axis=1)


@golden(ROWS, numbers(64, 100, dtype=np.bool_))
def sums_where(x: Array, mask: Array) -> Any:
    """Return what a mask leaves out counts as zero: no branch."""
    return x.sum(axis=1, where=mask)


@golden(ROWS)
def sums_from_three(x: Array) -> Any:
    """An initial value is added when the sum is done."""
    return x.sum(axis=1, initial=3.0)


@golden(ROWS)
def largest_sines(x: Array) -> Any:
    """An extreme of a function with rare arguments: the slow path begins with what there was before the strip."""
    return np.sin(x).max(axis=1)


@golden(ROWS)
def folded(x: Array) -> Any:
    """A computation of one's own is folded one element after the other."""
    return ops.reduce(x, 1.0, lambda a, b: a + b * 0.5, (1,))


@golden(ROWS, numbers(64, 100, dtype=np.int64))
def folded_together(x: Array, y: Array) -> Any:
    """Two values are carried from element to element; a tuple of results."""
    return ops.reduce((x, y), (0.0, np.int64(0)), lambda a, i, b, j: (a + b, i + j), (1,))


# ---------------------------------------------------------------------- several passes over a row

golden(SINGLE, shows="Three passes over a row; the exponentials wait in the row of the result.")(formulas.softmax)
golden(ROWS, LINE, LINE, shows="Mean, variance and result: three passes while a row is in cache.")(formulas.layernorm)
golden(ROWS, shows="A pass that needs the result of the one before.")(formulas.logsumexp)


@golden(ROWS)
def sines(x: Array) -> Any:
    """A reduction of a function with rare arguments: strips wait in scratch, as the sum cannot run twice."""
    return np.sin(x).sum(axis=1)


# ---------------------------------------------------------------------- searches


@golden(ROWS)
def place_of_the_largest(x: Array) -> Any:
    """The extreme of each block of 512; the row is searched once more only in the block that has it."""
    return x.argmax(axis=1)


@golden(ROWS, LINE)
def place_of_what_is_computed(x: Array, weight: Array) -> Any:
    """Return what is not in memory is computed again in the block that has the extreme."""
    return (x * weight).argmin(axis=1)


@golden(numbers(64, 100, dtype=np.int32))
def place_of_the_largest_integer(x: Array) -> Any:
    """A search among integers ends where no larger one can follow."""
    return x.argmax(axis=1)


@golden(ROWS)
def places_down_columns(x: Array) -> Any:
    """In columns the smallest values come first, then the first place of each."""
    return x.argmin(axis=0)


@golden(numbers(1_000_000), any_size=False)
def place_in_a_long_array(x: Array) -> Any:
    """Chunks find their extremes, the best one is searched."""
    return x.argmax()


# ---------------------------------------------------------------------- down columns

golden(ROWS, any_size=False, shows="Few rows in blocks of columns, whose accumulators stay in registers.")(
    formulas.column_means
)


@golden(ROWS)
def column_variances(x: Array) -> Any:
    """Two passes over a block of columns: the means wait in scratch for the second."""
    return x.var(axis=0)


@golden(numbers(50, 4000), any_size=False)
def wide_columns(x: Array) -> Any:
    """Four rows in a step save three of four loads and stores of the accumulators."""
    return x.max(axis=0)


@golden(numbers(300, 100), numbers(300))
def rows_weighted_by_exponentials(x: Array, power: Array) -> Any:
    """Return what each row needs alone is computed for a strip of rows at a time, as vector code."""
    return (np.exp(power)[:, None] * x).max(axis=0)


@golden(ROWS)
def column_sums_of_sines(x: Array) -> Any:
    """Sines of a row wait in scratch: accumulators cannot run twice."""
    return np.sin(x).sum(axis=0)


# ---------------------------------------------------------------------- in chunks

golden(LONG, shows="Chunks with a result each, shared among threads; then one kernel for their sum.")(
    formulas.sum_of_squares
)


@golden(numbers(3000, 700), any_size=False)
def largest_row(x: Array) -> Any:
    """A reduction of a reduction: the sums of rows wait in scratch for the pass over them."""
    return (x * x).sum(axis=1).max()


@golden(numbers(20_000, 50), any_size=False)
def tall_columns(x: Array) -> Any:
    """Few columns and many rows: chunks of rows have results of their own."""
    return x.sum(axis=0)


@golden(LONG, any_size=False)
def long_logsumexp(x: Array) -> Any:
    """Chunks of one pass follow on what chunks of another have found."""
    return np.log(np.exp(x - x.max()).sum())


# ---------------------------------------------------------------------- inside of others

golden(numbers(20, 3), numbers(5, 3, seed=1), shows="A sum of three squares within a search: no distance is stored.")(
    formulas.nearest
)
golden(
    *(numbers(40, 20), numbers(12, 20, seed=1)),
    shows="A nested sum over twenty is a loop of its own for each pair; the distances wait in a row of scratch.",
    name="nearest_of_long",
    any_size=False,
)(formulas.nearest)


golden(
    *(numbers(100, 16, dtype=np.float32), numbers(64, 16, dtype=np.float32, seed=1)),
    shows="A nested sum over sixteen is written out along the row of centres, which are packed by coordinate.",
    name="nearest_packed",
    any_size=False,
)(formulas.nearest)


@golden(numbers(40, 300), numbers(12, 300, seed=1))
def largest_of_sums(x: Array, y: Array) -> Any:
    """A nested sum over many runs in lanes; the extent of its loop is read from the table."""
    return np.abs(x[:, None, :] - y[None, :, :]).sum(axis=2).max(axis=1)


@golden(numbers(30, 9, 12), numbers(10, 9, 12, seed=1), any_size=False)
def nearest_picture(x: Array, y: Array) -> Any:
    """A nested reduction over two axes is two loops."""
    return np.abs(x[:, None] - y[None]).max(axis=(2, 3)).min(axis=1)


@golden(numbers(80, 20), numbers(20, 12), any_size=False)
def product_written_as_a_sum(a: Array, b: Array) -> Any:
    """A sum of products along rows of the second operand."""
    return (a[:, :, None] * b[None, :, :]).sum(axis=1)
