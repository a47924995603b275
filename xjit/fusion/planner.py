"""The planner: which nodes get a buffer, which share a loop nest, in which order the steps run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from xjit.dataclass import dataclass
from xjit.fusion import cost
from xjit.fusion.checks import check_of, conditions_of
from xjit.fusion.clusters import clusters_of
from xjit.fusion.groups import Group, Grouping
from xjit.fusion.layout import Layouts
from xjit.fusion.materialized import is_given, owner, statements_of, view_chain
from xjit.fusion.nested import nested_reductions
from xjit.fusion.operands import is_shown
from xjit.fusion.overlapped import in_tiles
from xjit.fusion.parts import Parts, parts_of
from xjit.fusion.plan import AliasStep, FusionGroup, HostStep, KernelStep, LibraryStep, Plan, Step, ViewStep
from xjit.fusion.reads import ProducerSlice, gap_reason, is_inlined, producer_slice
from xjit.fusion.refusals import in_words
from xjit.fusion.statements import IndexedValue, Reduce, Statement, Store
from xjit.ir.context import CONSTANT
from xjit.ir.expr import Arg
from xjit.ir.index import relabel
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.target import Target


def plan(graph: Graph, layouts: Layouts, target: Target, views: frozenset[Node] = frozenset()) -> Plan:
    """The steps of a graph on a target. ``views`` are outputs that NumPy would return as views of other values;
    constants have no memory, so that what shows them is computed.

    A first guess stores what has to be stored; as long as that makes some value be computed more often than it
    has elements, and it is not cheap, the value is stored as well.
    """
    views = _with_memory(graph, views)
    stored, shown = _with_operands(graph, _required(graph, views, target), layouts, target)
    notes: list[str] = []
    draft = _draft(graph, stored, shown, layouts, target)
    while uncut := _uncut(draft):
        stored |= set(uncut)
        notes += uncut.values()
        draft = _draft(graph, stored, shown, layouts, target)
    nested = nested_reductions(draft.grouping, graph, views)
    if nested:
        stored -= nested
        draft = _draft(graph, stored, shown, layouts, target, nested)
    while extra := _uncut(draft) or _recomputed(draft, graph):
        stored |= set(extra)
        nested -= set(extra)
        notes += extra.values()
        draft = _draft(graph, stored, shown, layouts, target, nested)
    steps = _ordered(graph, draft, views)
    kept = _read_elsewhere(graph, steps, draft, views)
    live = tuple(_without_dead_stores(step, kept) for step in steps)
    dead = _stored_by(steps) - _stored_by(live)
    working = tuple(filter(_works, live))
    whole = _read_whole(graph, working, draft, views)
    leaves = draft.leaves - dead
    tiled = in_tiles(working, kept, whole, leaves, layouts, target.machine)
    reasons = (*notes, *tiled.reasons, *in_words(draft.grouping.refusals))
    return Plan(graph, tiled.steps, leaves, tiled.stored, reasons)


def _with_memory(graph: Graph, views: frozenset[Node]) -> frozenset[Node]:
    """The views of what is in memory: parts of computed numbers that nobody else sees are stored alone."""
    chains = {node: view_chain(node) for node in views}
    apart = {node for node, chain in chains.items() if any(step.shows_part for step in chain)}
    seen = {*graph.outputs, *(chain[0] for node, chain in chains.items() if node not in apart)}
    given = {node for node, chain in chains.items() if is_given(chain[0]) or chain[0] in seen}
    return frozenset(node for node in (views - apart) | given if chains[node][0].op is not CONSTANT)


def _required(graph: Graph, views: frozenset[Node], target: Target) -> set[Node]:
    """What the caller gets, and what no kernel computes in place."""
    stored = {view_chain(node)[0] if node in views else node for node in graph.outputs}
    stored.update(node for node in graph.nodes if not _is_inlined(node, target))
    return {node for node in stored if not is_given(node)}


def _with_operands(
    graph: Graph, stored: set[Node], layouts: Layouts, target: Target
) -> tuple[set[Node], frozenset[Node]]:
    """Adds what libraries read; the second result are the operands that are views of stored or given values."""
    whole = [node for node in graph.nodes if not _is_made_in_loops(node, target)]
    read = {source for node in whole for source in node.inputs if not is_given(source)} - stored
    shown = frozenset(node for node in read if is_shown(node, layouts))
    bases = {view_chain(node)[0] for node in shown}
    return stored | (read - shown) | {node for node in bases if not is_given(node)}, shown - bases


def _read_elsewhere(graph: Graph, steps: tuple[Step, ...], draft: _Draft, views: frozenset[Node]) -> frozenset[Node]:
    """The values that something outside of their own kernel reads: only these need a buffer."""
    found: set[Node] = set(_read_whole(graph, steps, draft, views))
    for step in steps:
        if isinstance(step, KernelStep):
            own = {statement.target for statement in step.statements}
            for statement in step.statements:
                reads = draft.grouping.slice_of(statement).reads
                found.update(indexed.node for indexed in reads if owner(indexed.node) not in own)
    return frozenset(node for node in found if not is_given(node))


def _read_whole(graph: Graph, steps: tuple[Step, ...], draft: _Draft, views: frozenset[Node]) -> frozenset[Node]:
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
            found.update((step.node, *draft.grouping.read_whole(step.node)))
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
    return dataclasses.replace(group, statements=statements, axes=axes)


def _stored_by(steps: tuple[Step, ...]) -> frozenset[Node]:
    kernels = (step for step in steps if isinstance(step, KernelStep))
    return frozenset(statement.target for step in kernels for statement in step.statements)


def _works(step: Step) -> bool:
    """Whether a step does anything; a kernel without statements is left of values that only empty arrays read."""
    return not isinstance(step, KernelStep) or bool(step.groups)


def _is_made_in_loops(node: Node, target: Target) -> bool:
    """Whether no step on whole arrays makes the node: it is given, or computed in loops."""
    return is_given(node) or _is_inlined(node, target) or _has_statements(node, target)


def _is_inlined(node: Node, target: Target) -> bool:
    """Whether one element of the node can be computed in place, on this target."""
    return is_inlined(node) and (node.op.kind is not Kind.ELEMENTWISE or gap_reason(node, target) is None)


def _has_statements(node: Node, target: Target) -> bool:
    """Whether the node becomes loops (rather than a library call, a NumPy reference, or part of a tuple)."""
    if node.op.kind in (Kind.REDUCE, Kind.SCAN) or node.op.flat or node.op.pieces is not None:
        return gap_reason(node, target) is None
    return _is_inlined(node, target)


@dataclass(eq=False)
class _Draft:
    """``uncut`` are assembled values that cannot be read in place, or not by few enough parts of a kernel."""

    leaves: frozenset[Node]
    grouping: Grouping
    uncut: frozenset[Node]


def _draft(
    graph: Graph,
    stored: set[Node],
    shown: frozenset[Node],
    layouts: Layouts,
    target: Target,
    nested: frozenset[Node] = frozenset(),
) -> _Draft:
    given = frozenset(node for node in graph.nodes if is_given(node) and not is_inlined(node))
    grouping = Grouping(frozenset(stored) | given, layouts, target.machine, shown, nested)
    conditions = conditions_of(graph)
    assembled = any(node.is_assembled for node in graph.nodes)
    uncut: set[Node] = set()

    def parts(statement: Statement) -> tuple[Statement, ...]:
        found = parts_of(statement, grouping.leaves, target.machine) if assembled else Parts((statement,))
        uncut.update(found.to_store)
        return found.statements

    for node in graph.nodes:
        if node.op.failure is not None:
            parts(check_of(node))
        if node not in stored:
            continue
        if not _has_statements(node, target):
            if owner(node) is node:
                grouping.add_whole(node, _whole_array_step(node, target), conditions.get(node, ()))
        elif _is_alias(node, graph, stored, layouts, target):
            grouping.add_whole(node, AliasStep(node, node.inputs[0]))
        else:
            for statement in statements_of(node, layouts):
                if 0 not in statement.dims or isinstance(statement, Reduce):
                    for part in parts(statement):
                        for copy in grouping.parts(part):
                            grouping.add(copy)
    grouping.add_checks(node for node in graph.nodes if node.op.failure is not None)
    return _Draft(grouping.leaves, grouping, frozenset(uncut))


def _is_alias(node: Node, graph: Graph, stored: set[Node], layouts: Layouts, target: Target) -> bool:
    """Whether the operand's buffer is the node's as well: a reshape of it, or a copy of what nobody is given."""
    if not (node.op.flat or _is_copy(node)):
        return False
    source = node.inputs[0]
    if node.op.flat:
        there = source in stored or (is_given(source) and not is_inlined(source))
        return there and layouts.is_row_major(source)
    hidden = source in stored and source not in graph.outputs and _has_statements(source, target)
    return hidden and layouts.strides(source) == layouts.strides(node)


def _is_copy(node: Node) -> bool:
    """Whether every element is the operand's at the same place, as it is."""
    return isinstance(node.element, Arg) and len(node.inputs) == 1


def _recomputed(draft: _Draft, graph: Graph) -> dict[Node, str]:
    """Values that are computed more often than they have elements and are not cheap, nearest to the outputs."""
    counts: dict[Node, int] = {}
    machine = draft.grouping.machine
    table = cost.CostTable(draft.leaves, machine)
    for group in draft.grouping.groups:
        own = frozenset(statement.target for statement in group.statements if not isinstance(statement, Reduce))
        seen: set[IndexedValue] = set()
        for statement, axes in zip(group.statements, group.axes, strict=True):
            for indexed in _within(statement, own, draft.grouping).visits:
                placed = IndexedValue(indexed.node, relabel(indexed.index, axes))
                if placed not in seen:
                    seen.add(placed)
                    times = group.evaluations(placed.index)
                    counts[indexed.node] = counts.get(indexed.node, 0) + times
    heavy = {
        node
        for node, times in counts.items()
        if node not in draft.leaves
        and cost.is_worth_storing(table.total(node), times, max(node.aval.size, 1), machine)
    }
    chosen = heavy - {source for node in heavy for source in node.inputs}
    return {node: _reason(node, counts[node]) for node in graph.nodes if node in chosen} | _too_long(draft)


def _within(statement: Statement, own: frozenset[Node], grouping: Grouping) -> ProducerSlice:
    """What the statement inlines where the nodes ``own`` are not read, but made in the same kernel."""
    found = grouping.slice_of(statement)
    if own.isdisjoint(indexed.node for indexed in found.reads):
        return found
    return producer_slice(statement, grouping.leaves - own)


def _uncut(draft: _Draft) -> dict[Node, str]:
    return {
        node: f"{node.op.name} at {node.where} is stored: no kernel can be cut at its borders" for node in draft.uncut
    }


def _reason(node: Node, times: int) -> str:
    return (
        f"{node.op.name} at {node.where} is stored: pulled in, its {node.aval.size} elements would be computed "
        f"{times} times"
    )


def _too_long(draft: _Draft) -> dict[Node, str]:
    """For a statement with more operations than one kernel holds: the values to be stored that cut it into
    kernels.
    """
    found: dict[Node, str] = {}
    most = draft.grouping.machine.kernel_operations
    for group in draft.grouping.groups:
        for statement in group.statements:
            visits = draft.grouping.slice_of(statement).visits
            for last in range(most - 1, len(visits) - 1, most):
                node = visits[last].node
                found[node] = f"{node.op.name} at {node.where} is stored: a kernel holds at most {most} operations"
    return {node: reason for node, reason in found.items() if node not in draft.leaves}


def _ordered(graph: Graph, draft: _Draft, views: frozenset[Node]) -> tuple[Step, ...]:
    """Kernels, aliases, library and host steps, each after what it needs; views of the results last."""
    steps: list[Step] = []
    shown = set(draft.grouping.shown)
    for cluster in _by_need(clusters_of(draft.grouping.groups)):
        last = _step(cluster)
        if isinstance(last, LibraryStep | HostStep):
            fresh = [node for node in dict.fromkeys(last.node.inputs) if node in shown]
            steps += map(ViewStep, fresh)
            shown.difference_update(fresh)
        steps.append(last)
    seen = draft.grouping.shown - shown
    late = [node for node in graph.nodes if node in views and len(view_chain(node)) > 1 and node not in seen]
    steps += map(ViewStep, late)
    return tuple(steps)


def _by_need(clusters: list[tuple[Group, ...]]) -> Iterator[tuple[Group, ...]]:
    """The clusters, each after those that it needs."""
    home = {group: number for number, cluster in enumerate(clusters) for group in cluster}
    needs = [{home[other] for group in cluster for other in group.before} for cluster in clusters]
    done: set[int] = set()
    for number in range(len(clusters)):
        stack = [number]
        while stack:
            waiting = sorted(needs[stack[-1]] - done)
            if waiting:
                stack.extend(waiting)
                continue
            top = stack.pop()
            if top not in done:
                done.add(top)
                yield clusters[top]


def _step(cluster: tuple[Group, ...]) -> Step:
    """One step for all groups; only kernels share one."""
    if len(cluster) == 1:
        return cluster[0].freeze()
    return KernelStep(tuple(group.fused() for group in cluster))


def _whole_array_step(node: Node, target: Target) -> Step:
    if node.op.kind is Kind.STRUCTURED:
        return LibraryStep(node)
    return HostStep(node, gap_reason(node, target) or f"{node.op.name} has no code on {target.spoken} yet")
