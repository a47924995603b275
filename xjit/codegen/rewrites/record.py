"""What every rewrite is: a frozen record that makes one kernel of another, or refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xjit.errors import XjitError
from xjit.ir.loops.nodes import Block, Kernel, Loop, Statement
from xjit.ir.loops.verify import verify
from xjit.ir.loops.walk import path_to, replaced


class RefusedError(XjitError):
    """A rewrite may not be applied; the message says why."""


class Rewrite(Protocol):
    """A rewrite of loops; its repr is the line of it in an explanation."""

    def apply(self, kernel: Kernel) -> Kernel:
        """The kernel after the rewrite; RefusedError where that could compute something else."""
        ...


def applied(kernel: Kernel, rewrites: Sequence[Rewrite], *, verified: bool = False) -> Kernel:
    """The kernel after a list of rewrites, verified after each one if that is asked for."""
    for rewrite in rewrites:
        kernel = rewrite.apply(kernel)
        if verified:
            verify(kernel)
    return kernel


def around(kernel: Kernel, name: str) -> tuple[Statement, ...]:
    """The statements around a loop and the loop itself, the last one; RefusedError if there is none of that name."""
    path = path_to(kernel.body, lambda one: isinstance(one, Loop) and one.variable == name)
    if not path:
        raise RefusedError(f"there is no loop over {name}")
    return path


def loop_over(kernel: Kernel, name: str) -> Loop:
    """The loop of a variable."""
    found = around(kernel, name)[-1]
    assert isinstance(found, Loop)
    return found


def with_statements(kernel: Kernel, old: Statement, new: Block) -> Kernel:
    """The kernel with statements in place of one."""
    return Kernel(kernel.name, kernel.arguments, replaced(kernel.body, old, new))
