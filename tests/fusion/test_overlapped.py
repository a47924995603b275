"""Stencils one behind the other: in tiles, with what is between them in scratch, and the same numbers as NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from tests.helpers.kernel_executors import KERNEL_EXECUTORS, PROCESSOR, on, run_uncompiled, small_tiles, uncompiled
from xjit import compile
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.compute_at import ComputeAt
from xjit.inspect.explain import Explanation
from xjit.ir.loops.intexpr import constant, evaluate
from xjit.ir.loops.nodes import Alloc, Kernel
from xjit.ir.loops.walk import statements
from xjit.machine import Machine

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

RANDOM = np.random.default_rng(11)
GRID = RANDOM.uniform(0.5, 2.0, size=(13, 19))
CUBE = RANDOM.uniform(0.5, 2.0, size=(7, 8, 9))
LINE = RANDOM.uniform(0.5, 2.0, size=61)
LARGE = np.zeros((1500, 1000))


def laplacian(u: Any) -> Any:
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]


def biharmonic(u: Any) -> Any:
    return laplacian(laplacian(u))


def blurred(x: Any) -> Any:
    down = (x[:-4] + x[4:] + 4.0 * (x[1:-3] + x[3:-1]) + 6.0 * x[2:-2]) / 16.0
    return (down[:, :-4] + down[:, 4:] + 4.0 * (down[:, 1:-3] + down[:, 3:-1]) + 6.0 * down[:, 2:-2]) / 16.0


def box(p: Any) -> Any:
    rows = (p[:-2] + p[1:-1] + p[2:]) / 3
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 3


def edges(x: Any) -> Any:
    down = x[2:] - x[:-2]
    across = x[:, 2:] - x[:, :-2]
    return box(np.sqrt(down[:, 1:-1] ** 2 + across[1:-1] ** 2))


def corners(x: Any) -> Any:
    down, across = x[2:, 1:-1] - x[:-2, 1:-1], x[1:-1, 2:] - x[1:-1, :-2]
    a, b, c = box(down * down), box(down * across), box(across * across)
    return a * c - b * b - 0.04 * (a + c) ** 2


def unsharp(x: Any) -> Any:
    inner = x[2:-2, 2:-2]
    return np.clip(inner + 1.5 * (inner - blurred(x)), 0, 1)


def developed(image: Any) -> Any:
    """An RGB image of bytes, through filters and sums over colours."""
    light = (image.astype(np.float32) / 255.0) ** 2
    inner = light[2:-2, 2:-2]
    sharp = inner + 1.5 * (inner - blurred(light))
    grey = 0.2126 * sharp[..., 0] + 0.7152 * sharp[..., 1] + 0.0722 * sharp[..., 2]
    return (255.0 * np.sqrt(np.clip(grey[..., None] + 1.3 * (sharp - grey[..., None]), 0.0, 1.0))).astype(np.uint8)


def padded(u: Any) -> Any:
    p = np.pad(u, 1, mode="edge")
    return 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


def rolled(u: Any) -> Any:
    def step(v: Any) -> Any:
        return np.exp(-np.roll(v, 1, 0)) + np.roll(v, -1, 1) + np.roll(v, 1, 1)

    return step(step(u))


def line(x: Any) -> Any:
    d = np.exp(-((x[1:] - x[:-1]) ** 2))
    s = np.sqrt(d[2:] + d[:-2] + d[1:-1])
    return s[1:] - s[:-1]


def by_position(u: Any) -> Any:
    """The stages depend on where they are."""
    weights = np.exp(-u / (1.0 + np.arange(u.shape[0])[:, None]))
    return weights[1:] - weights[:-1] * np.arange(u.shape[1])


def in_space(u: Any) -> Any:
    def step(v: Any) -> Any:
        return np.sqrt(v[2:, 1:-1, 1:-1] + v[:-2, 1:-1, 1:-1] + v[1:-1, 2:, 1:-1] + v[1:-1, 1:-1, :-2])

    return step(step(u))


def bordered(u: Any) -> Any:
    """Borders and corners are as wide as one element."""
    v = np.sin(-(u**2))
    return np.pad(v[:, 2:] + v[:, :-2] * v[:, 1:-1], 1)


def columns_of_one(u: Any) -> Any:
    v = u * np.cos(u)
    return (v[2:] + v[:-2] * v[1:-1])[:, :1]


def functions_of_sums(u: Any) -> Any:
    """Sums that are used at once have no memory but that of a row."""
    v = np.tanh(np.cumsum(u, axis=1))
    return v[2:] + v[:-2] * v[1:-1]


PROGRAMS: dict[str, tuple[Function, Array]] = {
    "biharmonic": (biharmonic, GRID),
    "blurred": (blurred, GRID),
    "edges": (edges, GRID),
    "corners": (corners, GRID),
    "unsharp": (unsharp, GRID),
    "four steps": (lambda u: biharmonic(np.exp(-(biharmonic(u) ** 2))), GRID),
    "gradients": (lambda u: np.gradient(np.sqrt(np.gradient(u, axis=0) ** 2 + 1.0), axis=0), GRID),
    "padded twice": (lambda u: padded(padded(u)), GRID),
    "rolled twice": (rolled, GRID),
    "padded exponentials": (lambda u: padded(np.exp(-(u**2))), GRID),
    "line": (line, LINE),
    "bordered": (bordered, GRID),
    "columns of one": (columns_of_one, np.resize(CUBE, (12, 2, 6))),
    "functions of sums": (functions_of_sums, GRID[:, :8]),
    "by position": (by_position, GRID),
    "in space": (in_space, CUBE),
    "sines": (lambda u: biharmonic(np.sin(1e5 * u)), GRID),
    "one row of it": (lambda u: np.exp(u)[3:6].sum(axis=0) + np.exp(u)[5], GRID),
    "turned": (lambda u: (np.exp(u)[1:] * np.exp(u)[:-1])[::-1], GRID),
    "gathered across": (lambda u: (np.exp(u)[1:] + np.exp(u)[:-1])[:, np.array([3, 1, 4, 1])], GRID),
    "across rows": (lambda u: np.exp(u)[:, :13].T + np.exp(u)[:, :13], GRID[:, :13]),
    "bytes": (lambda u: box(np.sqrt(u.astype(np.float32))), (100 * GRID).astype(np.uint8)),
    "picture": (developed, (100 * RANDOM.random((9, 11, 3))).astype(np.uint8)),
    "half precision": (biharmonic, GRID.astype(np.float16)),
    "complex": (lambda u: biharmonic(np.exp(1j * u)), GRID),
    "truth": (lambda u: (lambda t: t[1:] ^ t[:-1])(np.sin(u) > np.cos(u)), GRID),
}


def sums(s: Any) -> Any:
    return s[:6] + s[1:7] + s[2:8]


def products(s: Any) -> Any:
    return s[6:12] * s[7:13] * s[8:14]


def turned_halves(x: Any) -> Any:
    """Halves of one size are one loop nest, in which each half of the second result reads one of the first."""
    s = np.exp(np.sin(x))
    a = np.concatenate([sums(s), products(s)])
    return a, np.roll(a, 6, axis=0) + 1


def turned_halves_in_between(x: Any) -> Any:
    s = np.exp(np.sin(x))
    a = np.sqrt(np.concatenate([sums(s), products(s)]))
    b = np.exp(-np.roll(a, 6, axis=0))
    return (a[2:] * a[1:-1] * a[:-2] + b[2:] * b[1:-1] * b[:-2],)


def read_where_another_part_begins(x: Any) -> Any:
    """Of one loop nest, the part at row 2 is made before what reads it at row 0, but after something else there."""
    s = np.exp(np.sin(x))
    d = np.sqrt(sums(s))
    a = np.exp(-np.concatenate([s[:2], products(s)]))
    b = np.sqrt(a[2:8] + 3)
    return (d[2:] * d[1:-1] * d[:-2] + b[2:] * b[1:-1] * b[:-2] + a[2:-2] * a[1:-3] * a[:-4],)


TOGETHER: dict[str, Function] = {
    "turned halves": turned_halves,
    "turned halves in between": turned_halves_in_between,
    "read where another part begins": read_where_another_part_begins,
}
PARTED = RANDOM.uniform(0.5, 2.0, size=(14, 11))
LAYOUTS: dict[str, Function] = {"C": np.ascontiguousarray, "F": np.asfortranarray, "backwards": lambda u: u[::-1]}
EXTENTS = [(1, 1), (1, 19), (13, 1), (2, 3), (4, 4), (5, 5), (6, 19), (13, 7), (9, 9)]


def assert_same(found: Array, expected: Array) -> None:
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    tolerance = 2e-5 if expected.dtype in (np.float32, np.float16) else 1e-11
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("run", KERNEL_EXECUTORS.values(), ids=lambda run: str(run.__name__))
def test_tiles_give_numpys_numbers(run: Any, name: str) -> None:
    function, array = PROGRAMS[name]
    for layout in LAYOUTS.values():
        given = layout(array)
        assert_same(run(function, (given,), small_tiles(PROCESSOR)), function(given))


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("run", KERNEL_EXECUTORS.values(), ids=lambda run: str(run.__name__))
def test_parts_that_read_each_other_are_not_torn_apart(run: Any, name: str) -> None:
    function = TOGETHER[name]
    for found, expected in zip(run(function, (PARTED,), small_tiles(PROCESSOR)), function(PARTED), strict=True):
        assert_same(found, expected)


@pytest.mark.parametrize("extents", EXTENTS, ids=str)
def test_extents_that_tiles_do_not_divide(extents: tuple[int, int]) -> None:
    for name in ("biharmonic", "blurred", "corners", "padded twice", "rolled twice", "by position"):
        function, array = PROGRAMS[name]
        given = array[: extents[0], : extents[1]].copy()
        assert_same(run_uncompiled(function, (given,)), function(given))


def test_a_long_chain() -> None:
    """Sums that two steps share ask for buffers, and are made in place after all."""

    def steps(u: Any) -> Any:
        for _ in range(12):
            u = np.exp(-0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
        return u

    given = RANDOM.random((28, 27))
    with uncompiled():
        assert_same(xjit.jit(steps, target=on(small_tiles(PROCESSOR, 2000)))(given), steps(given))


@pytest.mark.parametrize("room", [100, 200, 400, 1000, 5000, 50_000])
def test_windows_of_all_sizes(room: int) -> None:
    """Tiles of one row, of pieces of rows, of everything."""
    names = ("biharmonic", "corners", "padded twice", "in space", "line", "bordered", "columns of one")
    for name in (*names, "functions of sums"):
        function, array = PROGRAMS[name]
        with uncompiled():
            assert_same(xjit.jit(function, target=on(small_tiles(PROCESSOR, room)))(array), function(array))


def explained(function: Function, *arguments: Any) -> Explanation:
    return xjit.jit(function).explain(*arguments)


@pytest.mark.parametrize(
    "name", ["biharmonic", "blurred", "edges", "corners", "unsharp", "gradients", "padded twice"]
)
def test_a_chain_of_stencils_moves_what_it_has_to(name: str) -> None:
    plan = explained(PROGRAMS[name][0], LARGE)
    assert len(plan.kernels) == 1
    assert plan.bytes_moved == plan.minimum_bytes and not plan.temporary_bytes


def test_a_picture_is_developed_in_one_kernel() -> None:
    plan = explained(developed, np.zeros((900, 800, 3), np.uint8))
    assert len(plan.kernels) == 1 and plan.bytes_moved == plan.minimum_bytes


def test_a_long_row_is_cut_into_pieces() -> None:
    plan = explained(biharmonic, np.zeros((60, 40_000)))
    assert plan.bytes_moved == plan.minimum_bytes


def test_what_the_caller_gets_is_stored() -> None:
    def both(u: Any) -> Any:
        first = np.exp(u)
        return first, first[1:] - first[:-1]

    assert len(explained(both, LARGE).kernels) == 2
    assert_same(xjit.jit(both, target=on(small_tiles(PROCESSOR)))(GRID)[1], both(GRID)[1])


def write_all(u: Any, out: Any) -> None:
    out[...] = biharmonic(u)


def write_a_part(u: Any, out: Any) -> None:
    out[1:3, 2:-2] = biharmonic(u)[3:5, 2:-2]


def add_to_what_is_there(u: Any, out: Any) -> None:
    out += np.sqrt(out) * biharmonic(u)


def write_over_what_stages_read(u: Any, out: Any) -> None:
    u[2:-2, 2:-2] -= 0.1 * biharmonic(u)
    out[...] = u[2:-2, 2:-2]


def write_over_own_stages(u: Any, out: Any) -> None:
    v = np.exp(-u)
    v[2:-2, 2:-2] += biharmonic(v)
    out[...] = laplacian(v)[1:-1, 1:-1]


def write_what_is_read_beside(u: Any, out: Any) -> None:
    out[1:-1] = biharmonic(u)[1:-1] * out[2:] + out[:-2]


@pytest.mark.parametrize(
    "function",
    [
        write_all,
        write_a_part,
        add_to_what_is_there,
        write_over_what_stages_read,
        write_over_own_stages,
        write_what_is_read_beside,
    ],
)
@pytest.mark.parametrize("room", [200, 1000, 50_000])
def test_arguments_are_written_in_tiles(function: Function, room: int) -> None:
    given, wanted = ([GRID.copy(), GRID[2:-2, 2:-2].copy()] for _ in range(2))
    function(*wanted)
    with uncompiled():
        xjit.jit(function, target=on(small_tiles(PROCESSOR, room)), strict=True)(*given)
    for one, other in zip(given, wanted, strict=True):
        assert_same(one, other)


def test_stages_of_what_is_written_into_an_argument_stay_in_scratch() -> None:
    plan = explained(write_all, LARGE, LARGE[2:-2, 2:-2].copy())
    assert len(plan.kernels) == 1 and not plan.temporary_bytes


def test_pieces_of_rows_are_as_long_as_what_lies_behind_each_other() -> None:
    def limited(u: Any) -> Any:
        v = u[1:-1, 1:-1] - u[2:, 1:-1] - u[:-2, 1:-1] - u[1:-1, 2:] - u[1:-1, :-2]
        along, across = v[1:, 1:-1] - v[:-1, 1:-1], v[1:-1, 1:] - v[1:-1, :-1]
        return np.sqrt(along * along)[1:] + np.sqrt(across * across)[:, 1:]

    plan = explained(limited, np.zeros((100, 100, 80)))
    assert len(plan.kernels) == 1 and not plan.temporary_bytes


def test_small_values_are_stored() -> None:
    assert len(explained(biharmonic, np.zeros((30, 40))).kernels) == 2


def test_halos_that_cost_more_than_a_round_trip_are_not_computed_twice() -> None:
    def wide(u: Any) -> Any:
        v = np.tan(np.sin(np.exp(u)))
        return v[:-40] + v[40:]

    assert len(explained(wide, np.zeros((4000, 50, 100))).kernels) == 2


@pytest.mark.parametrize("name", ["blurred", "functions of sums"])
def test_kernels_that_are_not_to_be_cut_into_tiles_stay_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(rewrite: ComputeAt, kernel: Kernel) -> Kernel:
        raise RefusedError("it is not to be moved")

    function, array = PROGRAMS[name]
    tiled = xjit.jit(function, target=on(small_tiles(PROCESSOR)))
    assert len(tiled.explain(array).kernels) == 1
    monkeypatch.setattr(ComputeAt, "apply", refuse)
    apart = xjit.jit(function, target=on(small_tiles(PROCESSOR)))
    assert len(apart.explain(array).kernels) > 1
    assert_same(apart(array), function(array))


def test_the_reason_is_told() -> None:
    reasons = explained(biharmonic, LARGE).reasons
    assert any("stays in scratch, a tile at a time" in reason for reason in reasons)


def lowered(function: Function, array: Array, machine: Machine = PROCESSOR) -> compile.Lowered:
    found, leaves = captured(function, array)
    views = [False] * len(found.graph.outputs)
    return compile.lower_graph(found.graph, found.guards.fetch(leaves) or [], views, target=on(machine))


def test_scratch_stays_small() -> None:
    for shape in [(1000, 1000), (2000, 2000), (50, 100_000), (3_000_000, 3)]:
        for kernel, _ in lowered(corners, np.zeros(shape)).kernels:
            assert kernel.rewrites, "the kernel has tiles"
            words = dict(zip(kernel.kernel.words or (), kernel.words, strict=True))
            scratch = [one.buffer for one in statements(kernel.kernel.body) if isinstance(one, Alloc)]
            room = sum(
                evaluate(math.prod(one.extents, start=constant(1)), words) * one.dtype.itemsize for one in scratch
            )
            assert 0 < room <= PROCESSOR.tile_bytes


def test_every_trace_has_the_same_source() -> None:
    """Wherever its nodes lie in memory: kernels are found by their text."""
    assert len({xjit.jit(corners).source(LARGE) for _ in range(8)}) == 1


def test_a_kernel_holds_a_bounded_number_of_operations() -> None:
    assert len(explained(corners, LARGE).kernels) == 1
    small = xjit.jit(corners, target=on(replace(PROCESSOR, kernel_operations=30)))
    assert len(small.explain(LARGE).kernels) > 1
