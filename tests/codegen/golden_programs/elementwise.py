"""Stores: every element by itself, in which order and type."""

from __future__ import annotations

import numpy as np

from tests.codegen.golden_programs.record import Array, golden, numbers
from tests.helpers import formulas

ROWS = numbers(64, 100)
LINE = numbers(100, seed=1)
SINGLE = numbers(64, 100, dtype=np.float32)
HALF = LINE.astype(np.float16)
SIGNED = LINE - 1.0

# ---------------------------------------------------------------------- one loop

golden(SINGLE, SINGLE, shows="Arrays of one layout are one line of elements, whatever their shape.")(formulas.chain)
golden(
    *(ROWS[::2, ::-1], ROWS[:32].T.copy().T),
    shows="Columns of one operand run backward; the other one lies across and is transposed, a tile at a time.",
    name="chain_strided",
    any_size=False,
)(formulas.chain)
golden(LINE, shows="Neighbours are read through pointers to where each begins.")(formulas.stencil)
golden(
    LINE.astype(np.int32) + 7, shows="Both sides of a choice are computed: the loop has no branch.", name="collatz"
)(formulas.collatz)


@golden(LINE)
def mirrored(x: Array) -> Array:
    """Return what runs backward is addressed from its last element on."""
    return x + x[::-1]


@golden(LINE, LINE)
def several_results(x: Array, y: Array) -> tuple[Array, Array]:
    """Results over the same elements share a loop and what they have in common."""
    total = x + y
    return total * total, np.sqrt(total)


@golden(ROWS, LINE)
def row_added(x: Array, row: Array) -> Array:
    """A row is read again for every row: it has no distance along the outer axis."""
    return x + row


@golden(ROWS, numbers(64))
def column_added(x: Array, column: Array) -> Array:
    """Return what does not depend on the inner loop is loaded before it."""
    return x + column[:, None]


golden(LINE, numbers(100, 50), shows="A costly value of the outer axis is computed once for each row.")(
    formulas.outer_exponential
)


@golden(numbers(60, 60))
def lower_triangle(x: Array) -> Array:
    """The position of an element is a value: the loops count it."""
    return np.tril(x)


# ---------------------------------------------------------------------- fast and slow paths


@golden(SIGNED)
def sine(x: Array) -> Array:
    """Rare arguments have a slow path: 512 elements take the fast one, and the slow one follows if any was rare."""
    return np.sin(x)


@golden(SIGNED, LINE)
def sine_over_its_argument(x: Array, y: Array) -> Array:
    """Two functions with rare arguments share a strip: one flag sends both to their slow paths."""
    return np.sin(x) / np.tan(y)


@golden(SIGNED[:80], numbers(80, 60))
def sines_times_rows(x: Array, y: Array) -> Array:
    """A function of the outer axis alone is called once for each row and needs no strips."""
    return np.sin(x)[:, None] * y


# ---------------------------------------------------------------------- types


@golden(numbers(100, dtype=np.complex128), numbers(100, dtype=np.complex128, seed=1))
def complex_product(z: Array, w: Array) -> Array:
    """Complex numbers are values of their own."""
    return z * w.conj()


@golden(numbers(100, dtype=np.complex128))
def complex_constant(z: Array) -> Array:
    """A complex constant has two parts."""
    return z * 2j + 1.0


@golden(numbers(100, dtype=np.complex64))
def complex_modulus(z: Array) -> Array:
    """The parts of a complex number are taken out of the value."""
    return np.abs(z) + z.imag


golden(
    HALF,
    HALF,
    shows="Half precision is computed in float32 and rounded after every operation.",
    name="half_precision",
)(formulas.hypotenuse)


@golden(HALF - np.float16(1))
def masked_halves(x: Array) -> Array:
    """A choice between halves takes their bits as they are."""
    return np.where(x > 0, x, np.float16(0.5))


@golden(numbers(100, dtype=np.uint8), numbers(100, dtype=np.uint8))
def saturated(x: Array, y: Array) -> Array:
    """Narrow integers widen where the program says so."""
    return np.minimum(x.astype(np.int16) + y, 255).astype(np.uint8)


@golden(numbers(100, dtype=np.int64), numbers(100, dtype=np.int64, seed=1))
def quotient_and_rest(x: Array, y: Array) -> tuple[Array, Array]:
    """Division of integers rounds down and minds a divisor of zero."""
    return x // y, x % y


@golden(SIGNED, numbers(100, dtype=np.bool_))
def masked(x: Array, mask: Array) -> Array:
    """Masks are bytes in memory and one bit in registers."""
    return np.where(mask & (x > 0), x, -x)


@golden(SIGNED)
def rounded_to_integers(x: Array) -> Array:
    """A conversion to integers goes through the nearest even one."""
    return np.rint(x * 10).astype(np.int32)


@golden(SIGNED)
def bits_of_floats(x: Array) -> Array:
    """The bits of a float are an integer of the same width."""
    return x.view(np.int64) >> 52


@golden(SIGNED)
def bytes_of_floats(x: Array) -> Array:
    """Elements of another width are the same memory: what fills it stores elements of its own."""
    return (x * 2).view(np.uint8)


@golden(SIGNED)
def looked_up_in_edges(x: Array) -> Array:
    """Edges that are known while tracing are searched by a few comparisons, in the loop that uses the result."""
    return np.digitize(x, [-0.25, 0.0, 0.25, 0.75])


# ---------------------------------------------------------------------- short axes


golden(
    *(numbers(100, 3), LINE),
    shows="Sums over three coordinates are written out, and so are the three results; the distance is computed once.",
)(formulas.accelerations)
golden(
    numbers(100, 4), shows="Rows of four are no loop: their maximum and sum are expressions.", name="softmax_of_four"
)(formulas.softmax)


@golden(numbers(40, 60, 3, dtype=np.float32), numbers(3, dtype=np.float32))
def colour_subtracted(image: Array, colour: Array) -> Array:
    """An innermost loop of three is written out: the loop over pixels becomes the vector code."""
    return image - colour


@golden(numbers(40, 60, 3, dtype=np.float32))
def planes_of_pixels(image: Array) -> Array:
    """A short loop around pixels of three is written out: all pixels are read once."""
    return np.ascontiguousarray(image.transpose(2, 0, 1)) * np.float32(0.5)


@golden(*(numbers(40, 60, dtype=np.float32, seed=seed) for seed in range(3)))
def pixels_of_planes(red: Array, green: Array, blue: Array) -> Array:
    """Return what makes the elements of a pixel shares the loop over pixels."""
    return np.stack([red, green * 2, blue], axis=-1)


# ---------------------------------------------------------------------- pairs of rows and tiles


@golden(numbers(90, 100))
def laplacian(u: Array) -> Array:
    """Two rows at a time: they share most of their loads.  An odd last row is made twice."""
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]


golden(
    *(SINGLE.T.copy(), SINGLE, SINGLE[0]),
    shows="An operand that lies across the loops is transposed into scratch, a tile at a time.",
    name="across",
)(formulas.blended)


@golden(numbers(120, 90)[:, ::2], numbers(45, 120), any_size=False)
def across_with_gaps(x: Array, y: Array) -> Array:
    """Return what lies across with gaps between its elements goes into scratch one by one."""
    return x.T * y


@golden(numbers(3, 90, 120), numbers(120, 90, 3), any_size=False)
def planes_across(x: Array, y: Array) -> Array:
    """A short loop is written out, then each of its planes that lies across is transposed into scratch."""
    return x.T * 2.0 + y


@golden(numbers(120, 90))
def transposed(x: Array) -> Array:
    """A transposition that computes nothing goes through registers, in blocks of eight by eight."""
    return x.T.copy()


@golden(numbers(120, 90))
def stored_in_both_orders(x: Array) -> tuple[Array, Array]:
    """Return what is stored across the loops is made in scratch and transposed out of it."""
    return x + 1.0, np.asfortranarray(x * 2.0)


golden(
    numbers(2000, 300),
    shows="Of two stencils on a large grid the first stays in scratch, a tile and its halo at a time.",
    name="stencil_of_stencil",
)(formulas.biharmonic)


@golden(numbers(1000, 600), any_size=False)
def blurred_twice(u: Array) -> Array:
    """Borders of a padded array run within the tiles that have them."""
    for _ in range(2):
        p = np.pad(u, ((1, 1), (0, 0)), mode="edge")
        u = np.sqrt(u + p[:-2] + p[2:])
    return u


golden(
    numbers(60, 24_000),
    shows="Tiles of long rows are pieces of them, with a halo to each side.",
    name="stencils_along_long_rows",
    any_size=False,
)(formulas.biharmonic)
