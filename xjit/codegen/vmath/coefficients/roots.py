"""Numbers derived from their definitions by tools/coefficients/roots.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# What the curvature of logarithms takes from the exponent and fraction of the guess.
INVERSE_CUBE_ROOT_GUESS = -0.06802234684545183

# ((1 - h)**(-2/3) - 1) / h in h, |h| <= 0.1029.
# Largest error of the function 2**-25.68.
CUBE_ROOT_F32 = (
    0.6666666865348816,
    0.5555360317230225,
    0.49380022287368774,
    0.4586198329925537,
    0.4288177192211151,
)

# ((1 - h)**(-1/3) - 1) / h in h, |h| <= 0.1021.
# Largest error of the function 2**-32.32.
INVERSE_CUBE_ROOT_F64 = (
    0.3333333456721165,
    0.2222222475056322,
    0.17282991106437223,
    0.14401994502050433,
    0.12667423584941973,
    0.11293317626953184,
)
