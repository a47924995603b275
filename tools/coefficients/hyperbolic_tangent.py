"""Numbers of the hyperbolic tangent."""

from __future__ import annotations

import mpmath as mp

from tools.coefficients.fitting import Fit, Real, Table, refit, rounded

# Intervals are those of 1 + a * SCALE, between 1 and 16, whose floats agree in the two bits after the leading one.
SCALE = mp.mpf(float.fromhex("0x1.a66666p+0"))
COUNT, DEGREE = 16, 5
TINY = mp.mpf(10) ** -6


def tables() -> list[Fit | Table]:
    """All numbers of the family."""
    intervals = [_interval(place) for place in range(COUNT)]
    centres = [_centre(low, high) for low, high in intervals]
    rows = [_row(*interval, *centre) for interval, centre in zip(intervals, centres, strict=True)]
    return [
        Table("SCALE_F32", "what sizes are multiplied by, to find their interval", (float(SCALE),)),
        Table("CENTRE_F32", "numbers of the intervals whose tangents are close to floats", _floats(centres, 0)),
        Table("VALUE_F32", "their tangents", _floats(centres, 1)),
        *(
            Table(
                f"SLOPE_{power}_F32",
                f"the factor of r**{power} in (tanh(c + r) - tanh(c)) / r",
                _floats(rows, power),
            )
            for power in range(DEGREE)
        ),
    ]


def _interval(place: int) -> tuple[Real, Real]:
    """Sizes whose float says this place, in the order in which the exponents of 1 to 8 have their last two bits."""
    octave, quarter = (place // 4 + 1) % 4, place % 4
    low, high = (mp.ldexp(1 + mp.mpf(quarter + end) / 4, octave) for end in range(2))
    return (low - 1) / SCALE, (high - 1) / SCALE


def _centre(low: Real, high: Real) -> tuple[Real, Real]:
    """A float in the interval, and the float that its tangent is close to; zero where the interval begins there.

    It is nearer to the low end, where the last place of the tangent counts more.
    """
    if low == 0:
        return mp.mpf(0), mp.mpf(0)
    middle, reach = (low * 2 + high) / 3, (high - low) / 64
    step = mp.ldexp(1, -24)
    first, last = (int(mp.nint(mp.tanh(middle + away) / step)) for away in (-reach, reach))
    # Of long runs of floats a thousand will do.
    stride = max(1, (last - first) // 1000)
    candidates = []
    for value in (step * count for count in range(first, last + 1, stride)):
        centre = rounded(mp.atanh(value), 24)
        candidates.append((abs(mp.tanh(centre) - value), centre, value))
    _, centre, value = min(candidates)
    return centre, value


def _row(low: Real, high: Real, centre: Real, value: Real) -> list[Real]:
    """The polynomial in r, with coefficients rounded as they are: each is looked up, so none makes up for another."""
    if centre == 0:
        # Numbers next to zero are their own tangents.
        fit = _fit(lambda r: (mp.tanh(r) / r - 1) / r, lambda r: r**2 / mp.tanh(r), TINY, high, DEGREE - 1)
        return [mp.mpf(1), *(rounded(c, 24) for c in refit(fit, []))]
    fit = _fit(
        lambda r: (mp.tanh(centre + r) - value) / r,
        lambda r: r / mp.tanh(centre + r),
        *(low - centre, high - centre, DEGREE),
    )
    return [rounded(c, 24) for c in refit(fit, [])]


def _fit(function: object, weight: object, low: Real, high: Real, count: int) -> Fit:
    return Fit("", "", function, weight, low, high, count, 24)  # type: ignore[arg-type]


def _floats(rows: list[tuple[Real, Real]] | list[list[Real]], column: int) -> tuple[float, ...]:
    return tuple(float(row[column]) for row in rows)
