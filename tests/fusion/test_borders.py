"""Pads, rolls and concatenations: read in place, by kernels cut at the borders, with no array in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import KERNEL_EXECUTORS, PROCESSOR, on, one_kernel_for_each, run_unrolled
from xjit import ops
from xjit.inspect.explain import Explanation

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

RANDOM = np.random.default_rng(5)
GRID = RANDOM.normal(size=(12, 17))
LARGE = np.zeros((300, 400))


def five_point(p: Any) -> Any:
    return 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


def padded(mode: str) -> Function:
    return lambda u: five_point(np.pad(u, 1, mode=mode))


def rolled(u: Any) -> Any:
    return 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))


def smoothed(u: Any) -> Any:
    p = np.pad(u, ((2, 2), (0, 0)), mode="reflect")
    return (p[:-4] + p[4:] + 4.0 * (p[1:-3] + p[3:-1]) + 6.0 * p[2:-2]) / 16.0


def kept_edges(u: Any) -> Any:
    inner = u[1:-1] + 0.5 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.concatenate([u[:1], inner, u[-1:]])


def far(u: Any) -> Any:
    """More borders than one kernel is cut at."""
    p = np.pad(u, 3, mode="wrap")
    n, m = u.shape
    return sum(p[k : k + n, 6 - k : 6 - k + m] for k in range(7))


GRIDS: dict[str, Function] = {
    "edge": padded("edge"),
    "constant": padded("constant"),
    "wrap": padded("wrap"),
    "symmetric": padded("symmetric"),
    "rolled": rolled,
    "rolled twice": lambda u: np.roll(u, (1, -2), (0, 1)) - u,
    "kept edges": kept_edges,
    "far": far,
    "stored and read": lambda u: (np.pad(u, 1, mode="edge"), padded("edge")(u)),
    "two results": lambda u: (np.roll(u, 1, 0) * 2.0, np.roll(u, 1, 0) + u),
    "summed": lambda u: np.pad(u, 1, mode="edge").sum(axis=1),
    "scanned": lambda u: np.cumsum(np.concatenate([u, -u]), axis=0),
    "of an expensive value": lambda u: padded("edge")(np.exp(u)),
    "twice": lambda u: padded("edge")(padded("wrap")(u)),
    "backwards": lambda u: np.pad(u, 1, mode="edge")[::-1, ::-1] * 2.0,
    "every other": lambda u: np.roll(u, 1, 0)[::2, ::-2] + 1.0,
    "transposed": lambda u: np.concatenate([u, u + 1.0], axis=1).T * 2.0,
    "positions": lambda u: np.concatenate([u, u]) + np.arange(2 * u.shape[0])[:, None],
    "rows of it": lambda u: np.concatenate([u, -u])[u.shape[0] - 1 : u.shape[0] + 1] * 2.0,
    "one side of it": lambda u: np.concatenate([u, -u])[u.shape[0] :] * 2.0,
    "nested": lambda u: np.concatenate([np.concatenate([u, 2.0 * u]), np.roll(u, 1, 0)]) + 1.0,
    "gathered": lambda u: np.concatenate([u, -u])[np.array([0, -1, 0])] + 1.0,
    "gathered by data": lambda u: np.roll(u, 1, 0)[(u[:, 0] * 0).astype(int)],
    "library": lambda u: np.sort(np.concatenate([u, -u]), axis=0) + np.concatenate([u, -u]),
    "short axis": lambda u: np.square(np.stack([u, u + 1.0, -u], axis=-1)).sum(axis=-1),
    "sines": lambda u: np.sin(1e5 * np.roll(u, 1, 1)),
    "gaps": lambda u: ops.pad(u, 0.5, ((1, 0, 2), (-1, 2, 0))) * 2.0,
}
SHAPES = [(12, 17), (3, 3), (2, 5), (1, 4), (5, 1), (1, 1)]
LAYOUTS: dict[str, Function] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "backwards": lambda u: u[::-1, ::-1],
}
EXECUTORS = [*KERNEL_EXECUTORS.values(), run_unrolled]


def assert_same(found: Any, expected: Any) -> None:
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        assert one.shape == other.shape and one.dtype == other.dtype
        assert [a for a, n in zip(one.strides, one.shape, strict=True) if n > 1] == [
            a for a, n in zip(other.strides, other.shape, strict=True) if n > 1
        ]
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("run", EXECUTORS, ids=lambda run: str(run.__name__))
def test_results_are_numpys(run: Any, name: str) -> None:
    function = GRIDS[name]
    for layout in LAYOUTS.values():
        array = layout(GRID)
        if not (run is run_unrolled and array.flags.f_contiguous):
            assert_same(run(function, (array,)), function(array))


@pytest.mark.parametrize("name", [name for name in GRIDS if name != "far"])
def test_small_grids(name: str) -> None:
    for shape in SHAPES:
        array = GRID[: shape[0], : shape[1]].copy()
        try:
            expected = GRIDS[name](array)
        except ValueError:
            continue  # NumPy has no such border either
        assert_same(run_unrolled(GRIDS[name], (array,)), expected)


def test_unfused_programs_are_the_same() -> None:
    for function in GRIDS.values():
        with one_kernel_for_each():
            assert_same(xjit.jit(function)(GRID), function(GRID))


@pytest.mark.parametrize("dtype", ["float16", "complex64", "int8", "bool"])
def test_other_element_types(dtype: str) -> None:
    array = (GRID > 0).astype(dtype)
    for function in (lambda u: np.roll(u, 1, 0) | u if dtype == "bool" else np.roll(u, 1, 0) + u, smoothed):
        if not (function is smoothed and dtype in ("bool", "int8")):
            assert_same(xjit.jit(function)(array), function(array))


def test_pieces_come_after_what_fills_the_gaps_between_them() -> None:
    def spread(u: Any) -> Any:
        joined = np.concatenate([u, u + 1.0, u])
        return ops.bitcast_convert_type(joined, np.uint32), ops.pad(joined, 0.5, ((-1, 0, 1),))

    row = GRID[0]
    joined = np.concatenate([row, row + 1.0, row])
    expected = np.full(2 * joined.size - 1, 0.5)
    expected[::2] = joined
    words, spaced = xjit.jit(spread)(row)
    np.testing.assert_array_equal(spaced, expected[1:])
    np.testing.assert_array_equal(words, joined.view(np.uint32).reshape(-1, 2))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_without_elements(shape: tuple[int, int]) -> None:
    array = np.zeros(shape)
    for function in (lambda u: np.concatenate([u, u]) + 1.0, lambda u: np.pad(u, 1) * 2.0, rolled):
        assert_same(run_unrolled(function, (array,)), function(array))


def explained(function: Function, *arguments: Any) -> Explanation:
    return xjit.jit(function).explain(*arguments)


@pytest.mark.parametrize("name", ["edge", "constant", "wrap", "symmetric", "rolled", "kept edges", "rolled twice"])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_one_kernel_without_temporaries(name: str, layout: Any) -> None:
    plan = explained(GRIDS[name], layout(LARGE))
    assert len(plan.kernels) == len(plan.steps) == 1
    assert plan.bytes_moved == plan.minimum_bytes and plan.temporary_bytes == 0
    assert plan.kernels[0].domain in ((298, 398), (298, 400), (297, 398), (299, 398))  # the interior


def test_filters_of_more_taps() -> None:
    plan = explained(smoothed, LARGE)
    assert len(plan.kernels) == 1 and plan.bytes_moved == plan.minimum_bytes


def test_three_dimensions() -> None:
    def laplacian(u: Any) -> Any:
        p = np.pad(u, 1, mode="edge")
        inner = p[1:-1, 1:-1, 1:-1]
        faces = p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1]
        return faces + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2] - 6.0 * inner

    cube = RANDOM.normal(size=(5, 6, 7))
    assert_same(run_unrolled(laplacian, (cube,)), laplacian(cube))
    assert len(explained(laplacian, cube).kernels) == 1


def test_parts_of_a_stored_pad_are_one_kernel() -> None:
    plan = explained(lambda u: np.pad(u, 1, mode="edge"), LARGE)
    assert len(plan.kernels) == 1
    assert plan.bytes_moved == plan.minimum_bytes


def test_too_many_borders_are_put_together_in_memory() -> None:
    plan = explained(far, LARGE)
    assert len(plan.kernels) == 2
    assert any("no kernel can be cut" in reason for reason in plan.reasons)


def test_reductions_read_what_is_put_together_from_memory() -> None:
    plan = explained(GRIDS["summed"], LARGE)
    assert len(plan.kernels) == 2
    assert plan.temporary_bytes == 302 * 402 * 8


def test_what_is_read_of_one_piece_alone_is_never_put_together() -> None:
    plan = explained(lambda u: np.concatenate([np.exp(u), -u])[u.shape[0] :].sum(axis=1), LARGE)
    assert len(plan.kernels) == 1
    assert "exp" not in plan.kernels[0].operations


def test_small_borders_are_single_steps_of_the_shared_loop() -> None:
    """Threads share the rows of the interior; the borders count as one row each."""
    source = xjit.jit(rolled).source(LARGE)
    assert source.count("for once") == 3 and re.search(r"for i0_\d in range\(lo3, hi3\)", source)


def test_large_parts_are_shared() -> None:
    source = xjit.jit(lambda u, v: np.concatenate([u * 2.0, v + 1.0])).source(LARGE, np.zeros((200, 400)))
    assert source.count("range(lo0, hi0)") == source.count("range(lo1, hi1)") == 1 and "once" not in source


def test_conditions_inside_of_parts_are_checked() -> None:
    compiled = xjit.jit(lambda x, i: np.concatenate([x[i], x]) * 2.0)
    places = np.array([0, 3, -1])
    assert_same(compiled(GRID, places), np.concatenate([GRID[places], GRID]) * 2.0)
    for wrong in (12, -13):
        with pytest.raises(IndexError):
            compiled(GRID, np.array([0, wrong, 1]))


def test_values_of_which_borders_need_several_are_stored_once() -> None:
    plan = explained(GRIDS["of an expensive value"], LARGE)
    assert len(plan.kernels) == 2
    assert plan.bytes_moved <= 2.1 * plan.minimum_bytes


def test_the_number_of_parts_is_bounded() -> None:
    few = xjit.jit(GRIDS["edge"], target=on(replace(PROCESSOR, most_parts=8)))
    assert len(few.explain(LARGE).kernels) == 2
    assert_same(few(GRID), GRIDS["edge"](GRID))


def test_parts_that_are_read_where_they_are_made_stay_in_registers() -> None:
    def function(u: Any) -> Any:
        joined = np.concatenate([u, -u])
        return joined, joined[u.shape[0] :] * 2.0

    assert len(explained(function, LARGE).kernels) == 1
    assert_same(run_unrolled(function, (GRID,)), function(GRID))


def test_a_part_that_needs_another_runs_behind_it() -> None:
    def function(u: Any) -> Any:
        powers = np.exp(u)
        return powers, np.concatenate([powers, powers[::-1]]) * 2.0

    assert len(explained(function, LARGE).kernels) == 2
    assert_same(run_unrolled(function, (GRID,)), function(GRID))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_pads_have_as_many_parts_as_borders(mode: str, rank: int) -> None:
    array = RANDOM.normal(size=(7, 6, 5, 4, 3)[:rank])
    compiled = xjit.jit(lambda u: np.pad(u, 1, mode=mode))
    for layout in LAYOUTS.values() if rank == 3 else [np.ascontiguousarray]:
        assert_same(compiled(layout(array)), np.pad(layout(array), 1, mode=mode))
    assert compiled.source(np.zeros((17, 17, 17, 9, 9)[:rank])).count("st(o") == 2 * rank + 1


def test_later_axes_decide_the_corners() -> None:
    array, values = RANDOM.normal(size=(4, 30, 4, 30)), [(1, 2), (3, 4), (5, 6), (7, 8)]
    compiled = xjit.jit(lambda u: np.pad(u, ((1, 2), (0, 3), (2, 2), (1, 0)), constant_values=values))
    assert_same(compiled(array), compiled.__wrapped__(array))


def test_wide_borders_are_looked_up() -> None:
    array = RANDOM.normal(size=(3, 40, 5))
    for mode in ("wrap", "symmetric", "reflect", "edge"):
        compiled = xjit.jit(lambda u, mode=mode: np.pad(u, ((70, 50), (0, 3), (1, 30)), mode=mode))
        assert_same(compiled(array), compiled.__wrapped__(array))


def test_long_chains_of_stencils_beside_borders_are_made() -> None:
    """A statement with too many visits is cut only where a value that would be stored lies below."""

    def chain(u: Any, v: Any) -> Any:
        for _ in range(14):
            u = u[1:-1, 1:-1] + u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u, np.pad(v, 1) * 2.0

    u = np.random.default_rng(0).random((40, 40))
    for found, wanted in zip(xjit.jit(chain, strict=True)(u, GRID), chain(u, GRID), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
