"""The whole compiler as one list of named stages, from a captured function to a program.

Tracing (:mod:`xjit.capture`) records a graph. Each stage makes of the program as the stages before it left it::

{stages}

Then the program is described as plain data (:mod:`xjit.programs.make_spec`), the texts are compiled, or found by
content, and run in order (:mod:`xjit.runtime.steps.program`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from xjit import config
from xjit.dataclass import dataclass, field, replace
from xjit.fusion.buffers.memory import spent_in_kernels
from xjit.fusion.buffers.updates import NotInPlaceError
from xjit.fusion.grouping.row_groups import by_rows
from xjit.fusion.plan import KERNELS, ControlKernelStep, ControlStep, KernelStep, Plan, SortStep
from xjit.fusion.planner import plan as make_plan
from xjit.ir.inner_graphs import GRAPHS, all_graphs
from xjit.ir.node import Graph, Node
from xjit.machine import Machine
from xjit.passes.branch_values import trim_branches
from xjit.passes.convolutions import write_convolutions_out
from xjit.passes.exact_sums import add_as_integers
from xjit.passes.fresh_windows import border_windows_of_turns, pad_fresh_windows
from xjit.passes.inner_passes import in_all_graphs
from xjit.passes.masked_extremes import hide_neutral_choices
from xjit.passes.own_memory import own_what_is_updated
from xjit.passes.products.dot_to_reduce import write_products_out
from xjit.passes.shown_memory import Shown, Written, shown_memory
from xjit.passes.sign_motion import move_signs
from xjit.passes.simplify import simplify
from xjit.passes.split_complex_reduce import sum_parts
from xjit.passes.split_reduce import split_reductions
from xjit.passes.state.laid_state import lay_along
from xjit.passes.state.loop_state import slim_loops
from xjit.passes.stored_results import NO_STORES, Stores, Way, copied_by_loops, first_ways, store_results, stores_of
from xjit.passes.turns.blocked_turns import mark_rows_apart
from xjit.passes.turns.carried_spans import drop_kept_bounds
from xjit.passes.turns.copies_of_turns import copy_rows_at_once
from xjit.passes.turns.leaving_rows import mask_leaving_rows
from xjit.passes.turns.products_of_turns import join_products_of_turns
from xjit.passes.turns.shared_sums import share_sums
from xjit.passes.turns.tested_ahead import test_ahead
from xjit.passes.turns.turns_at_once import take_turns_at_once
from xjit.passes.verify_graph import verify
from xjit.programs.lowered import Lowered as Lowered
from xjit.target import Target
from xjit.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    from xjit.codegen.lowering.kernels.nests import LoweredKernel
    from xjit.fusion.buffers.layout import Layouts
    from xjit.ir.opdef import OpDef
    from xjit.runtime.calls.records import ArraySpec, Conditions, ScalarSpec
    from xjit.runtime.loading.loader import LoadedKernel
    from xjit.runtime.spec import ProgramSpec
    from xjit.runtime.steps.program import Loading, Program
    from xjit.runtime.tally import KernelTally

COMPILING_THREADS = 4
"""Threads that compile kernels of one program at most: LLVM is half of the work, and only that is done at a time."""

Operations: TypeAlias = "Callable[[str], OpDef]"


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A program on its way through the stages: what it is made for, and what has been made of it so far.

    ``specs`` describe the values of its parameters, ``views`` says of each output whether NumPy would return it as a
    view. With ``varying`` other floats in place of the graph's constants find the same kernels. The ``watch``
    says when to end. ``inner`` are the drafts of graphs inside of operations of control, once there is a
    plan. The program may write over parameters that are ``owned``. A program that is not ``tiled`` is planned for
    loops over whole values. The outputs ``written`` are stored into memory of parameters, as the ``stores`` say once
    there are any; ``unstored`` is the draft before them, ``unmarked`` that before loops were marked. The outputs
    ``shown`` stay views of what is stored. What is ``in_tiles`` are graphs of a loop whose turns may be done for
    tiles of rows; the ``way`` to a graph counts operations of control and their graphs, and those ``untiled`` are
    known to be none, for these reasons.
    """

    graph: Graph
    target: Target
    specs: tuple[ArraySpec | ScalarSpec, ...]
    views: tuple[bool, ...]
    varying: bool
    watch: Watch
    plan: Plan | None = None
    kernels: tuple[LoweredKernel, ...] = ()
    sources: tuple[str, ...] = ()
    inner: Mapping[Node, tuple[Draft, ...]] = field(default_factory=dict)
    owned: frozenset[Node] = frozenset()
    tiled: bool = True
    in_tiles: bool = False
    way: tuple[int, ...] = ()
    untiled: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    written: Written = ()
    unstored: Draft | None = None
    unmarked: Draft | None = None
    shown: Shown = field(default_factory=dict)
    stores: Stores = NO_STORES

    def all(self) -> Iterator[Draft]:
        """The draft itself, and all inside of it."""
        yield self
        for parts in self.inner.values():
            for part in parts:
                yield from part.all()

    def with_inner(self, change: Callable[[Draft], Draft]) -> Draft:
        """The draft with those inside of it changed."""
        if not self.inner:
            return self
        return replace(self, inner={node: tuple(map(change, parts)) for node, parts in self.inner.items()})

    def with_sources(self) -> Draft:
        """The draft with empty sources, for those who look at kernels only."""
        return replace(self, sources=("",) * len(self.kernels)).with_inner(Draft.with_sources)

    @property
    def planned(self) -> Plan:
        """The plan, once there is one."""
        assert self.plan is not None
        return self.plan

    @property
    def size(self) -> int:
        """The number of kernels once there is a plan, before it that of operations."""
        return len(self.graph.nodes) if self.plan is None else len(self.steps)

    @property
    def steps(self) -> tuple[KernelStep | SortStep | ControlKernelStep, ...]:
        """The steps of the plan that are kernels."""
        return tuple(step for step in self.planned.steps if isinstance(step, KERNELS))

    @property
    def layouts(self) -> Layouts:
        """Return where the elements of the parameters lie."""
        from xjit.programs.input_layouts import layouts_of

        return layouts_of(self.graph, self.specs, self.stores)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the pipeline: what it does in a line, in which module, and what it makes of a draft.

    ``makes`` is the part of the program that is new after it: the graph, the plan, the loops or the text.
    """

    name: str
    does: str
    module: str
    run: Callable[[Draft], Draft]
    makes: str

    @property
    def doing(self) -> str:
        """The work on a program at hand, for those who wait for it."""
        return _DOING[self.makes]


_DOING = {
    "graph": "rewriting operations",
    "plan": "planning operations",
    "loops": "lowering kernels",
    "text": "writing kernels",
}


def graph_pass(name: str, does: str, rewrite: Callable[[Graph], Graph], inside: bool = True) -> Stage:
    """The stage of a pass over graphs, over those inside of others too if it is to."""
    return replace(machine_pass(name, does, lambda graph, _: rewrite(graph), inside), module=rewrite.__module__)


def _verified(graph: Graph) -> Graph:
    """The graph, looked at if ``XJIT_VERIFY`` is set."""
    if config.flag("XJIT_VERIFY"):
        verify(graph)
    return graph


def machine_pass(name: str, does: str, rewrite: Callable[[Graph, Machine], Graph], inside: bool = True) -> Stage:
    """The stage of a pass that asks for the machine, over graphs inside of others too if it is to."""

    def run(draft: Draft) -> Draft:
        machine, graph = draft.target.machine, draft.graph
        made = in_all_graphs(lambda one: rewrite(one, machine))(graph) if inside else rewrite(graph, machine)
        return replace(draft, graph=_verified(made))

    return Stage(name, does, rewrite.__module__, run, "graph")


def _mark(draft: Draft, refused: frozenset[tuple[int, ...]] = frozenset()) -> Draft:
    """The draft whose loops are marked where their rows need no others, but for those that were ``refused``."""
    graph = mark_rows_apart(draft.graph, draft.target.machine, refused)
    return replace(draft, graph=_verified(graph), unmarked=draft)


def _test_ahead(draft: Draft) -> Draft:
    """The draft whose loops that write to arguments have their conditions tested ahead."""
    return replace(draft, graph=_verified(test_ahead(draft.graph, draft.written, draft.target.machine)))


_LAID = machine_pass("layouts", "copy what loops go through across", lay_along, inside=False)


def _own(draft: Draft, ways: Mapping[int, Way] = MappingProxyType({})) -> Draft:
    """The draft whose updates have memory of their own, or of the caller's, stored in these ways."""
    unstored = draft.unstored or draft
    graph, views = store_results(unstored.graph, unstored.views, draft.written, ways, draft.shown)
    given = copied_by_loops(graph, draft.written, ways)
    graph = _verified(in_all_graphs(lambda one: own_what_is_updated(one, given))(graph))
    return replace(draft, graph=graph, views=views, unstored=unstored, stores=stores_of(graph, draft.written, ways))


def _plan(draft: Draft) -> Draft:
    """The draft with a plan; results are stored in other ways where that has turned out to be necessary."""
    ways = first_ways((draft.unstored or draft).graph, draft.written)
    draft = draft if all(way is Way.ALONG for way in ways.values()) else _own(draft, ways)
    while True:
        try:
            return _planned(draft)
        except NotInPlaceError as error:
            late = [number for number, place in draft.written if draft.graph.parameters[place] in error.results]
            further = [number for number in late if ways[number] < Way.APART] or list(ways)
            assert min(ways.values()) < Way.APART, "results that are made first can be stored"
            ways |= {number: Way(min(ways[number] + 1, Way.APART)) for number in further}
            draft = _own(draft, ways)


def _planned(draft: Draft) -> Draft:
    from xjit.programs.kept_memory import check_kept

    viewed = frozenset(node for node, is_view in zip(draft.graph.outputs, draft.views, strict=True) if is_view)
    target = draft.target if draft.tiled else draft.target.without_tiles()
    plan = make_plan(draft.graph, draft.layouts, target, viewed, draft.watch, draft.owned, draft.stores)
    if draft.in_tiles:
        plan = replace(plan, steps=tuple(by_rows(plan.steps, plan.slices, draft.layouts)))
    steps = [step for step in plan.steps if isinstance(step, ControlStep)]
    inner = {step.node: _inner_plans(step.node, number, draft, plan) for number, step in enumerate(steps)}
    check_kept(draft.graph, inner, draft.layouts, draft.stores)
    return replace(draft, plan=plan, inner=inner)


def _inner_plans(node: Node, number: int, draft: Draft, plan: Plan) -> tuple[Draft, ...]:
    """The plans of the graphs inside of an operation of control."""
    from xjit.programs.control_steps import inner_specs, owned_parameters
    from xjit.programs.time_tiles import may_be_tiled

    found: list[Draft] = []
    specs = inner_specs(node, plan, draft.layouts)
    for place, (graph, of, owned) in enumerate(zip(node.param(GRAPHS), specs, owned_parameters(node), strict=True)):
        views, way = (False,) * len(graph.outputs), (*draft.way, number, place)
        in_tiles = may_be_tiled(node, draft.target.machine) and way not in draft.untiled
        target = draft.target.inside_time_tiles() if in_tiles else draft.target
        parts = Draft(graph, target, of, views, draft.varying, draft.watch, owned=owned, tiled=draft.tiled)
        found.append(_plan(replace(parts, in_tiles=in_tiles, way=way, untiled=draft.untiled)))
    return tuple(found)


def _lower(draft: Draft) -> Draft:
    """The draft with kernels; without tiles of time for loops whose kernels refuse these."""
    lowered = _lowered_in_blocks(draft)
    if any(part.in_tiles for part in lowered.all()) and (refused := _refused_tiles(lowered)):
        return _lower(_plan(replace(draft, untiled={**draft.untiled, **refused})))
    return lowered


def _refused_tiles(draft: Draft) -> dict[tuple[int, ...], str]:
    """The ways of loops that are not done in tiles of time, with the reasons."""
    from xjit.programs.builders import untiled_loops

    found = untiled_loops(_lowered(draft.with_sources(), (-1,) * len(draft.views)))
    parts = [(node, part) for one in draft.all() for node, several in one.inner.items() for part in several]
    return {part.way: found[node] for node, part in parts if node in found}


def _lowered_in_blocks(draft: Draft) -> Draft:
    """The draft with kernels; without blocks of rows where the loops refuse these."""
    from xjit.codegen.lowering.control.blocked_rows import NoBlocksError

    refused = frozenset[tuple[int, ...]]()
    while True:
        try:
            return _lowered_all(draft)
        except NoBlocksError as error:
            refused |= {error.way}
            assert draft.unmarked is not None, "loops are marked in the whole program"
            draft = _plan(_own(_LAID.run(_mark(replace(draft.unmarked, untiled=draft.untiled), refused))))


def _lowered_all(draft: Draft) -> Draft:
    from xjit.codegen.lowering.kernels.tiled_groups import NoTilesError

    try:
        lowered = _lower_kernels(draft)
    except NoTilesError:
        lowered = _lower_kernels(_plan(replace(draft, tiled=False)))
    return lowered.with_inner(_lowered_all)


def _lower_kernels(draft: Draft) -> Draft:
    from xjit.codegen.lowering.control.control_kernels import lower_control
    from xjit.codegen.lowering.kernels.equal_kernels import EqualKernels
    from xjit.codegen.lowering.kernels.sorts import lower_pass
    from xjit.codegen.scheduling.loop_kinds import verify_loops

    plan, machine = draft.planned, draft.target.machine
    equal = EqualKernels(draft.layouts, plan.leaves, plan.stored, machine, draft.varying)
    spent = iter(spent_in_kernels(plan, frozenset() if draft.in_tiles else draft.owned))

    def lower(step: KernelStep | SortStep | ControlKernelStep) -> LoweredKernel:
        if isinstance(step, KernelStep):
            return equal.lower(step, next(spent))
        if isinstance(step, SortStep):
            return lower_pass(step, draft.layouts, plan.stored, machine)
        return lower_control(step, machine, draft.varying)

    lowered = tuple(map(lower, draft.watch.over(draft.steps)))
    if config.flag("XJIT_VERIFY"):
        for kernel in {id(one.kernel): one.kernel for one in lowered}.values():
            verify_loops(kernel, draft.target)
    return replace(draft, kernels=lowered)


def _write(draft: Draft) -> Draft:
    from xjit.codegen.text.source import kernel_text

    different = {id(one.kernel): one.kernel for one in draft.kernels}
    texts = {key: kernel_text(kernel).text for key, kernel in draft.watch.over(different.items())}
    return replace(draft, sources=tuple(texts[id(one.kernel)] for one in draft.kernels)).with_inner(_write)


STAGES = (
    graph_pass("simplify", "fold constants, shorten chains of index maps", simplify),
    graph_pass("windows", "write what is one number around a window as padding", pad_fresh_windows),
    graph_pass("loops", "carry what changes, compute what does not before the loop", slim_loops),
    graph_pass("leaving", "mask rows that turns take out of arrays", mask_leaving_rows),
    graph_pass("batches", "take independent turns of a loop at once", take_turns_at_once),
    graph_pass("turns", "form products of the turns of a loop at once before it", join_products_of_turns),
    graph_pass("copies", "copy the rows of the turns of a loop at once", copy_rows_at_once),
    machine_pass("borders", "put borders around what turns make", border_windows_of_turns),
    machine_pass("sums", "add integers of parts of a loop apart", share_sums),
    graph_pass("branches", "yield what is read, choose what is known", trim_branches),
    graph_pass("signs", "move sign flips towards the results, where they vanish", move_signs),
    graph_pass("convolutions", "write convolutions as sums of products", write_convolutions_out),
    graph_pass("products", "write some products with vectors as sums", write_products_out),
    graph_pass("parts", "sum real and imaginary parts apart", sum_parts),
    graph_pass("exact", "add integers as integers where floats would lose nothing", add_as_integers),
    graph_pass("choices", "read infinities that change no extreme from memory", hide_neutral_choices),
    graph_pass("bounds", "leave out bounds that loops keep", drop_kept_bounds, inside=False),
    Stage("ahead", "test conditions of turns ahead", "xjit.passes.turns.tested_ahead", _test_ahead, "graph"),
    graph_pass("split", "cut large reductions to few results into chunks", split_reductions),
    Stage("rows", "mark loops whose rows need no others", "xjit.passes.turns.blocked_turns", _mark, "graph"),
    _LAID,
    Stage("updates", "give what is updated memory of its own", "xjit.passes.own_memory", _own, "graph"),
    Stage("plan", "group nodes into kernels and library steps", "xjit.fusion.planner", _plan, "plan"),
    Stage("lower", "make a loop nest of each kernel", "xjit.codegen.lowering.kernels.nests", _lower, "loops"),
    Stage("source", "write each loop nest as Python text", "xjit.codegen.text.source", _write, "text"),
)


def _table(stages: Sequence[Stage]) -> str:
    """The stages as aligned lines: name, what it does, module."""
    wide = [max(len(one) for one in column) for column in zip(*((s.name, s.does) for s in stages), strict=True)]
    return "\n".join(f"    {s.name:<{wide[0]}}  {s.does:<{wide[1]}}  {s.module}" for s in stages)


__doc__ = (__doc__ or "").replace("{stages}", _table(STAGES))


def staged(
    graph: Graph,
    values: Sequence[Any],
    views: Sequence[bool],
    *,
    target: Target,
    varying: bool = False,
    written: Written = (),
    watch: Watch = UNWATCHED,
) -> Iterator[tuple[Stage, Draft]]:
    """Yield each stage with the draft after it, for a graph and parameter values like these."""
    from xjit.programs.input_layouts import input_specs

    draft = Draft(graph, target, input_specs(graph, values), tuple(views), varying, watch, written=written)
    draft = replace(draft, shown=shown_memory(graph, views, written))
    for stage in STAGES:
        watch.enter(stage.doing, draft.size)
        draft = stage.run(draft)
        yield stage, draft


def lower_graph(
    graph: Graph,
    values: Sequence[Any],
    views: Sequence[bool],
    memories: Sequence[int] | None = None,
    *,
    target: Target,
    varying: bool = False,
    written: Written = (),
    watch: Watch = UNWATCHED,
) -> Lowered:
    """The plan and the source of a graph for a target and parameter values like these.

    ``views`` says of each output whether NumPy would return it as a view, ``memories`` numbers the memory that it
    would lie in. With ``varying`` other floats in place of the graph's constants find the same kernels. ``written``
    are pairs of an output, behind those that are returned, and the parameter whose memory it is stored into. The
    ``watch`` says when to end.
    """
    *_, (_, draft) = staged(graph, values, views, target=target, varying=varying, written=written, watch=watch)
    told_apart = (-1,) * len(views) if memories is None else tuple(memories)
    return _lowered(draft, told_apart)


def _lowered(draft: Draft, memories: tuple[int, ...]) -> Lowered:
    kernels = tuple(zip(draft.kernels, draft.sources, strict=True))
    inner = {
        node: tuple(_lowered(part, (-1,) * len(part.views)) for part in parts) for node, parts in draft.inner.items()
    }
    parts = draft.graph, draft.planned, draft.views, memories, draft.specs, kernels, draft.target, inner
    tiles = draft.in_tiles, draft.untiled.get(draft.way, "")
    return Lowered(*parts, draft.written, draft.stores, *tiles)


def program_spec(lowered: Lowered, apart: tuple[tuple[int, int], ...] = ()) -> ProgramSpec:
    """The program as plain data; ``apart`` are pairs of parameters that have to be two objects."""
    from xjit.programs.builders import builder_of
    from xjit.runtime.check_spec import check

    spec = builder_of(lowered, apart).spec(lowered.kernels)
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
    watch: Watch = UNWATCHED,
) -> Program:
    """Machine code for the kernels and the program that runs them, which misses where the conditions do not hold.

    Who wants to know is told the program as plain data.
    """
    from xjit.ops.dynamic.extents import CUT
    from xjit.runtime.calls.records import NO_CONDITIONS
    from xjit.runtime.steps.program import load

    held = conditions or NO_CONDITIONS
    records = {node.op.name: node.op for graph in all_graphs(lowered.graph) for node in graph.nodes}
    operations = {**records, CUT.name: CUT}.__getitem__
    watch.enter("compiling kernels", sum(len(part.kernels) for part in lowered.all()))
    debug, entry = config.flag("XJIT_DEBUG"), lowered.target.entry
    spec = program_spec(lowered, held.apart)
    loading = _uncompiled(operations) if debug else _compiled(entry, spec, operations, tally, contract, watch)
    program = load(spec, loading, held.codes)
    if tell is not None:
        tell(spec)
    return program


def _compiled(
    entry: str, spec: ProgramSpec, operations: Operations, tally: KernelTally, contract: bool, watch: Watch
) -> Loading:
    from xjit.programs.kernels import shared_kernels
    from xjit.runtime.parallel.threads import default_threads
    from xjit.runtime.steps.blas_steps import blas_products
    from xjit.runtime.steps.program import Loading

    store, make_entry = shared_kernels(), importlib.import_module(entry).make_entry

    threads = min(default_threads(), COMPILING_THREADS)
    ahead = store.ahead(spec.texts(), contract=contract, threads=threads, watch=watch)

    def load(source: str) -> LoadedKernel:
        if not ahead:
            watch.step()
        return store.load(source, tally, contract=contract, ahead=ahead)

    return Loading(load, make_entry, blas_products, operations)


def _uncompiled(operations: Operations) -> Loading:
    from xjit.programs.uncompiled_entry import KernelSources, make_uncompiled_entry
    from xjit.runtime.steps.program import Loading

    sources = KernelSources()
    return Loading(sources.load, make_uncompiled_entry(sources), lambda: None, operations)
