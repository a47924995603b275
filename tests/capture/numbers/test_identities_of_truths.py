"""``is True`` and ``is False`` of truth values that only the run tells, beside Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.comprehensions.outcomes import identical
from xjit import CaptureError, xjit
from xjit.errors import FallbackWarning


def of_python(x: Any) -> Any:
    positive = bool(x[0] > 0)
    return (1 if positive is True else 2), positive is False, positive is not True, True is positive


def without_control_flow(x: Any) -> Any:
    return np.array_equal(x, x * 1.0) is True


def as_a_condition(x: Any) -> Any:
    if np.allclose(x, abs(x)) is False:
        return x + 1
    return x


def of_numpy(x: Any) -> Any:
    return np.any(x > 2) is np.True_, (x[0] > 0) is True, (x[0] > 0) is not False, np.any(x > 2) is np.False_


def in_a_loop(x: Any) -> Any:
    found = False
    for value in x:
        if value > 2:
            found = True
    return 1 if found is True else 2


def perhaps_none(x: Any) -> Any:
    last = None
    for value in x:
        if value > 0:
            last = bool(value > 1)
    if last is None:
        return 0
    return 1 if last is False else 2 if last is True else 3


def of_a_list(x: Any) -> Any:
    positive = bool(x.sum() > 0)
    return [positive is one for one in (True, False, None, 1, "text")]


@pytest.mark.parametrize(
    "function", [of_python, without_control_flow, as_a_condition, of_numpy, in_a_loop, perhaps_none, of_a_list]
)
def test_truths_of_the_run_are_the_objects_that_python_has(function: Any) -> None:
    compiled = xjit(function)
    for numbers in ([1.0, 3.0], [-1.0, -2.0], [-1.0, 0.5], [0.5, np.nan]):
        x = np.array(numbers)
        identical(compiled(x), function(x))


def matched(x: Any) -> Any:
    positive = bool(x[0] > 0)
    match (positive, 2):
        case (True, 2):
            return 1
        case (False, _):
            return 2
    return 3


def test_truths_of_the_run_match_what_they_match_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(matched)
    with pytest.warns(FallbackWarning, match="matched with True or False"):
        assert compiled(np.array([1.0, 2.0])) == 1
    assert compiled(np.array([-1.0, 2.0])) == 2


def test_functions_without_source_are_numpys() -> None:
    names: dict[str, Any] = {}
    exec("import math\ndef f(x): return math.isnan(x[0]) is False\ndef g(x): return x[0] is None, x * 2", names)
    x = np.array([1.0, 2.0])
    with pytest.raises(CaptureError, match="True or False"):
        xjit(names["f"], strict=True)(x)
    identical(xjit(names["g"], strict=True)(x), names["g"](x))
