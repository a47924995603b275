"""The whole compiler as one list of named steps, from a captured function to a program.

graph     what tracing recorded                                xjit.capture
simplify  constants folded, chains of index maps shortened     xjit.passes.simplify
products  some products with vectors as sums                   xjit.passes.products
choices   what changes no extreme read from memory             xjit.passes.neutral_choices
split     large full reductions cut into chunks                xjit.passes.split
plan      nodes grouped into kernels and library steps         xjit.fusion.planner
lower     each region as a loop nest                           xjit.codegen.nests
source    each loop nest as Python text                        xjit.codegen.source
spec      the program as plain data: slots, steps, tables       xjit.programs.make_spec
program   text compiled (or found by content), ready to run      xjit.runtime.program
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from xjit import config
from xjit.dataclass import dataclass
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

if TYPE_CHECKING:
    from xjit.codegen.nests import LoweredKernel
    from xjit.ir.opdef import OpDef
    from xjit.runtime.program import Loading, Program
    from xjit.runtime.records import ArraySpec, Conditions, ScalarSpec
    from xjit.runtime.spec import ProgramSpec
    from xjit.runtime.tally import KernelTally

Operations: TypeAlias = "Callable[[str], OpDef]"

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
) -> Lowered:
    """The plan and the source of a graph for parameter values like these.

    ``views`` says of each output whether NumPy would return it as a view, ``memories`` numbers the memory that it
    would lie in. With ``varying`` other floats in place of the graph's constants find the same kernels.
    """
    from xjit.codegen.nests import lower
    from xjit.codegen.source import kernel_source
    from xjit.programs.make_spec import input_specs, layouts_of

    specs = input_specs(graph, values)
    for step in GRAPH_PASSES:
        graph = step(graph)
        if config.flag("XJIT_VERIFY"):
            verify(graph)
    layouts = layouts_of(graph, specs)
    viewed = frozenset(node for node, view in zip(graph.outputs, views, strict=True) if view)
    plan = make_plan(graph, layouts, viewed)
    kernels = [step for step in plan.steps if isinstance(step, KernelStep)]
    lowered = [
        lower(step.regions, layouts, plan.leaves, plan.stored, spent, step.tiling, varying)
        for step, spent in zip(kernels, spent_in_kernels(plan), strict=True)
    ]
    sources = tuple((kernel, kernel_source(kernel.kernel)) for kernel in lowered)
    told_apart = (-1,) * len(views) if memories is None else tuple(memories)
    return Lowered(graph, plan, tuple(views), told_apart, specs, sources)


def may_contract(graph: Graph) -> bool:
    """Whether operations may be fused to one: not where a value is computed a second time to find its place, as each
    computation may be fused otherwise, and then no place has the value.
    """
    return not any("extreme" in node.kwargs for node in graph.nodes)


def program_spec(lowered: Lowered, apart: tuple[tuple[int, int], ...] = ()) -> ProgramSpec:
    """The program as plain data; ``apart`` are pairs of parameters that have to be two objects."""
    from xjit.programs.make_spec import Builder, layouts_of
    from xjit.runtime.check_spec import check

    layouts = layouts_of(lowered.graph, lowered.specs)
    blas = (lambda: None) if config.flag("XJIT_DEBUG") else _long_integers_of_blas
    builder = Builder(lowered.plan, lowered.views, lowered.memories, layouts, lowered.specs, blas, apart)
    spec = builder.spec(lowered.kernels)
    if config.flag("XJIT_VERIFY"):
        check(spec)
    return spec


def build_program(
    lowered: Lowered,
    tally: KernelTally,
    *,
    contract: bool = False,
    conditions: Conditions | None = None,
    tell: Callable[[ProgramSpec], object] | None = None,
) -> Program:
    """Machine code for the kernels and the program that runs them, which misses where the conditions do not hold.

    Who wants to know is told the program as plain data.
    """
    from xjit.runtime.program import load
    from xjit.runtime.records import NO_CONDITIONS

    held = conditions or NO_CONDITIONS
    operations = {node.op.name: node.op for node in lowered.graph.nodes}.__getitem__
    loading = _uncompiled(operations) if config.flag("XJIT_DEBUG") else _compiled(operations, tally, contract)
    spec = program_spec(lowered, held.apart)
    program = load(spec, loading, held.codes)
    if tell is not None:
        tell(spec)
    return program


def kernel_key(source: str, *, contract: bool = False) -> str:
    """The key under which the machine code of a kernel lies in the cache on disk."""
    from xjit.codegen.numba_compat import object_key
    from xjit.codegen.source import without_comments

    return object_key(without_comments(source), contract=contract)


def _long_integers_of_blas() -> bool | None:
    """Whether the integers of NumPy's BLAS have 64 bits; None if it cannot be called by itself."""
    from xjit.runtime.products import blas_products

    products = blas_products()
    return None if products is None else products.long


def _compiled(operations: Operations, tally: KernelTally, contract: bool) -> Loading:
    from xjit.programs.kernels import shared_kernels
    from xjit.runtime.entry import make_entry
    from xjit.runtime.products import blas_products
    from xjit.runtime.program import Loading

    store = shared_kernels()
    return Loading(lambda source: store.load(source, tally, contract=contract), make_entry, blas_products, operations)


def _uncompiled(operations: Operations) -> Loading:
    from xjit.programs.uncompiled_entry import KernelSources, make_uncompiled_entry
    from xjit.runtime.program import Loading

    sources = KernelSources()
    return Loading(sources.load, make_uncompiled_entry(sources), lambda: None, operations)
