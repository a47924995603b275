"""The planner: which nodes get a buffer, which share a loop nest, in which order the steps run."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

from xjit.dataclass import replace
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.loops_in_place import check_loops
from xjit.fusion.buffers.operands import is_shown
from xjit.fusion.buffers.readers_first import readers_first
from xjit.fusion.buffers.spent_state import windows_ahead
from xjit.fusion.buffers.updates import InPlace, updates_in_place
from xjit.fusion.control.in_kernel import Surroundings, control_kernel
from xjit.fusion.grouping.clusters import Cluster, by_need, clusters_of
from xjit.fusion.grouping.groups import Grouping
from xjit.fusion.grouping.open_groups import OpenGroup
from xjit.fusion.grouping.overlapped import in_tiles
from xjit.fusion.grouping.reasons import in_words
from xjit.fusion.plan import (
    WHOLE,
    AliasStep,
    ControlKernelStep,
    ControlStep,
    FusionGroup,
    HostStep,
    KernelStep,
    LibraryStep,
    Plan,
    SortStep,
    Step,
    ViewStep,
)
from xjit.fusion.regions.checks import conditions_of
from xjit.fusion.regions.materialized import (
    has_statements,
    is_given,
    is_made_in_loops,
    is_made_in_place,
    owner,
    view_chain,
)
from xjit.fusion.regions.parts import Parts, cut_at_borders
from xjit.fusion.regions.reads import gap_reason
from xjit.fusion.sort_passes import has_code_for, ordering_of, passes_of
from xjit.fusion.statements import Store
from xjit.fusion.storage.choice import choose_storage
from xjit.fusion.storage.recomputation import recomputed
from xjit.fusion.storage.unread import read_parts, unread_positions
from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.passes.stored_results import NO_STORES, Stores
from xjit.passes.turns.written_first import Positions
from xjit.target import Target
from xjit.watch import UNWATCHED, Watch


def plan(
    graph: Graph,
    layouts: Layouts,
    target: Target,
    views: frozenset[Node] = frozenset(),
    watch: Watch = UNWATCHED,
    owned: frozenset[Node] = frozenset(),
    stores: Stores = NO_STORES,
) -> Plan:
    """The steps of a graph on a target. ``views`` are outputs that NumPy would return as views of other values;
    constants have no memory, so that what shows them is computed. ``owned`` are parameters whose buffers the program
    may write over, ``stores`` what it has to write into others: NotInPlaceError where these are needed meanwhile.

    First comes what is stored, then the parts in which it is made, then which of these share a kernel, then the
    order. Should a kernel not be shared that was expected to be, what two compute for it is stored after all. What
    turns out to be read by its own kernel alone stays in registers.
    """
    views = _with_memory(graph, views)
    required, shown = _with_operands(graph, _required(graph, views, target) | stores.kept, layouts, target)
    results = frozenset(graph.outputs).union(*(view.inputs for view in views))
    storage = choose_storage(graph, required, shown, results, layouts, target, watch)
    nodes = readers_first(graph, storage.stored, stores)
    seen = frozenset(graph.outputs).union(view_chain(view)[0] for view in views)
    parts = cut_at_borders(graph, storage, layouts, target, watch, stores.saved)
    in_place = updates_in_place(nodes, parts, seen, owned, layouts, target, stores)
    wanted = in_place.wanted | windows_ahead(graph, parts, owned, layouts, target.machine)
    for _ in range(3):  # what is read behind an update first, then what it reads elsewhere itself
        if wanted.keys() <= storage.stored:
            break
        storage = storage.with_more(wanted)
        parts = cut_at_borders(graph, storage, layouts, target, watch, stores.saved)
        in_place = updates_in_place(nodes, parts, seen, owned, layouts, target, stores)
        wanted = in_place.wanted
    in_place.check()
    unread = unread_positions(graph)
    grouping = _grouped(graph, nodes, parts, in_place, shown, layouts, target, storage.nested, unread, watch)
    if extra := recomputed(graph, grouping):
        parts = cut_at_borders(graph, storage.with_more(extra), layouts, target, watch, stores.saved)
        in_place = updates_in_place(nodes, parts, seen, owned, layouts, target, stores)
        in_place.check()
        grouping = _grouped(
            graph, nodes, parts, in_place, shown, layouts, target, storage.nested - extra.keys(), unread, watch
        )
    steps = _ordered(graph, grouping, views, target.machine.most_pieces)
    kept = _read_elsewhere(graph, steps, grouping, views)
    live = tuple(_without_dead_stores(step, kept) for step in steps)
    dead = _stored_by(steps) - _stored_by(live)
    working = tuple(filter(_works, live))
    whole = _read_whole(graph, working, grouping, views)
    slices = parts.slices.with_leaves(parts.slices.leaves - dead)
    changed = frozenset(itertools.chain.from_iterable(in_place.read.values()))
    tiled = in_tiles(working, kept, whole, slices, layouts, target.machine, changed)
    check_loops(tiled.steps, stores, target.machine)
    reasons = (*parts.reasons.values(), *tiled.reasons, *in_words(grouping.refusals))
    blank = frozenset(node for node, one in unread.items() if _is_blank(node, one, parts))
    blank = blank.union(*_blank_inside(working))
    return Plan(graph, tiled.steps, frozenset(tiled.slices.leaves), tiled.stored, reasons, tiled.slices, blank)


def _is_blank(node: Node, unread: Positions, parts: Parts) -> bool:
    """Return whether no statement makes a value, as nothing reads what they would store."""
    return bool(unread.truths.all()) or not any(read_parts(parts.statements.get(node, ()), unread))


def _blank_inside(steps: Sequence[Step]) -> Iterator[frozenset[Node]]:
    """Memory in the loops of kernels that is blank there: kernels name it all the same."""
    for step in steps:
        if isinstance(step, ControlKernelStep):
            yield from (part.plan.blank for part in step.parts)


def _with_memory(graph: Graph, views: frozenset[Node]) -> frozenset[Node]:
    """The views of what is in memory: parts of computed numbers that nobody else sees are stored alone."""
    chains = {node: view_chain(node) for node in views}
    apart = {node for node, chain in chains.items() if any(step.shows_part for step in chain)}
    seen = {*graph.outputs, *(chain[0] for node, chain in chains.items() if node not in apart)}
    given = {node for node, chain in chains.items() if is_given(chain[0]) or chain[0] in seen}
    return frozenset(node for node in (views - apart) | given if chains[node][0].op is not CONSTANT)


def _required(graph: Graph, views: frozenset[Node], target: Target) -> set[Node]:
    """Values that the caller gets, and those that no kernel computes in place."""
    stored = {view_chain(node)[0] if node in views else node for node in graph.outputs}
    stored.update(node for node in graph.nodes if not is_made_in_place(node, target))
    stored.update(copy for node in graph.nodes for copy in node.updated)
    return {node for node in stored if not is_given(node)}


def _with_operands(
    graph: Graph, stored: set[Node], layouts: Layouts, target: Target
) -> tuple[set[Node], frozenset[Node]]:
    """Adds what libraries read; the second result are the operands that are views of stored or given values."""
    whole = [node for node in graph.nodes if not is_made_in_loops(node, target)]
    kept = {source for node in whole if node.op.barrier for source in node.inputs if not is_given(source)}
    stored = stored | kept
    read = {source for node in whole for source in node.inputs if not is_given(source)} - stored
    shown = frozenset(node for node in read if is_shown(node, layouts))
    bases = {view_chain(node)[0] for node in shown}
    return stored | (read - shown) | {node for node in bases if not is_given(node)}, shown - bases


def _read_elsewhere(
    graph: Graph, steps: tuple[Step, ...], grouping: Grouping, views: frozenset[Node]
) -> frozenset[Node]:
    """The values that something outside of their own kernel reads: only these need a buffer."""
    found: set[Node] = set(_read_whole(graph, steps, grouping, views))
    for step in steps:
        if isinstance(step, KernelStep):
            own = {statement.target for statement in step.statements}
            for statement in step.statements:
                reads = grouping.slice_of(statement).reads
                found.update(indexed.node for indexed in reads if owner(indexed.node) not in own)
                found.update(statement.updated)
    return frozenset(node for node in found if not is_given(node))


def _read_whole(graph: Graph, steps: tuple[Step, ...], grouping: Grouping, views: frozenset[Node]) -> frozenset[Node]:
    """The values that the caller gets, or that something else than a kernel reads or makes."""
    found = {view_chain(node)[0] if node in views else node for node in graph.outputs}
    for step in steps:
        if isinstance(step, KernelStep):
            continue
        if isinstance(step, AliasStep):
            found.update((step.node, step.operand))
        elif isinstance(step, ViewStep):
            found.add(view_chain(step.node)[0])
        else:
            found.update((step.node, *grouping.read_whole(step.node)))
    return frozenset(found)


def _without_dead_stores(step: Step, kept: frozenset[Node]) -> Step:
    """Leaves out stores that nobody reads: their values stay in registers."""
    if not isinstance(step, KernelStep):
        return step
    return KernelStep(tuple(filter(_has_work, (_without_dead_statements(group, kept) for group in step.groups))))


def _has_work(group: FusionGroup) -> bool:
    return bool(group.statements)


def _without_dead_statements(group: FusionGroup, kept: frozenset[Node]) -> FusionGroup:
    computed = (statement.target in kept or not isinstance(statement, Store) for statement in group.statements)
    live = [n for n, needed in enumerate(computed) if needed]
    if len(live) == len(group.statements):
        return group
    statements, axes = tuple(group.statements[n] for n in live), tuple(group.axes[n] for n in live)
    return replace(group, statements=statements, axes=axes)


def _stored_by(steps: tuple[Step, ...]) -> frozenset[Node]:
    kernels = (step for step in steps if isinstance(step, KernelStep))
    return frozenset(statement.target for step in kernels for statement in step.statements)


def _works(step: Step) -> bool:
    """Return whether a step does anything; a kernel without statements is left of values that only empty arrays
    read.
    """
    return not isinstance(step, KernelStep) or bool(step.groups)


def _grouped(
    graph: Graph,
    nodes: Sequence[Node],
    parts: Parts,
    in_place: InPlace,
    shown: frozenset[Node],
    layouts: Layouts,
    target: Target,
    nested: frozenset[Node],
    unread: Mapping[Node, Positions],
    watch: Watch,
) -> Grouping:
    """All statements in groups, but for what nothing reads."""
    watch.enter("planning: kernels", len(graph.nodes))
    grouping = Grouping(parts.slices, layouts, target.machine, shown, nested)
    conditions = conditions_of(graph)
    around = Surroundings(graph, layouts, shown, target, functools.partial(plan, watch=watch))
    for node in watch.over(nodes):
        if node not in parts.stored:
            continue
        if not has_statements(node, target):
            if owner(node) is node:
                grouping.add_whole(node, _whole_array_step(node, around, target), conditions.get(node, ()))
        elif node in in_place.over:
            step, tested = AliasStep(node, in_place.over[node]), in_place.tested.get(node, ())
            grouping.add_whole(node, step, tested, in_place.read[node])
        elif node in parts.aliases:
            grouping.add_whole(node, AliasStep(node, node.inputs[0]))
        else:
            for part in read_parts(parts.statements[node], unread.get(node)):
                for copy in grouping.parts(part):
                    grouping.add(copy)
    grouping.add_checks(node for node in graph.nodes if node.op.failure is not None)
    return grouping


def _ordered(graph: Graph, grouping: Grouping, views: frozenset[Node], parts: int) -> tuple[Step, ...]:
    """Kernels, aliases, library and host steps, each after what it needs. What only cuts results to their size comes
    behind all others that do not write over these, so that no run of kernels ends there; views of the results come
    last. Whether lines are in order is seen in so many ``parts`` of each.
    """
    steps: list[Step] = []
    shown = set(grouping.shown)
    for cluster in by_need(sorted(clusters_of(grouping.groups), key=_trims)):
        last = _step(cluster.groups)
        if isinstance(last, WHOLE | SortStep):
            fresh = [node for node in dict.fromkeys(last.node.inputs) if node in shown]
            steps += map(ViewStep, fresh)
            shown.difference_update(fresh)
        steps += passes_of(last, graph, parts) if isinstance(last, SortStep) else (last,)
    seen = grouping.shown - shown
    late = [node for node in graph.nodes if node in views and len(view_chain(node)) > 1 and node not in seen]
    steps += map(ViewStep, late)
    return tuple(steps)


def _trims(cluster: Cluster) -> bool:
    """Return whether a cluster is a step that cuts a result to its size."""
    return any(isinstance(group.whole, LibraryStep) and group.whole.node.op.trims for group in cluster.groups)


def _step(cluster: Sequence[OpenGroup]) -> Step:
    """One step for all groups; only kernels share one."""
    if len(cluster) == 1:
        return cluster[0].freeze()
    return KernelStep(tuple(group.fused() for group in cluster))


def _whole_array_step(node: Node, around: Surroundings, target: Target) -> Step:
    ordering = ordering_of(node)
    if ordering is not None:
        if has_code_for(ordering.before, target):
            return SortStep(node, ordering)
        return HostStep(node, f"the comparator of {node.op.name} has steps on whole arrays")
    if node.op.control:
        return control_kernel(node, around) or ControlStep(node)
    if node.op.barrier:
        return AliasStep(node, node.inputs[0])
    if node.op.kind in (Kind.STRUCTURED, Kind.EFFECT):
        return LibraryStep(node)
    return HostStep(node, gap_reason(node, target) or f"{node.op.name} has no code on {target.spoken} yet")
