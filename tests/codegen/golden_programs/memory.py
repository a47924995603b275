"""Places of values: pieces, borders, views, looked-up positions, buffers that are written over."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.codegen.golden_programs.record import Array, golden, numbers
from tests.helpers import formulas
from xjit import ops

ROWS = numbers(64, 100)
LINE = numbers(100, seed=1)
INDICES = np.random.default_rng(3).integers(-20, 20, 160)

golden(LINE, shows="Pieces of one size share a loop: each goes where it belongs, the whole is never put together.")(
    formulas.joined
)


@golden(LINE, numbers(60))
def joined_of_two_sizes(x: Array, y: Array) -> Array:
    """Pieces of different sizes are loops of their own in one kernel."""
    return np.concatenate([x * 2, y + 1])


@golden(numbers(90, 100))
def padded_stencil(u: Array) -> Array:
    """A padded array is never stored: interior, edges and corners are loops of one kernel that read ``u``."""
    p = np.pad(u, 1, mode="edge")
    return 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


@golden(LINE)
def difference_around(x: Array) -> Array:
    """Return what is rolled around is read in two parts."""
    return x - np.roll(x, 1)


@golden(LINE)
def zeros_around(x: Array) -> Array:
    """A border of zeros is stored without reading."""
    return np.pad(x, 2)


@golden(LINE)
def spread_out(x: Array) -> Any:
    """Elements with gaps between them: the gaps are filled first, then the elements stored over them."""
    return ops.pad(x * 2, 0.0, ((1, 1, 2),))


@golden(LINE)
def interleaved(x: Array) -> Array:
    """A result in steps of two is written by two stores of one loop."""
    return np.stack([x, -x], axis=1).reshape(-1)


@golden(ROWS, INDICES)
def rows_looked_up(x: Array, rows: Array) -> Array:
    """Positions from data are checked as they are used; a row that is not there sets a status and reads row 0."""
    return x[rows] + 1.0


@golden(ROWS, INDICES, INDICES[::-1].copy())
def elements_looked_up(x: Array, rows: Array, columns: Array) -> Array:
    """An element is addressed by two positions from data."""
    return x[rows, columns] * 2


@golden(LINE, INDICES.reshape(10, 16))
def sums_of_what_is_looked_up(x: Array, places: Array) -> Array:
    """Positions of elements that are added up are checked a block ahead; the sum has no checks if all lie inside."""
    return x[places].sum(axis=1)


@golden(ROWS, INDICES)
def every_other_row_looked_up(x: Array, rows: Array) -> Array:
    """Positions that no element of the result needs are checked in a loop of their own."""
    return x[rows][::2] + 1.0


@golden(numbers(90, 90))
def diagonal(x: Array) -> Array:
    """Both axes of a diagonal move with one loop."""
    return np.diagonal(x) * 2


@golden(numbers(60, 40))
def row_major_again(x: Array) -> Array:
    """Elements in row-major order refill other dimensions through the operand's own loops."""
    return (x.T + 1.0).reshape(-1)


@golden(numbers(80, 60), numbers(60, 50), numbers(50))
def over_a_product(a: Array, b: Array, c: Array) -> Array:
    """The product is read for the last time where the result is written: they share memory."""
    return np.tanh(a @ b + c)


@golden(ROWS)
def around_a_sort(x: Array) -> Array:
    """Return what a library computes stands between two kernels."""
    return np.sort(x * 2, axis=1) + 1.0


@golden(ROWS)
def view_beside_values(x: Array) -> tuple[Array, Array]:
    """A view of a result takes no work."""
    doubled = x * 2
    return doubled, doubled[1:, ::2]
