"""Computations over whole values: traced once into graphs, with the structure of what they take and return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from xjit import tree
from xjit.dataclass import dataclass, replace
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.node import Graph, Node
from xjit.ops.define.core import as_operand, aval_of, lift, own, wrap
from xjit.ops.define.memory_order import pack
from xjit.ops.define.rules import got
from xjit.ops.define.symbolic_value import ScalarValue
from xjit.ops.dynamic.dimension_sizes import at_bound
from xjit.ops.dynamic.extents import dynamic_axes
from xjit.types import ArrayType, array_type, c_order


@dataclass(frozen=True, slots=True, eq=False)
class Computation:
    """A traced computation: its graph, the values that it closes over, and the structure of its result.

    ``dynamic`` are the dimensions of each result whose size only the run knows.
    """

    graph: Graph
    structure: tree.Tree
    captures: tuple[Any, ...]
    dynamic: tuple[tuple[int, ...], ...] = ()

    @property
    def types(self) -> tuple[ArrayType, ...]:
        """The types of the results."""
        return tuple(node.aval for node in self.graph.outputs)


def operands_of(value: Any, name: str, argument: str) -> tuple[list[Any], tree.Tree]:
    """The arrays of a nested value, row-major, and its structure."""
    leaves, structure = tree.flatten(value)
    names = tree.labels(structure, argument)
    return [row_major(as_operand(leaf, name, label)) for leaf, label in zip(leaves, names, strict=True)], structure


def traced(
    function: Callable[..., Any], arguments: Sequence[tuple[Sequence[ArrayType], tree.Tree]], name: str, argument: str
) -> Computation:
    """The computation of a function of nested values of these types.

    ArgumentError if it takes another number of arguments.
    """
    check_arity(function, len(arguments), name, argument)
    trace = Trace(argument, wrap=ScalarValue, parent=current())
    with tracing(trace):
        values = [
            tree.unflatten(structure, [ScalarValue(trace.parameter(plain(type)), trace) for type in types])
            for types, structure in arguments
        ]
        results, structure = operands_of(function(*values), name, argument)
        dynamic = tuple(map(dynamic_axes, results))
        whole = results if trace.parent is None else map(at_bound, results)
        nodes = tuple(lift(trace, result) for result in whole)
    return replace(finished(trace, nodes, structure), dynamic=dynamic)


def finished(trace: Trace, nodes: tuple[Node, ...], structure: tree.Tree) -> Computation:
    """The computation that a trace has recorded."""
    graph = trace.finish(nodes)
    outer = current()
    if outer is None and graph.captures:
        raise TypeError("a computation closes over a traced value whose trace has ended")
    captures = () if outer is None else tuple(TracedValue(outer.adopt(node), outer) for node in graph.captures)
    return Computation(replace(graph, captures=()), structure, captures)


def check_arity(function: Callable[..., Any], count: int, name: str, argument: str) -> None:
    """ArgumentError unless the function can be called with so many arguments."""
    try:
        found = inspect.signature(function)
    except ValueError:  # a builtin without a signature
        return
    try:
        found.bind(*[None] * count)
    except TypeError:
        reason = f"a function of {count} arguments is required; got one of {found}"
        raise ArgumentError(f"ops.{name}: {argument}: {reason}") from None


def check_results(
    found: Computation, wanted: Sequence[ArrayType], structure: tree.Tree, name: str, argument: str, like: str
) -> None:
    """DTypeError, ArgumentError or ShapeError unless a computation returns values of these types and this structure.

    ``like`` says in words what they have to be equal to.
    """
    same = found.structure == structure
    labels = list(tree.labels(structure, "result"))
    for label, got_type, type in zip(labels, found.types, wanted, strict=False):
        if same and got_type.dtype != type.dtype:
            raise DTypeError(
                f"ops.{name}: {argument}: {label} has another element type than {like}; {_both(got_type, type)}"
            )
    if not same:
        raise ArgumentError(
            f"ops.{name}: {argument}: results of the structure of {like} are required; "
            f"got {outline(found.structure)} for {outline(structure)}"
        )
    for label, got_type, type in zip(labels, found.types, wanted, strict=True):
        if got_type.dims != type.dims:
            raise ShapeError(
                f"ops.{name}: {argument}: {label} has another shape than {like}; {_both(got_type, type)}"
            )


def _both(found: ArrayType, wanted: ArrayType) -> str:
    return f"got {got((found,))} for {got((wanted,))}"


def outline(structure: tree.Tree) -> str:
    """A structure in words.

    >>> outline(tree.flatten((1, [2, 3]))[1])
    '(*, [*, *])'
    """
    if structure is None:
        return "None"
    if isinstance(structure, tree.Leaf):
        return "*"
    inner = [outline(child) for child in structure.children]
    if structure.keys is not None:
        return "{" + ", ".join(f"{key!r}: {one}" for key, one in zip(structure.keys, inner, strict=True)) + "}"
    begin, end = "[]" if structure.kind is list else "()"
    return f"{begin}{', '.join(inner)}{',' if structure.kind is not list and len(inner) == 1 else ''}{end}"


def plain(type: ArrayType) -> ArrayType:
    """The type in row-major order."""
    return array_type(type.dtype, type.dims)


def row_major(operand: Any) -> Any:
    """The operand itself where its elements lie in row-major order, else a copy in which they do."""
    type = aval_of(operand)
    return operand if type == plain(type) else pack(operand, c_order(type.rank))


def fresh(value: Any, name: str, argument: str) -> Any:
    """The same elements as a value of its own, never the operand."""
    trace, operand = current(), as_operand(value, name, argument)
    return own(operand, [value]) if trace is None else wrap(trace, lift(trace, operand))
