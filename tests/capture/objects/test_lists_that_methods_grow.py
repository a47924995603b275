"""Lists that objects make for themselves, and that their methods append to in loops, grow in the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.numbers.beside_python import check_whole


class Tracker:
    """The values that it has seen, and the best ones."""

    def __init__(self) -> None:
        self.best = np.inf
        self.history: list[Any] = []
        self.improved: list[Any] = []

    def update(self, value: Any, turn: Any) -> None:
        """Takes a value in."""
        self.history.append(value)
        if value < self.best:
            self.best = value
            self.improved.append((turn, value))


class Stack:
    """A list under other names."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def push(self, item: Any) -> None:
        """Puts an item on top."""
        self.items.append(item)

    def pop(self) -> Any:
        """The item on top, which is taken away."""
        return self.items.pop()

    def __len__(self) -> int:
        return len(self.items)


class Walker:
    """A place, and the way to it."""

    def __init__(self, size: int) -> None:
        self.place = np.zeros(size)
        self.log: list[Any] = []

    def step(self, by: Any) -> None:
        """Goes on."""
        self.place = self.place + by
        self.log.append([self.place.mean(), by])


class Descent:
    """Steps until the loss does not change any more."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.losses: list[Any] = []
        self.converged = False

    def fit(self, x: Any) -> Any:
        """The last guess."""
        guess = 0.0
        for turn in range(len(x)):
            guess = 0.5 * guess + 0.5 * x[turn % 3]
            self.losses.append(guess * guess)
            if turn > 0 and abs(self.losses[-2] - self.losses[-1]) < self.tolerance:
                self.converged = True
                break
        return guess


def tracked(x: Any) -> Any:
    tracker = Tracker()
    for turn, value in enumerate(x):
        tracker.update(value, turn)
    return tracker.best, np.array(tracker.history), tracker.improved, len(tracker.improved)


def collatz(x: Any) -> Any:
    stack, seen = Stack(), 0
    stack.push(7)
    while len(stack) > 0:
        number = stack.pop()
        seen += 1
        if number % 2 == 0 and number > x[0] + 3:
            stack.push(number // 2)
        elif number % 2 == 1 and number < 40:
            stack.push(number + 1)
            stack.push(2 * (number // 3))
    return seen, len(stack)


def walked(x: Any) -> Any:
    walker = Walker(5)
    for value in x:
        walker.step(value)
    return np.array(walker.log), walker.place


def fitted(x: Any) -> Any:
    descent = Descent(1e-3)
    return descent.fit(x), np.array(descent.losses), descent.converged


FUNCTIONS: list[Callable[[Any], Any]] = [tracked, collatz, walked, fitted]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_lists_of_objects_grow(function: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(3)
    lines = [rng.integers(0, 9, 200) / 8.0, rng.integers(0, 9, 200) / 4.0]  # whose sums are exact
    compiled = check_whole(function, *((line,) for line in lines))
    assert compiled.stats().fallbacks == 0
    assert compiled.stats().traces <= 2
