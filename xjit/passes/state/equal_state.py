"""Loops carry one of several numbers that are equal in every turn, as the lengths of arrays that one mask shortens.

    while_loop z n c m                             while_loop z n c
      require n == m                                 z, n, c = z[mask], count mask, c[mask]
      z, n, c, m = z[mask], count mask,      ->
                   c[mask], count mask

Numbers that start as one are taken to be equal, until the turns make different ones of them. What equal lengths leave
to be computed goes as well: conditions that hold, and places that broadcasting would look up.
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ops.define.core import registry
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, Range, ranges_of
from xjit.ops.whole_arrays.index import LOOK_UP
from xjit.ops.whole_arrays.runtime_check import REQUIRE
from xjit.passes.loop_parts import LoopParts, parts_of, substituted
from xjit.passes.simplify import rebuilt, simpler
from xjit.passes.turns.batched_values import constant
from xjit.types import BOOL, dtype_class


def join_equal(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
    """Puts a loop that carries one of equal numbers in place of a loop, and its results in place of the others."""
    loop = parts_of(new[node])
    classes, body = _equal(loop)
    if not classes:
        return
    first = {number: one[0] for one in classes for number in one[1:]}
    tested = {loop.carried[number].tested: loop.carried[other].tested for number, other in first.items()}
    condition = replace(loop.condition, graph=substituted(loop.condition.graph, tested))
    joined = replace(loop, condition=condition, body=replace(loop.body, graph=body))
    joined = joined.carrying(loop.carried.keys() - first.keys())
    new[node] = joined.whole()
    places = {number: place for place, number in enumerate(joined.carried)}
    found: dict[int, Node] = {}
    for number, projection in read.items():
        place = places[first.get(number, number)]
        params = tuple((key, place if key == "index" else value) for key, value in projection.params)
        new[projection] = found.setdefault(place, replace(projection, inputs=(new[node],), params=params))


def _equal(loop: LoopParts) -> tuple[list[list[int]], Graph]:
    """The numbers of carried integers that are equal in every turn, and the body that knows it."""
    classes = _starting_as_one(loop)
    while classes:
        first = {loop.carried[k].before: loop.carried[one[0]].before for one in classes for k in one[1:]}
        graph = rebuilt(substituted(loop.body.graph, first), _with_equal)
        after = dict(zip(loop.carried, graph.outputs, strict=True))
        parts = [part for one in classes for part in _split(one, [after[number] for number in one])]
        if parts == classes:
            return classes, graph
        classes = [part for part in parts if len(part) > 1]
    return [], loop.body.graph


def _starting_as_one(loop: LoopParts) -> list[list[int]]:
    """The numbers of carried integers that start as the same one."""
    found: dict[object, list[int]] = {}
    for number, one in loop.carried.items():
        if not one.before.aval.rank and dtype_class(one.before.aval.dtype) == "I":
            key = one.start.computes if one.start.op is CONSTANT else one.start
            found.setdefault((key, one.before.type), []).append(number)
    return [one for one in found.values() if len(one) > 1]


def _split(numbers: Sequence[int], values: Sequence[Node]) -> list[list[int]]:
    """The numbers that have the same value."""
    found: dict[Node, list[int]] = {}
    for number, value in zip(numbers, values, strict=True):
        found.setdefault(value, []).append(number)
    return list(found.values())


# ---- what equal numbers leave


def _with_equal(node: Node) -> Node:
    """Return what stands for an operation some operands of which are equal."""
    inputs = node.inputs
    if node.op is LIMITED_WINDOW and inputs[0].op is LOOK_UP:
        return _without_places(node)
    if node.op is REQUIRE and _truth(inputs[1]):
        return inputs[0]
    if node.op is registry["select"] and inputs[1] is inputs[2]:
        return inputs[1]
    if node.op in (registry["and_"], registry["or_"]):
        return _of_truths(node)
    if node.op is registry["eq"] and inputs[0] is inputs[1] and _is_integer(inputs[0]):
        return constant(True, BOOL, node)
    return simpler(node)


def _of_truths(node: Node) -> Node:
    """One of two truth values that decides, or does not."""
    deciding = node.op is registry["or_"]
    for one, other in (node.inputs, node.inputs[::-1]):
        if node.aval.rank == 0 and node.aval.dtype == BOOL and (truth := _truth(one)) is not None:
            return one if truth is deciding else other
    return simpler(node)


def _truth(node: Node) -> bool | None:
    """The truth value that a node is; None if that is not known."""
    if node.op is not CONSTANT or node.aval.rank or node.aval.dtype != BOOL:
        return None
    return bool(node.param("value").item())


def _is_integer(node: Node) -> bool:
    return not node.aval.rank and dtype_class(node.aval.dtype) == "I"


def _without_places(node: Node) -> Node:
    """A window of elements that were looked up at their own places, those behind it at the last of them."""
    found = node.inputs[0]
    source, axes = found.inputs[0], found.param("axes")
    if len(axes) != 1 or found.param("place") != axes[0] or source.type != found.type:
        return node
    count = ranges_of(node)[axes[0]]
    if count.start != 0 or count.step != 1 or not _are_own(found.inputs[1], count):
        return node
    return replace(node, inputs=(source, *node.inputs[1:]))


def _are_own(places: Node, count: Range) -> bool:
    """Return whether places are their own numbers, those before a length."""
    if places.op is not registry["min"] or places.aval.rank != 1:
        return False
    for numbers, spread in (places.inputs, places.inputs[::-1]):
        if numbers.op is registry["iota"] and spread.op is registry["broadcast_in_dim"]:
            (last,) = spread.inputs
            least = last.inputs if last.op is registry["max"] else ()
            return not last.aval.rank and any(_is_before(one, count.count) for one in (last, *least))
    return False


def _is_before(node: Node, count: object) -> bool:
    """Return whether a number is one less than another."""
    if node.op is not registry["add"] or count not in node.inputs:
        return False
    return any(one.op is CONSTANT and one.param("value").item() == -1 for one in node.inputs)
