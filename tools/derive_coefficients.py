"""Derives every number in ``xjit/codegen/vmath/coefficients.py`` from its mathematical definition.

    python tools/derive_coefficients.py            # writes the module anew
    python tools/derive_coefficients.py --check    # exit status 1 if the module differs from what is derived

Needs ``mpmath``.  A polynomial starts as the best one in the sense of Chebyshev (Remez exchange on a weighted
error, 60 digits).  Its coefficients are then rounded to the target precision from the lowest power up; after
each rounding the remaining ones are fitted again, by least squares over Chebyshev nodes, so that they make up
for the rounding.  The error written beside a table is that of the rounded polynomial in exact arithmetic.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp

MODULE = Path(__file__).resolve().parent.parent / "xjit" / "codegen" / "vmath" / "coefficients.py"

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


def _at_root(function: Function) -> Function:
    return lambda square: function(mp.sqrt(square))


def fits() -> list[Fit]:
    """All polynomials of the package."""
    half_log = mp.log(2) / 2 * mp.mpf("1.001")
    half_pi_square = (mp.pi / 2) ** 2 * mp.mpf("1.0005")
    tiny = mp.mpf(10) ** -9
    exp_tail: tuple[Function, Function] = (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 * mp.exp(-r))
    sine_tail = (
        _at_root(lambda r: (mp.sin(r) - r) / r**3),
        _at_root(lambda r: r**3 / mp.sin(r)),
    )
    tanh_tail = (
        _at_root(lambda r: (mp.tanh(r) - r) / r**3),
        _at_root(lambda r: r**3 / mp.tanh(r)),
    )
    root = mp.sqrt(mp.mpf(1) / 2)
    return [
        Fit("EXP_TAIL_F32", "(exp(r) - 1 - r) / r**2 in r, |r| <= log(2)/2", *exp_tail, -half_log, half_log, 5, 24),
        Fit("EXP_TAIL_F64", "the same", *exp_tail, -half_log, half_log, 10, 53),
        Fit(
            "EXP2_F32",
            "2**r in r, |r| <= 1/2",
            lambda r: mp.mpf(2) ** r,
            lambda r: mp.mpf(2) ** -r,
            *(mp.mpf("-0.5005"), mp.mpf("0.5005"), 7, 24, (1.0, float(rounded(mp.log(2), 24)))),
        ),
        Fit(
            "EXP2_F64",
            "the same",
            lambda r: mp.mpf(2) ** r,
            lambda r: mp.mpf(2) ** -r,
            *(mp.mpf("-0.5005"), mp.mpf("0.5005"), 12, 53, (1.0, float(mp.log(2)))),
        ),
        Fit(
            "LOG_TAIL_F32",
            "(log(1 + a) - a + a**2/2) / a**3 in a, sqrt(1/2) <= 1 + a <= sqrt(2)",
            lambda a: (mp.log1p(a) - a + a**2 / 2) / a**3,
            lambda a: a**3 / mp.log1p(a),
            *(root - 1, 1 / root - 1, 8, 24),
        ),
        Fit(
            "LOG_RATIO_F64",
            "(2 atanh(s) / s - 2) / s**2 in s**2, |s| <= 3 - sqrt(8)",
            _at_root(lambda s: (2 * mp.atanh(s) / s - 2) / s**2),
            lambda z: z / 2,
            *(tiny, (3 - mp.sqrt(8)) ** 2 * mp.mpf("1.0001"), 7, 53),
        ),
        Fit("SINE_TAIL_F32", "(sin(r) - r) / r**3 in r**2, |r| <= pi/2", *sine_tail, tiny, half_pi_square, 4, 53),
        Fit("SINE_TAIL_F64", "the same", *sine_tail, tiny, half_pi_square, 8, 53),
        *error_function_fits(),
        Fit(
            "TANH_TAIL_F32",
            "(tanh(a) - a) / a**3 in a**2, |a| <= 0.7",
            *(*tanh_tail, tiny, mp.mpf("0.7") ** 2, 5, 24),
        ),
    ]


def error_function_fits() -> list[Fit]:
    """Polynomials of the error function, on both sides of where its two forms meet."""
    tail: tuple[Function, Function] = (
        _at_root(lambda r: (mp.erf(r) - r) / r),
        _at_root(lambda r: r / mp.erf(r)),
    )
    decay: tuple[Function, Function] = (lambda a: mp.log(mp.erfc(a)), mp.erfc)
    tiny, meeting = mp.mpf(10) ** -9, mp.mpf("0.9")
    return [
        Fit("ERF_TAIL_F32", "(erf(a) - a) / a in a**2, |a| <= 0.9", *tail, tiny, meeting**2, 7, 24),
        Fit("ERF_TAIL_F64", "the same", *tail, tiny, meeting**2, 12, 53),
        Fit(
            "ERFC_LOG_F32",
            "log(erfc(a)) in a, 0.9 <= a <= 4; the error is that of erfc",
            *decay,
            meeting,
            mp.mpf("4.0"),
            8,
            24,
        ),
        Fit(
            "ERFC_LOG_F64",
            "the same, 0.9 <= a <= 6; the error is that of erfc",
            *decay,
            meeting,
            mp.mpf("6.0"),
            22,
            53,
        ),
    ]


def constants() -> list[Table]:
    """All other numbers of the package."""
    log2 = mp.log(2)
    return [
        Table("LOG2_E", "1 / log(2)", pieces(1 / log2, 53)),
        Table("LOG2_E_F32", "1 / log(2) in two parts", pieces(1 / log2, 24, 24)),
        Table("LOG2_E_F64", "1 / log(2) in two parts", pieces(1 / log2, 53, 53)),
        Table(
            "LN2_F32",
            "log(2) in two parts; products of the first with 9-bit integers are exact",
            pieces(log2, 15, 24),
        ),
        Table(
            "LN2_F64",
            "log(2) in two parts; products of the first with 11-bit integers are exact",
            pieces(log2, 42, 53),
        ),
        Table("INVERSE_PI", "1 / pi", pieces(1 / mp.pi, 53)),
        Table(
            "PI_F32", "pi in two parts; products of the first with 24-bit integers are exact", pieces(mp.pi, 29, 53)
        ),
        Table(
            "PI_F64",
            "pi in four parts; products of all but the last with 24-bit integers are exact",
            pieces(mp.pi, 29, 23, 29, 53),
        ),
        Table("PI_PAIR", "pi as a float and the rest", pieces(mp.pi, 53, 53)),
        Table("INVERSE_PI_WORDS_F32", "binary digits of 1 / pi from weight 2**-1 on", inverse_pi_words(-1, 32, 7)),
        Table("INVERSE_PI_WORDS_F64", "binary digits of 1 / pi from weight 2**28 on", inverse_pi_words(28, 64, 19)),
    ]


def render() -> str:
    """The text of the module with all tables."""
    lines = [
        '"""Numbers of the vector math functions, derived from their definitions by tools/derive_coefficients.py.',
        "",
        "Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.",
        '"""',
        "",
        "from __future__ import annotations",
    ]
    for fit in fits():
        coefficients, error = solve(fit)
        error_note = f"largest error of the function 2**{mp.nstr(mp.log(error, 2), 4)}"
        lines += _table(fit.name, [fit.meaning, error_note], [float(c) for c in coefficients])
    for table in constants():
        lines += _table(table.name, [table.meaning], list(table.values))
    return "\n".join(lines) + "\n"


def _table(name: str, notes: Sequence[str], values: Sequence[float | int]) -> list[str]:
    note = [f"# {text[0].upper()}{text[1:]}." for text in notes]
    if len(values) == 1:
        return ["", *note, f"{name} = {values[0]!r}"]
    text = [f"    0x{value:X}," if isinstance(value, int) else f"    {value!r}," for value in values]
    return ["", *note, f"{name} = (", *text, ")"]


def main(arguments: Sequence[str]) -> int:
    """Writes or checks the module; returns the exit status."""
    with mp.workdps(DIGITS):
        text = render()
    if "--check" not in arguments:
        MODULE.write_text(text, encoding="utf-8")
        return 0
    same = MODULE.exists() and MODULE.read_text(encoding="utf-8") == text
    sys.stdout.write(f"{MODULE.name} {'agrees with' if same else 'differs from'} its derivation\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
