"""Sums of narrow integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import ZERO, assert_pictured, lengths
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.reductions.block_integers import BlockIntegers
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, Let, Prim, Store, Var
from xjit.types import BOOL, INT16, INT32, INT64, DType

BLOCKS = Split("j", 512, "b", "e")


def counted(dtype: DType, wide: DType = INT64) -> Kernel:
    x, out = Buffer.packed("x", dtype, N), Buffer.packed("out", wide, constant(1))
    named = Let("v", Prim("cast", (load(x, J),), wide))
    body = loop("j", N, named, Accumulate("s", "add", Var("v", wide)))
    return kernel((x, out), Carry("s", number(0, wide)), body, Store("out", (ZERO,), Var("s", wide)))


def test_the_picture() -> None:
    assert_pictured(BlockIntegers, counted(BOOL), BLOCKS)


@pytest.mark.parametrize(("dtype", "bits"), [(BOOL, "s16"), (np.dtype("u1"), "s32"), (INT16, "s32")])
def test_the_greatest_elements(dtype: DType, bits: str) -> None:
    before = counted(dtype)
    after = rewriting.rewritten(before, BLOCKS, BlockIntegers("j"))
    assert f"carry s_block: {bits} = 0" in rewriting.body_text(after)
    greatest: Any = True if dtype == BOOL else np.iinfo(dtype).max
    for words in lengths(0, 1, 512, 1100):
        given = {"x": np.full(words["n"], greatest, dtype), "out": np.zeros(1, np.int64)}
        assert rewriting.executed(after, given, words)[0]["out"] == [words["n"] * int(greatest)]


def test_refusals() -> None:
    rewriting.assert_refused(BlockIntegers("j"), counted(BOOL), "may be longer than a block")
    for dtype, wide in ((INT32, INT64), (BOOL, INT16)):
        blocks = rewriting.rewritten(counted(dtype, wide), BLOCKS)
        rewriting.assert_refused(BlockIntegers("j"), blocks, "adds no integers that were narrow")
