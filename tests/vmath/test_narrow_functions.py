"""Functions of float16 and bfloat16: the float32 function of the same number, rounded once, for all arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tools.accuracy.judge import errors
from tools.accuracy.narrow import NARROW, batches, computed, differing, operations, steps_between
from tools.accuracy.narrow import once_rounded as rounded_once
from xjit.codegen.vmath import VECTOR_FUNCTIONS

# Results one step beside the correctly rounded one, of 65536: where the true value lies near a tie.
MOST_BESIDE = {"float16": 40, "bfloat16": 10}

CASES: list[Any] = [
    pytest.param(name, batch, narrow, id=f"{name}-{narrow}")
    for arguments in (1, 2)
    for narrow in NARROW
    for batch in batches(operations(arguments))
    for name in batch
]


@pytest.mark.parametrize(("name", "batch", "narrow"), CASES)
def test_narrow_results_are_those_of_float32_rounded_once(name: str, batch: tuple[str, ...], narrow: str) -> None:
    found = computed(batch, narrow)[name]
    assert found.result.dtype == NARROW[narrow]
    wrong = differing(found.result, found.expected)
    assert not wrong.any(), [tuple(x[wrong][:5] for x in found.inputs), found.result[wrong][:5]]


@pytest.mark.parametrize(("name", "batch", "narrow"), CASES)
def test_narrow_results_are_correctly_rounded_but_near_ties(name: str, batch: tuple[str, ...], narrow: str) -> None:
    found = computed(batch, narrow)[name]
    error, _ = errors(found.wide, found.true, "f32")
    worst = int(np.argmax(error))
    assert error[worst] <= VECTOR_FUNCTIONS[f"{name}_f32"].error + 1e-3, tuple(x[worst] for x in found.inputs)
    beside = found.beside
    assert steps_between(found.result[beside], found.right[beside]).max(initial=0) <= 1
    assert beside.sum() <= MOST_BESIDE[narrow], [int(beside.sum()), *(x[beside][:5] for x in found.inputs)]


def test_rounding_once_is_not_rounding_twice() -> None:
    tie = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8 - 2.0**-40, -1e-300, 3.4e38, np.inf, np.nan])
    rounded = rounded_once(tie, ml_dtypes.bfloat16).astype(np.float64)
    assert rounded[:3].tolist() == [1 + 2.0**-7, 1.0, 1 + 2.0**-7]
    assert rounded[3] == 0
    assert np.signbit(rounded[3])
    assert rounded[4:6].tolist() == [np.inf, np.inf]
    assert np.isnan(rounded[6])
    half = np.array([1 + 2.0**-11 + 2.0**-40, 65519.999999, 65520.0])
    assert rounded_once(half, np.float16).tolist() == [1 + 2.0**-10, 65504.0, np.inf]
