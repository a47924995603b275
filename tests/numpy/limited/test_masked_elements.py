"""Elements that masks choose, whose number only the run knows: packed, returned, and handed on."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xjit
from tests.numpy.limited.masked_lines import COUNTED, ELEMENTS, FOUND, IN_LIBRARY, JOINED, PACKED, ROWS, SETS

DENSITIES = (0.3, 0.0, 1.0, 0.02, 0.9)
SIZE = 1_300
"""More than two of the blocks in which loops one behind the other run."""


def arguments(density: float, seed: int = 5, size: int = SIZE) -> dict[str, Any]:
    """Arrays and masks by their names, of the same shapes for every density."""
    rng = np.random.default_rng(seed)
    A, T = rng.standard_normal((20, 7)), rng.standard_normal((6, 5, 4))

    def mask(*shape: int) -> Any:
        return rng.random(shape) < density

    return {
        "x": rng.standard_normal(size),
        "y": rng.standard_normal(size),
        "m": mask(size),
        "k": 3,
        "z": rng.standard_normal(size) + 1j,
        "q": rng.integers(0, 8, size),
        "b": rng.random(size) < 0.5,
        "A": A,
        "B": np.asfortranarray(A),
        "r": mask(20),
        "c": mask(7),
        "T": T,
        "t": mask(6, 5),
    }


def compiled(line: str) -> tuple[Any, Any, list[str]]:
    """A line as a function, the same compiled, and the names of its arguments."""
    names = [name for name in arguments(0.5) if re.search(rf"(?<![\w.]){name}(?!\w)", line)]
    function = eval(f"lambda {', '.join(names)}: {line}", {"np": np})
    return function, xjit.jit(function, strict=True), names


def check_same(found: Any, wanted: Any) -> None:
    """Checks values, type, shape and memory order; sums may differ in their last digits."""
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            check_same(one, other)
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    assert np.shape(found) == np.shape(wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    if np.ndim(wanted) > 1:
        assert (found.flags.c_contiguous, found.flags.f_contiguous) == (
            wanted.flags.c_contiguous,
            wanted.flags.f_contiguous,
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # which NumPy gives of the mean of no element
@pytest.mark.parametrize("line", (*PACKED, *COUNTED, *ROWS, *FOUND, *JOINED, *IN_LIBRARY, *SETS))
def test_lines_of_any_number_of_elements(line: str) -> None:
    function, fast, names = compiled(line)
    for density in DENSITIES:
        given = [arguments(density)[name] for name in names]
        check_same(fast(*given), function(*given))
    assert fast.stats().traces <= 2, "another number of elements is no reason to trace again"


@pytest.mark.parametrize("line", ELEMENTS)
def test_lines_that_need_an_element(line: str) -> None:
    function, fast, names = compiled(line)
    for density in DENSITIES:
        given = [arguments(density)[name] for name in names]
        try:
            wanted = function(*given)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                fast(*given)
        else:
            check_same(fast(*given), wanted)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 16383, 16384, 16385, 70_001])
def test_sizes_around_blocks(size: int) -> None:
    fast = xjit.jit(lambda x, m: x[m], strict=True)
    for density in DENSITIES:
        given = arguments(density, size, size)
        check_same(fast(given["x"], given["m"]), given["x"][given["m"]])


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_element_types_and_strides(dtype: str) -> None:
    fast = xjit.jit(lambda x, m: x[m], strict=True)
    for density in DENSITIES:
        given = arguments(density, 3, 40_000)
        x = (10 * given["x"]).astype(dtype)
        for layout in (x, np.repeat(x, 2)[::2], np.ascontiguousarray(x[::-1])[::-1]):
            check_same(fast(layout, given["m"]), layout[given["m"]])


def test_written_elements_are_those_that_were_packed() -> None:
    def program(x: Any, m: Any) -> Any:
        y = x[m]
        y[:2] = 5.0
        y *= 2
        x[m] = 0.0
        return y, y.sum()

    fast = xjit.jit(program, strict=True)
    for density in DENSITIES:
        given = arguments(density)
        own, other = given["x"].copy(), given["x"].copy()
        for found, wanted in zip(fast(own, given["m"]), program(other, given["m"]), strict=True):
            check_same(found, wanted)
        np.testing.assert_array_equal(own, other)


def test_operands_that_are_written_after_elements_were_computed() -> None:
    def program(x: Any, m: Any, A: Any, r: Any) -> Any:
        y = A[r] * A[0]
        A[0] = 7.0
        z = x[m] + 1
        x[m] = 3.0
        return y, z

    fast = xjit.jit(program, strict=True)
    given = [arguments(0.4)[name] for name in "xmAr"]
    for found, wanted in zip(fast(*map(np.copy, given)), program(*map(np.copy, given)), strict=True):
        check_same(found, wanted)


@pytest.mark.parametrize("size", [1, 2, 9, 40])
def test_parts_that_are_known_to_be_empty_or_short(size: int) -> None:
    def program(x: Any, m: Any) -> Any:
        y = np.sort(x[m])
        half = len(y) // 2
        return y[:half].sum(), y[half:] * 1.0, y[: len(y) - len(y)].sum(), y[:1].sum(), half

    fast = xjit.jit(program, strict=True)
    for density in DENSITIES:
        given = arguments(density, size, size)
        for found, wanted in zip(fast(given["x"], given["m"]), program(given["x"], given["m"]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
