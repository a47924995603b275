"""The stream of random numbers of the process: a key and a counter, from which every draw takes its blocks."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Array, Operand, apply, as_operand, register, scalar_like
from xjit.ops.effects import waiting
from xjit.ops.random.random_words import U64
from xjit.types import ArrayType, TupleType, array_type

__all__ = ["rng_seed"]

Types = tuple[ArrayType, ...]

_MODULUS = 2**128


@dataclass(eq=False)
class _Stream:
    """``counter`` is the number of the next block, of 128 bits."""

    key: int = 0
    counter: int = 0


_stream = _Stream()


# ---- draws


@dataclass(frozen=True, slots=True)
class _Rule:
    """The rule for the two numbers of a draw: in words, and as a test of them."""

    name: str
    argument: str
    text: str
    holds: Callable[[Any, Any], Any]


_RULES = {
    "rng_uniform": _Rule("rng_uniform", "b", "a < b", operator.lt),
    "rng_normal": _Rule("rng_normal", "sigma", "sigma >= 0", lambda mu, sigma: sigma >= 0),
}


def _infer_draw(types: Types, params: Params) -> ArrayType:
    return array_type(U64, (3,))


def _draw(first: Array, second: Array, blocks: int, rule: str) -> Array:
    found = _RULES[rule]
    if not bool(found.holds(first, second)):
        raise ArgumentError(
            f"ops.{found.name}: {found.argument}: {found.text} is required; got {first[()]} and {second[()]}"
        )
    with waiting.held():
        state = _stream.key, _stream.counter
        _stream.counter = (state[1] + blocks) % _MODULUS
    low, high = state[1] % 2**64, state[1] // 2**64
    return np.array([state[0], low, high], np.uint64)


DRAW = register(
    OpDef(
        name="next_random_blocks",
        kind=Kind.EFFECT,
        infer=_infer_draw,
        reference=_draw,
        silent=True,
        doc="The state from which a draw computes its bits; the process's stream goes on behind them.",
    )
)


def next_blocks(first: Operand, second: Operand, blocks: int, rule: str) -> Any:
    """The state of the process's stream, which moves on by so many blocks.

    ArgumentError when the program runs, unless the two numbers of the draw are as the rule of the operation wants.
    """
    return apply(DRAW, first, second, blocks=blocks, rule=rule)


# ---- the seed


def _infer_seed(types: Types, params: Params) -> TupleType:
    rules.check_class("rng_seed", "key", types[0], "I")
    rules.check_rank("rng_seed", "key", types[0], 0)
    return TupleType(())


def _seed(key: Array) -> tuple[()]:
    with waiting.held():
        _stream.key, _stream.counter = int(key) % 2**64, 0
    return ()


SEED = register(
    OpDef(
        name="rng_seed",
        kind=Kind.EFFECT,
        infer=_infer_seed,
        reference=_seed,
        silent=True,
        doc="Begins the process's stream of random numbers anew with a key.",
    )
)


def rng_seed(key: Any) -> None:
    """Begins the stream of random numbers anew: a key of 64 bits, counter 0. The stream of a new process has key 0.

    ``key`` is an integer of rank 0, static or traced. Raises DTypeError, ShapeError.

    >>> rng_seed(42)
    """
    static = isinstance(key, int | np.integer) and not isinstance(key, bool)
    apply(SEED, as_operand(scalar_like(int(key), U64) if static else key, "rng_seed", "key"))
