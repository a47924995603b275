"""Writes into arrays that a function makes: what every name shows afterwards is what NumPy shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

A = np.linspace(-1.0, 2.0, 35).reshape(5, 7)
K = np.array([3, 0, 3, -1])

# Each runs on y = a * 2 and on w, a new array of zeros like it, with views v, t, f and r of both.
STATEMENTS = """
y[0] = 1
y[1:-1, 2] = 5.5
y[::2] = a[::2]
y[::-1] = a
y[1:4, ::-2] = a[1:4, ::2]
y[...] = 0
y[:, None, 1:3] = a[:, None, :2]
y[-1, -1] = a[0, 0]
y[2][3:] = 7
y[2, 3:][::-1][0] = 9
y[1:] += 2
y[1:] += y[:-1]
y[:-1] -= y[1:]
y[0], y[1] = y[1].copy(), y[0].copy()
y[0], y[1] = y[1], y[0]
y[:] = y[::-1]
v[2:] = -1
v[0] = a[0]
v *= a[1:4]
t[3] = a[:, 1]
t[1:3] **= 2
f[4] = 11
f[::9] = a[0, 0]
f += 1
r[1] = 3
r[:, 2] = a[0, 0]
y.T[1:2] = 4
y.reshape(7, 5)[3] = a[:, 0]
y.ravel()[::3] = a.max()
y.flatten()[::3] = a.max()
y[y > 1] = 0
y[a > 0] = -2.5
y[a > 0] *= 3
y[y < 0] += a[0, 0]
m = a > 0; y[m] = a[m] * 2 + w[m]
m = y < 0; y[m] = np.sqrt(np.abs(y[m])); y[~m] -= 1
m = a > 0; w[0, 0] = y[m].max() + y[m].min() - np.max(a[m]); w[0, 1] = y[m].size
m = a > 5; w[0] = y[m].sum()
m = a[:, 0] > 0; y[m] *= 2
y[a[:, 0] > 0] = a[0]
y[:, [True, False, True, False, False, True, True]] = 1
y[[0, 2]] = a[:2]
y[[0, 0, 1]] = a[:3]
y[k] = a[:4]
y[k] += 1
y[k, 2] = a[:4, 0]
y[k, k] = 5
y[:, k] = a[:, :4]
y[1:3, k] += 10
y[k[:, None], [0, 1]] = 3
np.add(y, a, out=y)
np.add(y[1:], a[:-1], out=y[:-1])
np.multiply(a, 2, out=w)
np.sqrt(y, where=y > 0, out=w)
np.divmod(y, 0.7, out=(y, w))
np.sum(a, axis=0, out=y[0])
a.sum(axis=1, out=y[:, 1])
np.cumsum(y, axis=1, out=w)
np.clip(y, 0, 1, out=y)
s = np.zeros((5, 5)); np.dot(a, a.T, out=s); w[:, :5] = s
np.copyto(y, a)
np.copyto(y[0], 5)
np.copyto(y, a[0], where=a > 0)
np.put(y, [0, 5, -1], [1, 2])
np.put(y, k, a[0, :2])
y.put([3, 3], [8, 9])
np.place(y, a > 0, [1, 2, 3])
np.putmask(y, a > 0, a[::-1])
np.putmask(y, y > 0, [1, 2])
np.put_along_axis(y, np.argmax(a, axis=1)[:, None], -7.0, axis=1)
np.put_along_axis(y, (np.arange(7) % 5)[None], a[:1], 0)
np.fill_diagonal(y, 3)
np.fill_diagonal(y, a[0, :5])
np.fill_diagonal(y.T, [1, 2], wrap=True)
np.add.at(y, k, 1)
np.add.at(y, (k, [0, 1, 1, 0]), a[0, :4])
np.maximum.at(y, (slice(None), [1, 1]), a[:, :2])
np.subtract.at(y[0], [0, 0, 3], a[0, 0])
np.add.at(y, k, a[:4, :1])
np.add.at(y, (slice(1, 4), k), a[:3, :4])
np.add.at(y, (k[:, None], k), 0.5)
np.multiply.at(y, (slice(1, 3), 2), a[:2, 0])
np.add.at(y, 2, a[0])
np.add.at(y, (2, 3), a[0, 0])
np.add.at(y.T[::2], k, a[:4, :5])
np.negative.at(y, k)
np.square.at(y[0], [0, 0, 3])
np.floor.at(y, (slice(1, 4), k))
np.add.at(y, (k[0], slice(1, 3)), 1.5)
y.fill(3)
y[0].fill(a[0, 0])
y.sort()
y.sort(axis=0)
y[1].sort()
y[::2, 1:5].sort(axis=1)
y.partition(2)
w[:] = y; y += 1
w[...] = a; w[0] = y[1]; y[1] = 0
z = y; z += 1
z = y[:]; z += 1
z = y.copy(); z += 1
z = y; y = y + 1; z[0] = 0
z = w; w, y = y, w; z[0] = 1; y[1] = 2
w[:] = 5; w[1:3, 1:3] = y[1:3, 1:3]; w[2] = w[1] + w[3]
y -= y.mean(axis=0)
y /= np.sqrt((y**2).sum())
y[1:-1, 1:-1] = 0.25 * (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:])
""".strip().splitlines()


def _function(statement: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {"np": np}
    text = (
        "def function(a, k):\n"
        "    y = a * 2\n"
        "    w = np.zeros_like(a)\n"
        "    v, t, f, r = y[1:4], y.T, y.ravel(), w[::2, 1:]\n"
        f"    {statement}\n"
        "    return y, w, v, t, f, r\n"
    )
    exec(compile(text, "users.py", "exec"), scope)
    found: Callable[..., Any] = scope["function"]
    return found


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_name_shows_what_numpy_shows(statement: str) -> None:
    function = _function(statement)
    expected, found = function(A.copy(), K), xjit.xjit(function, strict=True)(A.copy(), K)
    for one, other in zip(expected, found, strict=True):
        assert one.dtype == other.dtype and one.strides == other.strides
        np.testing.assert_array_equal(one, other)


TYPES = """
b = np.zeros(4, np.int8); b[:] = a[0, :4] * 10
b = np.zeros(4, np.int8); b[1] = 300 - 200
b = np.zeros((2, 3), np.float32); b[:] = a[:2, :3]; b += 1
b = np.zeros(4, np.int32); b += k
b = np.zeros(4, complex); b.real = a[0, :4]; b.imag[1:] = 2; b[0] = 1j
b = np.zeros(4, complex); b[:] = a[0, :4]; b *= 1j; c = b.imag; c += 1
b = np.zeros(7, bool); b[a[0] > 0] = True; b[k] = False
b = np.empty((3, 3)); b[:] = np.eye(3); b[0] = a[0, :3]
b = np.zeros((3, 2, 2)); b[1] = a[:2, :2]; b[:, 0, 1] = a[:3, 3]
b = np.zeros(5, np.float16); b[:] = a[:, 0]; b += 0.1
b = np.ones(3000); b[::7] = 3; b[a.shape[0]] = a[0, 0]
b = np.asfortranarray(a * 1); b[1:3] = 5; b.ravel()[0] = 7; b.T[1] = 2; b.ravel("F")[3] = 8
b = np.full((2, 4), 7); b[:, 1] = k[:2]
b = np.zeros(0); b[:] = 5; b[a[0, :0] > 0] = 2
b = np.zeros(()); b[...] = a[0, 0]; b[()] += 1
b = np.zeros((4, 4)); np.fill_diagonal(b[1:, 1:], a[0, 0])
b = np.zeros((4, 4)); c = np.diag(b).copy(); b[np.diag_indices(4)] = a[0, :4]
b = np.zeros((4, 4)); b[np.triu_indices(4)] = a[0, 0]; b += b.T
b = np.arange(12.0).reshape(3, 4); c = b[1]; d = c[2:]; c[:] = a[0, :4]; d[0] = 100
b = [np.zeros(2), np.zeros(2)]; b[0][1] = a[0, 0]; b[1] += b[0]; b = np.stack(b)
""".strip().splitlines()


@pytest.mark.parametrize("statement", TYPES)
def test_arrays_of_other_types_and_arrays_of_constants(statement: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(
        compile(f"def function(a, k):\n    c = d = 0\n    {statement}\n    return b, c, d\n", "users.py", "exec"),
        scope,
    )
    expected, found = scope["function"](A, K), xjit.xjit(scope["function"], strict=True)(A, K)
    for one, other in zip(expected, found, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


ERRORS = """
y[0] = np.ones(3)
y[9] = 1
y[:, :, 0] = 1
y[a[0] > 0] = 1
y[[0, 9]] = 1
y[k + 5] = 1
y += np.ones(3)
y += 1j
np.add(a, 1, out=y[0])
np.copyto(y, 1j)
y[0] = "text"
y.astype(np.int8)[0] = 1000
y[a > 0] = np.ones(3)
np.fill_diagonal(y[0], 1)
y.fill([1, 2])
y[1.5] = 0
""".strip().splitlines()


@pytest.mark.parametrize("statement", ERRORS)
def test_what_numpy_refuses_is_refused(statement: str) -> None:
    function = _function(statement)
    with pytest.raises(Exception) as expected:
        function(A.copy(), K)
    builtin = next(one for one in type(expected.value).__mro__ if one.__module__ == "builtins")
    with pytest.raises(builtin):
        xjit.xjit(function, strict=True)(A.copy(), K)


def test_constants_become_traced_with_all_that_shows_them() -> None:
    def function(x: Any) -> Any:
        table = np.arange(8.0).reshape(2, 4)
        row, turned = table[1], table.T
        table[0, 0] = 5.0
        count = int(table[0, 0])  # still known
        row[2] = x.max()
        turned[3, 0] += 1
        return table, row, turned, count

    expected, found = function(A), xjit.xjit(function, strict=True)(A)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_complex_numbers_are_true_by_either_part() -> None:
    def stored(z: Any, y: Any) -> Any:
        z[...] = 1 + y
        z[0] = y[1]
        return z

    y = np.array([-1 - 2j, -1j, 0j, -1 + 0j, complex(0, np.nan)], np.complex64)
    compiled = xjit.jit(stored, strict=True)
    np.testing.assert_array_equal(compiled(np.zeros(5, bool), y), stored(np.zeros(5, bool), y))
