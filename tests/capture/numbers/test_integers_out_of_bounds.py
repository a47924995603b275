"""Python integers of the run where an array's type does not hold them: NumPy's results, and its OverflowError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import jit

USES: dict[str, Callable[[Any, Any], Any]] = {
    "array and integer": lambda x, k: (x + k, k - x, x[0] * k, x // 2 | k),
    "comparisons": lambda x, k: (x < k, k == x, x[0] <= k),
    "maximum": lambda x, k: np.maximum(k, x),
    "where": lambda x, k: (np.where(x > 1, x, k), np.where(x > 1, k, 0), np.select([x > 1], [x], k)),
    "clip": lambda x, k: (np.clip(x, 0, k), x.clip(k, None)),
    "full": lambda x, k: np.full(3, k, x.dtype),
    "full_like": lambda x, k: np.full_like(x, k),
    "array": lambda x, k: np.array(k, x.dtype),
    "array of a list": lambda x, k: np.asarray([[k, 1], [2, 3]], x.dtype),
    "initial": lambda x, k: np.max(x, initial=k),
    "pad": lambda x, k: np.pad(x, 1, constant_values=k),
    "insert": lambda x, k: np.insert(x, 1, k),
    "numbers as arrays": lambda x, k: (np.add(k, 4), x + np.asarray(k), np.asarray(k) + x[0], np.full((), k) + x),
    "arguments as arrays": lambda x, k: (np.dot(x, k), np.searchsorted(x, k), np.append(x, k), np.kron(x, k)),
    "isclose": lambda x, k: (np.isclose(x, k), np.array_equal(x, k)),
    "parts": lambda x, k: (np.real(k), np.imag(k), k * 1j),
}


def _item(x: Any, k: Any) -> None:
    x[0] = k


def _items(x: Any, k: Any) -> None:
    x[1:] = k


def _chosen(x: Any, k: Any) -> None:
    x[x > 1] = k


def _at_positions(x: Any, k: Any) -> None:
    x[[0, 2]] = k


def _list(x: Any, k: Any) -> None:
    x[:2] = [k, 1]


def _in_place(x: Any, k: Any) -> None:
    x += k


def _flat(x: Any, k: Any) -> None:
    x.flat = k


def _array(x: Any, k: Any) -> None:
    x[...] = np.asarray(k)


STORES: dict[str, Callable[[Any, Any], Any]] = {
    "item": _item,
    "items": _items,
    "chosen": _chosen,
    "at positions": _at_positions,
    "list": _list,
    "in place": _in_place,
    "flat": _flat,
    "array": _array,
    "fill": lambda x, k: x.fill(k),
    "put": lambda x, k: np.put(x, [0, 1], k),
    "copyto": lambda x, k: np.copyto(x, k),
    "copyto where": lambda x, k: np.copyto(x, k, where=x > 1),
    "putmask": lambda x, k: np.putmask(x, x > 1, k),
    "place": lambda x, k: np.place(x, x > 1, [k]),
}
NUMBERS = (7, 8, 9, 127, 128, -1, 300, -129, 256, 2**40, 5)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return type(value), getattr(value, "dtype", None), np.asarray(value).tolist()


def _outcome(function: Any, dtype: Any, number: int) -> Any:
    x = np.array([1, 2, 3], dtype)
    try:
        return _plain(function(x, number)), x.tolist()
    except OverflowError:
        return OverflowError, x.tolist()


def _assert_as_numpy(function: Any, dtype: Any, numbers: Any = NUMBERS) -> None:
    compiled = jit(function)
    for number in numbers:
        expected = _outcome(function, dtype, number)
        assert _outcome(compiled, dtype, number) == expected, number


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_arguments_that_change(use: Any, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    _assert_as_numpy(use, dtype)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_stores_of_arguments_that_change(store: Any, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def function(x: Any, n: Any) -> Any:
        store(x, n)
        return x

    _assert_as_numpy(function, dtype)


def _converted(x: Any, n: Any) -> Any:
    k = int(np.asarray([n, 1])[0])
    y = x + k
    x[1:] = k
    return y


def _carried(x: Any, n: Any) -> Any:
    k = 0
    for value in np.asarray([n, 1, 1]):
        if value > 1 or value < 0:
            k += int(value)
    x[0] = k
    return k


def _counter(x: Any, n: Any) -> Any:
    for k in range(n, n + 3):
        x[k % 3] = k
    return x


def _last(x: Any, n: Any) -> Any:
    k = n
    while k < n + 5 * int(x[0]):
        k += 1
    return np.full(3, k, x.dtype)


@pytest.mark.parametrize("function", [_converted, _carried, _counter, _last])
def test_integers_of_the_run(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    for dtype in (np.int8, np.uint8):
        _assert_as_numpy(function, dtype)


def test_the_program_itself_looks_at_integers() -> None:
    def function(x: Any, y: Any) -> Any:
        return x + int(y[0])

    x, compiled = np.array([1, 2], np.int8), jit(function, strict=True)
    assert compiled(x, np.array([3])).tolist() == [4, 5]
    with pytest.raises(OverflowError, match="out of bounds for int8") as caught:
        compiled(x, np.array([300]))
    assert not isinstance(caught.value, ValueError)
    assert compiled.stats().fallbacks == 0


def test_turns_that_store_counters_stay_apart() -> None:
    def function(out: Any) -> Any:
        for i in range(len(out)):
            out[i] = i * 3
        return out

    compiled, out = jit(function, strict=True), np.zeros(500, np.int16)
    assert compiled(out).tolist() == function(out.copy()).tolist()
    assert "require" not in compiled.graph(out)
