"""Checks that a kernel has only loops of kinds that its target has."""

from __future__ import annotations

from xjit.ir.loops.nodes import Kernel, Loop
from xjit.ir.loops.walk import statements
from xjit.target import Target


class UnknownLoopError(RuntimeError):
    """A kernel has a loop of a kind that its target does not have."""


def verify_loops(kernel: Kernel, target: Target) -> None:
    """Raise UnknownLoopError unless the target has the kinds of all loops."""
    kinds = {one.kind.value for one in statements(kernel.body) if isinstance(one, Loop)}
    missing = sorted(kinds - set(target.loops))
    if missing:
        raise UnknownLoopError(f"{target.name} has no loops of the kind {missing[0]}, only {', '.join(target.loops)}")
