"""Inferred memory orders are NumPy's: results have the strides that NumPy gives the same expression."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.helpers.harness import traced
from xjit import ops
from xjit.ops.whole_arrays.reduce import reduction

SHAPES = [(2, 3, 4), (1, 3, 4), (2, 1, 4), (3, 3, 1), (2, 0, 3)]


def layouts(shape: tuple[int, ...]) -> list[Any]:
    """One array of this shape for every order of its axes in memory."""
    found = []
    for permutation in itertools.permutations(range(len(shape))):
        packed = np.zeros(tuple(shape[axis] for axis in permutation))
        found.append(packed.transpose(np.argsort(permutation)))
    return found


def inferred(function: Any, *arrays: Any) -> tuple[int, ...]:
    """The strides of the output's type."""
    graph, _ = traced(function, arrays)
    return graph.outputs[0].aval.strides


def essential(array: Any, strides: tuple[int, ...]) -> list[int]:
    """Strides along axes where they matter."""
    return [step for step, size in zip(strides, array.shape, strict=True) if size > 1 and array.size]


@pytest.mark.parametrize("shape", SHAPES)
def test_elementwise(shape: tuple[int, ...]) -> None:
    for x, y in itertools.product(layouts(shape), repeat=2):
        want = x + y
        assert essential(want, inferred(ops.add, x, y)) == essential(want, want.strides)
        assert essential(want, ops.add(x, y).strides) == essential(want, want.strides)


def test_broadcast_operands_have_no_say() -> None:
    for x in layouts((2, 3, 4)):
        for y, mapping in ((np.zeros(4), (2,)), (np.zeros((3, 1)), (1, 2)), (np.zeros(()), None)):
            want = x + y
            got = inferred(lambda a, b, m=mapping: ops.add(a, b, m), x, y)
            assert essential(want, got) == essential(want, want.strides)


def test_strided_and_reversed_operands() -> None:
    wide = np.zeros((4, 6, 8))
    for x in (wide[::2, ::2, ::2], wide[::-1], wide.transpose(2, 0, 1)[:, ::-1], wide[:, :, :1]):
        want = np.negative(x)
        assert essential(want, inferred(ops.neg, x)) == essential(want, want.strides)


@pytest.mark.parametrize("shape", SHAPES)
def test_reductions(shape: tuple[int, ...]) -> None:
    for x in layouts(shape):
        for count in range(4):
            for dims in itertools.combinations(range(3), count):
                want = np.asarray(np.add.reduce(x, dims))
                got = inferred(lambda a, d=dims: reduction(a, "add", d), x)
                assert essential(want, got) == essential(want, want.strides), (dims, x.strides)


@pytest.mark.parametrize("sizes", [(24,), (6, 4), (4, 6), (2, 12), (12, 2), (2, 3, 4), (3, 2, 2, 2), (1, 24, 1)])
def test_reshape(sizes: tuple[int, ...]) -> None:
    for shape in ((2, 3, 4), (4, 3, 2), (2, 12), (6, 4)):
        for x in layouts(shape):
            want = x.reshape(sizes)
            assert essential(want, inferred(lambda a: ops.reshape(a, sizes), x)) == essential(want, want.strides)


def test_views() -> None:
    for x in layouts((2, 3, 4)):
        turned = x.transpose(1, 2, 0)
        got = inferred(lambda a: ops.neg(ops.transpose(a, (1, 2, 0))), x)
        assert got == np.negative(turned).strides
        part = x[:, 1:3, ::2]
        got = inferred(lambda a: ops.neg(ops.slice(a, (0, 1, 0), (2, 3, 4), (1, 1, 2))), x)
        assert got == np.negative(part).strides
        assert inferred(lambda a: ops.neg(ops.rev(a, (0, 2))), x) == np.negative(x).strides


def test_concatenation() -> None:
    for x, y in itertools.product(layouts((2, 3, 4)), repeat=2):
        want = np.concatenate([x, y], axis=1)
        got = inferred(lambda a, b: ops.concatenate((a, b), 1), x, y)
        assert essential(want, got) == essential(want, want.strides)
