"""Random programs over larger arrays, and such of lengths that only the run knows, do what NumPy does.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --ordinary --large`` and ``--lengths``.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests.fuzz.larger.larger_texts import FAMILIES, larger_text, length_text
from tests.fuzz.shrinking import shrunk
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import check_seeds

LARGER = range(6)
LENGTHS = range(40, 50)
COMPILED_LENGTHS = range(100, 106)


@pytest.mark.parametrize("seed", LARGER)
def test_larger_arrays(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "0")
    check_seeds(larger_text, [seed])


@pytest.mark.parametrize("seed", LENGTHS)
def test_lengths_of_the_run(seed: int) -> None:
    check_seeds(length_text, [seed])


@pytest.mark.parametrize("seed", COMPILED_LENGTHS)
def test_lengths_of_the_run_compiled(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "0")
    check_seeds(length_text, [seed])


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
