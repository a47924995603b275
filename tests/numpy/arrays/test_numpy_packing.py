"""Bits packed into bytes and back, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import xjit
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_lines, layouts

PACKED = """
    packbits(a)
    packbits(a, 0)
    packbits(a, axis=1)
    packbits(a, -1, "little")
    packbits(a, None, "l")
    packbits(a[:0])
    packbits(a[:0], 0)
    packbits(a[:, :0], 1)
    packbits(a[0, 0])
    packbits(a[0, 0], 0)
    packbits(a[0, :8])
    packbits(a[0, :1])
    packbits(a, 2)
    packbits(a, bitorder="x")
    packbits(a, bitorder=3)
"""
UNPACKED = """
    unpackbits(a)
    unpackbits(a, 0)
    unpackbits(a, axis=1)
    unpackbits(a, 1, bitorder="little")
    unpackbits(a, count=13)
    unpackbits(a, 0, -3)
    unpackbits(a, 1, 200)
    unpackbits(a, 1, 0)
    unpackbits(a, count=-2000)
    unpackbits(a, count=2.5)
    unpackbits(a[:0])
    unpackbits(a[0, 0])
    unpackbits(a, 2)
    unpackbits(a, bitorder="x")
    xp.packbits(xp.unpackbits(a, 0), 0)
"""


@pytest.mark.parametrize("code", "?bHLd")
def test_packed(code: str) -> None:
    check_lines(PACKED, layouts(array(code, 9, 17)))


@pytest.mark.parametrize("code", "?bB")
def test_unpacked(code: str) -> None:
    check_lines(UNPACKED, layouts(array(code, 3, 17) * np.dtype(code).type(37)))


def test_compiled() -> None:
    check_compiled("packbits(a)\n packbits(a > 3, 0)\n unpackbits(a, 1, 21)", array("B", 9, 17))
    jitted = xjit.jit(lambda x: np.packbits(x > 0.5), strict=True)
    np.testing.assert_array_equal(jitted(np.array([0.0, 1, 1, 0, 0, 0, 0, 0, 0.75])), [96, 128])
    assert len(jitted.explain(np.ones(96)).steps) == 1
    plan = xjit.jit(lambda x: np.unpackbits(x), strict=True).explain(np.ones(96, np.uint8))
    assert len(plan.kernels) == 1 and not any(step.startswith("library") for step in plan.steps)
