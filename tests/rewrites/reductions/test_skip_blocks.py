"""Blocks and groups of lanes that are left out where bounds say that a condition holds for none of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.choices import Q, T, chosen, counted, in_lanes
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reductions.block_integers import BlockIntegers
from xjit.codegen.rewrites.reductions.compensate import Compensate
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.codegen.rewrites.reductions.skip_blocks import SkipBlocks
from xjit.codegen.rewrites.reductions.skip_groups import SkipGroups
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.mark_iterations import MarkIterations
from xjit.dataclass import replace
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Grouping, Kernel, Order
from xjit.types import BOOL, FLOAT32, FLOAT64, DType

BLOCKS = Split("i", 512, "b", "e")
SKIPPED = SkipBlocks("b", "t", 4)
IN_LANES = SumBlocks("i"), Lanes("i", "k"), Lanes("k", "l")
MARKED = MarkIterations("g"), MarkIterations("b")
X = Buffer.packed("x", FLOAT64, N)
LESS = both("lt", load(X, AT), Q, BOOL)


def test_the_pictures() -> None:
    rewriting.assert_pictured(SkipGroups, in_lanes())
    rewriting.assert_pictured(SkipBlocks, rewriting.rewritten(chosen(constant(4096)), BLOCKS))


def elements(kind: str, n: int, dtype: DType, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Elements whose order decides what is left out."""
    x = rng.standard_normal(n)
    if kind == "steps":
        x = np.floor(np.linspace(-2, 2, n)) if n else x
    elif kind == "odd":
        x = np.sort(x)
        x[::97] = np.nan
        x[5::101] = np.inf
        x[7::103] = -np.inf
    return x.astype(dtype)


def assert_same(before: Kernel, after: Kernel, dtype: DType, rng: np.random.Generator) -> None:
    """Two kernels give the same bits for elements in all kinds of order."""
    w = np.array([0.3, -1.0, np.nan]).astype(dtype)
    for n in (0, 31, 1060):
        for kind in ("any", "steps", "odd"):
            given = {"x": elements(kind, n, dtype, rng), "w": w, "r": np.zeros(len(w))}
            if len(before.arguments) > 3:
                given["y"] = rng.standard_normal(n).astype(dtype)
            given["r"] = given["r"].astype(next(one.buffer.dtype for one in before.arguments if one.is_written))
            words = {"n": n, "m": len(w)}
            (expected, _), (found, _) = (rewriting.executed(one, given, words) for one in (before, after))
            assert expected["r"].tobytes() == found["r"].tobytes(), (n, kind)


@pytest.mark.parametrize(
    ("condition", "turned"),
    [("lt", False), ("le", False), ("gt", False), ("ge", False), ("eq", False), ("lt", True), ("ge", True)],
)
def test_sums_of_what_a_condition_chooses(condition: str, turned: bool, rng: np.random.Generator) -> None:
    start = rewriting.rewritten(chosen(N, condition, turned=turned), BLOCKS)
    steps: tuple[Rewrite, ...] = (
        SKIPPED,
        SumBlocks("i"),
        Compensate("s"),
        *IN_LANES[1:],
        SkipGroups("i", "t", 64, "g"),
        *MARKED,
    )
    after = rewriting.rewritten(start, *steps)
    plain = rewriting.rewritten(start, SumBlocks("i"), Compensate("s"), *IN_LANES[1:])
    assert_same(plain, after, FLOAT64, rng)


def test_sums_of_f32(rng: np.random.Generator) -> None:
    start = rewriting.rewritten(chosen(N, dtype=FLOAT32), BLOCKS)
    after = rewriting.rewritten(start, SKIPPED, *IN_LANES, SkipGroups("i", "t", 32, "g"), *MARKED)
    assert_same(rewriting.rewritten(start, *IN_LANES), after, FLOAT32, rng)


@pytest.mark.parametrize("value", [LESS, both("and", both("le", Q, load(X, AT), BOOL), LESS, BOOL)])
@pytest.mark.parametrize("marked", [(), MARKED[1:]])
def test_counts(value: Any, marked: Sequence[Rewrite], rng: np.random.Generator) -> None:
    before = counted(value)
    after = rewriting.rewritten(before, BLOCKS, SKIPPED, BlockIntegers("i"), *marked)
    assert ("if " in rewriting.body_text(after)) is not bool(marked)
    assert_same(before, after, FLOAT64, rng)


def touched(kernel: Kernel, ascending: bool, rng: np.random.Generator) -> int:
    """The number of elements of y that a kernel loads."""
    x = rng.standard_normal(1024)
    x = np.sort(x) if ascending else x
    y = np.full(1024, 1.0)
    given = {"x": x, "y": y, "w": x[100:101] if ascending else np.array([-9.0]), "r": np.zeros((1, 2))}
    (after, _) = rewriting.executed(kernel, given, {"m": 1})
    return int(after["r"].sum())


def test_groups_are_left_out(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(in_lanes(), SkipGroups("i", "t", 32, "g"))
    marked = rewriting.rewritten(after, MARKED[0])
    assert touched(marked, True, rng) == 100
    assert touched(after, True, rng) == 100
    text = rewriting.body_text(after)
    assert text.index("narrow[(b // 512)]") < text.index("not((q <= least[(b // 32) + g]))") < text.index("else:")


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (counted(both("lt", load(X, T), Q, BOOL)), "no condition on elements is the same"),
        (counted(both("lt", load(X, AT), load(X, AT + 1), BOOL)), "no condition on elements is the same"),
        (counted(both("or", LESS, both("lt", Q, load(X, AT), BOOL), BOOL)), "no condition on elements is the same"),
        (counted(both("ne", load(X, AT), Q, BOOL)), "no condition on elements is the same"),
        (counted(both("xor", LESS, number(True, BOOL), BOOL)), "no condition on elements is the same"),
    ],
)
def test_conditions_without_bounds_are_refused(kernel: Kernel, reason: str) -> None:
    rewriting.assert_refused(SKIPPED, rewriting.rewritten(kernel, BLOCKS), reason)


def test_a_condition_of_one_sum_is_no_bound_of_another() -> None:
    (turns,) = chosen(N).body
    start, limit, inside, end = turns.body
    other = Accumulate("u", "add", load(X, AT), order=Order(Grouping.BLOCKS, AT))
    several = (start, replace(start, name="u"), limit, replace(inside, body=(*inside.body, other)), end)
    before = replace(chosen(N), body=(replace(turns, body=several),))
    rewriting.assert_refused(SKIPPED, rewriting.rewritten(before, BLOCKS), "no condition on elements is the same")


def test_refusals() -> None:
    tested = rewriting.rewritten(chosen(N), BLOCKS)
    rewriting.assert_refused(SkipBlocks("i", "t", 4), tested, "is not one over blocks in that over t")
    rewriting.assert_refused(SkipBlocks("b", "b", 4), tested, "is not one over blocks in that over b")
    long = rewriting.rewritten(chosen(constant(4096)), BLOCKS)
    rewriting.assert_refused(SKIPPED, long, "may have more than 2048 iterations")
    rewriting.assert_refused(SkipGroups("i", "t", 16, "g"), in_lanes(), "may have more than 512 iterations")
    rewriting.assert_refused(SkipGroups("i", "b", 32, "g"), in_lanes(), "is in no loop over blocks in that over b")
    rewriting.assert_refused(
        SkipGroups("i", "t", 64, "g"), tested, "does not begin with a block, or adds in no lanes"
    )
