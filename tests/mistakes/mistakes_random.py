"""Mistakes in calls of random numbers."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

STATE = np.array([1, 2], np.uint64)
ONE = np.float32(1)

MISTAKES = [
    Mistake("floats as bits", lambda s: ops.rng_bit_generator("RNG_PHILOX", s, "f32[2]"), ops.DTypeError, (STATE,)),
    Mistake(
        "a signed state",
        lambda s: ops.rng_bit_generator("RNG_PHILOX", s, "u32[2]"),
        ops.DTypeError,
        (STATE.astype(np.int64),),
    ),
    Mistake(
        "a state of three",
        lambda s: ops.rng_bit_generator("RNG_THREE_FRY", s, "u32[2]"),
        ops.ShapeError,
        (np.zeros(3, np.uint64),),
    ),
    Mistake("an unknown algorithm", lambda s: ops.rng_bit_generator("MT", s, "u32[2]"), ops.ArgumentError, (STATE,)),
    Mistake("bounds of another type", lambda a: ops.rng_uniform(a, a, "f64[2]"), ops.DTypeError, (ONE,)),
    Mistake("bytes of an interval", lambda: ops.rng_uniform(0, 9, "u8[2]"), ops.DTypeError),
    Mistake("a bound for each", lambda a: ops.rng_uniform(0, a, "f32[2]"), ops.ShapeError, (np.float32([1, 2]),)),
    Mistake("an empty interval", lambda: ops.rng_uniform(1.0, 1.0, "f32[2]"), ops.ArgumentError),
    Mistake("whole normal numbers", lambda: ops.rng_normal(0, 1, "s32[2]"), ops.DTypeError),
    Mistake("a negative deviation", lambda: ops.rng_normal(0.0, -1.0, "f32[2]"), ops.ArgumentError),
    Mistake("a seed that is no integer", lambda key: ops.rng_seed(key), ops.DTypeError, (ONE,)),
    Mistake("two seeds", lambda key: ops.rng_seed(key), ops.ShapeError, (STATE,)),
]
