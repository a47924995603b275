"""Numbers derived from their definitions by tools/coefficients/power.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# 2 / log(2) in two parts.
SCALE_F64 = (
    2.8853900817779268,
    4.0710547481862066e-17,
)

# 2 / log(2) in two parts of f32.
SCALE_F32 = (
    2.885390043258667,
    3.851925982253235e-08,
)

# 2 / (3 log(2)) in two parts of f32.
CUBIC_F32 = (
    0.9617966413497925,
    5.2576183124437864e-08,
)

# 2 / (3 log(2)) in two parts.
CUBIC_F64 = (
    0.9617966939259756,
    5.0577616648125907e-17,
)

# (2 atanh(s) / (s log(2)) - 2 / log(2) - 2 s**2 / (3 log(2))) / s**4 in s**2, |s| <= 3 - sqrt(8).
# Largest error of the function 2**-65.56.
LOG2_TAIL_F64 = (
    0.577078016355591,
    0.41219858310294466,
    0.3205989005472648,
    0.2623078367162545,
    0.22197830576585567,
    0.1913773217486159,
    0.18933120703584277,
)

# The same for numbers of f32.
# Largest error of the function 2**-36.07.
LOG2_TAIL_F32 = (
    0.5770793557167053,
    0.4119220972061157,
    0.33631160855293274,
)

# 2**r in r, |r| <= 1/2.
# Largest error of the function 2**-27.42.
EXP2_F32 = (
    1.0,
    0.6931472420692444,
    0.24022653698921204,
    0.055502817034721375,
    0.009617707692086697,
    0.0013413479318842292,
    0.00015560156316496432,
)

# The same.
# Largest error of the function 2**-55.19.
EXP2_F64 = (
    1.0,
    0.6931471805599457,
    0.24022650695910133,
    0.05550410866479769,
    0.009618129107593396,
    0.0013333558150832071,
    0.00015403530457956565,
    1.5252730270454395e-05,
    1.3215434889449836e-06,
    1.0179364607060919e-07,
    7.073846690674953e-09,
    4.2778075732413743e-10,
)
