"""What a value pulls in: the walk from a root down to materialised values, with the index each is read at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xjit.fusion.plan import Pull
from xjit.ir.context import CONSTANT
from xjit.ir.index import compose, normalise
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.types import dtype_class


@dataclass(frozen=True, slots=True)
class Walk:
    """``visits`` are the pulled-in values, operands before users; ``reads`` are the materialised ones."""

    visits: tuple[Pull, ...]
    reads: tuple[Pull, ...]


def walk(roots: Iterable[Pull], leaves: frozenset[Node]) -> Walk:
    """Everything the roots pull in. Roots themselves are expanded even when they are leaves. Iterative: graphs are
    deeper than the stack.
    """
    visits: list[Pull] = []
    reads: dict[Pull, None] = {}
    done: set[Pull] = set()
    for root in roots:
        stack: list[tuple[Pull, bool]] = [(root, True)]
        while stack:
            pull, is_root = stack.pop()
            if pull in done:
                continue
            if (not is_root and pull.node in leaves) or not is_pulled(pull.node):
                done.add(pull)
                reads[pull] = None
                continue
            waiting = [source for source in sources(pull) if source not in done]
            if waiting:
                stack.append((pull, True))
                stack.extend((source, False) for source in reversed(waiting))
                continue
            done.add(pull)
            visits.append(pull)
    return Walk(tuple(visits), tuple(reads))


def sources(pull: Pull) -> tuple[Pull, ...]:
    """The values that an elementwise or indexing node reads for one of its elements."""
    node = pull.node
    if node.op.kind is Kind.ELEMENTWISE:
        return tuple(Pull(source, normalise(pull.index, source.aval.shape)) for source in node.inputs)
    if node.op.kind is Kind.INDEXING and node.op.access is not None:
        access = node.op.access(tuple(source.aval for source in node.inputs), node.kwargs, node.aval)
        if access is not None:
            source = node.inputs[0]
            return (Pull(source, normalise(compose(access, pull.index), source.aval.shape)),)
    return ()


def is_pulled(node: Node) -> bool:
    """Whether one element of the node can be computed in place, from elements of its inputs."""
    if node.op is CONSTANT:
        return node.aval.size == 1
    if node.op.kind is Kind.ELEMENTWISE:
        return gap_reason(node) is None
    if node.op.kind is Kind.INDEXING and node.op.access is not None:
        types = tuple(source.aval for source in node.inputs)
        return node.op.access(types, node.kwargs, node.aval) is not None
    return False


def gap_reason(node: Node) -> str | None:
    """Why the node has no code on the CPU, or None if it has."""
    letters = tuple(dtype_class(source.aval.dtype) for source in node.inputs)
    dtypes = tuple(source.aval.dtype for source in node.inputs)
    gap = node.op.gap("cpu", dtypes, "".join(letters))
    if gap is not None:
        return gap.reason
    if node.op.kind is Kind.ELEMENTWISE and node.op.element is None:
        return f"{node.op.name} has no element rule"
    return None
