"""Branches: one of several computations runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.node import Graph
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.control.computations import Computation, check_results, operands_of, plain, traced
from xjit.ops.define.core import apply, as_operand, aval_of, register
from xjit.ops.define.evaluate import evaluate_graph
from xjit.ops.define.rules import got
from xjit.ops.dynamic.carried_sizes import check_static, with_sizes, without_sizes
from xjit.ops.dynamic.extents import dynamic_axes
from xjit.ops.elements.select import select
from xjit.types import BOOL, INT32, ArrayType, TupleType

__all__ = ["conditional"]

_PREDICATE_FORM = 5
_INDEX_FORM = 3


def _infer(types: tuple[ArrayType, ...], params: Params) -> TupleType:
    return TupleType(tuple(plain(node.aval) for node in params["graphs"][0].outputs))


def _reads(params: Params) -> tuple[tuple[int, ...], ...]:
    """Behind the number of the branch come the operands of the branches in order."""
    begin, found = 1, []
    for graph in params["graphs"]:
        end = begin + len(graph.parameters)
        found.append(tuple(range(begin, end)))
        begin = end
    return tuple(found)


def _reference(index: Any, *arrays: Any, graphs: tuple[Graph, ...], changes: tuple[int, ...] = ()) -> tuple[Any, ...]:
    number, last = int(index), len(graphs) - 1
    chosen = number if 0 <= number <= last else last
    begin = sum(len(graph.parameters) for graph in graphs[:chosen])
    graph = graphs[chosen]
    return evaluate_graph(graph, arrays[begin : begin + len(graph.parameters)])


CONDITIONAL = register(
    OpDef(
        name="conditional",
        kind=Kind.CONTROL,
        xla_name="Conditional",
        infer=_infer,
        reference=_reference,
        control="branch",
        reads=_reads,
        doc="Runs the branch of a number; the last one where there is none of this number.",
    )
)


def conditional(*arguments: Any) -> Any:
    """conditional(pred, true_operand, true_computation, false_operand, false_computation) or
    conditional(branch_index, branch_computations, branch_operands): the result of the one computation that runs.

    ``pred`` is a PRED, ``branch_index`` an S32 of rank 0; a number that no branch has runs the last one. Operands are
    arrays or nested tuples. All computations return values of one structure, types and shapes. Raises DTypeError,
    ArgumentError and ShapeError.

    >>> conditional(np.True_, np.int32(3), lambda x: -x, np.int32(4), lambda x: x)
    array(-3, dtype=int32)
    """
    name = "conditional"
    if len(arguments) == _PREDICATE_FORM:
        pred, true_operand, true_computation, false_operand, false_computation = arguments
        choice = as_operand(pred, name, "pred")
        _check_choice(name, "pred", aval_of(choice), BOOL)
        index = select(choice, np.int32(0), np.int32(1))
        return _branches(index, (true_computation, false_computation), (true_operand, false_operand), _TRUTHS)
    if len(arguments) != _INDEX_FORM:
        raise ArgumentError(
            f"ops.{name}: arguments: 5 with a predicate or 3 with an index are required; got {len(arguments)}"
        )
    branch_index, computations, operands = arguments
    index = as_operand(branch_index, name, "branch_index", INT32)
    _check_choice(name, "branch_index", aval_of(index), INT32)
    if not isinstance(computations, Sequence) or not isinstance(operands, Sequence) or not computations:
        raise ArgumentError(
            f"ops.{name}: branch_computations: a tuple of at least one is required; got {computations!r}"
        )
    if len(computations) != len(operands):
        raise ArgumentError(
            f"ops.{name}: branch_operands: {len(computations)} operands are required; got {len(operands)}"
        )
    labels = [f"branch_computations[{number}]" for number in range(len(computations))]
    return _branches(index, computations, operands, labels)


_TRUTHS = ("true_computation", "false_computation")


def _check_choice(name: str, argument: str, type: ArrayType, dtype: Any) -> None:
    if type.dtype != dtype:
        word = "pred" if dtype == BOOL else "s32"
        raise DTypeError(f"ops.{name}: {argument}: the element type must be {word}; got {got((type,))}")
    if type.rank:
        raise ShapeError(f"ops.{name}: {argument}: rank 0 is required; got {got((type,))}")


def _branches(
    index: Any, computations: Sequence[Callable[..., Any]], operands: Sequence[Any], labels: Sequence[str]
) -> Any:
    """Traces all branches and chooses one of them."""
    name = "conditional"
    found: list[tuple[Sequence[Any], Computation]] = []
    for computation, operand, label in zip(computations, operands, labels, strict=True):
        values, structure = operands_of(operand, name, label.replace("computation", "operand"))
        if any(map(dynamic_axes, values)):
            return _branches_of_sized(index, computations, operands, labels)
        branch = traced(computation, [([aval_of(value) for value in values], structure)], name, label)
        if found:
            first = found[0][1]
            check_results(branch, first.types, first.structure, name, label, labels[0])
        found.append((values, branch))
    made = [tuple(sorted(set().union(*axes))) for axes in zip(*(part.dynamic for _, part in found), strict=True)]
    if any(made):
        return _branches_that_size(index, computations, operands, labels, made)
    return tree.unflatten(found[0][1].structure, branches(index, found))


def _branches_of_sized(
    index: Any, computations: Sequence[Callable[..., Any]], operands: Sequence[Any], labels: Sequence[str]
) -> Any:
    """Branches that get the sizes of dynamic dimensions beside operands at their bounds."""
    axes = [tuple(map(dynamic_axes, tree.flatten(operand)[0])) for operand in operands]
    given = [without_sizes(operand, own) for operand, own in zip(operands, axes, strict=True)]
    inside = [
        lambda pair, run=computation, own=own: run(with_sizes(pair, own))
        for computation, own in zip(computations, axes, strict=True)
    ]
    return _branches(index, inside, given, labels)


def _branches_that_size(
    index: Any,
    computations: Sequence[Callable[..., Any]],
    operands: Sequence[Any],
    labels: Sequence[str],
    axes: Sequence[tuple[int, ...]],
) -> Any:
    """Branches that hand on the sizes of dynamic dimensions beside results at their bounds."""
    inside = [lambda operand, run=computation: without_sizes(run(operand), axes) for computation in computations]
    return with_sizes(_branches(index, inside, operands, labels), axes)


def branches(index: Any, parts: Sequence[tuple[Sequence[Any], Computation]]) -> tuple[Any, ...]:
    """The results of the branch of this number; ``parts`` are the operands and the computation of each."""
    check_static("ops.conditional", [value for values, _ in parts for value in values])
    operands = [value for values, part in parts for value in (*values, *part.captures)]
    made: tuple[Any, ...] = apply(CONDITIONAL, index, *operands, graphs=tuple(part.graph for _, part in parts))
    return made
