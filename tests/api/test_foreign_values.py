"""Arguments and globals that no program takes: the words, what to pass instead, and the answers about such calls."""

from __future__ import annotations

import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning

TEXT = np.array(["a", "b", "a"])


@pytest.fixture(autouse=True)
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it: what cannot be compiled runs through NumPy."""
    monkeypatch.setenv("XJIT_STRICT", "0")


class Tagged(np.ndarray):
    """A subclass with nothing of its own."""


def itself(prices: Any) -> Any:
    return prices


# Arguments with the words for them, and what is to be passed in their place.
FOREIGN: dict[str, tuple[Any, str, str]] = {
    "numbers as objects": (np.array([1, 2.5, None], object), "object dtype", "use prices.astype(float)"),
    "text as objects": (np.array(["a", "b"], object), "object dtype", "pass numbers: np.unique(prices"),
    "ragged": (np.array([[1], [1, 2]], object), "object dtype", "padded to one length"),
    "text": (TEXT, "text (<U1)", "pass numbers: np.unique(prices, return_inverse=True)[1]"),
    "dates": (
        np.array(["2024-01-01"], "datetime64[D]"),
        "dates (datetime64[D])",
        "pass numbers: (prices - prices[0]) / np.timedelta64(1, 'D')",
    ),
    "spans": (
        np.array([1], "timedelta64[s]"),
        "time spans (timedelta64[s])",
        "pass numbers: prices / np.timedelta64(1, 's')",
    ),
    "records": (
        np.zeros(2, [("a", "f8"), ("b", "i4")]),
        "records",
        "pass the fields as arrays: prices['a'], prices['b']",
    ),
    "long double": (np.ones(2, np.longdouble), np.dtype(np.longdouble).name, "prices.astype(np.float64)"),
    "masked": (np.ma.masked_array([1.0], [True]), "a masked array", "prices.filled(np.nan)"),
    "subclass": (np.ones(2).view(Tagged), "Tagged, a subclass of ndarray", "pass np.asarray(prices)"),
    "generator": ((i for i in range(2)), "a value of type generator", "pass list(prices)"),
    "object of C": (threading.Lock(), "a value of type _thread.lock", "pass the arrays and numbers"),
}

OF_PANDAS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "series": (lambda pd: pd.Series([1, None], dtype=object), "object dtype", "use prices.to_numpy(float)"),
    "frame": (
        lambda pd: pd.DataFrame({"a": [1.0, 2.0], "name": pd.Series(["x", 2], dtype=object)}),
        "object dtype in column 'name'",
        "use prices.select_dtypes('number')",
    ),
    "index": (lambda pd: pd.date_range("2024", periods=2), "dates", "pass numbers: (prices - prices[0])"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_words_of_arguments(name: str) -> None:
    assert_named(*FOREIGN[name])


@pytest.mark.parametrize("name", OF_PANDAS)
def test_words_of_arguments_of_pandas(name: str) -> None:
    made, kind, instead = OF_PANDAS[name]
    assert_named(made(pytest.importorskip("pandas")), kind, instead)


def assert_named(value: Any, kind: str, instead: str) -> None:
    """Fail where a warning does not name an argument so, and what to pass instead."""
    with pytest.warns(FallbackWarning) as told:
        assert xjit.jit(itself)(value) is value
    lines = str(told[0].message).splitlines()
    assert f"itself runs through NumPy: argument prices: {kind}" in lines[0] and "compiled" in lines[0]
    assert lines[1].endswith(f"test_foreign_values.py:{itself.__code__.co_firstlineno}, in itself")
    assert lines[2].startswith("  from argument prices: ")
    assert lines[-1].startswith("  fix: ") and instead in lines[-1]


@pytest.mark.parametrize("name", FOREIGN)
def test_answers_about_such_calls(name: str) -> None:
    value, kind, instead = FOREIGN[name]
    compiled = xjit.jit(itself)
    explained = str(compiled.explain(value))
    assert "NumPy runs the function" in explained and kind in explained and instead in explained
    assert "bytes moved" not in explained
    for text in (compiled.source(value), compiled.graph(value)):
        assert all(line.startswith("#") for line in text.splitlines()) and kind in text
    with pytest.raises(CaptureError, match="argument prices: "):
        xjit.jit(strict=True)(itself).explain(value)


def test_one_warning_for_one_kind_of_argument() -> None:
    compiled = xjit.jit(itself)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for size in range(5):
            compiled(TEXT[:size])
    assert len(told) == 1


def test_globals_are_named_as_the_user_does() -> None:
    with pytest.warns(FallbackWarning) as told:
        xjit.jit(lambda x: x[TEXT == "a"])(np.ones(3))
    text = str(told[0].message)
    assert "global TEXT: text (<U1)" in text and "np.unique(TEXT, return_inverse=True)[1]" in text


class Grid:
    """An object that tells the shape and the type of what it has."""

    def __init__(self) -> None:
        self.shape, self.dtype = (3,), np.dtype(float)
        self.values = np.arange(3.0)


def test_only_descriptions_stand_for_arrays() -> None:
    def doubled(x: Any) -> Any:
        return x.values * 2

    assert "kernel over 3" in str(xjit.jit(doubled).explain(Grid()))
    described = types.SimpleNamespace(shape=(4,), dtype=np.dtype(float))
    assert "kernel over 4" in str(xjit.jit(lambda x: x * 2).explain(described))
    series = pytest.importorskip("pandas").Series(np.arange(3.0))
    assert "kernel over 3" in str(xjit.jit(doubled).explain(series))
