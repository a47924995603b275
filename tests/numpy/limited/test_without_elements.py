"""Arrays of run-time length that turn out to be empty: nothing around them is read, and errors are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import jit


def _computed_then_repeated(x: Any, y: Any) -> Any:
    return y / (x[x[0] :] % 0.5 + 1.0)


def _repeated_as_told(x: Any, y: Any) -> Any:
    chosen = x[x < 3]
    return np.repeat(chosen, chosen % 3)


def _outcome(function: Any, x: Any, y: Any) -> Any:
    try:
        found = function(x.copy(), y.copy())
    except ValueError:
        return ValueError
    return found.dtype, found.tolist()


@pytest.mark.parametrize("x", [[7, 3, 4, 5, 6], [4, 3, 3, 5, 6], [2, 1, 0, 5, 2], [5, 5, 5, 5, 5], [3, 3, 3, 3, 0]])
@pytest.mark.parametrize("function", [_computed_then_repeated, _repeated_as_told])
def test_every_access_lies_within(function: Any, x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")  # every access is checked
    compiled, y = jit(function), np.ones(3)
    assert _outcome(compiled, np.array(x), y) == _outcome(function, np.array(x), y)
    assert compiled.stats().fallbacks == 0


def _average_of_other_weights(x: Any, y: Any) -> Any:
    return np.average(x[x > 2], weights=y[y > 0])


def _average_of_all_weights(x: Any, y: Any) -> Any:
    return np.average(x[x > 2], weights=y)


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 2.0, 1.0]])
@pytest.mark.parametrize("function", [_average_of_other_weights, _average_of_all_weights])
def test_averages_need_as_many_weights(function: Any, weights: Any) -> None:
    compiled, y = jit(function), np.array(weights)
    for x in (np.arange(4.0), np.arange(6.0), np.arange(5.0), np.arange(3.0)):
        results: list[Any] = []
        for one in (function, compiled):
            try:
                results.append(one(x, y))
            except (TypeError, ZeroDivisionError) as error:
                results.append(next(kind for kind in (TypeError, ZeroDivisionError) if isinstance(error, kind)))
        assert results[0] == results[1], x


def _of_a_loop(x: Any, y: Any) -> Any:
    rows: list[Any] = []
    at = 0
    while x[at] < 4:
        rows.append(y[:3] * x[at])
        at += 1
    last = np.array(rows)[-1:]
    return last[None] * last[1:2]


def test_results_of_loops_are_repeated() -> None:
    compiled, y = jit(_of_a_loop), np.ones(3)
    for x in (np.array([1.0, 2.0, 5.0]), np.array([1.0, 5.0, 5.0])):
        assert compiled(x, y).shape == _of_a_loop(x, y).shape


def _positions_in_turns(x: Any, turns: Any) -> Any:
    for _ in range(turns):
        found = np.flatnonzero(np.ones(0) > x[0])
    return found


def test_positions_in_nothing_can_be_written_to_behind_a_loop() -> None:
    assert jit(_positions_in_turns)(np.ones(3), np.int64(2)).flags.writeable


@pytest.mark.parametrize("reduction", [np.min, np.amax, np.argmin, np.argmax, np.ptp], ids=lambda one: one.__name__)
def test_extremes_of_nothing_raise_in_the_words_of_numpy(reduction: Any) -> None:
    def f(x: Any) -> Any:
        x[0] = -1.0
        chosen = np.sort(x[x > 0])
        return reduction(chosen), chosen * 2.0

    compiled = jit(f)
    compiled(np.arange(4.0))
    messages = []
    for function in (f, compiled):
        x = -np.ones(4)
        with pytest.raises(ValueError) as caught:
            function(x)
        messages.append((str(caught.value).partition("\n")[0], x.tolist()))
    assert messages[0] == messages[1]


def _first_of_the_rest(x: Any, s: Any) -> Any:
    x += x
    return x[s[0] :][0]


def _last_of_the_rest(x: Any, s: Any) -> Any:
    x += x
    return x[s[0] :][-1]


def _first_from_behind(x: Any, s: Any) -> Any:
    x += x
    return x[: 8 - s[0]][::-1][0]


def _first_of_a_part_of_the_rest(x: Any, s: Any) -> Any:
    x += x
    return x[s[0] :][s[1] :][0]


def _row_of_the_rest(x: Any, s: Any) -> Any:
    x += x
    return x.reshape(4, 2)[s[0] // 2 :][0] + 1.0


def _element(function: Any, x: Any, begins: Any) -> Any:
    try:
        return function(x, begins).tolist(), x.tolist()
    except IndexError as error:
        return str(error).splitlines()[0], x.tolist()


@pytest.mark.parametrize("begins", [[8, 0], [3, 0], [5, 3], [0, 8], [7, 9]])
@pytest.mark.parametrize(
    "function",
    [
        _first_of_the_rest,
        _last_of_the_rest,
        _first_from_behind,
        _first_of_a_part_of_the_rest,
        _row_of_the_rest,
    ],
)
def test_an_element_of_nothing_reads_none_outside(
    function: Any, begins: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    x, s = np.arange(1.0, 9.0), np.array(begins)
    assert _element(jit(function), x.copy(), s) == _element(function, x.copy(), s)
