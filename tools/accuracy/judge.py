"""Errors of many results at once, against a screen, and the largest of them against MPFR."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tools.accuracy import exact
from tools.accuracy.oracles import Oracle

Array = np.ndarray[Any, Any]

EXAMPLES = 5
"""Number of arguments of each kind of mistake that are kept."""
QUARTER = 0.25
"""Results that are not exact are off by more somewhere; below, each of millions would be the worst so far."""
EXACT_FUNCTIONS = exact.table()


@dataclass(frozen=True, slots=True)
class Format:
    """Properties of a type that judging needs: a screen's type, significant bits, the first power of two too
    large.
    """

    dtype: Any
    wide: Any
    digits: int
    largest: int


FORMATS = {"f32": Format(np.float32, np.float64, 24, 128), "f64": Format(np.float64, np.longdouble, 53, 1024)}


@dataclass(slots=True)
class Verdict:
    """Verdict on one function so far: arguments tried, largest error, results of the wrong class."""

    count: int = 0
    error: float = 0.0
    arguments: tuple[str, ...] = ()
    mistakes: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)

    def mistake(self, kind: str, wrong: Array, inputs: Sequence[Array]) -> None:
        """Counts results of the wrong class, and keeps some of their arguments."""
        places = np.flatnonzero(wrong)
        if places.size:
            self.mistakes[kind] = self.mistakes.get(kind, 0) + int(places.size)
            kept = self.examples.setdefault(kind, [])
            kept += [in_hex(inputs, place) for place in places[: EXAMPLES - len(kept)]]


def in_hex(inputs: Sequence[Array], place: int) -> tuple[str, ...]:
    """One set of arguments as text that keeps every bit."""
    return tuple(float(x[place]).hex() for x in inputs)


def last_place(true: Array, form: Format) -> Array:
    """The unit of the last place of true values, in the screen's type; that of the smallest normal number or more."""
    near = true.astype(np.float64, copy=False)
    if form.wide is np.longdouble:  # which may have been rounded up to the next power of two
        near = np.where(np.abs(near) > np.abs(true), np.nextafter(near, 0), near)
    power = (near.view(np.uint64) & np.uint64(0x7FF << 52)).view(np.float64)
    within(power, 2.0 ** (2 - form.largest), 2.0 ** (form.largest - 1))
    unit: Array = power.astype(form.wide, copy=False) * form.wide(2.0) ** (1 - form.digits)
    return unit


def within(x: Array, low: Any, high: Any) -> Array:
    """Brings numbers between two bounds, in place; NaN stays."""
    np.maximum(x, low, out=x)
    np.minimum(x, high, out=x)
    return x


def scale_of(oracle: Oracle, kind: str, inputs: Sequence[Array]) -> Array | None:
    """The sizes below which units do not shrink, where an oracle has them for a type."""
    with np.errstate(all="ignore"):
        return oracle.scale(*inputs) if oracle.scale is not None and kind == "f64" else None


def errors(result: Array, true: Array, kind: str, scale: Array | None = None) -> tuple[Array, Array]:
    """Errors in units of the last place of the true values, or of a scale, and those units; zero where one is NaN.

    Infinity counts as the first power of two that is too large, so that overflow is judged like any rounding.
    """
    form = FORMATS[kind]
    top = form.wide(2.0) ** form.largest
    true = within(true.copy(), -top, top)
    unit = last_place(true, form)
    if scale is not None:
        unit = np.maximum(unit, last_place(within(scale.astype(form.wide), 0, top), form))
    with np.errstate(invalid="ignore"):
        error = within(result.astype(form.wide), -top, top)
        np.abs(np.divide(np.subtract(error, true, out=error), unit, out=error), out=error)
    error = error.astype(np.float64, copy=False)
    error[np.isnan(error)] = 0.0
    return error, unit


def classes(verdict: Verdict, inputs: Sequence[Array], result: Array, true: Array) -> None:
    """Notes results that are no number where the truth is one, or the reverse, wrong infinities and wrong zeros."""
    verdict.mistake("NaN", np.isnan(result) != np.isnan(true), inputs)
    verdict.mistake("infinity", np.isinf(true) & ~np.isnan(result) & (result != true), inputs)
    zeros = (result == 0) & ~np.isnan(true)
    verdict.mistake("sign of zero", zeros & (np.signbit(result) != np.signbit(true)), inputs)


def judge(
    verdict: Verdict, operation: str, kind: str, inputs: Sequence[Array], result: Array, oracle: Oracle
) -> None:
    """Takes results into account: classes by the screen, the largest error by MPFR."""
    verdict.count += result.size
    screen = oracle.screen(kind)
    with np.errstate(all="ignore"):
        if screen is None:
            suspects = np.arange(result.size)
            limits = np.full(result.size, math.inf)
        else:
            true = screen(*(x.astype(FORMATS[kind].wide) for x in inputs))
            classes(verdict, inputs, result, true)
            scale = scale_of(oracle, kind, inputs)
            error, unit = errors(result, true, kind, scale)
            absolute = oracle.absolute[kind == "f64"]
            slack = oracle.slack(kind)
            limits = error + slack
            limits = limits + (absolute / unit).astype(np.float64) if absolute else limits
            # Errors smaller than what the screen can tell are none; nobody asks how much below a quarter they are.
            suspects = np.flatnonzero(limits > max(verdict.error, 2 * slack, QUARTER))
            suspects = suspects[np.isfinite(true[suspects]) & ~np.isnan(result[suspects])]
            suspects = suspects[np.argsort(-limits[suspects])]
    _decide(verdict, operation, kind, inputs, result, oracle, suspects, limits)


def _decide(
    verdict: Verdict,
    operation: str,
    kind: str,
    inputs: Sequence[Array],
    result: Array,
    oracle: Oracle,
    suspects: Array,
    limits: Array,
) -> None:
    """Asks MPFR for the suspects, the worst first, until no other can be worse than the worst so far."""
    form, scale = FORMATS[kind], scale_of(oracle, kind, inputs)
    for place in suspects:
        if limits[place] <= verdict.error:
            break
        arguments = tuple(float(x[place]) for x in inputs)
        least = 0.0 if scale is None else float(scale[place])
        error = exact.error_in_units(
            float(result[place]), arguments, EXACT_FUNCTIONS[operation], form.digits, form.largest, least
        )
        if error > verdict.error:
            verdict.error, verdict.arguments = error, in_hex(inputs, place)
