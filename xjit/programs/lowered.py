"""A program before machine code: plan, loops and source, of itself and of the graphs inside of its operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xjit.dataclass import dataclass, field
from xjit.passes.shown_memory import Written
from xjit.passes.stored_results import NO_STORES, Stores

if TYPE_CHECKING:
    from xjit.codegen.lowering.kernels.nests import LoweredKernel
    from xjit.fusion.plan import Plan
    from xjit.ir.node import Graph, Node
    from xjit.runtime.calls.records import ArraySpec, ScalarSpec
    from xjit.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """Everything that is known before machine code: for running, explaining and printing.

    ``inner`` holds the programs of the graphs inside of operations of control. The outputs ``written`` are stored
    into memory of parameters, as the ``stores`` say. What is ``in_tiles`` is the body of a loop whose turns may be
    done for tiles of rows; one of a large loop that is not says why it is ``untiled``.
    """

    graph: Graph
    plan: Plan
    views: tuple[bool, ...]
    memories: tuple[int, ...]
    specs: tuple[ArraySpec | ScalarSpec, ...]
    kernels: tuple[tuple[LoweredKernel, str], ...]
    target: Target
    inner: Mapping[Node, tuple[Lowered, ...]] = field(default_factory=dict)
    written: Written = ()
    stores: Stores = NO_STORES
    in_tiles: bool = False
    untiled: str = ""

    def all(self) -> Iterator[Lowered]:
        """The program itself, and all inside of it."""
        yield self
        for parts in self.inner.values():
            for part in parts:
                yield from part.all()
