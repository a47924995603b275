"""Classes whose objects functions change, and the comparison of what calls leave behind with NumPy."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from xjit import xjit

N = 6


class Mode(enum.Enum):
    COLD = 1
    HOT = 2


class Pair(NamedTuple):
    first: Any
    second: Any


class Particles:
    def __init__(self, count: int = N) -> None:
        self.pos = np.linspace(0.0, 1.0, count)
        self.vel = np.ones(count)
        self.time = 0.0
        self.steps = 0
        self.mode = Mode.COLD
        self.last: Any = None

    def move(self, dt: float) -> None:
        self.pos = self.pos + self.vel * dt
        self.time += dt
        self.steps += 1

    def kick(self, dt: float) -> Any:
        self.vel -= self.pos * dt
        return self.vel.sum()


@dataclasses.dataclass
class Welford:
    n: int
    mean: Any
    m2: Any

    def push(self, x: Any) -> None:
        self.n += 1
        delta = x - self.mean
        self.mean = self.mean + delta / self.n
        self.m2 = self.m2 + delta * (x - self.mean)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: float


class Slotted:
    __slots__ = ("count", "x")

    def __init__(self) -> None:
        self.x = np.ones(N)
        self.count = 0


class Checked:
    def __init__(self) -> None:
        self.__dict__["calls"] = []
        self.x = np.ones(N)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value * 2.0)


class Scaled:
    def __init__(self) -> None:
        self._x = np.ones(N)

    @property
    def x(self) -> Any:
        return self._x * 2.0

    @x.setter
    def x(self, value: Any) -> None:
        self._x = value / 4.0


class Kalman:
    def __init__(self) -> None:
        self.x = np.zeros(2)
        self.P = np.eye(2)
        self.F = np.array([[1.0, 0.1], [0.0, 1.0]])
        self.H = np.array([[1.0, 0.0]])
        self.Q = 0.01 * np.eye(2)
        self.R = np.array([[0.5]])

    def predict(self) -> None:
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z: Any) -> Any:
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(2) - K @ self.H) @ self.P
        return self.x


def state(value: Any, seen: dict[int, int] | None = None) -> Any:
    """All that can be seen of a value: types, elements, and which objects are one."""
    seen = {} if seen is None else seen
    if isinstance(value, np.ndarray | list | dict) or hasattr(type(value), "push") or isinstance(value, OBJECTS):
        if id(value) in seen:
            return "again", seen[id(value)]
        seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, np.round(value, 10).tolist()
    if isinstance(value, OBJECTS):
        names = getattr(type(value), "__slots__", None) or tuple(vars(value))
        return type(value), [(name, state(getattr(value, name), seen)) for name in names]
    if isinstance(value, dict):
        return [(key, state(item, seen)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [state(item, seen) for item in value]
    return type(value), round(value, 10) if isinstance(value, float) else value


OBJECTS = (Particles, Welford, Frozen, Slotted, Checked, Scaled, Kalman, types.SimpleNamespace, argparse.Namespace)


def check(function: Callable[..., Any], make: Callable[[], Any], *rest: Any, calls: int = 4, traces: int = 3) -> Any:
    """Compares several calls on one object with NumPy's on its twin: results, and all that is left behind."""
    compiled, mine, plain = xjit(strict=True)(function), make(), make()
    for _ in range(calls):
        found, wanted = compiled(mine, *rest), function(plain, *rest)
        assert state([found, mine]) == state([wanted, plain])
    assert compiled.stats().traces <= traces
    assert compiled.stats().fallbacks == 0
    return compiled
