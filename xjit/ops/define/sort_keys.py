"""Comparators of sorts as data: the keys, one after the other, that a computation orders by.

A key is an operand, or what the comparator computes of both sides alike before it compares: of
``lt(abs(a), abs(b))`` the key is ``abs(a)``, made once for each element and not for each pair.
"""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

from xjit.dataclass import dataclass, field
from xjit.ir.node import Graph, Node


@dataclass(frozen=True, slots=True)
class Key:
    """One criterion: the number of the operand, whether larger elements come first, and whether by total order."""

    operand: int
    descending: bool = False
    total: bool = False


Keys: TypeAlias = "tuple[Key, ...]"

# Relations: whether the larger operand comes first, whether equal ones compare true, and whether by total order.
_RELATIONS = {
    f"{name}{suffix}": (name[0] == "g", name[1] == "e", bool(suffix))
    for name in ("lt", "le", "gt", "ge")
    for suffix in ("", "_total_order")
}
_EQUALITIES = {"eq": False, "eq_total_order": True}


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a comparator.

    ``made`` compute, from one element of each operand and from what the comparator closes over, the operands that
    follow the given ones: keys have their numbers.
    """

    keys: Keys
    made: tuple[Graph, ...] = ()


def order_of(computation: Graph) -> Order | None:
    """Return the order of a comparator over (a_0, b_0, a_1, b_1, ...), None if that is not plain to see.

    Understood are comparisons of an operand's two elements, or of what is computed of both alike, in either direction
    and order, and tie breakers: ``or_(lt(a, b), and_(eq(a, b), then))`` or ``select(eq(a, b), then, lt(a, b))``.
    """
    if computation.effects:
        return None
    reader = _Reader(computation)
    keys = reader.keys(computation.outputs[0])
    return None if keys is None else Order(keys, reader.made())


@dataclass(eq=False)
class _Reader:
    """Reads one comparator. ``derived`` are the keys that are computed, as nodes over the first side's elements."""

    computation: Graph
    derived: list[Node] = field(default_factory=list)
    places: dict[Node, tuple[int, int]] = field(init=False)
    _mirrors: dict[tuple[Node, Node], int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        captures = len(self.computation.captures)
        given = self.computation.parameters[: len(self.computation.parameters) - captures]
        self.places = {node: divmod(k, 2) for k, node in enumerate(given)}

    def made(self) -> tuple[Graph, ...]:
        """The computed keys, each over one element of every operand."""
        first = [node for node, (_, side) in self.places.items() if side == 0]
        parameters = (*first, *self.computation.parameters[len(self.places) :])
        return tuple(
            dataclasses.replace(self.computation, parameters=parameters, outputs=(node,)) for node in self.derived
        )

    def keys(self, node: Node) -> Keys | None:
        """Return the keys that a truth value of the comparator orders by."""
        if node.op.name in _RELATIONS:
            return self._relation(node)
        if node.op.name == "or_":
            one, other = node.inputs
            return self._alternative(one, other) or self._alternative(other, one)
        if node.op.name == "select":
            condition, chosen, other = node.inputs
            return self._tie_broken(other, condition, chosen)
        return None

    def _relation(self, node: Node) -> Keys | None:
        found = self._compared(node)
        if found is None:
            return None
        descending, _, total = _RELATIONS[node.op.name]
        operand, mirrored = found
        return (Key(operand, descending != mirrored, total),)

    def _compared(self, node: Node) -> tuple[int, bool] | None:
        """The number of the key of which both sides are compared, and whether the second side comes first."""
        one, other = node.inputs
        side = self._side(one, other)
        if side not in (0, 1):
            return None
        first = other if side else one
        if first in self.places:
            return self.places[first][0], side == 1
        if first not in self.derived:
            self.derived.append(first)
        return len(self.places) // 2 + self.derived.index(first), side == 1

    def _side(self, one: Node, other: Node) -> int | None:
        """Which side's elements the first node is computed from, if the other is the same of the other side.

        -1 if both are the same value, of neither side; None if they are none of this.
        """
        pair = (one, other)
        if pair not in self._mirrors:
            self._mirrors[pair] = self._side_of_leaves(one, other)
        return self._mirrors[pair]

    def _side_of_leaves(self, one: Node, other: Node) -> int | None:
        if one in self.places or other in self.places:
            (operand, side), place = self.places.get(one, (-1, -1)), self.places.get(other)
            return side if place == (operand, 1 - side) else None
        if not one.inputs or not other.inputs:
            return -1 if one is other else None
        if one.computes != other.computes or len(one.inputs) != len(other.inputs):
            return None
        sides = {self._side(a, b) for a, b in zip(one.inputs, other.inputs, strict=True)}
        if None in sides or len(sides - {-1}) > 1:
            return None
        return max(side for side in sides if side is not None)

    def _alternative(self, strict: Node, tied: Node) -> Keys | None:
        if tied.op.name != "and_":
            return None
        for equal, rest in (tied.inputs, tied.inputs[::-1]):
            found = self._tie_broken(strict, equal, rest)
            if found is not None:
                return found
        return None

    def _tie_broken(self, strict: Node, equal: Node, rest: Node) -> Keys | None:
        """The keys of a strict comparison, then what decides where its two sides are equal."""
        if strict.op.name not in _RELATIONS or _RELATIONS[strict.op.name][1] or equal.op.name not in _EQUALITIES:
            return None
        first, tie = self._relation(strict), self._compared(equal)
        if first is None or tie is None or tie[0] != first[0].operand:
            return None
        then = self.keys(rest) if _EQUALITIES[equal.op.name] == first[0].total else None
        return None if then is None else (*first, *then)
