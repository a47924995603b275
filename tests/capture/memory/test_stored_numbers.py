"""Numbers that are stored into arrays of integers: the errors of NumPy's, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import jit


def _element(x: Any, y: Any) -> Any:
    x[1] = 5
    x[0] = y[1]
    x[2] = 7
    return x


def _whole(x: Any, y: Any) -> Any:
    x[:] = y.max()
    return x


def _none(x: Any, y: Any) -> Any:
    x[:0] = y[1] * 1
    return x


def _filled(x: Any, y: Any) -> Any:
    x.fill(y[1])
    return x


def _arm(x: Any, y: Any) -> Any:
    if y[0] != y[1]:
        x[0] = y[1]
    else:
        x[0] = y[2]
    return x


def _python_float(x: Any, y: Any) -> Any:
    x[0] = float(y[1])
    return x


def _turns(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[i] = y[i]
    return x


def _array(x: Any, y: Any) -> Any:
    x[1:3] = y[1:3]
    return x


FUNCTIONS = (_element, _whole, _none, _filled, _arm, _python_float, _turns)
VALUES = {
    "too large": np.array([1, 300, 1, 1, 1]),
    "too small": np.array([-300, -129, -129, -300, -300]),
    "largest": np.array([127.9, 127.0, 127.5, 127.0, 0.0]),
    "smallest": np.array([-128.9, -128.0, -128.5, -128.0, -129.0 + 1e-9]),
    "unsigned": np.array([1, 200, 1, 1, 1], np.uint8),
    "NaN": np.array([0.0, np.nan, 1.0, 1.0, 1.0]),
    "infinite": np.array([0.0, np.inf, 1.0, 1.0, 1.0], np.float32),
    "half": np.array([0.0, 200.0, 1.0, 1.0, 1.0], np.float16),
    "truth": np.array([True, False, True, True, True]),
}


def _outcome(function: Any, x: Any, y: Any) -> tuple[Any, Any]:
    x = x.copy()
    try:
        with np.errstate(all="ignore"):
            return function(x, y).tolist(), x.tolist()
    except (ValueError, OverflowError) as error:
        return next(kind for kind in (OverflowError, ValueError) if isinstance(error, kind)), x.tolist()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", VALUES)
def test_errors_are_numpys(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")
    x, y = np.arange(5).astype(np.int8), VALUES[name]
    for function in FUNCTIONS:
        compiled, expected = jit(function), _outcome(function, x, y)
        assert _outcome(compiled, x, y) == expected, function.__name__
        assert compiled.stats().fallbacks == 0 or expected[0] in (OverflowError, ValueError)


@pytest.mark.parametrize("name", ["too large", "too small", "unsigned", "truth"])
def test_numbers_for_unsigned_integers_are_converted(name: str) -> None:
    x, y = np.arange(5).astype(np.uint8), VALUES[name]
    for function in (_element, _whole, _none, _filled, _arm, _turns):
        assert _outcome(jit(function), x, y) == _outcome(function, x, y), function.__name__


def test_conversions_of_arrays_are_not_looked_at() -> None:
    x = jit(_array)(np.zeros(5, np.int8), np.array([0.0, 1e9, np.nan, 0.0, 0.0]))
    assert x.shape == (5,)


def test_numbers_that_are_known_to_fit_are_not_looked_at() -> None:
    def label(x: Any, out: Any) -> Any:
        out[0] = x[1] & 7
        return out

    x, out = np.arange(300), np.zeros(300, np.int32)
    compiled = jit(label)
    assert "NaN" not in compiled.graph(x, out)
    assert compiled(x, out).tolist() == label(x, out.copy()).tolist()


def test_turns_in_any_order_store_numbers_that_are_looked_at() -> None:
    def labels(x: Any, out: Any) -> Any:
        for i in range(len(out)):
            out[i] = x[i] * 0.5
        return out

    x = np.arange(300.0)
    compiled = jit(labels, strict=True)
    assert compiled(x, np.zeros(300, np.int32)).tolist() == labels(x, np.zeros(300, np.int32)).tolist()
    assert "while" not in compiled.source(x, np.zeros(300, np.int32))
    x[200] = np.inf
    out, expected = np.zeros(300, np.int32), np.zeros(300, np.int32)
    for function, array in ((compiled, out), (labels, expected)):
        with pytest.raises(OverflowError):
            function(x, array)
    assert out.tolist() == expected.tolist()
