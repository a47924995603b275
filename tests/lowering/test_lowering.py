"""Lowering of groups to loops: their order, passes over rows, columns, chunks; and what once went wrong there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers import formulas
from tests.helpers.kernel_executors import (
    PROCESSOR,
    many_chunks,
    many_pieces,
    on,
    run_parallel,
    run_serial,
    run_uncompiled,
    uncompiled,
)
from xjit import ops
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.language.uncompiled import run_kernel
from xjit.types import DTYPES


def source_of(function: Callable[..., Any], *arguments: Any) -> str:
    return xjit.jit(function).source(*arguments)


def loops_of(source: str) -> list[str]:
    """The loop variables, outermost first."""
    return re.findall(r"for (\w+) in", source)


def check(function: Callable[..., Any], *arguments: Any) -> None:
    """Uncompiled and compiled, on one thread and in pieces: NumPy's answer."""
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    for run in (run_uncompiled, run_serial, run_parallel):
        np.testing.assert_equal(run(function, arguments), expected)


CUBE = np.arange(60.0).reshape(3, 4, 5)
WIDE = np.zeros((20, 30))


# ---- loop order


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays_take_one_loop(order: Any) -> None:
    x = np.array(CUBE, order=order)
    assert loops_of(source_of(lambda a: a * 2.0, x)) == ["i0"]
    check(lambda a: a * 2.0, x)


def test_gaps_keep_loops_apart() -> None:
    assert loops_of(source_of(lambda a: a * 2.0, CUBE[:, :3])) == ["i0", "i1"]
    even = np.zeros((3, 4, 4))[:, :, ::2]
    assert loops_of(source_of(lambda a: a * 2.0, even)) == ["i0"]  # gaps of one size do not
    check(lambda a: a * 2.0, CUBE[:, :3])


def test_the_fastest_axis_is_innermost() -> None:
    x = np.zeros((3, 4, 5)).transpose(2, 0, 1)[:, :, :2]
    source = source_of(lambda a: a * 2.0, x)
    innermost = re.search(r"ld\(a0, (\w+) \+ (\w+)\)", source)
    assert innermost is not None and innermost[2] == loops_of(source)[-1]


def test_strides_of_a_few_elements_are_in_the_source_and_others_are_not() -> None:
    source = source_of(lambda a, b: a + b, CUBE[0, :, ::2], np.broadcast_to(CUBE[0, 0, :3], (4, 3)))
    assert "i1 * 2" in source and "a0_s1" not in source and "a1_s" not in source
    far = source_of(lambda a, b: a + b, np.ones((4, 100))[:, ::40], np.ones((4, 3)))
    assert "i1 * a0_s" in far and "* 40" not in far


def test_what_all_walk_backward_is_walked_forward() -> None:
    assert "ld(a0, a0_at0 + j0)" in source_of(lambda a: a.max(axis=1), WIDE[:, ::-1])
    assert "- j0)" in source_of(lambda a: a.sum(axis=1), WIDE[:, ::-1])  # whose order counts
    assert "+ j0 * 2)" in source_of(lambda a: a.max(axis=1), WIDE[:, ::-2])
    assert "- j0)" in source_of(lambda a: np.argmax(a, axis=1), WIDE[:, ::-1])  # whose positions count


@pytest.mark.parametrize("steps", [(-1, -1, -1), (1, 1, -2), (-2, 1, 3), (1, -1, 4), (-1, 2, 1)])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2)])
def test_reductions_and_scans_of_every_direction(steps: tuple[int, int, int], axis: Any) -> None:
    x = np.random.default_rng(2).integers(-50, 50, (7, 11, 23))[tuple(slice(None, None, step) for step in steps)]
    check(lambda a: a.sum(axis=axis) + a.max(axis=axis), x)
    if not isinstance(axis, tuple):
        check(lambda a: np.cumsum(a, axis=axis), x)
        check(lambda a: np.argmin(a, axis=axis), x)


def test_negative_strides_start_at_the_last_element() -> None:
    check(lambda a: a[::-1, 1:, ::-2] * 2.0, CUBE)
    check(lambda a: a * 2.0, CUBE[::-1, :, ::-1])


def test_broadcast_operands_are_read_where_they_change() -> None:
    source = source_of(lambda a, b: a[:, None] * b, np.ones(4), np.ones((4, 5)))
    outer, inner = source.split("for i1 in")
    assert "ld(a0" in outer and "ld(a1" in inner


# ---- reductions


def test_rows_are_passed_over_three_times() -> None:
    """The exponentials are made in one loop over whole groups of lanes and one over the rest, which is then added."""
    loops = loops_of(source_of(formulas.softmax, np.ones((4, 16))))
    assert loops == ["i0", "j0", "b0", "j0_0", "k0", "k1", "k2", "j0_1"]


def test_values_of_a_row_wait_in_the_output() -> None:
    source = source_of(formulas.softmax, np.ones((4, 16)))
    assert "ldw(o0" in source and source.count("scratch_f64(512)") == 1 and source.count("exp_f64(") == 2


def test_values_of_a_row_wait_in_scratch_without_an_output() -> None:
    def weighted(x: Any) -> Any:
        powers = np.exp(x - x.max(axis=1, keepdims=True))
        return (powers / powers.sum(axis=1, keepdims=True) * x).sum(axis=1)

    source = source_of(weighted, np.ones((4, 16)))
    assert "scratch_f64(n0)" in source and source.count("exp_f64(") == 2
    x = np.random.default_rng(1).standard_normal((7, 40))
    np.testing.assert_allclose(run_uncompiled(weighted, [x]), weighted(x), rtol=1e-13)


def test_slow_axes_are_reduced_in_columns() -> None:
    source = source_of(formulas.column_means, np.ones((300, 400)))
    assert "scratch_f64(" in source and loops_of(source)[0] == "b0"
    assert "scratch" not in source_of(formulas.column_means, np.ones((300, 400), order="F"))


@pytest.mark.parametrize("place", [0, 16_383, 16_384, 65_600, 69_999])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_positions_in_long_vectors(place: int, step: int) -> None:
    x = np.zeros(70_000 * abs(step), np.float32)[::step]
    x[[place, 69_999]] = -7, -7
    np.testing.assert_array_equal(xjit.jit(np.argmin)(x), place)
    x[[place, 69_999]] = np.nan
    np.testing.assert_array_equal(xjit.jit(np.argmax)(x), place)


@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3), (40, 50, 60), (1, 1), (0, 3), (3, 0)])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_sums_of_integers(shape: Any, axis: Any) -> None:
    x = np.arange(np.prod(shape)).reshape(shape) % 11
    expected = x.sum(axis=axis)
    with many_chunks():
        found = xjit.jit(lambda a: a.sum(axis=axis), target=on(many_pieces(PROCESSOR)))(x)
    np.testing.assert_array_equal(found, expected)


def test_full_reductions_run_in_chunks() -> None:
    source = source_of(formulas.sum_of_squares, np.ones(100_000))
    assert "k_start = k * chunk0" in source
    with many_chunks():
        assert xjit.jit(formulas.sum_of_squares, target=on(many_pieces(PROCESSOR)))(np.arange(100.0)) == 328_350.0


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 4.0), (np.float64, 2.0)], ids=["f32", "f64"])
def test_sums_are_as_exact_as_pairwise_ones(dtype: Any, bound: float) -> None:
    """In units in the last place of the exact sum; NumPy's own error is of this size too."""
    x = np.random.default_rng(5).random(300_000).astype(dtype)
    exact = np.sum(x.astype(np.longdouble))
    got = xjit.jit(lambda a: a.sum())(x)
    assert abs(np.longdouble(got) - exact) <= bound * np.spacing(dtype(exact))


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "s32"])
@pytest.mark.parametrize("combine", ["add", "max"])
def test_initial_values_count_once(name: str, combine: str) -> None:
    x = (np.arange(50) % 3).astype(DTYPES[name])
    start = np.asarray(5).astype(DTYPES[name])
    expected = 54 if combine == "add" else 5
    assert run_uncompiled(lambda a: ops.reduce(a, start, getattr(ops, combine), (0,)), [x]) == expected


def test_sums_of_infinities() -> None:
    check(lambda x: (x.sum(), x.sum(axis=1), x.mean()), np.array([[1.0, np.inf, 3.0], [1.0, 2.0, 3.0]]))
    check(lambda x: x.sum(axis=1), np.array([[np.inf, -np.inf], [-np.inf, 1.0], [np.nan, np.inf]]))
    check(lambda x: x.sum(), np.array([1e308, 1e308, 1.0]))


# ---- at full size


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (formulas.softmax, [(300, 3000)]),
        (formulas.layernorm, [(600, 1100), (1100,), (1100,)]),
        (formulas.logsumexp, [(2000, 300)]),
        (formulas.sum_of_squares, [(1_000_003,)]),
        (formulas.column_means, [(3000, 300)]),
        (formulas.column_means, [(3, 300_000)]),
        (formulas.black_scholes, [(200_000,)] * 3),
        (formulas.stencil, [(500_001,)]),
        (formulas.nearest, [(3000, 3), (40, 3)]),
        (formulas.nearest, [(3000, 3), (100, 3)]),
        (formulas.nearest, [(700, 20), (80, 20)]),
        (lambda x: np.sin(x * 1e6) + np.cos(x), [(300_001,)]),
        (lambda x: np.tanh(x.T).sum(axis=0), [(700, 900)]),
    ],
    ids=range(13),
)
def test_large_arrays(function: Any, shapes: Any, dtype: Any, rng: np.random.Generator) -> None:
    """NumPy's numbers, and the same bits on one thread, on two, and a second time."""
    arguments = [(0.5 + rng.random(shape)).astype(dtype) for shape in shapes]
    jitted = xjit.jit(function)
    with xjit.threads(1):
        one = jitted(*arguments)
    with xjit.threads(2):
        two, again = jitted(*arguments), jitted(*arguments)
    expected = function(*arguments)
    for parts in zip(*(x if isinstance(x, tuple) else (x,) for x in (one, two, again, expected)), strict=True):
        assert parts[0].tobytes() == parts[1].tobytes() == parts[2].tobytes()
        tolerance = 2e-5 if dtype == np.float32 else 1e-11
        np.testing.assert_allclose(parts[0], parts[3], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("run", [run_uncompiled, run_parallel])
def test_the_first_of_the_nearest_is_found_where_distances_are_made_in_the_same_loops(run: Any) -> None:
    rng = np.random.default_rng(11)
    points, centres = rng.integers(-2, 3, (40, 9)).astype(float), rng.integers(-2, 3, (90, 9)).astype(float)
    centres[50:] = centres[:40]
    points[3, 4] = points[7, 0] = np.nan
    points[9, 2] = np.inf
    centres[70, 1] = np.nan
    np.testing.assert_array_equal(run(formulas.nearest, (points, centres)), formulas.nearest(points, centres))


# ---- names


def test_temporaries_do_not_hide_the_language() -> None:
    """The ninth shared subexpression used to be called u8, like the type."""

    def hypotenuses(x: Any, y: Any) -> Any:
        total = x.astype(np.uint8)
        for shift in range(12):
            total = total + np.right_shift(total, y) + np.uint8(shift)
        return total

    x = np.arange(20, dtype=np.int64)
    assigned = set(re.findall(r"^ *(\w+) = ", source_of(hypotenuses, x, x.astype(np.uint8)), re.MULTILINE))
    assert not assigned & KINDS.keys()
    check(hypotenuses, x, x.astype(np.uint8))


def test_many_loops() -> None:
    x = np.zeros((2,) * 10)[:, ::2, :, ::2, :, ::2, :, ::2, :, ::2] + 1.0
    y = np.broadcast_to(x[:1, :, :1, :, :1, :, :1, :, :1], x.shape)
    variables = loops_of(source_of(lambda a, b: a + b.transpose(9, 8, 7, 6, 5, 4, 3, 2, 1, 0).sum(), x, y))
    assert not set(variables) & KINDS.keys()


def test_shared_subexpressions_are_looked_at_once() -> None:
    """Integer powers are 32 squarings deep: a walk that repeats shared parts would not end."""
    check(lambda x, y: ops.pow(x, y), np.array([3, -2, 7], np.int32), np.array([5, 3, 11], np.int32))


# ---- memory


@pytest.mark.parametrize("scale", [1.0, 2.0**50])
@pytest.mark.parametrize("reduction", ["max", "sum"])
def test_strips_around_sums_of_their_own(reduction: str, scale: float, rng: np.random.Generator) -> None:
    """A strip that is run again starts from what was known before it, not from what its steps compute themselves."""
    blocks = rng.integers(-9, 9, size=(6, 10, 24, 12)).astype(float)[:, :, :20]
    expected = getattr(np.sin(blocks.sum(axis=3) * scale), reduction)(axis=(1, 2))
    for run in (run_uncompiled, run_serial, run_parallel):
        result = run(lambda x: getattr(np.sin(x.sum(axis=3) * scale), reduction)(axis=(1, 2)), (blocks,))
        np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_results_do_not_share_memory() -> None:
    def several(x: Any) -> Any:
        return x + 1.0, x + 1.0, ops.reshape(x, (12, 5)), ops.transpose(x, (0, 1, 2)), np.copy(x)

    results = xjit.jit(several)(CUBE)
    for place, one in enumerate(results):
        assert one.flags.writeable and not np.shares_memory(one, CUBE)
        assert not any(np.shares_memory(one, other) for other in results[:place])


def test_views_are_views() -> None:
    def views(x: Any) -> Any:
        return x[::2], x.T, x.reshape(12, 5), x[None, ..., 0], np.concatenate([x, x])[1:]

    made, expected = xjit.jit(views)(CUBE), views(CUBE)
    for one, other in zip(made, expected, strict=True):
        assert [s for n, s in zip(one.shape, one.strides, strict=True) if n > 1] == [
            s for n, s in zip(other.shape, other.strides, strict=True) if n > 1
        ]
        assert np.shares_memory(one, CUBE) == np.shares_memory(other, CUBE)
        np.testing.assert_array_equal(one, other)


def test_results_of_constants_are_fresh() -> None:
    function = xjit.jit(lambda x: (np.arange(5)[::2], np.zeros((2, 3)), np.broadcast_to(np.float32(2.0), (2, 2))))
    first = function(CUBE)
    for one in first[:2]:
        one += 1
    second = function(CUBE)
    np.testing.assert_array_equal(second[0], [0, 2, 4])
    np.testing.assert_array_equal(second[1], np.zeros((2, 3)))


@pytest.mark.parametrize("source", ["C", "F", "K"])
def test_reshapes_in_other_orders(source: Any) -> None:
    x = CUBE.transpose(1, 0, 2).copy() if source == "K" else np.array(CUBE, order=source)
    for shape in [(60,), (3, 2, 2, 5), (1, 3, 4, 1, 5), (12, 5), (3, 20), (2, 30), (6, 10)]:
        check(lambda a, shape=shape: (a + 1.0).reshape(shape) * 2.0, x)
        check(lambda a, shape=shape: ops.reshape(a, shape), x)


def test_bitcasts_to_another_width_from_strided_memory() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6).T
    got = run_uncompiled(lambda a: ops.bitcast_convert_type(a, "u16"), [x])
    np.testing.assert_array_equal(got, np.ascontiguousarray(x).view(np.uint16).reshape(6, 4, 2))


def test_parts_before_and_after_a_library_step() -> None:
    def parts(x: Any) -> Any:
        return np.concatenate([x * 2.0, x @ np.ones((3, 3)), x + 1.0])

    check(parts, np.arange(9.0).reshape(3, 3))


def test_stores_beside_reductions_by_columns() -> None:
    def both(mask: Any, x: Any) -> Any:
        chosen = np.where(mask, 1.0, x)
        return chosen, chosen.min(axis=2), chosen + mask[0]

    x = np.ascontiguousarray(np.arange(140.0).reshape(4, 7, 5)).transpose(2, 0, 1)
    check(both, x[0] > 60.0, x)


def test_values_whose_store_is_left_out_are_not_read() -> None:
    def shifted(x: Any, y: Any) -> Any:
        signs = np.sign(x)
        return np.concatenate([y, signs, y, x], axis=1), signs << 3

    check(shifted, np.arange(-6, 6, dtype=np.int8).reshape(3, 4)[::-1], np.ones((3, 4), np.float16, order="F"))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.concatenate([x, x])[2:1] + 1.0,
        lambda x: (np.concatenate([x, x])[:0].sum(), x * 2.0),
        lambda x: (np.exp(x) * 2.0)[:0],
        lambda x: np.any(np.where(x[:0] > 1.0, x[:0], 2.0), axis=0),
        lambda x: (x[:0].prod(), x[:0].sum(keepdims=True), x[:0].reshape(0, 3).sum(axis=0)),
    ],
    ids=range(5),
)
def test_arrays_without_elements(function: Any) -> None:
    check(function, np.arange(6.0))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.complex128, np.bool_, np.uint64])
def test_numpy_scalars_as_arguments(kind: Any) -> None:
    check(lambda x, y: (x + y, y * y), np.arange(4.0), kind(1))


def test_every_element_type_passes_through() -> None:
    for dtype in DTYPES.values():
        x = np.arange(6).astype(dtype).reshape(2, 3)
        got = run_uncompiled(lambda a: (a.T.reshape(2, 3), np.concatenate([a, a[::-1]])), [x])
        np.testing.assert_array_equal(got[0], x.T.reshape(2, 3))
        np.testing.assert_array_equal(got[1], np.concatenate([x, x[::-1]]))


# ---- debugging


def test_uncompiled_kernels_are_bounds_checked() -> None:
    with pytest.raises(IndexError, match="outside the buffer"):
        run_kernel("def kernel(lo, hi, table):\n    st(ptr_f64(table, 0), 4, f64(0.0))\n", 0, 1, [np.zeros(4)])


def test_debug_mode_steps_through_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside of a kernel shows the line of the generated source."""
    import linecache
    import traceback

    from xjit.programs import uncompiled_entry

    def broken(kind: Any) -> Any:
        raise IndexError("made up")

    with uncompiled():
        function = xjit.jit(lambda a: np.sqrt(a))
        assert function(np.array([4.0]))[0] == 2.0
        monkeypatch.setattr(uncompiled_entry, "_POINTERS", {"ptr_f64": lambda table, slot: broken(slot)})
        with pytest.raises(IndexError, match="made up") as caught:
            function(np.array([4.0]))
    frames = traceback.extract_tb(caught.value.__traceback__)
    kernel = next(frame for frame in frames if frame.filename.startswith("<xjit kernel"))
    assert "ptr_f64(table, 0)" in (kernel.line or linecache.getline(kernel.filename, kernel.lineno or 0))


def test_debug_mode_compiles_nothing() -> None:
    with uncompiled():
        function = xjit.jit(lambda a, b: a @ b + 1.5)
        np.testing.assert_array_equal(function(np.ones((2, 3)), np.ones((3, 4))), np.full((2, 4), 4.5))
        assert function.stats().compiles == 0


def test_debug_mode_shows_elements_that_are_left_out() -> None:
    """Outputs start as a pattern, not as zeros."""
    from xjit.programs.uncompiled_entry import KernelSources, make_uncompiled_entry
    from xjit.runtime.calls.records import ArraySpec, FastProgram, KernelCall

    sources = KernelSources()
    loaded = sources.load("def kernel(lo, hi, table):\n    st(ptr_i16(table, 0), 1, i16(7))\n")
    call = KernelCall(loaded.address, 1, 1, (0,), ((0, 0, 0),))
    program = FastProgram((), (ArraySpec(np.dtype(np.int16), (3,), (2,)),), (), (call,), True)
    made: Any = make_uncompiled_entry(sources)(program)()
    assert made.tolist() == [-21846, 7, -21846]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x, i: x[i] * 2, lambda n: (np.arange(1.0 * n), np.array([0, -n, n - 1]))),
        (lambda x, i: x[i, i[:, None]], lambda n: (np.ones((n, n + 1)), np.array([0, -n, n - 1]))),
        (lambda x, i: np.take(x, i, mode="clip"), lambda n: (np.arange(1.0 * n), np.array([-n, n]))),
        (lambda x: x[np.argsort(x)], lambda n: (-np.arange(1.0 * n),)),
        (lambda x: np.tril(x, x.shape[0] // 2), lambda n: (np.ones((n, n)),)),
    ],
)
def test_bounds_of_positions_come_through_the_table(function: Any, arguments: Any) -> None:
    compiled = xjit.jit(function)
    for n in (20, 33, 57):
        np.testing.assert_array_equal(compiled(*arguments(n)), function(*arguments(n)))
    assert compiled.source(*arguments(20)) == compiled.source(*arguments(57))


def test_integers_that_machine_code_is_better_for_stay_in_the_text() -> None:
    source = xjit.jit(lambda x: (x // 24) * 36 + (x & 48) + x - 60).source(np.arange(100))
    literals = {int(number) for number in re.findall(r"i64\((\d+)\)", source)}
    assert {24, 36, 48} <= literals
    assert 60 not in literals


@pytest.mark.parametrize("reduction", ["sum", "max", "any"])
@pytest.mark.parametrize("shape", [(30_000, 3), (300, 40, 5)])
def test_chunks_of_packed_rows_are_one_loop(reduction: str, shape: tuple[int, ...]) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)

    def reduced(x: Any) -> Any:
        return getattr(x, reduction)()

    def of_columns(x: Any) -> Any:
        return getattr(x[..., 1:], reduction)()

    function, gaps = xjit.jit(reduced), xjit.jit(of_columns)
    first = function.source(x).split("def kernel")[1]
    assert "k * chunk0" in first and "j0" in first and "j1" not in first
    assert function(x) == reduced(x) and gaps(x) == of_columns(x)
