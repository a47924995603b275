"""Random rewrites of random kernels: each is refused, or the kernel computes the same as before."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.rewrites import random_loops, rewriting
from xjit.codegen.rewrites.record import RefusedError
from xjit.ir.loops import show
from xjit.ir.loops.nodes import Kernel
from xjit.ir.loops.verify import verify

# Kernels for each seed, and rewrites of each that are tried one after the other.
KERNELS, TRIES = 2, 40
WORDS = [{"n": n, "m": m} for n, m in ((0, 3), (1, 1), (4, 5), (5, 2))]


def compare(before: Kernel, after: Kernel, done: list[object], rng: np.random.Generator) -> None:
    for words in WORDS:
        given = rewriting.arrays(before, words, rng)
        expected, _ = rewriting.executed(before, given, words)
        try:
            found, _ = rewriting.executed(after, given, words)
        except Exception as error:
            raise AssertionError(_told(before, after, done)) from error
        same = all(np.array_equal(found[name], array) for name, array in expected.items())
        assert same, f"for {words}\n{_told(before, after, done)}"


def _told(before: Kernel, after: Kernel, done: list[object]) -> str:
    return "\n".join([*map(repr, done), show.kernel_text(before), show.kernel_text(after)])


@pytest.mark.parametrize("seed", range(12))
def test_refused_or_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    applied: Counter[str] = Counter()
    for _ in range(KERNELS):
        before = verify(random_loops.Programs(rng).kernel())
        after, done = before, []
        for step in range(TRIES):
            rewrite = random_loops.random_rewrite(after, rng, step)
            try:
                changed = rewrite.apply(after)
            except RefusedError:
                continue
            done.append(rewrite)
            try:
                after = verify(changed)
            except Exception as error:
                raise AssertionError(_told(before, changed, done)) from error
            applied[type(rewrite).__name__] += 1
            if len(done) == 4:
                break
        compare(before, after, done, rng)
    assert applied
