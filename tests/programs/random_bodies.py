"""Random programs of loops and branches over a state of arrays, by operations that Python can run one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops

State = tuple[Any, ...]
Step = Callable[[State], State]

ROWS, COLUMNS = 3, 4
F64 = np.float64
I32 = np.int32


def random_state(seed: int) -> State:
    """Two matrices, a row and a number."""
    rng = np.random.default_rng(seed)
    return rng.random((ROWS, COLUMNS)), rng.random((ROWS, COLUMNS)) - 0.5, rng.random(COLUMNS), F64(rng.random())


class Programs:
    """Makes steps from a state to a state; all values stay between -1 and 1."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self, depth: int = 3) -> Step:
        """A few steps, some of which hold others."""
        steps = [self.step(depth) for _ in range(self.random.randint(1, 3))]

        def run(state: State) -> State:
            for step in steps:
                state = step(state)
            return state

        return run

    def step(self, depth: int) -> Step:
        """One step: on the state as it is, or a loop or a branch."""
        kinds = [self.mixed, self.exchanged, self.narrowed, self.turned, self.kept]
        if depth:
            kinds += [self.loop, self.loop, self.branch, self.until, self.outside]
        return self.random.choice(kinds)(depth)

    def mixed(self, depth: int) -> Step:
        factor = F64(self.random.random())
        operation = self.random.choice([ops.sin, ops.cos, ops.tanh, ops.neg])
        return lambda s: (operation(ops.add(ops.mul(s[0], factor), ops.mul(s[1], s[3]))), *s[1:])

    def exchanged(self, depth: int) -> Step:
        return lambda s: (s[1], s[0], *s[2:])

    def narrowed(self, depth: int) -> Step:
        dims = self.random.choice([(0,), (0, 1)])

        def step(s: State) -> State:
            largest = ops.reduce(ops.abs(s[0]), F64(0), ops.max, dims)
            return (*s[:2], *((largest, s[3]) if dims == (0,) else (s[2], largest)))

        return step

    def turned(self, depth: int) -> Step:
        def step(s: State) -> State:
            turned = ops.reshape(ops.transpose(s[0], (1, 0)), (ROWS, COLUMNS))
            return turned, ops.mul(s[1], ops.broadcast_in_dim(s[2], (ROWS, COLUMNS), (1,))), *s[2:]

        return step

    def kept(self, depth: int) -> Step:
        return lambda s: (s[1], s[1], s[2], F64(0.5))

    def loop(self, depth: int) -> Step:
        turns, body, used = self.random.randint(0, 3), self.program(depth - 1), self.random.randint(1, 4)

        def step(s: State) -> State:
            def turn(t: Any) -> Any:
                return (ops.add(t[0], I32(1)), *body((*t[1:], *s[used:]))[:used])

            return (*ops.while_loop(lambda t: ops.lt(t[0], I32(turns)), turn, (I32(0), *s[:used]))[1:], *s[used:])

        return step

    def until(self, depth: int) -> Step:
        body, most = self.program(depth - 1), self.random.randint(1, 3)

        def step(s: State) -> State:
            def goes_on(t: Any) -> Any:
                return ops.and_(ops.lt(t[0], I32(most)), ops.lt(ops.reduce(t[1], F64(0), ops.add, (0, 1)), F64(4)))

            last: State = ops.while_loop(goes_on, lambda t: (ops.add(t[0], I32(1)), *body(t[1:])), (I32(0), *s))
            return last[1:]

        return step

    def branch(self, depth: int) -> Step:
        branches = [self.program(depth - 1) for _ in range(self.random.randint(2, 3))]

        def step(s: State) -> State:
            index = ops.convert_element_type(ops.mul(ops.abs(s[3]), F64(3)), "s32")
            found: State = ops.conditional(index, branches, [s] * len(branches))
            return found

        return step

    def outside(self, depth: int) -> Step:
        """A loop whose body reads a state from outside of it."""
        body = self.program(depth - 1)

        def step(s: State) -> State:
            def turn(t: Any) -> Any:
                inner = body((t[1], *s[1:]))
                return ops.add(t[0], I32(1)), ops.mul(inner[0], ops.exp(s[1]) * F64(0.5))

            (_, last) = ops.while_loop(lambda t: ops.lt(t[0], I32(2)), turn, (I32(0), s[0]))
            return (ops.sin(last), *s[1:])

        return step
