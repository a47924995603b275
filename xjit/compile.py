"""The whole compiler as one list of named steps, from a captured function to a program.

graph     what tracing recorded                                xjit.capture
simplify  constants folded, chains of index maps shortened     xjit.passes.simplify
products  some products with vectors as sums                   xjit.passes.products
choices   what changes no extreme read from memory             xjit.passes.neutral_choices
split     large full reductions cut into chunks                xjit.passes.split
plan      nodes grouped into kernels and library steps         xjit.fusion.planner
lower     each group as a loop nest                           xjit.codegen.nests
source    each loop nest as Python text                        xjit.codegen.source
program   text compiled (or found by content), steps in order  xjit.runtime.build
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xjit import config
from xjit.fusion.memory import spent_in_kernels
from xjit.fusion.plan import KernelStep, Plan
from xjit.fusion.planner import plan as make_plan
from xjit.ir.node import Graph
from xjit.passes.complex_sums import sum_parts
from xjit.passes.neutral_choices import hide_neutral_choices
from xjit.passes.products import write_products_out
from xjit.passes.signs import move_signs
from xjit.passes.simplify import simplify
from xjit.passes.split import split_reductions
from xjit.passes.verify import verify
from xjit.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    from xjit.codegen.nests import LoweredKernel
    from xjit.runtime.build import EntryMaker
    from xjit.runtime.kernels import KernelTally, Loader
    from xjit.runtime.loader import LoadedKernel
    from xjit.runtime.products import Products
    from xjit.runtime.program import Program
    from xjit.runtime.records import ArraySpec, Conditions, ScalarSpec

GRAPH_PASSES = (simplify, move_signs, write_products_out, sum_parts, hide_neutral_choices, split_reductions)


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """Everything that is known before machine code: for running, explaining and printing."""

    graph: Graph
    plan: Plan
    views: tuple[bool, ...]
    memories: tuple[int, ...]
    specs: tuple[ArraySpec | ScalarSpec, ...]
    kernels: tuple[tuple[LoweredKernel, str], ...]


def lower_graph(
    graph: Graph,
    values: Sequence[Any],
    views: Sequence[bool],
    memories: Sequence[int] | None = None,
    *,
    varying: bool = False,
    watch: Watch = UNWATCHED,
) -> Lowered:
    """The plan and the source of a graph for parameter values like these.

    ``views`` says of each output whether NumPy would return it as a view, ``memories`` numbers the memory that it
    would lie in. With ``varying`` other floats in place of the graph's constants find the same kernels. The ``watch``
    says when to end.
    """
    from xjit.codegen.equal_kernels import EqualKernels
    from xjit.codegen.source import kernel_source
    from xjit.runtime.build import input_specs, layouts_of

    specs = input_specs(graph, values)
    for step in GRAPH_PASSES:
        watch.enter(f"rewriting operations ({step.__name__})", len(graph.nodes))
        graph = step(graph)
        if config.flag("XJIT_VERIFY"):
            verify(graph)
    layouts = layouts_of(graph, specs)
    viewed = frozenset(node for node, view in zip(graph.outputs, views, strict=True) if view)
    plan = make_plan(graph, layouts, viewed, watch)
    kernels = [step for step in plan.steps if isinstance(step, KernelStep)]
    equal = EqualKernels(layouts, plan.leaves, plan.stored, varying)
    watch.enter("writing kernels", len(kernels))
    steps = zip(kernels, spent_in_kernels(plan), strict=True)
    lowered = [equal.lower(step, spent) for step, spent in watch.over(steps)]
    texts = {id(one.kernel): kernel_source(one.kernel) for one in equal.lowered}
    sources = tuple((one, texts[id(one.kernel)]) for one in lowered)
    told_apart = (-1,) * len(views) if memories is None else tuple(memories)
    return Lowered(graph, plan, tuple(views), told_apart, specs, sources)


def may_contract(graph: Graph) -> bool:
    """Whether operations may be fused to one: not where a value is computed a second time to find its place, as each
    computation may be fused otherwise, and then no place has the value.
    """
    return not any("extreme" in node.kwargs for node in graph.nodes)


def build_program(
    lowered: Lowered,
    tally: KernelTally,
    *,
    contract: bool = False,
    conditions: Conditions | None = None,
    watch: Watch = UNWATCHED,
) -> Program:
    """Machine code for the kernels and the program that runs them, which misses where the conditions do not hold."""
    from xjit.runtime.build import Builder, layouts_of
    from xjit.runtime.records import NO_CONDITIONS

    watch.enter("compiling kernels", len(lowered.kernels))
    load, make_entry, products = _uncompiled() if config.flag("XJIT_DEBUG") else _compiled(tally, contract, watch)
    layouts = layouts_of(lowered.graph, lowered.specs)
    builder = Builder(
        lowered.plan,
        lowered.views,
        lowered.memories,
        layouts,
        lowered.specs,
        load,
        make_entry,
        products,
        conditions or NO_CONDITIONS,
    )
    return builder.build(lowered.kernels)


_Parts: TypeAlias = "tuple[Loader, EntryMaker, Callable[[], Products | None]]"


def _compiled(tally: KernelTally, contract: bool, watch: Watch) -> _Parts:
    from xjit.runtime.entry import make_entry
    from xjit.runtime.kernels import shared_kernels
    from xjit.runtime.products import blas_products

    store = shared_kernels()

    def load(source: str) -> LoadedKernel:
        watch.step()
        return store.load(source, tally, contract=contract)

    return load, make_entry, blas_products


def _uncompiled() -> _Parts:
    from xjit.runtime.uncompiled_entry import KernelSources, make_uncompiled_entry

    sources = KernelSources()
    return sources.load, make_uncompiled_entry(sources), lambda: None
