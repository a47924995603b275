"""Branches of which one replaces all of an argument and another one a part of it move no more than NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

LARGE = np.random.default_rng(21).random(200_000)
SIGNS = np.array([-0.5, -0.25, -0.75, -0.1])


def one_or_all(x: Any, v: Any, c: Any) -> None:
    if c[0] > 0.0:
        x[:] = v * 2.0
    else:
        x[:100] = np.sqrt(v[1:101])


def turned(x: Any, v: Any, c: Any) -> None:
    if c[0] > 0.0:
        x[:] = x[::-1] + v
    else:
        x[3] = 1.0


def in_turns(x: Any, v: Any, c: Any) -> None:
    for i in range(len(c)):
        if c[i] > 0.0:
            x[:] = v
        else:
            x[i] += 1.0


def of_a_copy(x: Any, v: Any, c: Any) -> Any:
    y = x.copy()
    for i in range(len(c)):
        if c[i] > 0.0:
            y = x * c[i]
        else:
            y[i] += 1.0
    return y


@pytest.mark.parametrize("function", [one_or_all, turned, in_turns, of_a_copy])
def test_arms_store_into_one_memory(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function)
    for signs in (SIGNS, -SIGNS, SIGNS * [1, -1, 1, -1], SIGNS):
        ours, theirs = LARGE.copy(), LARGE.copy()
        found, wanted = (one(x, LARGE, signs) for one, x in ((compiled, ours), (function, theirs)))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert (found is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert compiled.explain(LARGE.copy(), LARGE, SIGNS).temporary_bytes < LARGE.nbytes // 8


def test_a_part_moves_no_more_than_that() -> None:
    compiled = xjit.jit(in_turns)
    compiled(LARGE.copy(), LARGE, SIGNS)
    text = str(compiled.explain(LARGE.copy(), LARGE, SIGNS))
    assert "while_loop changes parameter in place" in text
    source = compiled.source(LARGE.copy(), LARGE, SIGNS)
    assert source.count("for i0 in") == source.count("range(n0)") == 1, source
