"""``x.flat``: reads, writes and loops give what NumPy gives, whatever the order of the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit

LAYOUTS = {
    "rows": lambda: np.linspace(-1.0, 2.0, 12).reshape(3, 4),
    "columns": lambda: np.asfortranarray(np.linspace(-1.0, 2.0, 12).reshape(3, 4)),
    "apart": lambda: np.linspace(-1.0, 2.0, 48).reshape(6, 8)[::2, 1::2],
    "one axis": lambda: np.linspace(-1.0, 2.0, 12),
}
STATEMENTS = """
a.flat[::5] += 3
a.flat[::-3] = k[:4]
a.flat[1:] = 7
a.flat = 3
a.flat = [1, 2]
a.flat[5] = 7
a.flat[-1] = a.sum()
a.flat[[1, 2, 1]] = 7, 8, 9
a.flat[np.array([3, 0, 3, -1])] = -k
a.flat[k[1]] = 2
a.flat[k > 1] = 5
a.flat[a.flat[:] > 0] = a.max()
a.T.flat[1:4] = 7
a.T.flat[:] = k
a[1:].flat[0] = 4
a[::2].flat[2:] *= 2
a.flat[-4:] = a.flat[:4]
a.flat[2:2] = []
a.flat[1:3] = np.flip(k).flat
a.flat[1:] = a.copy()
f = a.flat; f[2] += 1; a[:1] = 0; b = f[:3]
b = a.flat[::2] * 2
b = a.flat[3]
b = a.flat[k], a.flat[a.ravel() > 0].sum()
b = np.sum(a.flat), np.sin(a.flat), len(a.flat), a.flat.copy(), np.concatenate([a.flat, k])
b = [v * 2 for v in a.flat]
c = abs(a).astype(np.uint8); c.flat[1:] = 3.7
c = np.zeros((2, 3), complex); c.flat[1::2] = k[:3]; c.real.flat[0] = 5
for j in range(6): a.flat[j] += j
for j in range(300): a.flat[(j * 7) % 12] += j
for v in a.flat: b = b + v * 2
for j, v in enumerate(a.T.flat): b = b * 0.5 + v * j
for v in np.tile(a, 50).flat: b = b + v
""".strip().splitlines()


def _function(statement: str) -> Any:
    scope: dict[str, Any] = {"np": np}
    exec(
        compile(f"def function(a, k):\n    b = c = 0.0\n    {statement}\n    return b, c\n", "users.py", "exec"),
        scope,
    )
    return scope["function"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_flat_iterators_read_and_write_what_numpys_do(statement: str, layout: str) -> None:
    function = _function(statement)
    k = np.arange(12) % 5
    x, y = LAYOUTS[layout](), LAYOUTS[layout]()
    expected = function(x, k)
    found = xjit.xjit(function, strict=True)(y, k)
    np.testing.assert_array_equal(x, y)
    for one, other in zip(expected, found, strict=True):
        for left, right in zip(
            *(value if type(value) in (tuple, list) else [value] for value in (one, other)), strict=True
        ):
            np.testing.assert_allclose(left, right, rtol=1e-14)
            assert np.asarray(left).dtype == np.asarray(right).dtype


@pytest.mark.parametrize("statement", ["a.flat[99] = 1", "a.flat[-13] = 1", "a.flat[1, 2] = 1", "a.flat = 'text'"])
def test_what_a_flat_iterator_refuses_is_refused(statement: str) -> None:
    function = _function(statement)
    for layout in LAYOUTS.values():
        x, y = layout(), layout()
        with pytest.raises(Exception) as expected:
            function(x, np.arange(3))
        builtin = next(one for one in type(expected.value).__mro__ if one.__module__ == "builtins")
        with pytest.raises(builtin):
            xjit.xjit(function, strict=True)(y, np.arange(3))
        np.testing.assert_array_equal(x, y)


def test_a_flat_iterator_of_an_array_that_may_not_be_written_refuses() -> None:
    def function(a: Any) -> None:
        np.broadcast_to(a, (2, 3)).flat[0] = 5.0

    with pytest.raises(ValueError, match="read-only"):
        xjit.xjit(function, strict=True)(np.zeros(3))


def test_what_numpy_does_element_by_element_is_left_to_numpy() -> None:
    def of_array(a: Any) -> None:
        a.flat[1:] = a[:-1]

    def of_iterator(a: Any) -> None:
        a.flat[1:] = a.flat

    def beyond_the_end(a: Any) -> None:
        a.flat[[1, 20]] = 5.0

    for function in (of_array, of_iterator, beyond_the_end):
        with pytest.raises(xjit.errors.CaptureError, match=r"elements of x|up to a position"):
            xjit.xjit(function, strict=True)(np.arange(4.0))
