"""What a value pulls in: the walk from a root down to materialised values, with the index each is read at."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from xjit.dataclass import dataclass
from xjit.fusion.assembled import piece_pull
from xjit.fusion.plan import Pull, Unit
from xjit.fusion.tiny import is_tiny_reduction, nested_pulls, reduced_pulls
from xjit.ir.context import CONSTANT, is_by_reference
from xjit.ir.index import compose, lookups_of
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.types import dtype_class


@dataclass(frozen=True, slots=True)
class Walk:
    """``visits`` are the pulled-in values, operands before users; ``reads`` are the materialised ones."""

    visits: tuple[Pull, ...]
    reads: tuple[Pull, ...]


class TooManyVisitsError(Exception):
    """A walk came to more values than it was to."""


def walk(unit: Unit, leaves: frozenset[Node], most: float = math.inf) -> Walk:
    """Everything that a unit pulls in. The node that is being made is expanded although it is a leaf.

    Iterative: graphs are deeper than the stack. Stencils of stencils visit the same value at ever more places:
    TooManyVisitsError after so many values as are allowed.
    """
    nested, dims = dict(unit.nested), unit.dims
    visits: list[Pull] = []
    reads: dict[Pull, None] = {}
    done = {unit.chunk_number}  # the loops know it
    for root in unit.values:
        is_read = root.node in leaves and root.node is not unit.target
        stack = [(root, is_read or not (is_pulled(root.node) or root.node in nested), False)]
        while stack:
            pull, is_leaf, expanded = stack.pop()
            if expanded:
                visits.append(pull)
            elif pull not in done:
                done.add(pull)
                if len(done) > most:
                    raise TooManyVisitsError
                if is_leaf:
                    reads[pull] = None
                else:
                    stack.append((pull, False, True))
                needed = positions_of(pull) if is_leaf else (*sources(pull, dims, nested), *positions_of(pull))
                for source in reversed(needed):
                    if source not in done:
                        made_here = is_pulled(source.node) or source.node in nested
                        stack.append((source, source.node in leaves or not made_here, False))
    return Walk(tuple(visits), tuple(reads))


def sources(pull: Pull, dims: tuple[int, ...], nested: Mapping[Node, int] = MappingProxyType({})) -> tuple[Pull, ...]:
    """The values that a node that is pulled into a domain of these extents reads for one of its elements.

    ``nested`` says which domain axes a reduction runs over that is neither tiny nor made elsewhere. Nothing is read
    for an assembled value of which the domain takes several pieces: it has to be cut.
    """
    node = pull.node
    if node.op.kind is Kind.ELEMENTWISE:
        return tuple([Pull(source, pull.index) for source in node.inputs])  # of the same dimensions
    if node.access is not None:
        return (Pull(node.inputs[0], compose(node.access, pull.index, node.inputs)),)
    if node.is_assembled:
        found = piece_pull(pull, dims)
        return () if found is None else (found,)
    if is_tiny_reduction(node):
        return reduced_pulls(pull)
    if node in nested:
        return nested_pulls(pull, nested[node])
    return ()


def below(pulls: Iterable[Pull], operands: Callable[[Pull], Iterable[Pull]]) -> Iterator[Pull]:
    """These values and all that they are made of, each once and before its own ``operands``."""
    stack, seen = list(pulls), set[Pull]()
    while stack:
        pull = stack.pop()
        if pull not in seen:
            seen.add(pull)
            yield pull
            stack.extend(operands(pull))


def nodes_below(unit: Unit, leaves: frozenset[Node]) -> set[Node]:
    """The nodes that a unit may pull in, each once however many places it is read at."""
    found: set[Node] = set()
    stack = [pull.node for pull in unit.values]
    while stack:
        node = stack.pop()
        if node not in found and (node is unit.target or node not in leaves):
            found.add(node)
            stack.extend(node.inputs)
    return found


def positions_of(pull: Pull) -> tuple[Pull, ...]:
    """The integers that the index of a value looks up."""
    return tuple(Pull(lookup.source, lookup.axes) for lookup in lookups_of(pull.index))


def is_pulled(node: Node) -> bool:
    """Whether one element of the node can be computed in place, from elements of its inputs."""
    if node.op is CONSTANT:
        return node.aval.size == 1 and not is_by_reference(node)
    if node.op.kind is Kind.ELEMENTWISE:
        return gap_reason(node) is None
    return node.access is not None or is_tiny_reduction(node) or node.is_assembled


def gap_reason(node: Node) -> str | None:
    """Why the node has no code on the CPU, or None if it has."""
    if node.op.kind is Kind.ELEMENTWISE and node.op.element is None:
        return f"{node.op.name} has no element rule"
    if not node.op.gaps:
        return None
    letters = tuple(dtype_class(source.aval.dtype) for source in node.inputs)
    dtypes = tuple(source.aval.dtype for source in node.inputs)
    gap = node.op.gap("cpu", dtypes, "".join(letters))
    return None if gap is None else gap.reason
