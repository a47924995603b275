"""Scratch of nests that follow each other."""

from __future__ import annotations

import numpy as np

from tests.helpers.loop_kernels import AT, J, N, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.storage.reuse_scratch import ReuseScratch
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Alloc, Buffer, Kernel, Loop, LoopKind, Store
from xjit.types import FLOAT32, FLOAT64, DType

X, OUT, SECOND = (Buffer.packed(name, FLOAT64, N) for name in ("x", "out", "second"))


def through(name: str, variable: str, out: Buffer, dtype: DType = FLOAT64) -> Loop:
    """A loop in which every element waits in scratch."""
    scratch = Buffer.packed(name, dtype, constant(4))
    at = AT if variable == "i" else J
    stores = Store(name, (constant(1),), load(X, at)), Store(out.name, (at,), load(scratch, constant(1)))
    return loop(variable, N, Alloc(scratch), *stores, kind=LoopKind.PARALLEL)


def two(*loops: Loop) -> Kernel:
    return kernel((X, OUT, SECOND), *loops)


def test_the_picture() -> None:
    rewriting.assert_pictured(ReuseScratch, two(through("p", "i", OUT), through("q", "j", SECOND)))


def test_nests_share_scratch(rng: np.random.Generator) -> None:
    before = two(through("p", "i", OUT), through("q", "j", SECOND))
    after = rewriting.rewritten(before, ReuseScratch())
    text = rewriting.body_text(after)
    assert text.count("alloc p: f64[4]") == 2 and "q" not in text
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_refusals() -> None:
    reason = "no nest needs scratch that another one has used"
    rewriting.assert_refused(ReuseScratch(), two(through("p", "i", OUT)), reason)
    x32, out32 = (Buffer.packed(name, FLOAT32, N) for name in ("y", "z"))
    scratch = Buffer.packed("q", FLOAT32, constant(4))
    body = Store("q", (constant(0),), load(x32, J)), Store("z", (J,), load(scratch, constant(0)))
    other = kernel((X, OUT, x32, out32), through("p", "i", OUT), loop("j", N, Alloc(scratch), *body))
    rewriting.assert_refused(ReuseScratch(), other, reason)
