"""Numbers of the vector math functions, derived from their definitions by tools/derive_coefficients.py.

Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.
"""

from __future__ import annotations

# (exp(r) - 1 - r) / r**2 in r, |r| <= log(2)/2.
# Largest relative error of the function 2**-28.18.
EXP_TAIL_F32 = (
    0.4999999403953552,
    0.166665181517601,
    0.041668254882097244,
    0.008368960581719875,
    0.0013821865431964397,
)

# The same.
# Largest relative error of the function 2**-57.87.
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
# Largest relative error of the function 2**-27.42.
EXP2_F32 = (
    1.0,
    0.6931472420692444,
    0.24022653698921204,
    0.055502817034721375,
    0.009617709554731846,
    0.0013413483975455165,
    0.00015559255552943796,
)

# (log(1 + a) - a + a**2/2) / a**3 in a, sqrt(1/2) <= 1 + a <= sqrt(2).
# Largest relative error of the function 2**-27.21.
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
# Largest relative error of the function 2**-59.31.
LOG_RATIO_F64 = (
    0.666666666666671,
    0.3999999999954502,
    0.2857142871774931,
    0.22222200807770104,
    0.18183459129129786,
    0.15316529750870717,
    0.1477282128207273,
)

# (sin(r) - r) / r**3 in r**2, |r| <= pi/2.
# Largest relative error of the function 2**-27.08.
SINE_TAIL_F32 = (
    -0.16666661106347622,
    0.008333097183158125,
    -0.00019811486024332917,
    2.609380432067702e-06,
)

# The same.
# Largest relative error of the function 2**-61.56.
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

# (tanh(a) - a) / a**3 in a**2, |a| <= 0.7.
# Largest relative error of the function 2**-25.78.
TANH_TAIL_F32 = (
    -0.33333221077919006,
    0.13329598307609558,
    -0.053584542125463486,
    0.020147692412137985,
    -0.005181500222533941,
)

# 1 / log(2).
LOG2_E = 1.4426950408889634

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
