"""Nests of one kernel that run one behind the other use the same scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.storage.reuse_scratch import ReuseScratch
from xjit.ir.loops.nodes import Kernel, Loop

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def reused_scratch(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what lets nests share scratch, where there are several."""
    if len(nests) > 1 and sum(isinstance(one, Loop) for one in kernel.body) > 1:
        yield (ReuseScratch(),)
