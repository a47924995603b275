"""Ordinary functions with loops and branches over NumPy values, each with arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Case: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...]]"
RNG = np.random.default_rng(11)
LINE = RNG.random(60)
SIGNED = RNG.standard_normal(60)
GRID = RNG.random((12, 12))
PLATE = RNG.random((60, 5))
STIFF = GRID @ GRID.T + 12 * np.eye(12)


def square_root(a: Any, tol: Any) -> Any:
    x = a * 0.5
    err = 1.0
    while err > tol:
        x = 0.5 * (x + a / x)
        err = np.abs(x * x - a).max()
    return x


def steps(u: Any, n: Any) -> Any:
    for t in range(n):
        u = u * 0.5 + t
    return u


def predators(n: Any, dt: Any, x: Any, y: Any) -> Any:
    for _ in range(n):
        x, y = x + dt * (1.1 * x - 0.4 * x * y), y + dt * (0.1 * x * y - 0.4 * y)
    return x, y


def magnitude(x: Any) -> Any:
    if x > 0:
        y = x
    else:
        y = -x
    return y


def first_above(x: Any, n: Any) -> Any:
    for i in range(n):
        if x[i] > 0.9:
            return i
    return -1


def sum_until(x: Any, limit: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] > limit:
            break
        s += x[i]
    return s


def sum_of_some(x: Any, limit: Any) -> Any:
    s = 0.0
    for v in x:
        if v > limit:
            continue
        s = s + v
    else:
        s = s * 2
    return s


def running(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i - 1] * 0.5 + x[i]
    return x.sum()


def collatz(n: Any) -> Any:
    c = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        c += 1
    return c


def checksum(data: Any) -> Any:
    c = 0xFFFF
    for b in data:
        c ^= int(b)
        for _ in range(8):
            if c & 1:
                c = (c >> 1) ^ 0xA001
            else:
                c >>= 1
    return c


def seidel(A: Any, turns: Any) -> Any:
    n = A.shape[0]
    for _ in range(turns):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0


def triangles(A: Any) -> Any:
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def pairs(table: Any, seq: Any) -> Any:
    n = len(seq)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    match = 1 if seq[i] + seq[j] == 3 else 0
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match)
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def largest(x: Any) -> Any:
    m = x[0]
    k = 0
    for i in range(len(x)):
        if x[i] > m:
            m = x[i]
            k = i
    return m, k


def rectified(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] < 0:
            x[i] = 0.0
        else:
            x[i] = x[i] * 2


def count_above(x: Any, t: Any) -> Any:
    c = 0
    for i in range(len(x)):
        if x[i] > t:
            c += 1
    return c


def bubbles(x: Any) -> Any:
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                t = x[j]
                x[j] = x[j + 1]
                x[j + 1] = t


def insertions(x: Any) -> Any:
    moves = 0
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = value
    return moves


def edges(x: Any, y: Any) -> Any:
    n = len(x)
    for i in range(n):
        if i + 1 < n:
            y[i] = x[i + 1] - x[i]
        if i - 1 >= 0 and i < n - 1:
            y[i] += x[i - 1]


def position_of(a: Any, v: Any) -> Any:
    lo = 0
    hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return lo


def sum_of_rows(A: Any) -> Any:
    s = np.zeros(A.shape[1])
    for row in A:
        s += row
    return s


def weighted_rows(A: Any, w: Any) -> Any:
    s = 0.0
    for i, (row, q) in enumerate(zip(A, w)):  # noqa: B905
        s += row.sum() * q * (i + 1)
    return s


def backwards(x: Any) -> Any:
    n = len(x)
    y = np.zeros(n)
    for i in range(n - 1, -1, -1):
        y[n - 1 - i] = x[i] * 2
    for i in reversed(range(1, n)):
        y[i] = y[i] - y[i - 1]
    for i in range(0, n, 3):
        y[i] = 1.0
    return y


def heat(u: Any, n: Any) -> Any:
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def symmetric(x: Any) -> Any:
    A = np.zeros((30, 30))
    for i in range(30):
        for j in range(i):
            A[i, j] = x[i] * j
            A[j, i] = A[i, j]
    return A


def total(x: Any) -> Any:
    s = 0
    for v in x:
        s += v
    return s


def conjugate_gradients(A: Any, b: Any, tol: Any) -> Any:
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    while rs > tol:
        q = A @ p
        alpha = rs / (p @ q)
        x += alpha * p
        r -= alpha * q
        after = r @ r
        p = r + (after / rs) * p
        rs = after
    return x


def ping_pong(A: Any, B: Any, n: Any) -> Any:
    for _ in range(n):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
    return A.sum()


def relaxed(A: Any, n: Any) -> Any:
    B = A.copy()
    for _ in range(n):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
    return A


def in_place_then_anew(u: Any, n: Any) -> Any:
    for _ in range(n):
        u *= 0.5
        u = u + 1.0
    return u.sum()


def chosen_array(A: Any, B: Any) -> Any:
    if A[0] > B[0]:
        C = A
    else:
        C = B
    return C * 2


def counted(x: Any, n: Any) -> Any:
    h = np.zeros(n)
    for i in range(len(x)):
        h[int(x[i] * n)] += 1
    return h


def gathered(x: Any, places: Any) -> Any:
    s = 0.0
    for i in range(len(places)):
        s += x[places[i]]
    return s


CASES: list[Case] = [
    *((ping_pong, (LINE, SIGNED, n)) for n in (0, 1, 2, 3, 50, 51)),
    *((relaxed, (LINE, n)) for n in (0, 1, 2, 3, 50, 51)),
    *((in_place_then_anew, (LINE, n)) for n in (0, 1, 2, 50)),
    *((chosen_array, pair) for pair in ((LINE, SIGNED), (SIGNED, LINE))),
    (counted, (LINE, 10)),
    (gathered, (LINE, RNG.integers(-60, 60, 50))),
    (square_root, (np.array([2.0, 3.0]), 1e-9)),
    (square_root, (np.array([2.0, 3.0]), 2.0)),
    (square_root, (2.0, 1e-9)),
    *((steps, (np.ones(3), n)) for n in (0, 1, 2, 500)),
    (steps, (np.float32(1.0), 40)),
    *((predators, (n, 1e-3, 1.0, 2.0)) for n in (0, 1, 1000)),
    *((magnitude, (x,)) for x in (np.float64(3.0), np.float64(-3.0), 3.0, -3.0)),
    (first_above, (LINE, 60)),
    (first_above, (LINE * 0.5, 60)),
    (first_above, (LINE, 0)),
    *((sum_until, (LINE, limit)) for limit in (-1.0, 0.9, 2.0)),
    (sum_until, (LINE[:0], 0.5)),
    (sum_of_some, (LINE, 0.5)),
    (sum_of_some, (LINE[:1], 2.0)),
    (running, (LINE,)),
    (running, (LINE[:1],)),
    (collatz, (27,)),
    (collatz, (1,)),
    (checksum, (RNG.integers(0, 256, 50).astype(np.uint8),)),
    (checksum, (RNG.integers(0, 256, 50),)),
    (seidel, (GRID, 0)),
    (seidel, (GRID, 3)),
    (triangles, (STIFF,)),
    (pairs, (np.zeros((20, 20), np.int64), RNG.integers(0, 4, 20))),
    (largest, (LINE,)),
    (rectified, (SIGNED,)),
    (count_above, (LINE, 0.5)),
    (count_above, (LINE, 2.0)),
    (insertions, (SIGNED.copy(),)),
    (bubbles, (LINE,)),
    (edges, (LINE, np.zeros(60))),
    (position_of, (np.sort(LINE), 0.3)),
    (position_of, (np.sort(LINE), 2.0)),
    *((sum_of_rows, (PLATE[:n],)) for n in (0, 1, 2, 60)),
    *((weighted_rows, (PLATE[:n], LINE[:n])) for n in (1, 60)),
    (backwards, (LINE,)),
    *((heat, (LINE, n)) for n in (0, 1, 100)),
    (symmetric, (LINE,)),
    *((total, (LINE[:n],)) for n in (0, 1, 60)),
    (total, (np.arange(60, dtype=np.int8) % 2,)),
    (conjugate_gradients, (STIFF, GRID[0], 1e-16)),
]
"""Functions with arguments, the numbers of turns zero, one and many among them."""
