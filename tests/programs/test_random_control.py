"""Random programs of loops and branches: compiled and uncompiled against the operations one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.programs.random_bodies import Programs, random_state


def check(seed: int) -> None:
    program, state = Programs(seed).program(), random_state(seed)
    before = [np.array(one) for one in state]
    wanted = program(state)
    found: Any = xjit.jit(lambda *values: program(values), strict=True)(*state)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert all(np.array_equal(one, other) for one, other in zip(before, state, strict=True)), (
        "an argument was changed"
    )


# The last one has a number from a loop in a loop that is written out twice.
@pytest.mark.parametrize("seed", [*range(12), 202])
def test_compiled(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", [*range(12, 24), 202])
def test_uncompiled_and_verified(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_VERIFY", "1")
    check(seed)
