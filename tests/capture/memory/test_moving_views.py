"""Results that are views of which only the run tells place or size: NumPy's strides, flags, memory and identity."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.memory.seen_memory import check_like_numpy
from tests.helpers.second_process import run
from xjit import tree

TABLE = np.arange(12.0)


def up_to_largest(x: Any) -> Any:
    return x[: int(np.argmax(x))]


def from_largest(x: Any) -> Any:
    return x[int(np.argmax(x)) :]


def backwards(x: Any) -> Any:
    return x[int(np.argmax(x)) :: -1]


def in_steps_backwards(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[k:1:-2], x[::-2][: k // 2]


def nothing(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[k:k], x[5:2:3], x[k : k - 1 : 2]


def beyond(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[k - 100 : k + 100], x[k + 100 :]


def row(x: Any) -> Any:
    points = x.reshape(4, 3)
    return points[points[:, 0].argmin()]


def column(x: Any) -> Any:
    points = x.reshape(4, 3)
    return points[:, int(points[0].argmin())], points[points[:, 1].argmax(), 1:]


def own_row(x: Any) -> Any:
    rows = x.reshape(4, 3) * 2.0
    return rows, rows[rows.sum(1).argmin()]


def own_rows(x: Any) -> Any:
    rows = x.reshape(4, 3) * 2.0
    k = int(rows.sum(1).argmin())
    return rows[k:], rows[1:], rows[k]


def filled(x: Any) -> Any:
    out, k = np.zeros(12), 0
    for v in x:
        if v > 0.5:
            out[k] = v
            k += 1
    return out[:k]


def filled_beside(x: Any) -> Any:
    out, k = np.zeros((2, 12)), 0
    for v in x:
        if v > 0.5:
            out[:, k] = v
            k += 1
    return out[:, :k], out, out[1]


def chosen(x: Any) -> Any:
    y = x[x > 0.3]
    return y, y[1:], y[::-1]


def chosen_part(x: Any) -> Any:
    return x[x > 0.3][1::2]


def one_view_twice(x: Any) -> Any:
    part = x[: int(np.argmax(x))]
    return part, {"same": part}, [x[: int(np.argmax(x))]]


def view_of_view(x: Any) -> Any:
    k = int(np.argmax(x))
    part = x[1:][:k]
    return part[1:], part[None, ::2], x


def turned(x: Any) -> Any:
    k = int(np.argmax(x)) % 4
    return x.reshape(4, 3)[:k].T, x.reshape(4, 3).T[:, k:]


def written_before(x: Any) -> Any:
    k = int(np.argmax(x))
    part = x[:k]
    part += 1.0
    x[0] = 7.0
    return part


def of_table(x: Any) -> Any:
    return TABLE[: int(np.argmax(x))]


def of_constant(x: Any) -> Any:
    ramp = np.arange(12.0)
    return ramp[: int(np.argmax(x))], ramp


def parts_of_complex(x: Any) -> Any:
    z = x + 1j
    k = int(np.argmax(x))
    return z, z.real[:k], z[k:]


def flattened(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[:k].ravel(), x[::2][:k].ravel(), x[k::-1].ravel(), np.ravel(x[k : k + 1 : 3])


def flattened_rows(x: Any) -> Any:
    rows = x.reshape(4, 3)
    k = int(np.argmax(x)) % 4
    return rows[:k].ravel(), rows[:k].reshape(-1), rows[k:].ravel()[1:], rows[:k].flatten()


def reshaped(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[:k].reshape(-1, 1), x[::2][:k].reshape(1, -1), x[:k].reshape(-1), x[:k].transpose()


def flattened_own(x: Any) -> Any:
    rows = x.reshape(4, 3) + 1.0
    part = rows[: int(np.argmax(x)) % 4]
    return part, part.ravel(), rows


def flattened_chosen(x: Any) -> Any:
    y = x[x > 0.3]
    return y.ravel()[1:], y, y[::2].ravel()


def flattened_chosen_alone(x: Any) -> Any:
    return x[x > 0.3].reshape(-1, 1)


def parts_of_chosen(x: Any) -> Any:
    z = (x + 1j)[x > 0.3]
    return z.real, z, z[1:].imag


FUNCTIONS: list[Callable[..., Any]] = [
    *(up_to_largest, from_largest, backwards, in_steps_backwards, nothing, beyond, row, column, own_row, own_rows),
    *(filled, filled_beside, chosen, chosen_part, one_view_twice, view_of_view, turned, written_before, of_table),
    *(of_constant, parts_of_complex, flattened, flattened_rows, reshaped, flattened_own, flattened_chosen),
    *(parts_of_chosen, flattened_chosen_alone),
]


def arrays_in(value: Any) -> list[Any]:
    return [leaf for leaf in tree.flatten(value)[0] if isinstance(leaf, np.ndarray)]


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def seen(arguments: Any, result: Any) -> list[Any]:
    """Layouts, flags, memory and identity of arrays, as a caller sees them."""
    arrays = arrays_in((arguments, result))
    found: list[Any] = []
    for one in arrays:
        flags = one.flags
        found.append((one.shape, one.strides, flags.writeable, flags.c_contiguous, flags.f_contiguous, flags.owndata))
    for one, other in itertools.combinations(arrays, 2):
        shared = np.shares_memory(one, other)
        found.append((one is other, shared, address(one) - address(other) if shared else 0))
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_views_are_as_numpys(function: Callable[..., Any], seed: int) -> None:
    compiled = xjit.jit(function, strict=True)
    for _ in range(2):
        mine, numpys = (np.random.default_rng(seed).random(12) for _ in range(2))
        got, wanted = compiled(mine), function(numpys)
        assert seen(mine, got) == seen(numpys, wanted)
        for one, other in zip(arrays_in((mine, got)), arrays_in((numpys, wanted)), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_writes_reach_the_base(function: Callable[..., Any]) -> None:
    compiled, kept = xjit.jit(function, strict=True), TABLE.copy()
    mine, numpys = (np.random.default_rng(5).random(12) for _ in range(2))
    pairs = []
    for call, x in ((compiled, mine), (function, numpys)):
        result = call(x)
        for number, one in enumerate(arrays_in(result)):
            one[...] += number + 1
        pairs.append([x, *arrays_in(result), TABLE.copy()])
        TABLE[...] = kept
    for one, other in zip(*pairs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_views_of_readonly_arrays_are_readonly() -> None:
    x = np.random.default_rng(0).random(12)
    x.flags.writeable = False
    for function in (up_to_largest, row, turned):
        for one in arrays_in(xjit.jit(function, strict=True)(x)):
            assert not one.flags.writeable
            assert np.shares_memory(one, x)


def test_views_of_arrays_with_other_strides() -> None:
    x = np.random.default_rng(0).random((12, 2))[::-1, 1]
    for function in (up_to_largest, backwards, in_steps_backwards):
        got, wanted = xjit.jit(function, strict=True)(x), function(x)
        assert seen(x, got) == seen(x, wanted)


def test_views_of_a_global_follow_its_layout() -> None:
    def first(x: Any) -> Any:
        return table[: int(np.argmax(x))]

    table, x = np.arange(12.0), np.random.default_rng(0).random(12)
    compiled = xjit.jit(first, strict=True)
    assert compiled(x).base is table
    table = np.arange(36.0).reshape(12, 3)
    assert compiled(x).shape == first(x).shape
    assert compiled(x).base is first(x).base


class Holder:
    """Something with a result that is kept."""

    def __init__(self) -> None:
        self.part: Any = None


def test_views_are_kept_in_attributes() -> None:
    def keep(holder: Any, x: Any) -> Any:
        holder.part = x[: int(np.argmax(x))]
        return holder.part

    holder, x = Holder(), np.random.default_rng(0).random(12)
    part = xjit.jit(keep, strict=True)(holder, x)
    assert part is holder.part
    assert part.base is x


def test_positions_outside_are_errors() -> None:
    def picked(x: Any, k: int) -> Any:
        return x.reshape(4, 3)[k + int(x[0])]

    compiled = xjit.jit(picked, strict=True)
    x = np.zeros(12)
    np.testing.assert_array_equal(compiled(x, 3), picked(x, 3))
    with pytest.raises(IndexError):
        compiled(x, 4)


PROGRAM = """
import sys
import numpy as np
from xjit import xjit

@xjit(strict=True)
def f(x):
    k = int(np.argmax(x))
    rows = x.reshape(4, 3) * 2.0
    part = x[k::-1]
    return part, rows[k % 4], rows, x.reshape(4, 3)[: k % 4].T, part

x = np.random.default_rng(3).random(12)
results = f(x)
expected = f.__wrapped__(x)
assert all(np.array_equal(a, b) and a.strides == b.strides for a, b in zip(results, expected, strict=True))
assert results[0].base is x and results[1].base is results[2] and np.shares_memory(results[3], x)
assert results[0] is results[4]
print("traced" if "xjit.api.dispatcher" in sys.modules else "started", len(sys.modules))
"""


def test_a_second_process_makes_the_same_views(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path / "cache", text=PROGRAM)[0] == "traced"
    assert run(tmp_path, tmp_path / "cache", text=PROGRAM)[0] == "started"


@pytest.mark.parametrize("shape", [(1, 4), (3, 9)])
def test_steps_backwards_in_known_places_are_views(shape: tuple[int, ...]) -> None:
    def turned(x: Any, y: Any) -> Any:
        return x[int(y[0] == 1) :: -1, -1:0:-2]

    x = np.arange(float(np.prod(shape))).reshape(shape)
    compiled = xjit.jit(turned, strict=True)
    for y in (np.zeros(1), np.ones(1)):
        found, wanted = compiled(x, y), turned(x, y)
        np.testing.assert_array_equal(found, wanted)
        assert np.shares_memory(found, x)
        assert found.strides == wanted.strides


def contiguous_column(y: Any, i: int) -> Any:
    return np.ascontiguousarray(y[:, i])


def contiguous_row(y: Any, i: int) -> Any:
    return np.ascontiguousarray(y[i])


def contiguous_block(y: Any, i: int) -> Any:
    return np.ascontiguousarray(y[1:, i : i + 2])


def column_of_a_line(y: Any, i: int) -> Any:
    return y[1:, i].ravel()


def block_as_a_line(y: Any, i: int) -> Any:
    return y[1:, i : i + 2].ravel()


def rows_as_a_line(y: Any, i: int) -> Any:
    return y[i : i + 2].reshape(-1)


def part_of_rows_as_a_line(y: Any, i: int) -> Any:
    return y[i : i + 2, 1:].reshape(-1)


def every_second_row(y: Any, i: int) -> Any:
    return y[i : i + 3 : 2].ravel()


def fortran_columns(y: Any, i: int) -> Any:
    return np.asfortranarray(y[:, i : i + 2])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize(
    "packed",
    [
        *(contiguous_column, contiguous_row, contiguous_block, column_of_a_line, block_as_a_line, rows_as_a_line),
        *(part_of_rows_as_a_line, every_second_row, fortran_columns),
    ],
)
def test_windows_at_places_of_the_run_are_packed_where_numpy_copies(
    packed: Callable[..., Any], is_written: bool, order: Any
) -> None:
    def function(y: Any) -> Any:
        found = packed(y, int(y[0, 0] < 1))
        if is_written:
            found[...] = -1.0
        return found, y.sum()

    for first in (1.0, 0.0):
        matrix = np.array(np.arange(20.0).reshape(4, 5) + first, order=order)
        check_like_numpy(function, lambda matrix=matrix: (matrix.copy(order="K"),), strict=True)
