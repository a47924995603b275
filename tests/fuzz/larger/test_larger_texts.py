"""Random programs over larger arrays, and such of lengths that only the run knows, do what NumPy does.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --ordinary --large`` and ``--lengths``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.fuzz.larger.larger_texts import FAMILIES, larger_text, length_text
from tests.fuzz.shrinking import shrunk
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import tried

LARGER = range(6)
LENGTHS = range(40, 50)
COMPILED_LENGTHS = range(100, 106)


@pytest.fixture
def falling_back(monkeypatch: Any) -> Callable[[str], None]:
    """Let refused programs run as NumPy, and kernels as Python (``XJIT_DEBUG``) or compiled."""

    def chosen(debug: str) -> None:
        monkeypatch.setenv("XJIT_STRICT", "0")
        monkeypatch.setenv("XJIT_TRIALS", "0")
        monkeypatch.setenv("XJIT_DEBUG", debug)

    return chosen


def _check(program: TextProgram) -> None:
    failure = tried(program)
    assert failure is None, f"{failure}\n{program}"


@pytest.mark.parametrize("seed", LARGER)
def test_larger_arrays(seed: int, falling_back: Any) -> None:
    falling_back("0")
    _check(larger_text(random.Random(seed)))


@pytest.mark.parametrize("seed", LENGTHS)
def test_lengths_of_the_run(seed: int, falling_back: Any) -> None:
    falling_back("1")
    _check(length_text(random.Random(seed)))


@pytest.mark.parametrize("seed", COMPILED_LENGTHS)
def test_lengths_of_the_run_compiled(seed: int, falling_back: Any) -> None:
    falling_back("0")
    _check(length_text(random.Random(seed)))


def _sizes(program: TextProgram) -> list[int]:
    module = program.module()
    return [one.size for k, r in program.calls for one in module.arguments(k, r) if isinstance(one, np.ndarray)]


@pytest.mark.parametrize("make", [larger_text, length_text])
def test_arrays_reach_beyond_a_block(make: Callable[[random.Random], TextProgram]) -> None:
    programs = [make(random.Random(seed)) for seed in range(20)]
    assert sum(max(_sizes(one)) > 512 for one in programs) > 10
    assert any(min(_sizes(one)) < 2 for one in programs)


def test_all_families_are_tried() -> None:
    texts = "\n".join(length_text(random.Random(seed)).text for seed in range(40))
    words = ("np.repeat(", "np.bincount(", "return_inverse", ".append(", "np.cumsum(np.abs(", "np.flatnonzero(")
    words += ("np.stack(", "np.concatenate(")
    assert not [word for word in words if word not in texts]
    assert len({word for family in FAMILIES for word in family}) == sum(map(len, FAMILIES))


WRONG = """
def arguments(k, r):
    x = values(3 + r, "float64", ((1025, 700)[k],))
    return x, k

def f(x, k):
    y = x + 1
    if k < 3:
        y[2] = 2
    return y.sum(), y
"""


def test_extents_are_shrunk() -> None:
    def fails(program: TextProgram) -> bool:
        try:
            module = program.module()
            return bool(module.f(*module.arguments(0, 0))[1].size > 512)
        except Exception:  # not a program any more
            return False

    short = shrunk(TextProgram(WRONG), fails)
    assert _sizes(short)[0] == 513
