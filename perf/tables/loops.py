"""Loops that carry arrays: xjit beside NumPy, loops by hand under Numba, and JAX where it is installed.

    python -m perf.tables.loops [rounds]

Every program is one text over a module and its ``fori_loop``; NumPy's is a loop of Python. All sides take turns in
one process. Of each the median and the minimum of the rounds are printed in milliseconds, and the least time of the
processors.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

import xjit

Function = Callable[..., Any]
Loop = Callable[..., Any]


def jacobi(m: Any, fori_loop: Loop, u: Any) -> Any:
    """Return a grid after a thousand means of the four neighbours; its border is zero from the beginning."""

    def step(_: Any, v: Any) -> Any:
        return m.pad((v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]) * 0.25, 1)

    return fori_loop(0, 1000, step, u)


@numba.njit
def jacobi_by_hand(u: Any) -> Any:
    """Return the same."""
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(1000):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) * 0.25
        u, v = v, u
    return u


def gray_scott(m: Any, fori_loop: Loop, u: Any, v: Any) -> Any:
    """Return two substances on a torus after a thousand steps."""

    def spread(a: Any) -> Any:
        return m.roll(a, -1, 0) + m.roll(a, 1, 0) + m.roll(a, -1, 1) + m.roll(a, 1, 1) - 4.0 * a

    def step(_: Any, state: Any) -> Any:
        u, v = state
        made = u * v * v
        return u + spread(u) * 0.16 - made + (1.0 - u) * 0.035, v + spread(v) * 0.08 + made - v * 0.1

    return fori_loop(0, 1000, step, (u, v))


@numba.njit
def gray_scott_by_hand(u: Any, v: Any) -> Any:
    """Return the same."""
    u, v, a, b = u.copy(), v.copy(), np.empty_like(u), np.empty_like(v)
    rows, columns = u.shape
    for _ in range(1000):
        for i in range(rows):
            up, down = i - 1 if i else rows - 1, i + 1 if i < rows - 1 else 0
            for j in range(columns):
                left, right = j - 1 if j else columns - 1, j + 1 if j < columns - 1 else 0
                x, y = u[i, j], v[i, j]
                made = x * y * y
                of_x = u[down, j] + u[up, j] + u[i, right] + u[i, left] - 4.0 * x
                of_y = v[down, j] + v[up, j] + v[i, right] + v[i, left] - 4.0 * y
                a[i, j] = x + of_x * 0.16 - made + (1.0 - x) * 0.035
                b[i, j] = y + of_y * 0.08 + made - y * 0.1
        u, a, v, b = a, u, b, v
    return u, v


def multiply_add(m: Any, fori_loop: Loop, x: Any) -> Any:
    """Return the elements after a hundred thousand turns of x = x * a + b."""
    return fori_loop(0, 100_000, lambda _, x: x * 0.9999 + 0.5, x)


@numba.njit
def multiply_add_by_hand(x: Any) -> Any:
    """Return the same."""
    x = x.copy()
    for _ in range(100_000):
        for i in range(x.size):
            x[i] = x[i] * 0.9999 + 0.5
    return x


def populations(m: Any, fori_loop: Loop, prey: Any, hunters: Any) -> Any:
    """Return the two numbers of Lotka and Volterra after a million steps."""

    def step(_: Any, state: Any) -> Any:
        prey, hunters = state
        eaten = prey * hunters
        return prey + 1e-3 * (1.1 * prey - 0.4 * eaten), hunters + 1e-3 * (0.1 * eaten - 0.4 * hunters)

    return fori_loop(0, 1_000_000, step, (prey, hunters))


@numba.njit
def populations_by_hand(prey: Any, hunters: Any) -> Any:
    """Return the same."""
    for _ in range(1_000_000):
        eaten = prey * hunters
        prey, hunters = prey + 1e-3 * (1.1 * prey - 0.4 * eaten), hunters + 1e-3 * (0.1 * eaten - 0.4 * hunters)
    return prey, hunters


def power(m: Any, fori_loop: Loop, a: Any, x: Any) -> Any:
    """Return the direction of the largest eigenvalue after a thousand products."""

    def step(_: Any, x: Any) -> Any:
        y = a @ x
        return y / m.sqrt((y * y).sum())

    return fori_loop(0, 1000, step, x)


@numba.njit
def power_by_hand(a: Any, x: Any) -> Any:
    """Return the same."""
    for _ in range(1000):
        y = np.dot(a, x)
        x = y / np.sqrt((y * y).sum())
    return x


@dataclass(frozen=True, slots=True)
class Looped:
    """A program, the loop by hand, and its arguments."""

    name: str
    program: Function
    by_hand: Function
    arguments: tuple[Any, ...]


def programs() -> tuple[Looped, ...]:
    """Return all of them."""
    rng = np.random.default_rng(7)
    field, grid = rng.random((256, 256)), np.pad(rng.random((248, 248)), 1)
    matrix = rng.random((300, 300))
    return (
        Looped("Jacobi 250x250, 1000 steps", jacobi, jacobi_by_hand, (grid,)),
        Looped("Gray-Scott 256x256, 1000 steps", gray_scott, gray_scott_by_hand, (field, field * 0.5)),
        Looped("x * a + b, 100 numbers, 100000 turns", multiply_add, multiply_add_by_hand, (np.ones(100),)),
        Looped("Lotka-Volterra, 1000000 steps", populations, populations_by_hand, (10.0, 5.0)),
        Looped("power iteration 300x300, 1000 steps", power, power_by_hand, (matrix, np.ones(300))),
    )


def in_python(first: int, last: int, step: Function, state: Any) -> Any:
    """Return the state after the turns of a loop of Python."""
    for number in range(first, last):
        state = step(number, state)
    return state


def sides(one: Looped) -> dict[str, Callable[[], Any]]:
    """Return what is measured, by name; each returns when its result is there."""
    compiled = xjit.jit(lambda *arrays: one.program(np, xjit.fori_loop, *arrays), strict=True)
    found: dict[str, Callable[[], Any]] = {
        "xjit": lambda: compiled(*one.arguments),
        "Numba by hand": lambda: one.by_hand(*one.arguments),
        "NumPy": lambda: one.program(np, in_python, *one.arguments),
    }
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return found
    jax.config.update("jax_enable_x64", True)
    device = [jax.numpy.asarray(array) for array in one.arguments]
    traced = jax.jit(lambda *arrays: one.program(jax.numpy, jax.lax.fori_loop, *arrays))
    return {**found, "JAX": lambda: jax.block_until_ready(traced(*device))}


def measured(functions: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return times of the wall and of the processors in seconds; all sides take turns."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, run in functions.items():
            wall, processors = time.perf_counter(), time.process_time()
            run()
            times[name].append((time.perf_counter() - wall, time.process_time() - processors))
    return times


def main(rounds: int) -> None:
    """Print the table."""
    print("| loop | side | median | minimum | processors |\n|---|---|---|---|---|")
    for one in programs():
        functions = sides(one)
        expected = functions["NumPy"]()
        for name, run in functions.items():
            for got, wanted in zip(_leaves(run()), _leaves(expected), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-9, err_msg=f"{one.name} {name}")
        for name, found in measured(functions, rounds).items():
            walls, processors = zip(*found, strict=True)
            figures = [float(np.median(walls)), min(walls), min(processors)]
            print(f"| {one.name} | {name} |", " | ".join(f"{1e3 * each:.2f}" for each in figures), "|")


def _leaves(result: Any) -> tuple[Any, ...]:
    return tuple(map(np.asarray, result if isinstance(result, tuple | list) else (result,)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
