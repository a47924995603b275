"""The number of turns of a loop, where its condition and its body tell: a counter goes up to a number."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from xjit.dataclass import dataclass
from xjit.fusion.buffers.operands import View
from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Arg, Expr, Lit
from xjit.ir.scalar_forms import conjunction, counter_and_limit, counter_and_step, counter_less_step


@dataclass(frozen=True, slots=True)
class Count:
    """The numbers that a counter goes through: the carried value at this ``place``, from ``begin`` on by ``step``."""

    place: int
    begin: int
    step: int
    turns: int


def trips(first: Graph, turn: Graph, operands: tuple[View, ...]) -> float:
    """The number of turns that a loop over these operands has; infinite where nobody knows it."""
    found = counted(first, turn, operands)
    return math.inf if found is None else found.turns


def counted(first: Graph, turn: Graph, operands: tuple[View, ...]) -> Count | None:
    """The counter of a loop over these operands that does nothing but count up to a known number; None of others.

    ``first`` has the condition, ``turn`` the values after a turn.
    """
    (condition,) = first.outputs
    found = counter_and_limit(condition.element)
    if found is None:
        return None
    counter, limit, included = condition.inputs[found[0].index], _operand(condition, found[1]), found[2]
    if limit is None or counter not in first.parameters:
        return None
    place = first.parameters.index(counter)
    begin, step = _number(operands[place].base), step_of(turn, place)
    if begin is None or step is None or step <= 0:
        return None
    return Count(place, begin, step, max(0, -(-(limit + included - begin) // step)))


def conjuncts(condition: Node) -> Iterator[Node]:
    """Yield the conditions that all hold where one does."""
    found = conjunction(condition.element)
    if found is None or (found[2] is not None and not _is_false(condition.inputs[found[2].index])):
        yield condition
        return
    for one in found[:2]:
        yield from conjuncts(condition.inputs[one.index])


def _is_false(node: Node) -> bool:
    return node.op is CONSTANT and not node.aval.rank and not node.param("value").item()


def step_of(turn: Graph, place: int) -> int | None:
    """The number that a turn adds to a parameter, a negative one where it subtracts."""
    value, parameter = turn.outputs[place], turn.parameters[place]
    less = counter_less_step(value.element)
    if less is not None and value.inputs[less[0].index] is parameter:
        taken = _operand(value, less[1])
        return None if taken is None else -taken
    steps = [step for counter, step in counter_and_step(value.element) if value.inputs[counter.index] is parameter]
    return _operand(value, steps[0]) if steps else None


def _operand(node: Node, expr: Expr) -> int | None:
    """The integer that an operand of an expression is."""
    if isinstance(expr, Lit):
        return _integer(expr.literal.item())
    return _number(node.inputs[expr.index]) if isinstance(expr, Arg) else None


def _number(node: Node) -> int | None:
    return _integer(node.param("value").item()) if node.op is CONSTANT and node.aval.size == 1 else None


def _integer(value: object) -> int | None:
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_) else None
