"""Compiled results beside NumPy's, under ``XJIT_VERIFY``: the first operation that differs, and where.

A result that differs is followed to its operands, each computed by a program of its own up to there, until all
operands of an operation are right. Within a loop it is the first turn that differs, and the operation in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xjit import compile
from xjit.dataclass import dataclass, replace
from xjit.errors import TargetError
from xjit.ir.context import PROJECT, is_tuple
from xjit.ir.inner_graphs import GRAPHS, all_graphs
from xjit.ir.node import Graph, Node
from xjit.ops.define.evaluate import evaluate_graph
from xjit.runtime.tally import KernelTally
from xjit.target import resolved
from xjit.types import as_array, dtype_class, real_dtype


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """An element of a value that is not NumPy's: its index, what the program has made, and what NumPy makes.

    Within loops the ``turns`` are the numbers of those that differ, the outermost first.
    """

    node: Node
    index: tuple[int, ...]
    found: Any
    wanted: Any
    turns: tuple[int, ...] = ()

    def error(self) -> TargetError:
        """The error that tells of it."""
        place = f"[{', '.join(map(str, self.index))}]" if self.index else "[()]"
        turns = f" in turn {', '.join(map(str, self.turns))} of a loop" if self.turns else ""
        return TargetError(
            f"xjit: the compiled result of {owner(self.node).op.name} differs from NumPy's{turns}: "
            f"element {place} is {self.found!r}, and should be {self.wanted!r}",
            where=self.node.where,
            fix="please report this, with the text of f.graph(...) and f.source(...)",
        )


def check(graph: Graph, results: Sequence[Any], expected: Sequence[Any], values: Sequence[Any] | None = None) -> None:
    """Raises TargetError where a compiled result differs from NumPy's by more than rounding allows.

    With the ``values`` of the parameters the error is about the first operation that differs.
    """
    for node, found, wanted in zip(graph.outputs, results, expected, strict=True):
        difference = _difference(node, found, wanted)
        if difference is not None:
            raise (difference if values is None else _first(difference, graph, values)).error()


def _difference(node: Node, found: Any, wanted: Any) -> Difference | None:
    """The element that differs the most, if one does by more than rounding allows."""
    kind = dtype_class(node.aval.dtype)
    precision = 0.0 if kind in "PI" else _precision(node)
    if kind == "O":
        return None if are_alike(found, wanted, precision) else Difference(node, (), found, wanted)
    wanted, found = np.asarray(wanted), np.asarray(found)
    scale = 0.0 if kind in "PI" else np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
    same = np.isclose(found, wanted, precision, precision * scale, equal_nan=True)
    if same.all():
        return None
    index = tuple(map(int, np.unravel_index(int(np.argmin(same)), same.shape)))
    return Difference(node, index, found[index], wanted[index])


def are_alike(found: Any, wanted: Any, precision: float) -> bool:
    """Return whether two of Python's objects are alike: numbers as rounding allows, others as far as can be told."""
    found, wanted = _unboxed(found), _unboxed(wanted)
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(
            are_alike(*pair, precision) for pair in zip(found, wanted, strict=True)
        )
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and are_alike([*found.values()], [*wanted.values()], precision)
    if isinstance(wanted, np.ndarray | np.generic | int | float | complex):
        is_number = np.asarray(wanted).dtype.kind in "biufc"
        same_shape = np.shape(found) == np.shape(wanted)
        return same_shape and (not is_number or np.allclose(found, wanted, precision, precision, equal_nan=True))
    return True


def _unboxed(value: Any) -> Any:
    """The object that an array of rank 0 holds; another value as it is."""
    is_box = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 0
    return value.item() if is_box else value


def _precision(node: Node) -> float:
    """The part of a value that rounding may change: that of the narrowest floats which it is computed of.

    np.float64(x32.mean())    is as precise as a float32
    """
    computed = (one for graph in all_graphs(Graph("of it", (), (node,))) for one in graph.nodes if one.inputs)
    dtypes = [one.aval.dtype for one in computed if not is_tuple(one)]
    parts = [real_dtype(one).itemsize for one in (node.aval.dtype, *dtypes) if dtype_class(one) in "FC"]
    narrowest = min(parts, default=8)
    return 1e-13 if narrowest >= 8 else 1e-5 if narrowest == 4 else 1e-2


def _first(difference: Difference, graph: Graph, values: Sequence[Any]) -> Difference:
    """The difference of an operation whose operands are right."""
    found: Difference | None = difference
    while found is not None:
        difference = found
        sources = (_of_node(source, graph, values) for source in dict.fromkeys(_operands(difference.node)))
        found = next((one for one in sources if one is not None), None)
    made = owner(difference.node)
    inside = _in_turns(made, graph, values) if made.op.control == "loop" else None
    return difference if inside is None else inside


def owner(node: Node) -> Node:
    """The operation that makes a value, one of several perhaps."""
    return node.inputs[0] if node.op is PROJECT else node


def _in_turns(loop: Node, graph: Graph, values: Sequence[Any]) -> Difference | None:
    """The first difference within the turns of a loop, each of which starts from what NumPy has made so far."""
    condition, body = loop.param(GRAPHS)
    arrays = evaluate_graph(replace(graph, outputs=loop.inputs, effects=()), [as_array(value) for value in values])
    count = loop.param("n")
    carried, tested, read = (
        arrays[:count],
        arrays[count : len(condition.parameters)],
        arrays[len(condition.parameters) :],
    )
    turn = 0
    while evaluate_graph(condition, (*carried, *tested))[0]:
        given = (*carried, *read)
        found = next((one for one in (_of_node(node, body, given) for node in body.outputs) if one is not None), None)
        if found is not None:
            first = _first(found, body, given)
            return replace(first, turns=(turn, *first.turns))
        carried, turn = evaluate_graph(body, given), turn + 1
    return None


def _operands(node: Node) -> Iterator[Node]:
    """The operands that programs compute; those of an operation with several results in place of the whole."""
    for source in node.inputs:
        if is_tuple(source):
            yield from _operands(source)
        elif source.inputs:
            yield source


def _of_node(node: Node, graph: Graph, values: Sequence[Any]) -> Difference | None:
    """The difference of a node in a program that ends there; None where such a program fails."""
    until = replace(graph, outputs=(node,), effects=(), captures=())
    lowered = compile.lower_graph(until, values, (False,), target=resolved("cpu"))
    copies = [np.array(value) if isinstance(value, np.ndarray) else value for value in values]
    try:
        (found,) = compile.build_program(lowered, KernelTally()).run(copies)
        with np.errstate(all="ignore"):
            (wanted,) = evaluate_graph(until, [as_array(value) for value in values])
    except Exception:
        return None
    return _difference(node, found, wanted)
