"""Numbers derived from their definitions by tools/coefficients/logarithm.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (log(1 + a) - a + a**2/2) / a**3 in a, sqrt(1/2) <= 1 + a <= sqrt(2).
# Largest error of the function 2**-27.21.
LOG_TAIL_F32 = (
    0.3333333134651184,
    -0.2500081956386566,
    0.20001226663589478,
    -0.16623356938362122,
    0.14201754331588745,
    -0.13160182535648346,
    0.12761595845222473,
    -0.07634516060352325,
)

# (2 atanh(s) / s - 2) / s**2 in s**2, |s| <= 3 - sqrt(8).
# Largest error of the function 2**-59.31.
LOG_RATIO_F64 = (
    0.666666666666671,
    0.3999999999954502,
    0.2857142871774931,
    0.22222200807770104,
    0.18183459129129786,
    0.15316529750870717,
    0.1477282128207273,
)
