"""Rewrites: frozen records that make one kernel of another, or refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xjit.dataclass import replace
from xjit.errors import XjitError
from xjit.ir.loops.nodes import Block, Kernel, Loop, Statement
from xjit.ir.loops.verify import verify
from xjit.ir.loops.walk import path_to, replaced


class RefusedError(XjitError):
    """A rewrite may not be applied; the message says why."""


class Rewrite(Protocol):
    """A rewrite of loops; its repr is the line of it in an explanation."""

    def apply(self, kernel: Kernel) -> Kernel:
        """Check legality and return the kernel after the rewrite. Raises RefusedError."""
        ...


def applied(kernel: Kernel, rewrites: Sequence[Rewrite], *, verified: bool = False) -> Kernel:
    """The kernel after a list of rewrites, verified after each one if that is asked for."""
    for rewrite in rewrites:
        kernel = rewrite.apply(kernel)
        if verified:
            verify(kernel)
    return kernel


def found(kernel: Kernel, name: str) -> tuple[tuple[Statement, ...], Loop]:
    """The way to a loop, from the outermost statement to itself, and the loop; RefusedError if there is none."""
    path = path_to(kernel.body, lambda one: isinstance(one, Loop) and one.variable == name)
    match path:
        case (*_, Loop() as loop):
            return path, loop
    raise RefusedError(f"there is no loop over {name}")


def with_statements(kernel: Kernel, old: Statement, new: Block) -> Kernel:
    """The kernel with statements in place of one."""
    return replace(kernel, body=replaced(kernel.body, old, new))
