"""``match`` on numbers and text that only the run knows: branches of the program, with NumPy's results."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

from tests.capture.numbers.beside_python import check_whole

NUMBERS = [(np.random.default_rng(seed).integers(0, 6, 200),) for seed in range(3)]
LINES = [(np.random.default_rng(seed).random(200),) for seed in range(3)]
PAIRS = [(np.random.default_rng(seed).integers(-1, 3, (150, 2)),) for seed in range(3)]


class Phase(enum.Enum):
    """The phases of a machine."""

    IDLE = 1
    BUSY = 2


def literals(x: Any) -> Any:
    total = 0
    for v in x:
        match v:
            case 0:
                total += 1
            case 1 | 2:
                total += 10
            case -1 | 3.0:
                continue
            case k if k > 4:
                total += 100 * k
            case _:
                total -= 1
    return total


def texts(x: Any) -> Any:
    state, count = "idle", 0
    for v in x:
        match state:
            case "idle":
                if v > 0.7:
                    state = "busy"
            case "busy" if v > 0.9:
                state = "done"
            case "busy":
                count += 1
            case "done" | "halt":
                if v < 0.2:
                    state = "idle"
            case _:
                raise ValueError(state)
    return count, state


def members(x: Any) -> Any:
    phase, count = Phase.IDLE, 0
    for v in x:
        match phase:
            case Phase.IDLE:
                phase = Phase.BUSY if v > 0.8 else phase
            case Phase.BUSY:
                count += 1
                phase = Phase.IDLE if v < 0.3 else phase
    return count, phase


def pairs(x: Any) -> Any:
    count = 0
    for i in range(len(x)):
        match (x[i, 0], x[i, 1]):
            case (0, 0):
                count += 1
            case (1, k) if k > 0:
                count += 10 * k
            case (1, -1 as k):
                count += 7 * k
            case (_, 2):
                count -= 5
            case a, b:
                count += a - b
    return count


def returned(x: Any) -> Any:
    match int(x.sum()) % 4:
        case 0:
            return x.sum()
        case 1 | 2:
            return x.max()
        case other:
            return x.min() + other


def maybe(x: Any) -> Any:
    last, total = None, 0.0
    for v in x:
        match last:
            case None:
                total += 1.0
            case _:
                total += v * last
        last = v if v > 0.5 else None
    return total


@pytest.mark.parametrize(
    "function, calls",
    [(literals, NUMBERS), (texts, LINES), (members, LINES), (pairs, PAIRS), (returned, LINES), (maybe, LINES)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_match_is_compiled(function: Any, calls: Any) -> None:
    check_whole(function, *calls)
