"""Truth values in the place of sizes, axes and counts: refused where NumPy refuses them, else zero and one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import lines
from tests.numpy.surface.surface_judge import judge

SIZES = """
    a.reshape(True, -1)
    a.reshape((True, -1))
    reshape(a, (True, 6))
    reshape(a, True)
    a.flatten(True)
    broadcast_to(a, (True, 2, 3))
    resize(a, (True, 2))
    resize(a, True)
    fft.fft(a, True)
    vander(a[0], True)
    tile(a, True)
    tile(a, (True, 2))
    full((True, 3), 2.0) + a
    eye(True) + a.sum()
"""
AXES = """
    a.sum(axis=True)
    a.sum(axis=(True,))
    a.sum(axis=[0, 1])
    sum(a, axis=False)
    mean(a, axis=True)
    max(a, True)
    any(a, axis=True)
    nansum(a, axis=True)
    ptp(a, axis=True)
    argmax(a, axis=True)
    cumsum(a, axis=True)
    add.reduce(a, True)
    add.accumulate(a, True)
    count_nonzero(a, axis=True)
    argsort(a, axis=True)
    argpartition(a, 1, axis=True)
    sort(a, axis=True)
    partition(a, 1, axis=True)
    concatenate([a, a], axis=True)
    stack([a, a], axis=True)
    take(a, 0, axis=True)
    take_along_axis(a, np.array([[0], [1]]), True)
    swapaxes(a, True, False)
    transpose(a, (True, False))
    expand_dims(a, True)
    flip(a, True)
    roll(a, 1, axis=True)
    median(a, axis=True)
    quantile(a, 0.5, axis=True)
    average(a, axis=True)
    diff(a, axis=True)
    trapezoid(a, axis=True)
    unwrap(a, axis=True)
    fft.fft(a, axis=True)
    linalg.norm(a, axis=True)
"""
COUNTS = """
    diff(a, True)
    roll(a, True)
    repeat(a, True)
    rot90(a, True)
    tril(a, True)
    trace(a, True)
    split(a, True)
    partition(a, True)
    convolve(a[0], a[0], True)
    round(a, True)
    pad(a, True)
    var(a, ddof=True)
    linalg.matrix_power(a[:, :2], True)
"""


@pytest.mark.parametrize("call", [*lines(SIZES), *lines(AXES), *lines(COUNTS)])
def test_as_in_numpy(call: str) -> None:
    assert not judge(call, {"a": np.arange(6.0).reshape(2, 3)}, ulp=8.0)


def test_arrays_of_rank_zero_have_no_axis_by_a_truth_value() -> None:
    for call in ("sum(a, axis=False)", "sum(a, axis=0)", "argsort(a, axis=False)", "argmax(a, axis=False)"):
        assert not judge(call, {"a": np.array(2.0)})
