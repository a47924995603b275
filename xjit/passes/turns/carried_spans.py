"""Leaves out bounds of integers that loops keep within them: what is carried, and what the condition tells of it.

n = 1                                       carried: n is 0 or more, as it starts and as each turn leaves it
while n != 0:                               behind the condition it is 1 or more
    last = max(min(min(n, 64) - 1, 63), 0)  ->  last = min(n, 64) - 1
    n = last + 4 * x[last]                  or last alone

if k == 0: ...
else: a = x[k - 1]                          k is 1 or more there: no place before the first one has to be looked for

Which numbers lie between which is found by trial: those that a value starts with, then those that a turn makes of
them as well, until a turn makes no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from xjit.dataclass import dataclass, field
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.inner_graphs import InnerGraph, all_graphs, inner_graphs, with_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.rebuilding import reading, with_new
from xjit.ir.scalar_expr import Arg, Lit, Prim
from xjit.ir.spans import Span, extreme_of, span_over, type_span
from xjit.ops.whole_arrays.runtime_check import REQUIRE
from xjit.types import BOOL, INT64, TupleType

Spans: TypeAlias = "dict[Node, Span]"

_DEEPEST = 2
"""Loops within loops that are looked at: each is run through by trial for each trial of the one around."""
_MOST_TRIALS = 6
_OPPOSITES = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def drop_kept_bounds(graph: Graph) -> Graph:
    """The graph without such bounds; the same object where there are none."""
    loops = [node for node in graph.nodes if node.op.control == "loop"]
    inside = (inner.graph for node in loops for inner in inner_graphs(node))
    bounded = (one for graph in inside for inner in all_graphs(graph) for one in inner.nodes if _is_bound(one))
    return graph if next(bounded, None) is None else _Numbers().changed(graph, {})


def _is_bound(node: Node) -> bool:
    """Return whether a node is an integer that is one of others, or has to be what a condition says."""
    return _is_number(node) and (extreme_of(node) is not None or _is_choice(node) or node.op is REQUIRE)


def _is_choice(node: Node) -> bool:
    """Return whether a node is one of two others as a truth value says."""
    match node.element:
        case Prim("select", (Arg(0), Arg(1), Arg(2))):
            return True
    return False


def _is_number(node: Node) -> bool:
    return not isinstance(node.type, TupleType) and node.aval.rank == 0 and node.aval.dtype in (INT64, BOOL)


@dataclass(eq=False)
class _Numbers:
    """The spans of integers and truth values of graphs within each other, ``depth`` loops deep."""

    depth: int = 0
    results: dict[Node, Sequence[Span | None]] = field(default_factory=dict)

    def spans(self, graph: Graph, given: Mapping[Node, Span]) -> Spans:
        """The spans of the numbers of a graph, where those of parameters are ``given``."""
        found: Spans = {}
        for node in graph.nodes:
            if node.op.reads is not None:
                self.results[node] = self._results(node, found)
            elif _is_number(node):
                found[node] = self._span(node, found, given)
        return found

    def _span(self, node: Node, found: Spans, given: Mapping[Node, Span]) -> Span:
        if node.op is PARAMETER:
            return given.get(node, type_span(node.aval.dtype))
        if node.op is PROJECT:
            results = self.results.get(node.inputs[0], ())
            number = node.param("index")
            return (results[number] if number < len(results) else None) or type_span(node.aval.dtype)
        known = all(one in found for one in node.inputs)
        return span_over(node, found) if known else type_span(node.aval.dtype)

    def _results(self, node: Node, found: Spans) -> Sequence[Span | None]:
        """The spans of the results of a loop or of a choice."""
        if node.op.control == "loop":
            carried = self.carried(node, found)
            return [carried.get(number) for number in range(node.param("n"))]
        if node.op.control != "branch":
            return ()
        graphs = inner_graphs(node)
        outputs = [self.spans(one.graph, _given_branch(node, number, found)) for number, one in enumerate(graphs)]
        places = zip(*(one.graph.outputs for one in graphs), strict=True)
        return [_joined([spans.get(one) for spans, one in zip(outputs, ones, strict=True)]) for ones in places]

    def carried(self, loop: Node, found: Spans) -> dict[int, Span]:
        """The spans of what a loop carries, by its number: those before each turn, and of the results."""
        condition, body = inner_graphs(loop)
        starts = {one: found[loop.inputs[one]] for one in range(loop.param("n")) if loop.inputs[one] in found}
        if self.depth >= _DEEPEST or not any(loop.inputs[one].aval.dtype == INT64 for one in starts):
            return {}
        inside = _Numbers(self.depth + 1)

        def turned(spans: Mapping[int, Span]) -> dict[int, Span]:
            """Return the spans at first or behind a turn."""
            before = inside.before_turns(loop, (condition, body), spans, found)
            after = inside.spans(body.graph, before)
            return {one: _hull(starts[one], after[body.graph.outputs[one]]) for one in starts}

        types = {one: type_span(loop.inputs[one].aval.dtype) for one in starts}
        spans = starts
        for _ in range(_MOST_TRIALS):
            made = turned(spans)
            if _lie_within(made, spans):
                return made if _lie_within(turned(made), made) else spans
            spans = {one: _widened(spans[one], made[one], types[one]) for one in starts}
        return {}

    def before_turns(
        self, loop: Node, graphs: Sequence[InnerGraph], spans: Mapping[int, Span], found: Spans
    ) -> dict[Node, Span]:
        """The spans of the parameters of a body, where those of carried values are known: its condition holds."""
        condition, body = graphs
        tested = _given(loop, condition, found, spans)
        facts = self.spans(condition.graph, tested)
        refine(condition.graph.outputs[0], True, facts)
        before = _given(loop, body, found, spans)
        for number in spans:
            parameter = condition.graph.parameters[number]
            if parameter in facts:
                before[body.graph.parameters[number]] = facts[parameter]
        return before

    def changed(self, graph: Graph, given: Mapping[Node, Span]) -> Graph:
        """The graph without bounds that integers keep, in all graphs within it too."""
        found, new = self.spans(graph, given), dict[Node, Node]()
        for node in graph.nodes:
            made = reading(node, new)
            kept = _kept(node, found)
            if kept is not None:
                made = new[kept]
            elif node.op.reads is not None:
                made = with_graphs(made, tuple(self._inside(node, found)))
            new[node] = made
        return with_new(graph, new)

    def _inside(self, node: Node, found: Spans) -> Iterator[Graph]:
        graphs = inner_graphs(node)
        if node.op.control == "branch":
            for number, one in enumerate(graphs):
                yield self.changed(one.graph, _given_branch(node, number, found))
            return
        if node.op.control != "loop":
            yield from (self.changed(one.graph, {}) for one in graphs)
            return
        spans, inside = self.carried(node, found), _Numbers(self.depth + 1)
        yield inside.changed(graphs[0].graph, _given(node, graphs[0], found, spans))
        yield inside.changed(graphs[1].graph, inside.before_turns(node, graphs, spans, found))


def _given(
    node: Node, inner: InnerGraph, found: Spans, carried: Mapping[int, Span] | None = None
) -> dict[Node, Span]:
    """The spans of the parameters of an inner graph: those of its operands, or of values that are carried."""
    pairs = zip(inner.graph.parameters, inner.operands, strict=True)
    count = node.param("n") if node.op.control == "loop" else 0
    spans: dict[Node, Span] = {}
    for parameter, number in pairs:
        span = (carried or {}).get(number) if number < count else found.get(node.inputs[number])
        if span is not None:
            spans[parameter] = span
    return spans


def _given_branch(node: Node, number: int, found: Spans) -> dict[Node, Span]:
    """The spans of the parameters of one graph of a choice, where what chooses it holds."""
    here = {**found}
    selector = node.inputs[0]
    if _is_choice(selector):
        condition, *numbers = selector.inputs
        chosen = [one.op is CONSTANT and one.param("value").array().item() == number for one in numbers]
        if chosen[0] != chosen[1] and all(one.op is CONSTANT for one in numbers):
            refine(condition, chosen[0], here)
    return _given(node, inner_graphs(node)[number], here)


def _kept(node: Node, found: Spans) -> Node | None:
    """The operand that a bound leaves as it is, or that a condition chooses."""
    if node in found and node.op is REQUIRE and node.type == node.inputs[0].type:
        return node.inputs[0] if found.get(node.inputs[1]) == (1, 1) else None
    if node in found and _is_choice(node):
        low, high = found.get(node.inputs[0], (0, 1))
        if low == high:
            return node.inputs[1 if low else 2]
    extreme = extreme_of(node) if node in found else None
    if extreme is None:
        return None
    name, one, other = extreme
    for kept, bound in ((one, other), (other, one)):
        if name == "min" and found[kept][1] <= found[bound][0]:
            return kept
        if name == "max" and found[kept][0] >= found[bound][1]:
            return kept
    return None


# ---- spans


def _hull(one: Span, other: Span) -> Span:
    return min(one[0], other[0]), max(one[1], other[1])


def _joined(spans: Sequence[Span | None]) -> Span | None:
    known = [one for one in spans if one is not None]
    return (min(one[0] for one in known), max(one[1] for one in known)) if len(known) == len(spans) else None


def _lie_within(spans: Mapping[int, Span], others: Mapping[int, Span]) -> bool:
    return all(_hull(spans[one], others[one]) == others[one] for one in spans)


def _widened(span: Span, made: Span, type: Span) -> Span:
    """The span with all numbers beyond an end where a turn makes some there; down to 0 first if none is below."""
    low = span[0] if made[0] >= span[0] else 0 if made[0] >= 0 else type[0]
    return low, span[1] if made[1] <= span[1] else type[1]


# ---- conditions


def refine(condition: Node, holds: bool, spans: Spans) -> None:
    """Puts between which numbers nodes lie where a condition holds, or does not, in place of what was known."""
    expr = condition.element if condition.op is not CONSTANT else None
    if not isinstance(expr, Prim) or not all(isinstance(arg, Arg | Lit) for arg in expr.args):
        return
    operands = [condition.inputs[arg.index] if isinstance(arg, Arg) else None for arg in expr.args]
    if expr.name == "not" and operands[0] is not None:
        refine(operands[0], not holds, spans)
    elif expr.name == ("and" if holds else "or"):
        for one in operands:
            if one is not None:
                refine(one, holds, spans)
    elif expr.name == "select" and None not in operands and condition.aval.dtype == BOOL:
        for one, number in _both(operands, holds, spans):
            refine(one, number, spans)
    elif expr.name in _OPPOSITES and all(one is not None and one in spans for one in operands):
        name = expr.name if holds else _OPPOSITES[expr.name]
        left, right = (one for one in operands if one is not None)
        compared = spans[left], spans[right]
        for one, sign, own, other in ((left, name, *compared), (right, _MIRRORED[name], *compared[::-1])):
            found = _compared(sign, own, other)
            if found[0] <= found[1]:
                spans[one] = found


def _both(operands: Sequence[Node | None], holds: bool, spans: Spans) -> Iterator[tuple[Node, bool]]:
    """Yield the operands of a choice that is ``one and other``, or ``one or other``, with what is known of them."""
    condition, one, other = operands
    if condition is None or one is None or other is None:
        return
    never = (int(not holds),) * 2
    not_one = (one is condition and not holds) or spans.get(one) == never
    not_other = (other is condition and holds) or spans.get(other) == never
    if not_other and not not_one:
        yield condition, True
        yield one, holds
    elif not_one and not not_other:
        yield condition, False
        yield other, holds


def _compared(name: str, own: Span, other: Span) -> Span:
    """The span of a number that is less than another one, or compares to it in another way."""
    (low, high), (first, last) = own, other
    match name:
        case "lt":
            return low, min(high, last - 1)
        case "le":
            return low, min(high, last)
        case "gt":
            return max(low, first + 1), high
        case "ge":
            return max(low, first), high
        case "eq":
            return max(low, first), min(high, last)
    return low + (low == first == last), high - (high == first == last)
