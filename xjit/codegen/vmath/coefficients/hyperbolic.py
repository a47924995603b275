"""Numbers derived from their definitions by tools/coefficients/hyperbolic.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (sinh(r) - r) / r**3 in r**2, |r| <= 0.483.
# Largest error of the function 2**-33.4.
SINH_TAIL_F32 = (
    0.1666666716337204,
    0.008333183825016022,
    0.0001995993370655924,
)

# The same.
# Largest error of the function 2**-55.86.
SINH_TAIL_F64 = (
    0.16666666666666882,
    0.008333333333187051,
    0.00019841270146639454,
    2.7557047113102614e-06,
    2.5160916243535458e-08,
)

# (cosh(r) - 1) / r**2 in r**2, |r| <= 0.483.
# Largest error of the function 2**-30.42.
COSH_TAIL_F32 = (
    0.5000000596046448,
    0.04166514053940773,
    0.00140008341986686,
)

# The same.
# Largest error of the function 2**-63.3.
COSH_TAIL_F64 = (
    0.5,
    0.04166666666666718,
    0.001388888888866767,
    2.480158764895884e-05,
    2.7557065781196046e-07,
    2.0964047172801204e-09,
)

# (sinh(r) - r) / r**3 in r**2, |r| <= log(2)/2.
# Largest error of the function 2**-25.84.
SHORT_SINH_TAIL_F32 = (
    0.1666652262210846,
    0.00836919154971838,
)

# The same.
# Largest error of the function 2**-61.54.
SHORT_SINH_TAIL_F64 = (
    0.16666666666666674,
    0.008333333333323286,
    0.00019841269882493208,
    2.755724746861877e-06,
    2.5108006907501753e-08,
)

# (cosh(r) - 1) / r**2 in r**2, |r| <= log(2)/2.
# Largest error of the function 2**-33.22.
SHORT_COSH_TAIL_F32 = (
    0.5,
    0.04166645556688309,
    0.001393577316775918,
)

# The same.
# Largest error of the function 2**-57.9.
SHORT_COSH_TAIL_F64 = (
    0.500000000000001,
    0.04166666666653387,
    0.0013888888942917902,
    2.480149364901655e-05,
    2.7630102003057365e-07,
)
