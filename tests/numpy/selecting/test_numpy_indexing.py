"""Every index that NumPy takes: slices, new axes, masks, index arrays of any type, mixed; tables made in place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured, check
from tests.helpers.kernel_executors import run_serial, run_uncompiled
from tests.numpy.surface.surface_judge import judge
from xjit.errors import CaptureError

ARRAYS: dict[str, Any] = {
    "x": np.arange(24.0).reshape(2, 3, 4),
    "f": np.asfortranarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4)),
    "o": np.arange(4.0),
    "i": np.array([1, 0]),
    "j": np.array([[0], [-2]]),
    "u": np.array([1, 0], np.uint64),
    "b": np.array([-1, 1], np.int8),
    "s": np.array(1),
    "k": np.int64(-1),
    "e": np.zeros(0, np.int32),
}
ENTRIES = (
    *(":", "...", "None", "1", "-1", "7", "::-1", "2:0:-1", "-1::-2", "1:1", "1.0", "(0, 1)", "[0, 1]", "[]", "'a'"),
    *("True", "np.False_", "[True, False]", "[True, False, True]", "[False] * 4", "[[True]]", "np.array(1)"),
    *("np.array([[True, False, True], [False, True, True]])", "np.ones((2, 3, 4), bool)", "np.zeros(0)"),
    *("i", "j", "u", "b", "s", "k", "e"),
)
PAIRS = list(itertools.product(ENTRIES, repeat=2))
TRIPLES = list(itertools.product(ENTRIES, repeat=3))[::29]


def agrees(*entries: str, array: str = "x") -> None:
    call = f"{array}[{', '.join(entries)}{',' if len(entries) == 1 else ''}]"
    try:
        message = judge(call, ARRAYS)
    except AssertionError as error:
        if _is_out_of_range_of_nothing(call, error):
            return
        error.add_note(call)
        raise
    assert not message, (call, message)


def _is_out_of_range_of_nothing(call: str, error: AssertionError) -> bool:
    """NumPy lets wrong positions pass, with a warning that it will not for ever, where nothing is taken."""
    names = {name: value for name, value in ARRAYS.items() if name in call}
    with np.errstate(all="ignore"), pytest.warns(DeprecationWarning, match="Out of bound index"):
        nothing = eval(call, {"np": np}, names).size == 0
    return nothing and "out of bounds" in str(error)


@pytest.mark.parametrize("array", ("x", "f"))
def test_single_entries(array: str) -> None:
    for entry in ENTRIES:
        agrees(entry, array=array)


@pytest.mark.parametrize("first", ENTRIES)
def test_pairs_and_triples(first: str) -> None:
    for entries in PAIRS:
        if entries[0] == first:
            agrees(*entries)
    for entries in TRIPLES:
        if entries[0] == first:
            agrees(*entries, array="f")


SINGLE = (
    "o[s]",
    "o[k]",
    "o[s, ...]",
    "o[..., k]",
    "o[..., s]",
    "x[s, 0, k]",
    "x[s, ..., 0, k]",
    "x[s, 1]",
)


@pytest.mark.parametrize("call", SINGLE)
def test_single_elements_are_scalars_without_an_ellipsis(call: str) -> None:
    assert not judge(call, ARRAYS, memory=False)


BETWEEN = (
    "x[:, i, ..., b]",
    "x[..., i, b]",
    "x[i, ..., b, :]",
    "x[:, np.True_, ..., i]",
    "x[1, ..., i]",
    "f[i, ..., 1, u]",
)


@pytest.mark.parametrize("call", BETWEEN)
def test_an_ellipsis_of_no_axes_keeps_index_arrays_apart(call: str) -> None:
    assert not judge(call, ARRAYS)


INDICES = (
    *(
        "x[i]",
        "x[:, j]",
        "x[..., b]",
        "x[u, 1:, ::-1]",
        "x[None, i, :, s]",
        "x[j, :, i]",
        "x[e]",
        "x[:, [True, False, True]]",
    ),
    *("x[True, i]", "x[np.array([[True, False, True], [False, True, True]]), -1]", "x[::-1, k, b]", "x[[], 1]"),
)


@pytest.mark.parametrize("call", INDICES)
@pytest.mark.parametrize("run", (run_uncompiled, run_serial))
def test_compiled_indices(call: str, run: Any) -> None:
    names = [name for name in ARRAYS if name in compile(call, call, "eval").co_names]
    function = eval(f"lambda {', '.join(names)}: {call}", {"np": np})
    operands = [ARRAYS[name] for name in names]
    np.testing.assert_array_equal(run(function, operands), function(*operands), strict=True)


def test_a_truth_value_of_the_run_as_an_index_is_refused() -> None:
    with pytest.raises(CaptureError, match="the shape of the result depends on the elements"):
        captured(lambda x: x[x.any()], ARRAYS["x"])


# ---- arrays that the function makes itself


def _letters(i: Any) -> Any:
    table = np.arange(10) ** 2
    return table[i], table[3], table[2:4], np.array([0.5, 1.5, 2.5, 3.5])[i + 1], table.take(i), table.sum()


def _grid(i: Any, j: Any) -> Any:
    grid = np.linspace(0, 1, 12).reshape(3, 4)
    return grid[i], grid[:, i], grid[1:, j], grid[i, j], grid[None, 1, i], (grid * 2)[-i - 1], grid.T[i]


def _steps(x: Any) -> Any:
    weights = np.zeros(3)
    weights[1] = 2
    for position, weight in enumerate(weights):
        x = x + int(weight) * position
    return x * weights[: len(x)], weights, type(weights) is np.ndarray, isinstance(weights, np.ndarray)


def test_small_created_arrays_take_traced_positions() -> None:
    check(_letters, np.array([1, -1, 0]))
    check(_grid, np.array([1, 0, -1]), np.array([0, 1, 1]))
    with pytest.raises(IndexError, match="out of bounds"):
        xjit.jit(lambda i: np.arange(3)[i])(np.array([3]))


def test_created_arrays_are_plain_for_everything_else() -> None:
    check(_steps, np.array([1.0, 2.0, 3.0]))
    made = xjit.jit(lambda x: (np.arange(3), x + 1))(np.ones(2))
    assert type(made[0]) is np.ndarray


@pytest.mark.parametrize("place", ("table[i] = 1", "table[0] = x[0]", "table[:] = x"))
def test_traced_values_are_assigned_to_created_arrays(place: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def function(x, i):\n    table = np.zeros(2)\n    {place}\n    return table\n", scope)
    arguments = np.array([2.0, 3.0]), np.array([1])
    made = xjit.jit(scope["function"], strict=True)(*arguments)
    np.testing.assert_array_equal(made, scope["function"](*arguments), strict=True)


# ---- memory of results


def _whole(x: Any) -> Any:
    c = x + 1
    return c, c[:], c[...], c[1:]


def test_views_of_the_whole_share_memory_with_it() -> None:
    found = xjit.jit(_whole)(ARRAYS["x"])
    assert all(one is not found[0] and np.shares_memory(one, found[0]) for one in found[1:])
    assert [one.flags.owndata for one in found] == [one.flags.owndata for one in _whole(ARRAYS["x"])]
    for function in (lambda x: (x, x[:]), lambda x: x[:]):
        same = xjit.jit(function)(ARRAYS["x"])
        assert np.shares_memory(same[-1], ARRAYS["x"]) and same[-1] is not ARRAYS["x"]


def test_imaginary_parts_of_real_arrays_are_read_only() -> None:
    for function in (lambda x: x.imag, lambda x: (x + 1).imag, lambda x: np.imag(x)[1:]):
        found = xjit.jit(function)(ARRAYS["x"])
        assert not found.any() and not found.flags.writeable
    assert xjit.jit(lambda x: (x * 1j).imag)(ARRAYS["x"]).flags.writeable

    def written(x: Any) -> Any:
        zeros = x.imag
        zeros += 1
        return zeros

    for function in (written, xjit.jit(written)):
        with pytest.raises(ValueError, match="read-only"):
            function(ARRAYS["x"])


def test_rows_at_positions_that_only_the_run_will_tell_are_returned_as_copies() -> None:
    x = np.arange(12.0).reshape(4, 3)
    pick = lambda x, k, n: (x[k % n].copy(), x[k % n, 1], x[:, k // n] + 0)  # noqa: E731
    arguments = x, np.array(7), np.array(4)
    for got, want in zip(xjit.jit(pick)(*arguments), pick(*arguments), strict=True):
        assert type(got) is type(want)
        np.testing.assert_array_equal(got, want, strict=True)
        assert not np.shares_memory(got, x)
