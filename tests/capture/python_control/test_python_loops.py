"""Python's own loops and branches over NumPy values: compiled as a whole, with the results that Python has."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.python_control import ordinary_functions as of
from xjit import xjit
from xjit.errors import CaptureError, FallbackWarning


def _label(value: Any) -> str | None:
    return value.__name__ if callable(value) else None


def _check_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            _check_same(one, other)
    elif wanted is not None:
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("function", "arguments"), of.CASES, ids=_label)
def test_functions_do_what_python_does(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    given, own = copy.deepcopy(arguments), copy.deepcopy(arguments)
    compiled = xjit(function, strict=True)
    _check_same(compiled(*given), function(*own))
    for one, other in zip(given, own, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (of.steps, [(np.ones(3), 5), (np.ones(3), 700), (np.ones(3), 0)]),
        (of.predators, [(1000, 1e-3, 1.0, 2.0), (0, 1e-3, 1.0, 2.0), (7, 1e-2, 3.0, 2.0)]),
        (of.square_root, [(np.array([2.0]), 1e-9), (np.array([2.0]), 1e-3), (np.array([2.0]), 2.0)]),
        (of.count_above, [(of.LINE, 0.5), (of.LINE, 0.1)]),
        (of.seidel, [(of.GRID, 3), (of.GRID, 4), (of.GRID, 0)]),
        (of.kept, [(of.LINE, of.SIGNED > 0.0, n) for n in (5, 30, 60)]),
        (of.unbiased, [(of.LINE, n) for n in (5, 30, 60)]),
    ],
    ids=_label,
)
def test_numbers_of_turns_and_limits_do_not_trace_again(function: Any, calls: list[tuple[Any, ...]]) -> None:
    compiled = xjit(function, strict=True)
    for arguments in calls:
        given, own = copy.deepcopy(arguments), copy.deepcopy(arguments)
        _check_same(compiled(*given), function(*own))
    assert compiled.stats().traces == 1


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (of.predators, (1000, 1e-3, 1.0, 2.0)),
        (of.checksum, (np.arange(50),)),
        (of.position_of, (of.LINE, 0.5)),
        (of.first_above, (of.LINE, 60)),
        (of.largest, (of.LINE,)),
    ],
    ids=_label,
)
def test_loops_over_numbers_are_in_a_kernel(function: Any, arguments: tuple[Any, ...]) -> None:
    compiled = xjit(function, strict=True)
    compiled(*copy.deepcopy(arguments))
    lines = str(compiled.explain(*arguments)).splitlines()
    assert any("kernel over 1, serial: while_loop" in line for line in lines)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (of.seidel, (of.GRID, 3)),
        (of.triangles, (of.STIFF,)),
        (of.pairs, (np.zeros((20, 20), np.int64), np.arange(20) % 4)),
        (of.bubbles, (of.LINE,)),
        (of.insertions, (of.SIGNED,)),
    ],
    ids=_label,
)
def test_nested_loops_that_write_elements_copy_nothing_inside(function: Any, arguments: tuple[Any, ...]) -> None:
    compiled = xjit(function, strict=True)
    compiled(*copy.deepcopy(arguments))
    text = str(compiled.source(*arguments))
    (turns,) = [kernel for kernel in text.split("def kernel") if "while" in kernel]
    inside = turns[turns.index("while") : turns.rindex("turn0 = turn0")]
    assert "for i" not in inside


def test_code_does_not_grow_with_the_number_of_turns() -> None:
    texts = set()
    for turns in (500, 5000):
        compiled = xjit(of.heat, strict=True)
        compiled(of.LINE.copy(), turns)
        texts.add(str(compiled.source(of.LINE, turns)))
    assert len(texts) == 1


def test_a_number_is_pythons_or_numpys_as_the_turns_say() -> None:
    compiled = xjit(of.sum_until, strict=True)
    none, some = compiled(of.LINE, -1.0), compiled(of.LINE, 0.9)
    assert type(none) is float and type(some) is np.float64
    assert compiled.stats().traces == 1


def _types_differ(x: Any) -> Any:
    return x if x.sum() > 100 else 5


def _writes_one_of_two(x: Any, y: Any) -> Any:
    z = x if x[0] > y[0] else y
    z[0] = 5.0
    return z


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (_types_differ, (of.LINE,), "as only the run will tell"),
        (_writes_one_of_two, (of.LINE, of.SIGNED), "may be one with another"),
    ],
    ids=_label,
)
def test_what_only_python_can_do_is_refused(
    function: Any, arguments: tuple[Any, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CaptureError, match=words):
        xjit(function, strict=True)(*copy.deepcopy(arguments))
    given, own = copy.deepcopy(arguments), copy.deepcopy(arguments)
    monkeypatch.delenv("XJIT_STRICT")
    with pytest.warns(FallbackWarning):
        found = xjit(function)(*given)
    assert repr(found) == repr(function(*own))
    assert repr(given) == repr(own)


def test_positions_out_of_bounds_end_a_loop() -> None:
    def position_of(a: Any, v: Any) -> Any:
        i = 0
        while a[i] != v:
            i += 1
        return i

    compiled = xjit(position_of, strict=True)
    assert compiled(of.LINE, of.LINE[40]) == 40
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(of.LINE, 7.0)


def _halved(x: Any) -> Any:
    turns = 0
    while (largest := np.abs(x).max()) > 1.0:
        x = x / 2
        turns += 1
    return x, largest, turns


def _first_above(x: Any) -> Any:
    i = 0
    while (value := x[i]) < 5 and i < 8:
        i += 1
    return value, i


def _pairs(x: Any) -> Any:
    total, i = 0.0, -1
    while (i := i + 1) < len(x):
        j = i
        while (j := j + 1) < len(x):
            if x[j] > x[i] + 3:
                break
            total += x[j] * x[i]
    return total


def _counted(x: Any) -> Any:
    total, k = 0.0, 0
    while (k := k + 1) < x.sum():
        total += k
    else:
        total = -total
    return total, k


@pytest.mark.parametrize("function", [_halved, _first_above, _pairs, _counted], ids=_label)
def test_conditions_that_assign(function: Any) -> None:
    compiled = xjit(function, strict=True)
    for n in (10, 9, 12):
        _check_same(compiled(np.arange(float(n))), function(np.arange(float(n))))
