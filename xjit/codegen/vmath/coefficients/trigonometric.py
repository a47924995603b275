"""Numbers derived from their definitions by tools/coefficients/trigonometric.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (sin(r) - r) / r**3 in r**2, |r| <= pi/2.
# Largest error of the function 2**-27.08.
SINE_TAIL_F32 = (
    -0.16666661106347622,
    0.008333097183158125,
    -0.00019811486024332917,
    2.609380432067702e-06,
)

# The same.
# Largest error of the function 2**-61.56.
SINE_TAIL_F64 = (
    -0.16666666666666666,
    0.008333333333333208,
    -0.00019841269841213352,
    2.7557319211738482e-06,
    -2.5052106920804983e-08,
    1.6058941850441223e-10,
    -7.643041798189378e-13,
    2.7216577267458826e-15,
)

# (tan(r) / r * (1 - 0.4053 * r**2) - 1) / r**2 in r**2, |r| <= pi/4.
# Largest error of the function 2**-27.74.
TANGENT_TAIL_F32 = (
    -0.07195153832435608,
    -0.0017602220177650452,
    -7.34412096790038e-05,
)

# (tan(r) / r * (1 - 0.4053 * r**2) - 1) / r**2 in r**2, |r| <= pi/4.
# Largest error of the function 2**-56.29.
TANGENT_TAIL_F64 = (
    -0.07195140123601858,
    -0.001761578189742779,
    -6.971064161894703e-05,
    -3.020944182750301e-06,
    -1.3434251542201724e-07,
    -5.991277614195605e-09,
    -3.022467430589368e-10,
)

# (2 / pi)**2, the pole of the first of these.
POLE_F32 = 0.40528473258018494

# The same, of the second.
POLE_F64 = 0.4052847345693511

# 1 / pi.
INVERSE_PI = 0.3183098861837907

# Pi in two parts; products of the first with 24-bit integers are exact.
PI_F32 = (
    3.141592651605606,
    1.984187159361081e-09,
)

# Pi in four parts; products of all but the last with 24-bit integers are exact.
PI_F64 = (
    3.141592651605606,
    1.984187036896401e-09,
    1.224646798818428e-16,
    3.2892513872648515e-26,
)

# Pi as a float and the rest.
PI_PAIR = (
    3.141592653589793,
    1.2246467991473532e-16,
)

# Pi / 2 in four parts; products of all but the last with 12-bit integers are exact.
HALF_PI_PARTS_F32 = (
    1.5703125,
    0.0004837512969970703,
    7.549533620476723e-08,
    2.563344151594519e-12,
)

# Binary digits of 1 / pi from weight 2**-1 on.
INVERSE_PI_WORDS_F32 = (
    0x517CC1B7,
    0x27220A94,
    0xFE13ABE8,
    0xFA9A6EE0,
    0x6DB14ACC,
    0x9E21C820,
    0xFF28B1D5,
)

# Binary digits of 1 / pi from weight 2**28 on.
INVERSE_PI_WORDS_F64 = (
    0x28BE60DB9,
    0x391054A7F09D5F47,
    0xD4D377036D8A5664,
    0xF10E4107F9458EAF,
    0x7AEF1586DC91B8E9,
    0x9374B801924BBA8,
    0x27464873F877AC72,
    0xC4A69CFBA208D7D4,
    0xBAED1213A671C09A,
    0xD17DF904E64758E6,
    0xD4CE7D272117E2E,
    0xF7E4A0EC7FE25FFF,
    0x7816603FBCBC462D,
    0x6829B47DB4D9FB3C,
    0x9F2C26DD3D18FD9A,
    0x797FA8B5D49EEB1F,
    0xAF97C5ECF41CE7DE,
    0x294A4BA9AFED7EC4,
    0x7E357421580CC11B,
)
