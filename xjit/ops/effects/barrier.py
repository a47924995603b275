"""optimization_barrier: values between which and what reads them nothing moves."""

from __future__ import annotations

from typing import Any

from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define.core import apply, as_operand, register
from xjit.ops.define.references import Array
from xjit.ops.effects.tokens import Token
from xjit.types import ArrayType

__all__ = ["optimization_barrier"]


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    return types[0]


def _reference(operand: Array, *others: Array) -> Array:
    return operand


BARRIER = register(
    OpDef(
        name="optimization_barrier",
        kind=Kind.EFFECT,
        xla_name="OptimizationBarrier",
        infer=_infer,
        reference=_reference,
        barrier=True,
        silent=True,
        doc="The first operand, once all operands are there; nothing is moved, shared or folded across it.",
    )
)


def optimization_barrier(operand: Any) -> Any:
    """The operand itself: an array, a token, or a nested tuple of them. All parts are there before anything that
    depends on the result is computed; nothing is moved, shared or folded across it, and every bit stays.

    Element types: any.

    >>> optimization_barrier((0.5, True))
    (array(0.5), array(True))
    """
    leaves = [as_operand(leaf, "optimization_barrier", "operand") for leaf in _arrays(operand)]
    made = iter([apply(BARRIER, leaf, *leaves[:place], *leaves[place + 1 :]) for place, leaf in enumerate(leaves)])
    return _rebuilt(operand, made)


def _arrays(operand: Any) -> list[Any]:
    if isinstance(operand, tuple):
        return [leaf for part in operand for leaf in _arrays(part)]
    return [] if isinstance(operand, Token) else [operand]


def _rebuilt(operand: Any, made: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(_rebuilt(part, made) for part in operand)
    return operand if isinstance(operand, Token) else next(made)
