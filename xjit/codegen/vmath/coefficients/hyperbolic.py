"""Numbers derived from their definitions by tools/coefficients/hyperbolic.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (tanh(a) - a) / a**3 in a**2, |a| <= 0.8.
# Largest error of the function 2**-27.81.
TANH_TAIL_F32 = (
    -0.3333330750465393,
    0.13332393765449524,
    -0.05386272445321083,
    0.02133161388337612,
    -0.007446437142789364,
    0.0016027995152398944,
)
