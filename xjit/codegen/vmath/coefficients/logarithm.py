"""Numbers derived from their definitions by tools/coefficients/logarithm.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (2 atanh(s) / s - 2) / s**2 for |s| <= 0.171573, in s**2.
# Largest error of the function 2**-30.2.
LOG_RATIO_F32 = (
    0.6666677594184875,
    0.3997758626937866,
    0.29870694875717163,
)

# 1.4427 times (2 atanh(s) / s - 2) / s**2 for |s| <= 0.171573, in s**2.
# Largest error of the function 2**-30.16.
LOG2_RATIO_F32 = (
    0.9617983102798462,
    0.5767508149147034,
    0.4310295879840851,
)

# 0.434294 times (2 atanh(s) / s - 2) / s**2 for |s| <= 0.2, in s**2.
# Largest error of the function 2**-28.35.
LOG10_RATIO_F32 = (
    0.2895309031009674,
    0.17353256046772003,
    0.13188843429088593,
)

# (2 atanh(s) / s - 2) / s**2 for |s| <= 0.205, in s**2.
# Largest error of the function 2**-28.09.
WIDE_RATIO_F32 = (
    0.6666699647903442,
    0.39953094720840454,
    0.3045879006385803,
)

# (2 atanh(s) / s - 2) / s**2 for |s| <= 0.171573, in s**2.
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

# (2 atanh(s) / s - 2) / s**2 for |s| <= 0.171573, in (s / 0.693147)**2, times the square of that number.
# Largest error of the function 2**-59.31.
LOG2_RATIO_F64 = (
    0.32030200927880303,
    0.09233403943217745,
    0.03168726268632022,
    0.011841064730915118,
    0.004655123019013936,
    0.0018839292604710615,
    0.000873037015929593,
)

# (2 atanh(s) / s - 2) / s**2 for |s| <= 0.171573, in (s / 2.30259)**2, times the square of that number.
# Largest error of the function 2**-59.31.
LOG10_RATIO_F64 = (
    3.534598740318955,
    11.244049429429403,
    42.582003379036195,
    175.59517441711918,
    761.7867656910591,
    3402.105321674518,
    17397.693675297956,
)

# (2 atanh(s) / s - 2) / s**2 for |s| <= 0.205, in s**2.
# Largest error of the function 2**-61.83.
WIDE_RATIO_F64 = (
    0.6666666666666661,
    0.4000000000005843,
    0.28571428554239053,
    0.22222224550110345,
    0.18181648027439307,
    0.15391748567389396,
    0.13162333418019714,
    0.13921632282487467,
)

# Log(2) to 24 bits, which happen to be right to 28.
LN2_NEAREST_F32 = 0.6931471824645996

# Log(2) to 53 bits.
LN2_NEAREST_F64 = 0.6931471805599453

# Log(10) to 53 bits.
LN10_NEAREST_F64 = 2.302585092994046

# 1 / log(2) in two parts, the first the nearest float.
LOG2_E_F32 = (
    1.4426950216293335,
    1.925963033500011e-08,
)

# 1 / log(10) in two parts, the same way.
LOG10_E_F32 = (
    0.4342944920063019,
    -1.0103049952192578e-08,
)

# Log10(2) in two parts, both positive.
LOG10_2_F32 = (
    0.3010299801826477,
    1.5481333548450493e-08,
)

# 1 / log(10) in two parts.
LOG10_E_F64 = (
    0.4342944819032518,
    1.098319650216765e-17,
)

# Log10(2) in two parts; products of the first with 11-bit integers are exact.
LOG10_2_F64 = (
    0.30102999566395283,
    2.8363394551044964e-14,
)
