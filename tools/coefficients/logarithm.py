"""Numbers of logarithms."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table, at_root, pieces

NARROW = 3 - mp.sqrt(8)
QUARTERS = mp.mpf(1) / 5
# Quotients of logarithms found from bit patterns leave up to this, found by trial, and a little more.
WIDE = mp.mpf("0.2050")


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    return [*_polynomials_f32(), *_polynomials_f64(), *_constants()]


def _polynomials_f32() -> list[Fit | Table]:
    return [
        _ratio("LOG_RATIO_F32", NARROW, 3, 24),
        _ratio("LOG2_RATIO_F32", NARROW, 3, 24, factor=1 / mp.log(2)),
        _ratio("LOG10_RATIO_F32", QUARTERS, 3, 24, factor=1 / mp.log(10)),
        _ratio("WIDE_RATIO_F32", WIDE, 3, 24),
    ]


def _polynomials_f64() -> list[Fit | Table]:
    return [
        _ratio("LOG_RATIO_F64", NARROW, 7, 53),
        _ratio("LOG2_RATIO_F64", NARROW, 7, 53, mp.log(2)),
        _ratio("LOG10_RATIO_F64", NARROW, 7, 53, mp.log(10)),
        _ratio("WIDE_RATIO_F64", WIDE, 8, 53),
    ]


def _constants() -> list[Fit | Table]:
    log10_2, log10_e = mp.log10(2), 1 / mp.log(10)
    return [
        Table("LN2_NEAREST_F32", "log(2) to 24 bits, which happen to be right to 28", (_nearest_f32(mp.log(2)),)),
        Table("LN2_NEAREST_F64", "log(2) to 53 bits", (float(mp.log(2)),)),
        Table("LN10_NEAREST_F64", "log(10) to 53 bits", (float(mp.log(10)),)),
        Table(
            "LOG2_E_F32", "1 / log(2) in two parts, the first the nearest float", _nearest_parts_f32(1 / mp.log(2))
        ),
        Table("LOG10_E_F32", "1 / log(10) in two parts, the same way", _nearest_parts_f32(log10_e)),
        Table("LOG10_2_F32", "log10(2) in two parts, both positive", _parts_f32(log10_2)),
        Table("LOG10_E_F64", "1 / log(10) in two parts", pieces(log10_e, 53, 53)),
        Table(
            "LOG10_2_F64",
            "log10(2) in two parts; products of the first with 11-bit integers are exact",
            pieces(log10_2, 42, 53),
        ),
    ]


def _ratio(name: str, largest: Real, count: int, bits: int, divisor: Real = 1, factor: Real = 1) -> Fit:
    """The series of the inverse hyperbolic tangent after its first term."""
    tiny = mp.mpf(10) ** -9
    square = "s**2" if divisor == 1 else f"(s / {mp.nstr(divisor, 6)})**2, times the square of that number"
    times = "" if factor == 1 else f"{mp.nstr(factor, 6)} times "
    return Fit(
        name,
        f"{times}(2 atanh(s) / s - 2) / s**2 for |s| <= {mp.nstr(largest, 6)}, in {square}",
        at_root(lambda t: factor * (2 * mp.atanh(t * divisor) / t / divisor - 2) / t**2),
        lambda z: z / (2 * factor),
        *(tiny, (largest / divisor) ** 2 * mp.mpf("1.0001"), count, bits),
    )


def _nearest_f32(value: Real) -> float:
    return float(mp.ldexp(mp.nint(mp.ldexp(value, 24 - mp.frexp(value)[1])), mp.frexp(value)[1] - 24))


def _parts_f32(value: Real) -> tuple[float, float]:
    high = pieces(value, 24, 1)[0]
    return high, _nearest_f32(value - high)


def _nearest_parts_f32(value: Real) -> tuple[float, float]:
    high = _nearest_f32(value)
    rest = value - high
    return high, float(mp.sign(rest)) * _nearest_f32(abs(rest))
