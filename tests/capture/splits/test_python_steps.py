"""Steps in Python between compiled parts: each runs once, in its place, and what is around it stays compiled."""

from __future__ import annotations

import array
import queue
import time
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
import scipy.signal
from scipy.linalg import lapack

import xjit
from tests.capture.splits.split_calls import check_same, check_split, printed, split
from xjit.errors import CaptureError, FallbackWarning

LINE = np.linspace(0.0, 3.0, 40)
PLANE = np.sin(np.arange(42.0)).reshape(6, 7)


def prints(x: Any) -> Any:
    y = x * 2 + 1
    print("largest", y.max())
    return np.sin(y) + y


def prints_in_a_loop(x: Any) -> Any:
    change, steps = 1.0, 0
    while change > 1e-6:
        x = x * 0.5
        change = np.abs(x).max()
        steps += 1
        if steps % 10 == 0:
            print(steps, change)
    return x


def prints_each_turn(x: Any) -> Any:
    for i in range(300):
        print(i, x[i % 40])
    return x + 1


def prints_in_arms(x: Any) -> Any:
    if x.max() > 1:
        print("large")
    else:
        print("small")
    return x + 1


def prints_in_one_arm(x: Any) -> Any:
    y = x * 2
    if y.max() > 1:
        y = np.sqrt(y)
        print("large", y.max())
    return y + 1


@pytest.mark.parametrize("function", [prints, prints_in_a_loop, prints_each_turn, prints_in_arms, prints_in_one_arm])
@pytest.mark.parametrize("factor", [1.0, 0.125, 0.0])
def test_prints_in_its_place(function: Any, factor: float) -> None:
    check_split(function, LINE * factor)


_PRINT, _LARGEST = print, max


def shout(*words: Any, out: Any = print) -> None:
    _PRINT("->", *words)
    out("=>", *words)


def prints_by_other_names(x: Any) -> Any:
    y = x * 2
    shout("largest", y.max(), _LARGEST(y[0], y[1]))
    return y


def test_builtins_have_other_names() -> None:
    check_split(prints_by_other_names, LINE)


def test_what_is_around_a_step_is_compiled() -> None:
    with split():
        explanation = xjit.jit(prints).explain(LINE)
    assert len(explanation.kernels) == 1
    (line,) = [step for step in explanation.steps if step.startswith("Python calls print")]
    assert "test_python_steps.py" in line and line.endswith("do this outside of the function")


def test_a_step_of_a_loop_is_one_step() -> None:
    with split():
        explanation = xjit.jit(prints_each_turn).explain(LINE)
    assert str(explanation).count("Python calls print") == 1


def test_strict_refuses() -> None:
    with pytest.raises(CaptureError, match=r"print\(\): the function prints"):
        xjit.jit(strict=True)(prints)(LINE)


def test_one_warning_for_each_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    function = xjit.jit(prints)
    with pytest.warns(FallbackWarning) as caught:
        printed(function, (LINE,))
    text = str(caught[0].message)
    assert len(caught) == 1 and text.startswith("prints runs a step in Python: print()")
    assert f"{__file__}:" in text and text.splitlines()[-1].startswith("  fix: ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed(function, (LINE,))


def labels_regions(x: Any) -> Any:
    mask = x > 0.2
    labels, count = scipy.ndimage.label(mask)
    return labels * 2, count, (x * mask).max()


def smooths(x: Any) -> Any:
    y = np.exp(x * 0.1)
    z = scipy.ndimage.gaussian_filter(y, 2.0)
    return (z - y) ** 2


def solves(x: Any) -> Any:
    a = x @ x.T + 7 * np.eye(6)
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), x[:, 0]) * 2


def eigenvalues(x: Any) -> Any:
    w, v = np.linalg.eig(x[:, :6] + 10 * np.eye(6))
    return np.abs(w).max() + (x * 0.5).max(), v.shape[0]


@pytest.mark.parametrize("function", [labels_regions, smooths, solves, eigenvalues])
def test_calls_libraries(function: Any) -> None:
    check_split(function, PLANE)


def test_types_of_results_are_known_of_libraries() -> None:
    with split():
        graph = xjit.jit(smooths).graph(PLANE)
    assert "python_call" in graph and "f64[6,7]" in graph.split("python_call")[1].splitlines()[0]


def finds_peaks(x: Any) -> Any:
    y = np.sin(x * 5)
    peaks, _ = scipy.signal.find_peaks(y)
    return y[peaks].sum(), len(peaks)


def test_a_result_of_another_type_is_no_mistake() -> None:
    compiled = check_split(finds_peaks, LINE)
    assert compiled.stats().traces == 2  # what the example had let expect was wrong, and is expected no more


outside: Any = queue.SimpleQueue()
numbers = array.array("d")


def keeps(x: Any) -> Any:
    y = x * 2
    numbers.extend(y)
    return y + 1


def test_functions_outside_are_called_once_for_each_call() -> None:
    del numbers[:]
    compiled = xjit.jit(keeps)
    with split():
        for count in range(1, 4):
            np.testing.assert_array_equal(compiled(LINE), LINE * 2 + 1)
            assert len(numbers) == count * LINE.size
    np.testing.assert_array_equal(np.array(numbers).reshape(3, -1), [LINE * 2] * 3)


def hands_over(x: Any) -> Any:
    y = x * 2
    outside.put(y)
    z = y + 1
    return z * z


def test_what_is_kept_outside_is_not_written_over() -> None:
    compiled = xjit.jit(hands_over)
    with split():
        for number in (1.0, 2.0, 3.0):
            compiled(LINE * number)
    for number, one in ((number, outside.get_nowait()) for number in (1.0, 2.0, 3.0)):
        np.testing.assert_array_equal(one, LINE * number * 2)


def writes_later(x: Any) -> Any:
    y = x * 2
    outside.put(y)
    y += 1
    return y


def test_an_array_that_is_kept_may_not_change() -> None:
    with split():
        compiled = xjit.jit(writes_later)
        np.testing.assert_array_equal(compiled(LINE), LINE * 2 + 1)
        assert compiled.stats().fallbacks == 1
    np.testing.assert_array_equal(outside.get_nowait(), LINE * 2 + 1)


def writes_before(x: Any) -> Any:
    x[0] = 5.0
    outside.put(x)
    return x.max()


def test_what_is_written_is_seen_outside() -> None:
    x = LINE.copy()
    with split():
        compiled = xjit.jit(writes_before)
        assert compiled(x) == 5.0
    assert outside.get_nowait() is x and x[0] == 5.0


def clock(x: Any) -> Any:
    start = time.perf_counter()
    y = np.sin(x).max()
    return y, time.perf_counter() - start


def test_times_are_those_of_the_call() -> None:
    compiled = xjit.jit(clock)
    with split():
        for _ in range(3):
            largest, seconds = compiled(LINE)
            assert largest == pytest.approx(np.sin(LINE).max()) and type(seconds) is float and 0 < seconds < 60
        assert compiled.stats().fallbacks == 0


def raises_outside(x: Any) -> Any:
    y = x * 2
    print("before")
    scipy.linalg.cho_factor(-y)
    print("never")
    return y


def test_errors_of_steps_are_the_users() -> None:
    compiled = xjit.jit(raises_outside)
    square = np.eye(3)
    with split():
        for _ in range(2):
            with pytest.raises(np.linalg.LinAlgError) as caught:
                compiled(square)
        assert any(entry.path.name == "test_python_steps.py" for entry in caught.traceback)


def returns_objects(x: Any) -> Any:
    found = np.unique(np.round(x, 1))
    return found, {"zero": outside.qsize}, found


def test_objects_are_returned_as_they_are() -> None:
    compiled = xjit.jit(returns_objects)
    with split():
        values, others, again = compiled(LINE)
        assert compiled.stats().fallbacks == 0
    assert values is again and values.base is None
    assert others["zero"]() == 0


def many_steps(x: Any) -> Any:
    for name in "abcdefghij" * 10:
        print(name)
    return x + 1


def test_too_many_steps_run_as_numpy() -> None:
    compiled = xjit.jit(many_steps)
    with split():
        found, text = printed(compiled, (LINE,))
    np.testing.assert_array_equal(found, LINE + 1)
    assert len(text.split()) == 100


def shares_decision(x: Any) -> Any:
    found = np.unique(np.round(x, 1))
    if len(found) > 3:
        print("many", found[0])
        return x * 2
    return x


def test_branches_on_what_a_step_returns() -> None:
    check_split(shares_decision, LINE)
    check_split(shares_decision, LINE * 0)


COUNT = 0


def counts(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return x + 1


def counts_in_a_helper(x: Any) -> Any:
    before = COUNT
    y = counts(x)
    return y * (COUNT - before)


@pytest.mark.parametrize("function", [counts, counts_in_a_helper])
def test_functions_that_assign_to_globals_are_left_to_numpy(function: Any) -> None:
    compiled, before = xjit.jit(function), COUNT
    with split():
        for calls in (1, 2, 3):
            np.testing.assert_array_equal(compiled(LINE), LINE + 1)
            assert before + calls == COUNT and compiled.stats().fallbacks == calls


def divides_beside_a_step(x: Any, y: Any) -> Any:
    edges = np.geomspace(x[1], x[-1], int(x[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = edges / y[: len(edges)]
        with np.errstate(divide="warn"):
            pass
        again = edges / y[: len(edges)]
    return found, again


def test_that_steps_warn_as_errstate_around_them_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    x, y = np.arange(5.0), np.zeros(20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = xjit.jit(divides_beside_a_step)(x, y)
    assert [one.category for one in caught] == [FallbackWarning]
    for one, other in zip(found, divides_beside_a_step(x, y), strict=True):
        np.testing.assert_array_equal(one, other)


def solved_by_lapack(lower: Any, middle: Any, upper: Any, right: Any) -> Any:
    _, _, _, found, info = lapack.dgtsv(lower, middle * 2.0, upper, right)
    return found * 2.0, info, right.sum()


def test_functions_of_lapack_are_steps() -> None:
    rng = np.random.default_rng(3)
    given = rng.random(7), rng.random(8) + 3.0, rng.random(7), rng.random(8)
    compiled = xjit.jit(solved_by_lapack)
    with split():
        for _ in range(3):
            check_same(compiled(*given), solved_by_lapack(*given))
    assert compiled.stats().fallbacks == 0
