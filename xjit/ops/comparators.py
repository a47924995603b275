"""Comparators of sorts as data: the keys, one after the other, that a computation orders by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xjit.ir.node import Graph, Node


@dataclass(frozen=True, slots=True)
class Key:
    """One criterion: the number of the operand, whether larger elements come first, and whether by total order."""

    operand: int
    descending: bool = False
    total: bool = False


Keys: TypeAlias = "tuple[Key, ...]"
Places: TypeAlias = "Mapping[Node, tuple[int, int]]"

# Relations: whether the larger operand comes first, whether equal ones compare true, and whether by total order.
_RELATIONS = {
    f"{name}{suffix}": (name[0] == "g", name[1] == "e", bool(suffix))
    for name in ("lt", "le", "gt", "ge")
    for suffix in ("", "_total_order")
}
_EQUALITIES = {"eq": False, "eq_total_order": True}


def keys_of(computation: Graph) -> Keys | None:
    """What a comparator over (a_0, b_0, a_1, b_1, ...) orders by, None if that is not plain to see.

    Understood are comparisons of the two elements of an operand, in either direction and order, and tie breakers:
    ``or_(lt(a, b), and_(eq(a, b), then))`` or ``select(eq(a, b), then, lt(a, b))``.
    """
    places = {node: divmod(k, 2) for k, node in enumerate(computation.parameters)}
    return _keys(computation.outputs[0], places)


def _keys(node: Node, places: Places) -> Keys | None:
    if node.op.name in _RELATIONS:
        return _relation(node, places)
    if node.op.name == "or_":
        one, other = node.inputs
        return _alternative(one, other, places) or _alternative(other, one, places)
    if node.op.name == "select":
        condition, chosen, other = node.inputs
        return _tie_broken(other, condition, chosen, places)
    return None


def _relation(node: Node, places: Places) -> Keys | None:
    found = _same_operand(node, places)
    if found is None:
        return None
    descending, _, total = _RELATIONS[node.op.name]
    operand, mirrored = found
    return (Key(operand, descending != mirrored, total),)


def _same_operand(node: Node, places: Places) -> tuple[int, bool] | None:
    """The operand whose two elements are compared, and whether the second one comes first."""
    if not all(source in places for source in node.inputs):
        return None
    (one, side), (other, _) = (places[source] for source in node.inputs)
    return (one, side == 1) if one == other and node.inputs[0] is not node.inputs[1] else None


def _alternative(strict: Node, tied: Node, places: Places) -> Keys | None:
    if tied.op.name != "and_":
        return None
    for equal, rest in (tied.inputs, tied.inputs[::-1]):
        found = _tie_broken(strict, equal, rest, places)
        if found is not None:
            return found
    return None


def _tie_broken(strict: Node, equal: Node, rest: Node, places: Places) -> Keys | None:
    """The keys of a strict comparison of one operand, then what decides where its elements are equal."""
    if strict.op.name not in _RELATIONS or _RELATIONS[strict.op.name][1] or equal.op.name not in _EQUALITIES:
        return None
    first, tie = _relation(strict, places), _same_operand(equal, places)
    if first is None or tie is None or tie[0] != first[0].operand:
        return None
    then = _keys(rest, places) if _EQUALITIES[equal.op.name] == first[0].total else None
    return None if then is None else (*first, *then)
