"""The number of turns of a loop, where its condition and its body tell: a counter goes up to a number."""

from __future__ import annotations

import math

import numpy as np

from xjit.dataclass import dataclass
from xjit.fusion.buffers.operands import View
from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Arg, Expr, Lit
from xjit.ir.scalar_forms import counter_and_limit, counter_and_step


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


def step_of(turn: Graph, place: int) -> int | None:
    """The number that a turn adds to a parameter."""
    value, parameter = turn.outputs[place], turn.parameters[place]
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
