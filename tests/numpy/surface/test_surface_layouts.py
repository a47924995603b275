"""The whole surface over arrays in every layout: NumPy's numbers, memory orders, views and flags.

As in ``test_numpy_surface``, for one element type of each class. The arrays of the calls lie row by row, column by
column, in another order of axes, with gaps, backwards, repeated without copies, or have no elements; as arguments, as
views that the function makes of its arguments, and as what it computes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import array, check_compiled
from tests.numpy.surface.surface_calls import calls
from tests.numpy.surface.surface_judge import judge
from tests.numpy.surface.surface_layouts import LAYOUTS, MORE
from tests.numpy.surface.surface_lines import ONE, TWO
from tests.numpy.surface.test_numpy_surface import REFUSED, ULP, arrays, changed
from xjit.numpy.ufuncs import ROWS

UNARY = [ufunc.__name__ for ufunc in ROWS if ufunc.nin == 1]
BINARY = [ufunc.__name__ for ufunc in ROWS if ufunc.nin == 2]
PAIRS = ("a, a", "a, v", "a, 2", "2, a", "a, h", "t, a[0]", "s, t")
UFUNCS = [
    *(f"{name}({one})" for name in UNARY for one in ("a", "t")),
    *(f"{name}({pair})" for name in BINARY for pair in PAIRS),
]

# What functions make of their arguments first.
BEFORE = ("{x}.T", "({x} * 1)", "{x}.reshape({x}.shape[::-1]).T")

# Calls of arrays without elements whose answer is no example: chance, undefined, or an error of two possible ones.
CHANCE = r"fft\.hfft\(v, n|einsum\(\"ii->i|nanmean\(a, dtype='i|insert\(v, 1, 1j|histogram2d"


@functools.cache
def laid_out(dtype: np.dtype, layout: str) -> dict[str, Any]:
    """The arrays that calls name; truth values and positions as they are."""
    found = arrays(dtype, dtype)
    return {name: one if name in "mni" else LAYOUTS[layout](one) for name, one in found.items()}


def lines(table: str) -> list[str]:
    return list(filter(None, map(str.strip, table.splitlines())))


def some_calls() -> Iterator[str]:
    """All functions, each with some arguments."""
    yield from (next(calls(line)) for line in lines(ONE))
    yield from lines(MORE)
    yield from UFUNCS


def check(call: str, code: str, layout: str, before: str = "{x}") -> None:
    """One call as NumPy answers it, unless it is refused as elsewhere."""
    dtype = np.dtype(code)
    if changed(call, dtype) or (layout == "empty" and re.search(CHANCE, call)):
        return
    words = [text for pattern, kinds, text in REFUSED if re.search(pattern, call) and dtype.kind in kinds]
    try:
        message = judge(call, laid_out(dtype, layout), ULP, before=before)
        assert not message or any(word in message for word in words), f"refused: {message}"
    except AssertionError as error:
        error.add_note(f"{call} of {dtype}, {layout}, after {before}")
        raise


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("code", ["d", "D", "l"])
def test_arguments(code: str, layout: str) -> None:
    for call in some_calls():
        check(call, code, layout)


@pytest.mark.parametrize("layout", ["turned", "apart", "repeated rows", "empty"])
def test_all_arguments(layout: str) -> None:
    for call in (call for line in lines(ONE) for call in calls(line)):
        check(call, "d", layout)


@pytest.mark.parametrize("layout", ["row-major", "turned", "apart", "repeated rows"])
@pytest.mark.parametrize("before", BEFORE)
def test_what_functions_make_of_their_arguments(before: str, layout: str) -> None:
    for call in some_calls():
        check(call, "d", layout, before)


PAIRED = [
    *(f"{name}({pair})" for name in BINARY for pair in ("a, b", "a, w", "b, v", "t, b[0]", "a, r")),
    *(next(calls(line)) for line in lines(TWO)),
    "where(a, b, 2)",
    "where(m, b, a)",
    "clip(a, b, w)",
]


@pytest.mark.parametrize(
    "layouts",
    [
        ("row-major", "column-major"),
        ("column-major", "row-major"),
        ("column-major", "repeated rows"),
        ("repeated rows", "column-major"),
        ("repeated rows", "repeated rows"),
        ("apart", "turned"),
    ],
    ids=" and ".join,
)
@pytest.mark.parametrize("codes", ["dd", "ld", "fd"])
def test_two_layouts(codes: str, layouts: tuple[str, str]) -> None:
    """Operands of two types: what a loop converts on the way has the say that it has as it comes."""
    found = arrays(np.dtype(codes[0]), np.dtype(codes[1]))
    kinds = {name: LAYOUTS[layouts[name in "bwr"]](one) for name, one in found.items() if name not in "mni"}
    for call in PAIRED:
        try:
            message = judge(call, {**found, **kinds}, ULP)
            assert not message or "polymul" in call, f"refused: {message}"
        except AssertionError as error:
            error.add_note(f"{call} of {codes}, {layouts}")
            raise


VIEWS = """
    a.real
    a.imag
    a.real[0]
    a.imag.T
    a.T.real
    real(a)[:, ::2]
    imag(a) + 1
    a.T
    ravel(a)
    ravel(a[..., 1])
    a[:, :, 1].reshape(-1)
    a.reshape(-1)
    a.reshape(4, 6)
    a.ravel("K")
    a.flatten("K")
    a.ravel("F")
    swapaxes(a, 0, 1)
    broadcast_to(a, (2, 2, 3, 4))
    broadcast_arrays(a, b)
    broadcast_arrays(a[0], b)
    meshgrid(a[0, 0], b[0, :, 0], copy=False)
    meshgrid(a[0, 0], b[0, :, 0], copy=False, sparse=True)
    atleast_3d(a[0])
    flip(a)
    sort(a)
    partition(a, 1)
    cumsum(a, 1)
    count_nonzero(a, axis=1)
    nan_to_num(a)
    round(a, 1)
    a ** 0
    a ** 1
    inner(a, 2)
    gradient(a)
    a + b
    copy(a)
    a.copy("A")
    asarray(a)
"""


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "empty"])
@pytest.mark.parametrize("code", ["d", "D"])
def test_compiled(code: str, layout: str) -> None:
    x, y = array(code, 2, 3, 4), array(code, 2, 3, 4, seed=5)
    table = "\n".join(line for line in lines(VIEWS) if not changed(line, x.dtype))
    check_compiled(table, LAYOUTS[layout](x), y, ulp=4)
