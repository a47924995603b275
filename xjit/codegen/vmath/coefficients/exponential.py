"""Numbers derived from their definitions by tools/coefficients/exponential.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (exp(r) - 1 - r) / r**2 in r, |r| <= log(2)/2.
# Largest error of the function 2**-28.18.
EXP_TAIL_F32 = (
    0.4999999403953552,
    0.166665181517601,
    0.041668254882097244,
    0.008368960581719875,
    0.0013821865431964397,
)

# The same.
# Largest error of the function 2**-57.87.
EXP_TAIL_F64 = (
    0.500000000000001,
    0.16666666666666427,
    0.04166666666653435,
    0.008333333333488126,
    0.0013888888942732063,
    0.00019841269516196388,
    2.480149387379352e-05,
    2.755758023375919e-06,
    2.763001574965049e-07,
    2.5001474226722615e-08,
)

# 2**r in r, |r| <= 1/2.
# Largest error of the function 2**-28.07.
EXP2_F32 = (
    1.0,
    0.6931471824645996,
    0.24022649228572845,
    0.055503588169813156,
    0.009618332609534264,
    0.0013391326647251844,
    0.00015373292262665927,
)

# The same.
# Largest error of the function 2**-57.66.
EXP2_F64 = (
    1.0,
    0.6931471805599453,
    0.2402265069591011,
    0.05550410866482196,
    0.009618129107600584,
    0.0013333558146478221,
    0.0001540353045024822,
    1.5252733701701812e-05,
    1.3215438256593347e-06,
    1.0178131925091717e-07,
    7.073329653443583e-09,
    4.443034967076507e-10,
)

# 1 / log(2).
LOG2_E = 1.4426950408889634

# 1 / log(2) in two parts.
LOG2_E_F32 = (
    1.4426950216293335,
    1.9259629911266175e-08,
)

# 1 / log(2) in two parts.
LOG2_E_F64 = (
    1.4426950408889634,
    2.0355273740931033e-17,
)

# Log(2) in two parts; products of the first with 9-bit integers are exact.
LN2_F32 = (
    0.693145751953125,
    1.4286068203094173e-06,
)

# Log(2) in two parts; products of the first with 11-bit integers are exact.
LN2_F64 = (
    0.6931471805598903,
    5.497923018708371e-14,
)
