"""Convolutions as sums of products: what random ones give, what fuses with them, what they read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import on, run_parallel, run_serial, run_uncompiled, run_unrolled
from tests.helpers.oracles.convolving import convolved
from xjit import ops
from xjit.machine import processor

Function = Callable[..., Any]
RANDOM = np.random.default_rng(0)
SEEDS = range(24)


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


COMPUTED: dict[str, Function] = {
    "functions": lambda x: np.tanh(np.exp(-x) ** 1.5),
    "shares of a sum": lambda x: np.exp(-x) / np.sum(np.exp(-x), axis=1, keepdims=True),
    "scattered": lambda x: ops.select_and_scatter(
        x, ops.ge, (2, 1, 1), (2, 1, 1), "VALID", x[:1], np.float64(0), ops.add
    ),
}
PADDED: dict[str, dict[str, Any]] = {
    "same": {"padding": "SAME"},
    "far": {"padding": ((3, 2),)},
    "dilated": {"padding": ((2, 2),), "rhs_dilation": (2,)},
    "negative": {"padding": ((-1, 3),)},
    "channels last": {"padding": ((1, 3),), "dimension_numbers": ("NWC", "OIW", "NWC")},
}


@pytest.mark.parametrize("run", [run_uncompiled, run_unrolled, run_serial])
@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("computed", COMPUTED)
def test_windows_of_what_is_computed_stay_inside_of_it(computed: str, padding: str, run: Any) -> None:
    """Elements around the array are never stored."""
    x, k = np.arange(24.0).reshape(2, 2, 6) / 7, np.arange(12.0).reshape(2, 2, 3)

    def function(x: Any, k: Any) -> Any:
        value = COMPUTED[computed](x)
        lhs = value if padding != "channels last" else ops.transpose(value, (0, 2, 1))
        return ops.conv_general_dilated(lhs, k, (1,), **PADDED[padding])

    np.testing.assert_allclose(run(function, [x, k]), function(x, k), rtol=1e-9)


IMAGE, KERNEL, BIAS = normal(2, 4, 9, 20), normal(8, 4, 3, 3), normal(8)


def random_call(seed: int) -> tuple[Function, tuple[Any, Any], Any]:
    """A function over two arrays, the arrays, and the sums by their definition."""
    random = np.random.default_rng(seed)

    def pick(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    space = pick(0, 3)
    features, batches = [(1, 1), (pick(2, 3), 1), (1, pick(2, 3))][pick(0, 2)]
    inputs, outputs = pick(1, 3), pick(1, 3) * features * batches
    sizes = [pick(1, 20 if space == 1 else 6) for _ in range(space)]
    taps = [pick(1, 4) for _ in range(space)]
    strides, apart, wide = ([pick(1, 3) for _ in range(space)] for _ in range(3))
    padding = [(pick(-1, 3), pick(-1, 3)) for _ in range(space)]
    x = random.integers(-9, 10, (pick(1, 2) * batches, inputs * features, *sizes)).astype(np.float32)
    k = random.integers(-9, 10, (outputs, inputs, *taps)).astype(np.float32)
    letters = "".join(random.permutation(list("XYZ")[:space]))
    specs = ["".join(random.permutation(list(two + letters))) for two in ("NC", "OI", "NC")]
    if random.integers(2):
        specs = ["NC" + letters, "OI" + letters, "NC" + letters]
    order = [one for one in specs[1] if one in letters]
    expected = convolved(x, k, strides, padding, apart, wide, (features, batches)).astype(np.float32)
    lhs = x.transpose([("NC" + "".join(order)).index(one) for one in specs[0]])
    rhs = k.transpose([("OI" + "".join(order)).index(one) for one in specs[1]])
    result = expected.transpose([("NC" + "".join(order)).index(one) for one in specs[2]])

    def function(a: Any, b: Any) -> Any:
        return ops.conv_general_dilated(a, b, strides, padding, apart, wide, specs, features, batches)

    return function, (lhs, rhs), result


@pytest.mark.parametrize("seed", SEEDS)
def test_random_convolutions(seed: int) -> None:
    function, arrays, expected = random_call(seed)
    for run in (lambda function, arrays: function(*arrays), run_serial):
        assert np.array_equal(run(function, arrays), expected), run


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if random_call(seed)[2].size <= 64])
def test_random_convolutions_uncompiled(seed: int) -> None:
    function, arrays, expected = random_call(seed)
    assert np.array_equal(run_uncompiled(function, arrays), expected)


def few_elements(seed: int) -> tuple[Function, tuple[Any, ...], Any]:
    """A convolution over axes of hardly any elements, in an expression that has its operand twice, and its value."""
    random = np.random.default_rng(seed)

    def pick(low: int, high: int, count: int) -> list[int]:
        return [int(one) for one in random.integers(low, high + 1, count)]

    space = seed % 3
    sizes, taps = pick(1, 3, space), pick(1, 3, space)
    strides, apart, wide = (pick(1, 2, space) for _ in range(3))
    padding = list(zip(pick(-1, 2, space), pick(-1, 2, space), strict=True))
    features, batches = [(1, 1), (2, 1), (1, 2), (1, 1)][seed % 4]
    x = random.integers(-9, 10, (pick(1, 2, 1)[0] * batches, pick(1, 2, 1)[0] * features, *sizes)).astype(np.float32)
    outputs, inputs = pick(1, 2, 1)[0] * features * batches, x.shape[1] // features
    k = random.integers(-9, 10, (outputs, inputs, *taps)).astype(np.float32)
    scale = np.float32(random.integers(2, 9))
    expected = convolved(x, k, strides, padding, apart, wide, (features, batches)).astype(np.float32)

    def function(a: Any, b: Any, c: Any) -> Any:
        result = ops.conv_general_padding(a * c, b, strides, padding, apart, wide, features, batches)
        return a + result + a if result.shape == a.shape else result + np.sum(a)

    return function, (x, k, scale), expected * scale + (2 * x if expected.shape == x.shape else np.sum(x))


@pytest.mark.parametrize("seed", SEEDS)
def test_convolutions_over_few_elements(seed: int) -> None:
    function, arrays, expected = few_elements(seed)
    for run in (lambda function, arrays: function(*arrays), run_unrolled, run_serial):
        assert np.array_equal(run(function, arrays), expected), run


def test_an_element_outside_of_an_array_is_not_the_one_inside() -> None:
    def function(x: Any, k: Any) -> Any:
        outside = ops.conv_general_padding(x, k, (1, 1), ((1, -1), (1, 1)))
        return outside + x + ops.conv_general_padding(x, k, (1, 1), ((0, 0), (1, 1)))

    x, k = normal(1, 1, 1, 8), np.float32([[[[0, 1, 0]]]])
    for run in (run_unrolled, run_serial):
        assert np.array_equal(run(function, (x, k)), 2 * x), run


def same(x: Any, k: Any, **others: Any) -> Any:
    return ops.conv(x, k, (1, 1), "SAME", **others)


def last(x: Any, k: Any) -> Any:
    return ops.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def padded(x: Any, k: Any) -> Any:
    zero = np.float32(0)
    return ops.conv(ops.pad(x, zero, ((0, 0, 0), (0, 0, 0), (1, 1, 0), (2, 1, 0))), k, (1, 1), "VALID")


def positive(x: Any) -> Any:
    return np.maximum(x, np.float32(0))


ONE_KERNEL: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "alone": (same, (IMAGE, KERNEL)),
    "bias": (lambda x, k, b: positive(same(x, k) + b[:, None, None]), (IMAGE, KERNEL, BIAS)),
    "bias of last features": (
        lambda x, k, b: positive(last(x, k) + b),
        (np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1)), np.ascontiguousarray(KERNEL.transpose(2, 3, 1, 0)), BIAS),
    ),
    "computed image": (lambda x, k: same(positive(x), k), (IMAGE, KERNEL)),
    "padded image": (padded, (IMAGE, KERNEL)),
    "each feature by itself": (
        lambda x, k, b: positive(same(x, k, feature_group_count=4) + b[:4, None, None]),
        (IMAGE, KERNEL[:4, :1].copy(), BIAS),
    ),
    "residual": (lambda x, k: positive(same(x, k) + x), (IMAGE, KERNEL[:4].copy())),
}


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_one_kernel_that_moves_no_more_than_it_must(name: str) -> None:
    function, arguments = ONE_KERNEL[name]
    compiled = xjit.jit(function)
    plan = compiled.explain(*arguments)
    assert len(plan.steps) == len(plan.kernels) == 1, plan
    assert plan.bytes_moved == plan.minimum_bytes
    np.testing.assert_allclose(compiled(*arguments), function(*arguments), rtol=1e-5, atol=1e-5)


def test_products_and_what_follows_are_two_steps() -> None:
    def gelu(a: Any, b: Any, c: Any) -> Any:
        t = ops.dot(a, b) + c
        return np.float32(0.5) * t * (np.float32(1) + np.tanh(np.float32(0.8) * t))

    plan = xjit.jit(gelu).explain(normal(64, 48), normal(48, 80), normal(80))
    assert [len(plan.steps), len(plan.kernels)] == [2, 1]


def test_zeros_of_the_program_are_terms_and_padding_is_none() -> None:
    x, k = np.ones((1, 1, 4), np.float32), np.float32([[[np.inf, 1, 1]]])
    zero = np.float32(0)

    def own(a: Any, b: Any) -> Any:
        return ops.conv(ops.pad(a, zero, ((0, 0, 0), (0, 0, 0), (1, 1, 0))), b, (1,), "VALID")

    def none(a: Any, b: Any) -> Any:
        return ops.conv(a, b, (1,), "SAME")

    inf, nan = np.inf, np.nan
    for run in (lambda function, arrays: function(*arrays), run_serial, run_uncompiled):
        np.testing.assert_array_equal(run(own, (x, k)), [[[nan, inf, inf, inf]]])
        np.testing.assert_array_equal(run(none, (x, k)), [[[2, inf, inf, inf]]])


@pytest.mark.parametrize("numbers", [{"joined_results": 1}, {"joined_results": 3}, {"joined_products": 1}])
def test_bits_are_the_same_whatever_is_joined(numbers: dict[str, int]) -> None:
    target = on(replace(processor(), **numbers))
    x, k = normal(2, 5, 7, 37), normal(7, 5, 3, 3)
    expected = run_parallel(same, (x, k))
    assert np.array_equal(xjit.jit(same, target=target)(x, k), expected)
    sums = np.zeros(expected.shape, np.float64)
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64)
    for c, i, j in np.ndindex(5, 3, 3):  # each product is exact in float64, so that only the additions round
        product = wide[:, c, None, i : i + 7, j : j + 37] * k[:, c, i, j].astype(np.float64)[:, None, None]
        sums = (sums + product).astype(np.float32).astype(np.float64)
    np.testing.assert_array_max_ulp(expected, sums.astype(np.float32), 4, np.float32)
