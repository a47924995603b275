"""Polynomials near functions, with coefficients rounded to floats, and numbers in pieces.

A polynomial starts as the best one in the sense of Chebyshev (Remez exchange on a weighted error, 60 digits).
Its coefficients are then rounded to the target precision from the lowest power up; after each rounding the
remaining ones are fitted again, by least squares over Chebyshev nodes, so that they make up for the rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp

DIGITS = 60
GRID = 601
EXCHANGES = 12
NODES = 80

Real = Any
Function = Callable[[Real], Real]


@dataclass(frozen=True, slots=True)
class Fit:
    """One polynomial: sum of ``c[k] * x**k`` near ``function`` on [low, high], the error multiplied by ``weight``."""

    name: str
    meaning: str
    function: Function
    weight: Function
    low: Real
    high: Real
    count: int
    bits: int
    leading: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Finished numbers with the sentence that explains them."""

    name: str
    meaning: str
    values: tuple[float | int, ...]


def nodes(low: Real, high: Real, count: int) -> list[Real]:
    """Chebyshev nodes of an interval."""
    centre, half = (low + high) / 2, (high - low) / 2
    return [centre - half * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def extrema(low: Real, high: Real) -> list[Real]:
    """The grid on which errors are looked at: dense at the ends, without the middle, where weights may vanish."""
    centre, half = (low + high) / 2, (high - low) / 2
    return [centre - half * mp.cos(mp.pi * k / GRID) for k in range(GRID + 1)]


def rounded(value: Real, bits: int) -> Real:
    """The nearest number with that many significant bits."""
    if value == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mantissa * 2**bits), exponent - bits)


def evaluate(coefficients: Sequence[Real], x: Real) -> Real:
    """The polynomial at x."""
    value = mp.mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def exchange(fit: Fit) -> list[Real]:
    """Best coefficients after the leading ones, by Remez's algorithm on the grid."""
    points = extrema(fit.low, fit.high)
    fixed = [mp.mpf(value) for value in fit.leading]
    powers = range(len(fixed), fit.count)
    goal = [fit.function(x) - evaluate(fixed, x) for x in points]
    weight = [abs(fit.weight(x)) for x in points]
    chosen = [round(GRID * k / len(powers)) for k in range(len(powers) + 1)]
    best: tuple[Real, list[Real]] = (mp.inf, [])
    for _ in range(EXCHANGES):
        solution = _level_error(points, goal, weight, powers, chosen)
        errors = [
            w * (g - mp.fsum(c * x**p for c, p in zip(solution, powers, strict=True)))
            for x, g, w in zip(points, goal, weight, strict=True)
        ]
        best = min(best, (max(abs(e) for e in errors), solution), key=lambda pair: pair[0])
        chosen, before = _alternation(errors, len(powers) + 1), chosen
        if chosen == before or len(chosen) <= len(powers):
            break
    return best[1]


def _level_error(
    points: list[Real], goal: list[Real], weight: list[Real], powers: Sequence[int], chosen: list[int]
) -> list[Real]:
    size = len(powers)
    matrix, right = mp.matrix(size + 1, size + 1), mp.matrix(size + 1, 1)
    for row, at in enumerate(chosen):
        for column, power in enumerate(powers):
            matrix[row, column] = points[at] ** power
        matrix[row, size] = (-1) ** row / weight[at]
        right[row] = goal[at]
    solution = mp.lu_solve(matrix, right)
    return [solution[k] for k in range(size)]


def _alternation(errors: list[Real], wanted: int) -> list[int]:
    found: list[int] = []
    last = len(errors) - 1
    for at, error in enumerate(errors):
        size = abs(error)
        if (at > 0 and size < abs(errors[at - 1])) or (at < last and size < abs(errors[at + 1])):
            continue
        if not found or mp.sign(errors[found[-1]]) != mp.sign(error):
            found.append(at)
        elif size > abs(errors[found[-1]]):
            found[-1] = at
    while len(found) > wanted:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found


def refit(fit: Fit, fixed: list[Real]) -> list[Real]:
    """Coefficients after ``fixed`` that make the weighted squares over Chebyshev nodes least."""
    powers = range(len(fixed), fit.count)
    size = len(powers)
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for x in nodes(fit.low, fit.high, NODES):
        weight = fit.weight(x)
        goal = weight * (fit.function(x) - evaluate(fixed, x))
        row = [weight * x**power for power in powers]
        for i in range(size):
            right[i] += row[i] * goal
            for j in range(size):
                matrix[i, j] += row[i] * row[j]
    solution = mp.lu_solve(matrix, right)
    return [solution[k] for k in range(size)]


def solve(fit: Fit) -> tuple[list[Real], Real]:
    """Rounded coefficients and the largest weighted error they leave."""
    best = exchange(fit)
    fixed = [mp.mpf(value) for value in fit.leading]
    plain = fixed + [rounded(c, fit.bits) for c in best]
    fitted = list(fixed)
    rest = best
    while len(fitted) < fit.count:
        fitted.append(rounded(rest[0], fit.bits))
        rest = refit(fit, fitted) if len(fitted) < fit.count else []
    points = extrema(fit.low, fit.high)

    def largest(coefficients: list[Real]) -> Real:
        return max(abs(fit.weight(x) * (fit.function(x) - evaluate(coefficients, x))) for x in points)

    return min(((c, largest(c)) for c in (plain, fitted)), key=lambda pair: pair[1])


def pieces(value: Real, *bits: int) -> tuple[float, ...]:
    """A positive number as a sum of positive floats, each with the given number of significant bits."""
    parts = []
    for count in bits:
        exponent = mp.frexp(value)[1] - count
        part = mp.ldexp(mp.floor(mp.ldexp(value, -exponent)), exponent)
        parts.append(float(part))
        value = value - part
    return (*parts[:-1], float(parts[-1] + value))


def inverse_pi_words(top_weight: int, word_bits: int, count: int) -> tuple[int, ...]:
    """Binary digits of 1 / pi as integers, the first digit having weight ``2**top_weight``."""
    total = word_bits * count
    with mp.workprec(total + 64):
        digits = int(mp.floor(mp.ldexp(1 / mp.pi, total - 1 - top_weight)))
    return tuple((digits >> (word_bits * (count - 1 - k))) & ((1 << word_bits) - 1) for k in range(count))


def at_root(function: Function) -> Function:
    """The function of the square of its argument, for even ones."""
    return lambda square: function(mp.sqrt(square))
