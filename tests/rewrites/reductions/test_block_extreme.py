"""First places of extremes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, K, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import ZERO, assert_pictured
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.analysis.first_extremes import FirstExtreme, first_extreme
from xjit.codegen.rewrites.reductions.block_extreme import BlockExtreme
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.early_exit import EarlyExit
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Buffer, Carry, Fold, Kernel, Let, Store, Value, Var
from xjit.types import FLOAT64, INT32, INT64, DType

BLOCKS = Split("j", 512, "b", "e")
X = Buffer.packed("x", FLOAT64, N)


def place(dtype: DType = FLOAT64, computed: bool = False) -> Kernel:
    x, out = Buffer.packed("x", dtype, N), Buffer.packed("out", INT64, constant(1))
    best, at = Var("s", dtype), Var("p", INT64)
    least = -np.inf if dtype == FLOAT64 else np.iinfo(dtype).min
    value: Value = both("add", load(x, J), load(x, J)) if computed else load(x, J)
    search = FirstExtreme(best, at, "max", Var("v", dtype), J).fold
    body = loop("j", N, Let("v", value), search)
    carries = Carry("s", number(least, dtype)), Carry("p", number(0, INT64))
    return kernel((x, out), *carries, body, Store("out", (ZERO,), at))


def test_the_picture() -> None:
    assert_pictured(BlockExtreme, place(), BLOCKS)


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("dtype", [FLOAT64, INT32])
def test_every_place(dtype: DType, computed: bool) -> None:
    before = place(dtype, computed)
    after = rewriting.rewritten(before, BLOCKS, BlockExtreme("j", "p"))
    assert ("first s from x" in rewriting.body_text(after)) == (not computed)
    for length, at in ((1, 0), (3, 1), (512, 511), (1100, 600), (1100, 1099)):
        x = np.zeros(length, dtype)
        x[at] = 1
        assert found(before, x) == found(after, x) == at


@pytest.mark.parametrize("computed", [False, True])
def test_first_nan(computed: bool) -> None:
    after = rewriting.rewritten(place(computed=computed), BLOCKS, BlockExtreme("j", "p"))
    x = np.arange(1100.0)
    x[[700, 900]] = np.nan
    assert found(after, x) == 700
    assert found(after, np.full(9, -np.inf)) == 0


def test_blocks_behind_the_greatest_integer_are_left_out() -> None:
    before = place(INT32)
    after = rewriting.rewritten(before, BLOCKS, EarlyExit("b"), BlockExtreme("j", "p"))
    x = np.zeros(2000, np.int32)
    x[[600, 1500]] = np.iinfo(np.int32).max
    assert "if (s != 2147483647):" in rewriting.body_text(after)
    assert found(after, x) == 600


def found(tested: Kernel, x: np.ndarray) -> int:
    given = {"x": x, "out": np.full(1, -1, np.int64)}
    return int(rewriting.executed(tested, given, {"n": len(x)})[0]["out"][0])


def test_other_folds_are_no_searches() -> None:
    search = FirstExtreme(Var("s", FLOAT64), Var("p", INT64), "max", load(X, J), J)
    assert first_extreme(search.fold) == search
    swapped = Fold(search.fold.names, (search.fold.values[0], Var("p", INT64)))
    assert first_extreme(swapped) is None
    assert first_extreme(Fold(("s",), (load(X, K),))) is None


def test_refusals() -> None:
    rewriting.assert_refused(BlockExtreme("j", "s"), place(), "looks for no first place s")
