"""Arrays and lists of lengths that nothing bounds but the run, beside what happens once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_split, split

LINE = np.random.default_rng(7).standard_normal(40)
COUNTS = np.arange(40) % 5


def test_too_long_behind_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Any, c: Any) -> Any:
        long = np.repeat(x, c)
        print("so many", len(long))
        return long * 2

    compiled = xjit.jit(function)
    for factor in (1, 100, 100):
        with split():
            found = compiled(LINE, COUNTS * factor)
        said = capsys.readouterr().out
        np.testing.assert_array_equal(found, function(LINE, COUNTS * factor))
        assert said == capsys.readouterr().out


def printed(x: Any) -> Any:
    found = [1.0]
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0])
    print("now")
    return np.array(found)


def test_a_list_is_read_behind_a_print() -> None:
    for first in (3.0, 64.0, 0.0):
        check_split(printed, np.array([first, 1.0]))


def counted_behind(x: Any) -> Any:
    print("once")
    return np.bincount(x, minlength=4)


def counted_before(x: Any) -> Any:
    counts = np.bincount(x, minlength=4)
    print("once")
    return counts * 2


def test_counts_beyond_a_length_before_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = xjit.jit(counted_before)
    for more in (0, 3, 0, 3, 3):
        with split():
            found = compiled(COUNTS[:3] + more)
        said = capsys.readouterr().out
        np.testing.assert_array_equal(found, counted_before(COUNTS[:3] + more))
        assert said == capsys.readouterr().out


def test_counts_beyond_a_length_behind_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = xjit.jit(counted_behind)
    with split():
        np.testing.assert_array_equal(compiled(COUNTS[:3]), [1, 1, 1, 0])
        with pytest.raises(ValueError, match="minlength=4"):
            compiled(COUNTS[:3] + 3)
    assert capsys.readouterr().out == "once\n" * 2


def deleted_behind_text(x: Any) -> Any:
    print(x.sum())
    return np.delete(x, np.flatnonzero(x > 1.0), axis=0) * 2


def deleted_behind_a_shuffle(x: Any) -> Any:
    np.random.shuffle(x)
    return np.delete(x, np.flatnonzero(x > 1.0), axis=0).sum()


def compressed_behind_text(x: Any) -> Any:
    found = np.union1d(x, x + 1)
    print(len(found))
    return np.compress((found > 2.0).ravel(), found)


def deleted_in_turns(x: Any) -> Any:
    total = 0.0
    for value in x:
        total += np.delete(x, np.flatnonzero(x > value), axis=0).sum()
        print(total)
    return total


@pytest.mark.parametrize(
    "function", [deleted_behind_text, deleted_behind_a_shuffle, compressed_behind_text, deleted_in_turns]
)
def test_lengths_that_elements_decide_behind_effects(function: Any, capsys: Any) -> None:
    compiled = xjit.jit(function)
    for x in (np.array([3.0, 0.5, 2.0, 0.0]), np.array([0.0, 0.5, 7.0, 1.0])):
        mine, numpys = x.copy(), x.copy()
        np.random.seed(3)
        expected = function(numpys)
        said = capsys.readouterr().out
        np.random.seed(3)
        with split():
            np.testing.assert_allclose(compiled(mine), expected, rtol=1e-12)
        assert capsys.readouterr().out == said
        np.testing.assert_array_equal(mine, numpys)
