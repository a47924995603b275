"""The number of turns of a loop, where its condition and its body tell: a counter goes up to a number."""

from __future__ import annotations

import math

import numpy as np

from xjit.fusion.plan import LoopKernelStep
from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Arg, Expr, Lit, Prim


def trips(step: LoopKernelStep) -> float:
    """The number of turns that a loop has; infinite where nobody knows it."""
    first, turn = step.first.plan.graph, step.turn.plan.graph
    limit = _limit(first)
    if limit is None:
        return math.inf
    counter, stop = limit
    begin, by = _number(step.first.operands[counter].base), _step(turn, counter)
    if begin is None or by is None or by <= 0:
        return math.inf
    return max(0, -(-(stop - begin) // by))


def _limit(first: Graph) -> tuple[int, int] | None:
    """(counter, stop) where the condition is that the parameter of this number is below a number."""
    (condition,) = first.outputs
    match condition.element:
        case Prim(name="lt" | "le" as name, args=(Arg() as one, other)):
            stop = _operand(condition, other)
            counter = condition.inputs[one.index]
            if stop is not None and counter in first.parameters:
                return first.parameters.index(counter), stop + (name == "le")
    return None


def _step(turn: Graph, counter: int) -> int | None:
    """The number that a turn adds to a parameter."""
    value, parameter = turn.outputs[counter], turn.parameters[counter]
    match value.element:
        case Prim(name="add", args=(one, other)):
            for mine, its in ((one, other), (other, one)):
                if isinstance(mine, Arg) and value.inputs[mine.index] is parameter:
                    return _operand(value, its)
    return None


def _operand(node: Node, expr: Expr) -> int | None:
    """The integer that an operand of an expression is."""
    if isinstance(expr, Lit):
        return _integer(expr.literal.item())
    return _number(node.inputs[expr.index]) if isinstance(expr, Arg) else None


def _number(node: Node) -> int | None:
    return _integer(node.param("value").item()) if node.op is CONSTANT and node.aval.size == 1 else None


def _integer(value: object) -> int | None:
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_) else None
