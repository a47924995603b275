"""Numbers derived from their definitions by tools/coefficients/hyperbolic.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (tanh(a) - a) / a**3 in a**2, |a| <= 0.7.
# Largest error of the function 2**-25.78.
TANH_TAIL_F32 = (
    -0.33333221077919006,
    0.13329598307609558,
    -0.053584542125463486,
    0.020147692412137985,
    -0.005181500222533941,
)
