"""Numbers of logarithms."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table, at_root, pieces

NARROW = 3 - mp.sqrt(8)
# Quotients of logarithms found from bit patterns leave up to this, found by trial, and a little more.
WIDE = mp.mpf("0.2050")
# What numbers of tables leave of m, and bits after the point of their logarithms, which whole numbers are added to.
BELOW, ABOVE = -mp.mpf(1) / 32, mp.mpf(1) / 16
PLACES = 16


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    return [*_polynomials_f32(), *_tables_f32(), *_polynomials_f64(), *_constants()]


def _polynomials_f32() -> list[Fit | Table]:
    return [
        _ratio("LOG_RATIO_F32", NARROW, 3, 24),
        _ratio("WIDE_RATIO_F32", WIDE, 3, 24),
    ]


def _tables_f32() -> list[Fit | Table]:
    scale = _nearest_f32(1 / mp.log(10))
    # A little more than what is left, as the last number of the first interval is left to rounding.
    low, high = BELOW * mp.mpf("1.0001"), ABOVE * mp.mpf("1.0001")
    in_m = "m in sixteenths of 1 to 2, halved from 3/2 on"
    return [
        Fit(
            "LOG2_CURVE_F32",
            "1.4427 times (log(1 + r) - r) / r**2 for -1/32 <= r <= 1/16",
            lambda r: (mp.log1p(r) - r) / r**2 / mp.log(2),
            lambda r: r * mp.log(2),
            *(low, high, 4, 24),
        ),
        _numbers("LOG2_INVERSE_F32", f"numbers near 1 / m, {in_m}", 2, 1, inverse=True),
        _numbers("LOG2_PART_F32", "their logarithms to base 2 less what is halved, negated, all 16 bits long", 2, 1),
        Fit(
            "LOG10_CURVE_F32",
            "(log10(1 + r / s) - r) / r for -s/32 <= r <= s/16, s the nearest float to 1 / log(10)",
            lambda r: mp.log1p(r / scale) / mp.log(10) / r - 1,
            lambda _: mp.mpf(1),
            *(low * scale, high * scale, 5, 24),
        ),
        _numbers("LOG10_INVERSE_F32", "numbers near s / m, for the same m", 10, scale, inverse=True),
        _numbers("LOG10_PART_F32", "logarithms to base 10 of these over s, negated, 16 bits long", 10, scale),
    ]


def _numbers(name: str, meaning: str, base: int, scale: Real, *, inverse: bool = False) -> Table:
    """One of a pair of tables: numbers near ``scale / m``, or what makes up for them in the logarithm."""
    pairs = [_pair(place, base, mp.mpf(scale)) for place in range(16)]
    # Where m is half of what the exponent counts, a logarithm to base 2 is one less than that of the whole.
    wholes = [1 if base == 2 and place >= 8 else 0 for place in range(16)]
    if inverse:
        return Table(name, meaning, tuple(float(number) for number, _ in pairs))
    return Table(name, meaning, tuple(float(part + whole) for (_, part), whole in zip(pairs, wholes, strict=True)))


def _pair(place: int, base: int, scale: Real) -> tuple[Real, Real]:
    """The number, and its logarithm over scale negated: the short one that some float comes closest to."""
    if place in (0, 15):
        return scale, mp.mpf(0)
    low, high = (mp.mpf(16 + place + end) / (32 if place >= 8 else 16) for end in range(2))
    step = mp.ldexp(1, -PLACES)
    middle = int(mp.nint(mp.log((low + high) / 2, base) / step))
    candidates = []
    for part in (step * (middle + away) for away in range(-400, 401)):
        number = mp.mpf(_nearest_f32(scale / mp.mpf(base) ** part))
        if low * number / scale - 1 >= BELOW and high * number / scale - 1 <= ABOVE:
            candidates.append((abs(number / scale * mp.mpf(base) ** part - 1), number, part))
    _, number, part = min(candidates)
    return number, part


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
        Table("LOG10_E_NEAREST_F32", "1 / log(10) to 24 bits", (_nearest_f32(log10_e),)),
        Table(
            "LOG10_2_F32", "log10(2) in two parts, the first 16 bits long, both positive", _short_parts_f32(log10_2)
        ),
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


def _short_parts_f32(value: Real) -> tuple[float, float]:
    high = mp.ldexp(mp.floor(mp.ldexp(value, PLACES)), -PLACES)
    return float(high), _nearest_f32(value - high)


def _nearest_parts_f32(value: Real) -> tuple[float, float]:
    high = _nearest_f32(value)
    rest = value - high
    return high, float(mp.sign(rest)) * _nearest_f32(abs(rest))
