"""Mistakes in calls of operations with effects, of literals and of positions of extremes."""

from __future__ import annotations

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops
from xjit.errors import CommunicatorError

PAIR = np.float32([1, 2])


MISTAKES = [
    Mistake("tuples in tuples", lambda: ops.infeed((("f32[2]",),)), ops.ArgumentError),
    Mistake("a token of numbers", lambda x: ops.after_all((x,)), ops.DTypeError, (PAIR,)),
    Mistake("a channel below zero", lambda x: ops.send(x, -1), ops.ArgumentError, (PAIR,)),
    Mistake("a channel of numbers", lambda x: ops.recv("f32[2]", x), ops.DTypeError, (PAIR,)),
    Mistake("nobody sends", lambda: ops.recv("f32[2]", 20), CommunicatorError),
    Mistake("nobody receives", lambda: ops.send(1.0, 20), CommunicatorError),
    Mistake("a context that is over", lambda: ops.send_done((1.0, np.uint32(0))), ops.ArgumentError),
    Mistake("no context", lambda x: ops.recv_done(x), ops.ArgumentError, (PAIR,)),
    Mistake("a request of floats", lambda x: ops.recv_done((x, x)), ops.DTypeError, (PAIR,)),
    Mistake("an unknown function", lambda x: ops.custom_call("nobody", (x,), "f32[]"), ops.ArgumentError, (PAIR,)),
    Mistake("a name of numbers", lambda x: ops.custom_call(3, (x,), "f32[]"), ops.ArgumentError, (PAIR,)),
    Mistake("a barrier of text", lambda: ops.optimization_barrier("all"), ops.DTypeError),
    Mistake("position among truths", lambda x: ops.argmax(x, 0), ops.DTypeError, (PAIR > 1,)),
    Mistake("position of floats", lambda x: ops.argmin(x, 0, "f32"), ops.DTypeError, (PAIR,)),
    Mistake("position of nothing", lambda x: ops.argmin(x, 0), ops.ShapeError, (PAIR[:0],)),
    Mistake("filled with another type", lambda x: ops.full("f64[2]", x), ops.DTypeError, (PAIR[0],)),
    Mistake("filled with several", lambda x: ops.full("f32[2]", x), ops.ShapeError, (PAIR,)),
    Mistake("literals that do not fit", lambda: ops.constant([0.5], "s32"), ops.DTypeError),
    Mistake("uneven rows", lambda: ops.constant([[1], [2, 3]]), ops.ArgumentError),
    Mistake("a missing dimension", lambda: ops.zeros(ops.Shape((-1,), "f32")), ops.ArgumentError),
]
