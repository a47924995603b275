"""Calls of computations, and tuples of values: what a trace writes out and leaves no trace of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import tree
from xjit.errors import ArgumentError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.control.computations import check_arity, fresh, operands_of, traced
from xjit.ops.define.core import aval_of, own, static_int
from xjit.ops.define.evaluate import evaluate_graph

__all__ = ["call", "get_tuple_element", "make_tuple"]


def call(computation: Callable[..., Any], *args: Any) -> Any:
    """The result of a computation on whole values: arrays or nested tuples.

    Raises ArgumentError if it takes another number of arguments.

    >>> call(lambda x, y: x - y, np.int32([5, 6]), np.int32([1, 2]))
    array([4, 4], dtype=int32)
    """
    name = "call"
    check_arity(computation, len(args), name, "computation")
    given = [operands_of(value, name, f"args[{number}]") for number, value in enumerate(args)]
    if current() is not None:  # the trace takes on the nodes of the computation
        made, outline = tree.flatten(computation(*(tree.unflatten(structure, values) for values, structure in given)))
        return tree.unflatten(outline, [fresh(one, name, "result") for one in made])
    found = traced(
        computation, [([*map(aval_of, values)], structure) for values, structure in given], name, "computation"
    )
    arrays = [value for values, _ in given for value in values]
    with np.errstate(all="ignore"):
        results = evaluate_graph(found.graph, arrays)
    return tree.unflatten(found.structure, [own(result, arrays) for result in results])


def make_tuple(*elements: Any) -> tuple[Any, ...]:
    """A tuple of arrays and tuples.

    >>> make_tuple(np.int32(1), np.float32([2]))
    (array(1, dtype=int32), array([2.], dtype=float32))
    """
    leaves, structure = tree.flatten(elements)
    names = tree.labels(structure, "elements")
    values = [fresh(leaf, "make_tuple", label) for leaf, label in zip(leaves, names, strict=True)]
    made: tuple[Any, ...] = tree.unflatten(structure, values)
    return made


def get_tuple_element(tuple: Any, index: int) -> Any:
    """The element of a tuple at a static index.

    Raises ArgumentError for an index outside of it, or for what is no tuple.

    >>> get_tuple_element((np.int32(1), np.int32(2)), 1)
    np.int32(2)
    """
    name = "get_tuple_element"
    if type(tuple) is not type(()):
        raise ArgumentError(f"ops.{name}: tuple: a tuple is required; got {_described(tuple)}")
    place = static_int(index, name, "index")
    if not 0 <= place < len(tuple):
        raise ArgumentError(f"ops.{name}: index: an index of a tuple of {len(tuple)} is required; got {place}")
    return tuple[place]


def _described(value: Any) -> str:
    return "an array" if isinstance(value, TracedValue | np.ndarray | np.generic) else type(value).__name__
