"""A target that programs are compiled for: a value that the pipeline hands down to all that asks about it."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from xjit.dataclass import dataclass, replace
from xjit.errors import ArgumentError

if TYPE_CHECKING:
    from xjit.machine import Machine


@dataclass(frozen=True, slots=True)
class Target:
    """A target that programs are compiled for.

    ``name`` is what options and the gaps that operations declare call it, ``spoken`` what messages do. ``loops`` are
    the kinds of loops that it has, by the values of ``LoopKind``. ``entry`` is the module whose
    ``make_entry`` makes a program callable.
    """

    name: str
    spoken: str
    machine: Machine
    loops: tuple[str, ...]
    entry: str

    def without_tiles(self) -> Target:
        """The target as one on which no stencils are worth tiles."""
        return replace(self, machine=replace(self.machine, tiled_bytes=sys.maxsize))

    def inside_time_tiles(self) -> Target:
        """The target as one on which the iterations of all nests are single rows, for the turns of a loop."""
        rows = replace(self.machine, tiled_bytes=sys.maxsize, lone_share=0.0, fewest_paired_rows=sys.maxsize)
        return replace(self, machine=rows)

    def inside_blocks_of_rows(self) -> Target:
        """The target as one thread of it, for what is done to a block of rows."""
        alone = replace(self.machine, parallel_work=math.inf, lasting_work=math.inf, blocked_work=math.inf)
        return replace(self, machine=alone)


def cpu() -> Target:
    """The processor, by way of LLVM.

    >>> cpu().machine.line_bytes
    64
    """
    from xjit.machine import processor

    loops = ("for", "parallel", "unrolled", "vector")
    return Target("cpu", "the CPU", processor(), loops, "xjit.runtime.calls.entry")


TARGETS = {"cpu": cpu}
"""The targets by their names."""

DEFAULT = "cpu"
"""The target of functions that name none."""


def resolved(chosen: str | Target) -> Target:
    """The target of this name, or the one that is given; ArgumentError for anything else.

    >>> resolved("cpu").name
    'cpu'
    """
    if isinstance(chosen, Target):
        return chosen
    check(chosen)
    return TARGETS[chosen]()


def check(chosen: object) -> None:
    """Raise ArgumentError for what is no target and no name of one."""
    if not isinstance(chosen, Target) and not (isinstance(chosen, str) and chosen in TARGETS):
        names = " or ".join(map(repr, TARGETS))
        raise ArgumentError(f"xjit: target: {names} is required, the only target of this version; got {chosen!r}")
