"""Functions that raise call after call: traced once, as long as NumPy raises the same; compiled once it does not."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning, ShapeError

LINE = np.arange(4.0)
LIMIT = 5.0


@pytest.fixture(autouse=True)
def _lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")


def counted(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[int]]:
    """The compiled function, and a list that grows by one with every attempt to trace it."""
    compiled, attempts = xjit.jit(function), list[int]()
    dispatcher = compiled._made()
    capture = dispatcher._capture

    def capture_counted(*arguments: Any) -> Any:
        attempts.append(1)
        return capture(*arguments)

    monkeypatch.setattr(dispatcher, "_capture", capture_counted)
    return compiled, attempts


def limited(x: Any, n: float = 1.0) -> Any:
    if LIMIT > 3 or n < 0:
        raise ValueError(f"{LIMIT} is above 3" if LIMIT > 3 else f"{n} is negative")
    return np.sin(x) + n


def test_the_users_own_errors_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, attempts = counted(limited, monkeypatch)
    for _ in range(5):
        with pytest.raises(ValueError, match=r"^5\.0 is above 3$") as caught:
            compiled(LINE)
        assert caught.traceback[-1].name == "limited"
    assert len(attempts) == 1


def test_errors_of_numpy_are_ours_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, attempts = counted(lambda x: np.sin(x).reshape(3, 5), monkeypatch)
    texts = set()
    for _ in range(5):
        with pytest.raises(ShapeError) as caught:
            compiled(LINE)
        texts.add(str(caught.value))
    assert len(attempts) == len(texts) == 1 and compiled(np.ones(15)).shape == (3, 5)


def test_what_decides_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, attempts = counted(limited, monkeypatch)
    for _ in range(3):
        with pytest.raises(ValueError, match="above"):
            compiled(LINE)
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    for _ in range(3):
        np.testing.assert_allclose(compiled(LINE), np.sin(LINE) + 1.0, rtol=1e-14)
    assert (len(attempts), compiled.stats().traces, compiled.stats().fallbacks) == (2, 1, 0)
    monkeypatch.setitem(globals(), "LIMIT", 7.0)
    for _ in range(3):
        with pytest.raises(ValueError, match=r"7\.0 is above"):
            compiled(LINE)
    assert len(attempts) == 3


def test_another_error_is_another_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, attempts = counted(limited, monkeypatch)
    for limit in (5.0, 5.0, 6.0, 6.0, 6.0):
        monkeypatch.setitem(globals(), "LIMIT", limit)
        with pytest.raises(ValueError, match=f"{limit} is above"):
            compiled(LINE)
    assert len(attempts) == 2


def test_numbers_that_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "LIMIT", 0.0)
    compiled, attempts = counted(limited, monkeypatch)
    for _ in range(4):
        with pytest.raises(ValueError, match="negative"):
            compiled(LINE, -1.0)
        np.testing.assert_allclose(compiled(LINE, 2.0), np.sin(LINE) + 2.0, rtol=1e-14)
    assert compiled.stats().fallbacks == 0 and len(attempts) <= 4


def test_what_cannot_be_compiled_is_told_when_it_has_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(x: Any) -> Any:
        if min(x.astype(object)) < 0:
            raise ValueError("a negative number")
        return np.sqrt(x)

    compiled, attempts = counted(checked, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(ValueError, match="negative"):
                compiled(-LINE)
    assert len(attempts) == 1
    with pytest.warns(FallbackWarning, match="checked runs through NumPy"):
        np.testing.assert_array_equal(compiled(LINE), np.sqrt(LINE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(LINE), np.sqrt(LINE))
        with pytest.raises(ValueError, match="negative"):
            compiled(-LINE)
    assert len(attempts) == 2


def test_strict_functions_say_why_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, attempts = counted(lambda x: x.reshape(3, 5), monkeypatch)
    for strict in ("0", "1", "1", "0"):
        monkeypatch.setenv("XJIT_STRICT", strict)
        with pytest.raises(ShapeError):
            compiled(LINE)
    assert len(attempts) == 3


def test_arrays_of_failed_calls_are_not_kept() -> None:
    for function in (lambda x: x.reshape(3, 5), lambda x: x + undefined):  # noqa: F821
        compiled = xjit.jit(function)
        for _ in range(3):
            array = np.arange(4.0)
            gone = weakref.ref(array)
            with pytest.raises((ShapeError, NameError)):
                compiled(array)
            del array
            gc.collect()
            assert gone() is None


def _assigned(x: Any) -> None:
    x[0] = 1.0


def _copied_to(x: Any) -> None:
    np.copyto(x, 0.0)


def _added_in_place(x: Any) -> None:
    x += 1.0


WRITES: list[Callable[[Any], Any]] = [
    _assigned,
    _copied_to,
    _added_in_place,
    lambda x: x.sort(),
    lambda x: x.fill(0.0),
    lambda x: np.put(x, [0], 1.0),
    lambda x: np.add(x, 1.0, out=x),
    lambda x: x[..., None] + np.ones((3, 2)).T[:, :, None, None] @ x,
    lambda x: x.reshape(3),
    lambda x: -(x > 1),
]


@pytest.mark.parametrize("function", WRITES)
def test_the_text_is_that_of_numpy(function: Any) -> None:
    x = np.arange(4.0)
    x.flags.writeable = False
    with pytest.raises(Exception) as expected:
        function(x)
    compiled = xjit.jit(function)
    for _ in range(3):
        with pytest.raises(expected.type) as caught:
            compiled(x)
        lines = str(caught.value).splitlines()
        assert lines[0] == str(expected.value)
        assert lines[1].startswith("  at ") and lines[-1].startswith("  fix: ")
        assert caught.value.args == expected.value.args or caught.value.args == (str(expected.value),)
