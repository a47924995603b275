"""Checks that a kernel has only loops of kinds that its target has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xjit.ir.loops import For, If, Kernel, LoopKind, Statement
from xjit.target import Target


class UnknownLoopError(RuntimeError):
    """A kernel has a loop of a kind that its target does not have."""


def verify_loops(kernel: Kernel, target: Target) -> None:
    """Raise UnknownLoopError unless the target has the kinds of all loops."""
    for kind in _kinds(kernel.body):
        if kind.name not in target.loops:
            raise UnknownLoopError(f"{target.name} has no {kind.name.lower()} loops, only {', '.join(target.loops)}")


def _kinds(body: Iterable[Statement]) -> Iterator[LoopKind]:
    for one in body:
        if isinstance(one, For):
            yield one.kind
            yield from _kinds(one.body)
        elif isinstance(one, If):
            yield from _kinds(one.then)
