"""The elementary functions of kernels: true values, special values, vector code, one result for every way to run."""

from __future__ import annotations

import importlib
import math
import re

import numpy as np
import pytest

from tests.helpers.vector_functions import (
    FAR_EDGES,
    HALF_LINES,
    NEAR_EDGES,
    REMAINDERS,
    WIDE_INSIDE,
    apply,
    arguments,
    check_special_value,
    check_threshold,
    compiled,
    parts,
    slack,
    truth,
)
from tests.helpers.vector_loops import AVX2, AVX512, SSE2, same_class, units
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")
WITHOUT_FMA = 4.0

# (function, argument, true value rounded once), computed with 1400 bits.
TRUE_VALUES = (
    ("exp", 1.0, 2.718281828459045),
    ("exp", -1.0, 0.36787944117144233),
    ("exp", 0.5, 1.6487212707001282),
    ("exp", 1e-09, 1.000000001),
    ("exp", -745.1, 5e-324),
    ("exp", -708.5, 2.006132305331306e-308),
    ("exp", -700.25, 7.678723813110872e-305),
    ("exp", 709.78, 1.7928227943945155e308),
    ("exp", 100.0, 2.6881171418161356e43),
    ("exp", -0.34657359027997264, 0.7071067811865476),
    ("log", 2.0, 0.6931471805599453),
    ("log", 0.5, -0.6931471805599453),
    ("log", 10.0, 2.302585092994046),
    ("log", 1.0000000000000002, 2.2204460492503128e-16),
    ("log", 0.9999999999999999, -1.1102230246251565e-16),
    ("log", 5e-324, -744.4400719213812),
    ("log", 2.2250738585072014e-308, -708.3964185322641),
    ("log", 1.7976931348623157e308, 709.782712893384),
    ("log", 1.4142135623730951, 0.3465735902799727),
    ("log", 0.7071067811865475, -0.34657359027997275),
    ("log", 3.0, 1.0986122886681098),
    ("tanh", 1e-300, 1e-300),
    ("tanh", 1e-05, 9.999999999666668e-06),
    ("tanh", 0.1733, 0.17158569137000115),
    ("tanh", 0.18, 0.1780808681173302),
    ("tanh", 0.5, 0.46211715726000974),
    ("tanh", 1.0, 0.7615941559557649),
    ("tanh", 5.5, 0.9999665971563038),
    ("tanh", 19.05, 0.9999999999999999),
    ("tanh", -0.7, -0.6043677771171635),
    ("tanh", 2e-08, 1.9999999999999997e-08),
    ("sin", 1.0, 0.8414709848078965),
    ("sin", 1e-310, 1e-310),
    ("sin", 0.5, 0.479425538604203),
    ("sin", 3.141592653589793, 1.2246467991473532e-16),
    ("sin", 1e22, -0.8522008497671888),
    ("sin", 1e300, -0.8178819121159085),
    ("sin", 1.7976931348623157e308, 0.004961954789184062),
    ("sin", 5.319372648326541e255, 1.0),
    ("sin", 134217728.5, -0.36027775456496614),
    ("sin", -11.0, 0.9999902065507035),
    ("sin", 100000.0, 0.03574879797201651),
    ("sin", 22.776546738526, -0.7071067811865476),
    ("cos", 1.0, 0.5403023058681398),
    ("cos", 1e-310, 1.0),
    ("cos", 0.5, 0.8775825618903728),
    ("cos", 1.5707963267948966, 6.123233995736766e-17),
    ("cos", 1e22, 0.523214785395139),
    ("cos", 1e300, -0.5753861119575491),
    ("cos", 1.7976931348623157e308, -0.9999876894265599),
    ("cos", 5.319372648326541e255, -4.687165924254628e-19),
    ("cos", 134217728.5, 0.9328450780090046),
    ("cos", -11.0, 0.004425697988050785),
    ("cos", 100000.0, -0.9993608074382124),
    ("exp2", 0.5, 1.4142135623730951),
    ("exp2", -0.5, 0.7071067811865476),
    ("exp2", 10.0, 1024.0),
    ("exp2", 1e-10, 1.0000000000693148),
    ("exp2", -1074.0, 5e-324),
    ("exp2", -1022.5, 1.5733648139913585e-308),
    ("exp2", 1023.999, 1.796447500688184e308),
    ("exp2", -3.7, 0.07694652583405726),
    ("expm1", 1.0, 1.7182818284590453),
    ("expm1", -1.0, -0.6321205588285577),
    ("expm1", 1e-09, 1.0000000005000001e-09),
    ("expm1", -1e-09, -9.999999995e-10),
    ("expm1", 0.35, 0.41906754859325723),
    ("expm1", -0.35, -0.29531191028128656),
    ("expm1", 1e-310, 1e-310),
    ("expm1", 50.0, 5.184705528587072e21),
    ("expm1", 709.78, 1.7928227943945155e308),
    ("expm1", -37.0, -0.9999999999999999),
    ("expm1", -2.5, -0.9179150013761012),
    ("log2", 8.0, 3.0),
    ("log2", 0.1, -3.321928094887362),
    ("log2", 10.0, 3.321928094887362),
    ("log2", 1.0000000000000002, 3.203426503814917e-16),
    ("log2", 0.9999999999999999, -1.6017132519074588e-16),
    ("log2", 5e-324, -1074.0),
    ("log2", 1.7976931348623157e308, 1024.0),
    ("log2", 3.0, 1.584962500721156),
    ("log1p", 1.0, 0.6931471805599453),
    ("log1p", -0.5, -0.6931471805599453),
    ("log1p", 1e-09, 9.999999995e-10),
    ("log1p", -1e-09, -1.0000000005000001e-09),
    ("log1p", 1e-310, 1e-310),
    ("log1p", 10000000000.0, 23.025850930040455),
    ("log1p", 1e300, 690.7755278982137),
    ("log1p", -0.9999999999999999, -36.7368005696771),
    ("log1p", 0.41, 0.3435897043900769),
    ("log1p", 1.1102230246251565e-16, 1.1102230246251565e-16),
    ("erf", 0.1, 0.1124629160182849),
    ("erf", 0.5, 0.5204998778130465),
    ("erf", 0.8999, 0.7968580110475872),
    ("erf", 0.9001, 0.7969584047626428),
    ("erf", 1.0, 0.8427007929497149),
    ("erf", 2.0, 0.9953222650189527),
    ("erf", 3.5, 0.9999992569016276),
    ("erf", 5.5, 0.9999999999999927),
    ("erf", -0.3, -0.3286267594591274),
    ("erf", 1e-08, 1.1283791670955126e-08),
    ("erf", 1e-310, 1.1283791670955e-310),
    # Floats that come closest to multiples of pi/2, found with continued fractions.
    ("cos", 5.319372648326541e255, -4.687165924254628e-19),
    ("sin", 1.0638745296653083e256, -9.374331848509255e-19),
    ("cos", 3.576149729694266e39, -1.8208566377382172e-18),
    ("sin", 2.1277490593306166e256, 1.874866369701851e-18),
    ("cos", 3.924293714572882e298, 2.0149386674952238e-18),
    ("cos", 6.426511099577231e173, 2.4853662876185346e-18),
    ("cos", 1.3930726336834465e259, -3.147980759904577e-18),
    ("cos", 9.312926614229972e204, 3.256642416556317e-18),
    ("cos", 3.8281827772588983e59, 3.3424283366589732e-18),
    ("cos", 1.1248520745804428e89, 3.484913671047579e-18),
    ("sin", 7.152299459388533e39, 3.6417132754764345e-18),
    ("cos", 1.02775842605251e185, -3.690109012608127e-18),
    ("cos", 2.4543579181664426e76, 3.723331435833893e-18),
    ("sin", 4.255498118661233e256, 3.749732739403702e-18),
    # Small results where the words of the fixed-point product carry, which one in 4000 does.
    ("sin", 9.629719591221873e281, 3.4350088978240473e-13),
    ("cos", 1.5169040007418635e288, -4.3899866111284687e-13),
    ("sin", 1.8614028882298276e196, -2.8562233469658228e-12),
    ("sin", 256999136.84982425, 7.653463906466985e-12),
)

# (function, argument, result) in both precisions.
SPECIAL_VALUES = (
    ("exp", NAN, NAN),
    ("exp", INF, INF),
    ("exp", -INF, 0.0),
    ("exp", 0.0, 1.0),
    ("exp", -0.0, 1.0),
    ("exp", 800.0, INF),
    ("exp", -800.0, 0.0),
    ("exp", 3e38, INF),
    ("exp", -3e38, 0.0),
    ("log", NAN, NAN),
    ("log", INF, INF),
    ("log", -INF, NAN),
    ("log", 0.0, -INF),
    ("log", -0.0, -INF),
    ("log", 1.0, 0.0),
    ("log", -1.0, NAN),
    ("log", -1e-38, NAN),
    ("exp2", NAN, NAN),
    ("exp2", INF, INF),
    ("exp2", -INF, 0.0),
    ("exp2", 0.0, 1.0),
    ("exp2", -0.0, 1.0),
    ("exp2", 3.0, 8.0),
    ("exp2", -126.0, 2.0**-126),
    ("exp2", -149.0, 2.0**-149),
    ("exp2", 3e38, INF),
    ("exp2", -3e38, 0.0),
    ("expm1", NAN, NAN),
    ("expm1", INF, INF),
    ("expm1", -INF, -1.0),
    ("expm1", 0.0, 0.0),
    ("expm1", -0.0, -0.0),
    ("expm1", 800.0, INF),
    ("expm1", -800.0, -1.0),
    ("log2", NAN, NAN),
    ("log2", INF, INF),
    ("log2", -INF, NAN),
    ("log2", 0.0, -INF),
    ("log2", -0.0, -INF),
    ("log2", -1.0, NAN),
    ("log2", 1.0, 0.0),
    ("log2", 2.0**-149, -149.0),
    ("log2", 2.0**100, 100.0),
    ("log1p", NAN, NAN),
    ("log1p", INF, INF),
    ("log1p", -INF, NAN),
    ("log1p", 0.0, 0.0),
    ("log1p", -0.0, -0.0),
    ("log1p", -1.0, -INF),
    ("log1p", -1.5, NAN),
    ("erf", NAN, NAN),
    ("erf", INF, 1.0),
    ("erf", -INF, -1.0),
    ("erf", 0.0, 0.0),
    ("erf", -0.0, -0.0),
    ("erf", 3e38, 1.0),
    ("tanh", NAN, NAN),
    ("tanh", INF, 1.0),
    ("tanh", -INF, -1.0),
    ("tanh", 0.0, 0.0),
    ("tanh", -0.0, -0.0),
    ("tanh", 30.0, 1.0),
    ("tanh", -3e38, -1.0),
    ("sin", NAN, NAN),
    ("sin", INF, NAN),
    ("sin", -INF, NAN),
    ("sin", 0.0, 0.0),
    ("sin", -0.0, -0.0),
    ("cos", NAN, NAN),
    ("cos", INF, NAN),
    ("cos", -INF, NAN),
    ("cos", 0.0, 1.0),
    ("cos", -0.0, 1.0),
)

# (function, argument, result): the last argument before a change, and the first after it.
THRESHOLDS = (
    ("exp_f32", "0x1.62e42ep+6", "0x1.ffff08p+127"),
    ("exp_f32", "0x1.62e430p+6", "inf"),
    ("exp_f32", "-0x1.9fe368p+6", "0x1p-149"),
    ("exp_f32", "-0x1.9fe36ap+6", "0x0p+0"),
    ("exp_f64", "0x1.62e42fefa39efp+9", "0x1.fffffffffff2ap+1023"),
    ("exp_f64", "0x1.62e42fefa39f0p+9", "inf"),
    ("exp_f64", "-0x1.74910d52d3051p+9", "0x1p-1074"),
    ("exp_f64", "-0x1.74910d52d3052p+9", "0x0p+0"),
    ("exp2_f32", "0x1.fffffep+6", "0x1.ffff4ep+127"),
    ("exp2_f32", "0x1p+7", "inf"),
    ("exp2_f32", "-0x1.2bfffep+7", "0x1p-149"),
    ("exp2_f32", "-0x1.2cp+7", "0x0p+0"),
    ("exp2_f64", "0x1.fffffffffffffp+9", "0x1.ffffffffffd3ap+1023"),
    ("exp2_f64", "0x1p+10", "inf"),
    ("exp2_f64", "-0x1.0cbffffffffffp+10", "0x1p-1074"),
    ("exp2_f64", "-0x1.0ccp+10", "0x0p+0"),
    ("expm1_f32", "0x1.62e42ep+6", "0x1.ffff08p+127"),
    ("expm1_f32", "0x1.62e430p+6", "inf"),
    ("expm1_f64", "0x1.62e42fefa39efp+9", "0x1.fffffffffff2ap+1023"),
    ("expm1_f64", "0x1.62e42fefa39f0p+9", "inf"),
    ("expm1_f64", "0x1p-1074", "0x1p-1074"),
    ("log1p_f64", "0x1p-1074", "0x1p-1074"),
    ("log1p_f32", "0x1.fffffep+127", "0x1.62e430p+6"),
    ("log2_f64", "0x1p-1074", "-0x1.0c8p+10"),
    ("log_f32", "0x1p-149", "-0x1.9d1da0p+6"),
    ("log_f32", "0x1.fffffep+127", "0x1.62e430p+6"),
    ("tanh_f32", "0x1p-149", "0x1p-149"),
    ("tanh_f64", "0x1p-1074", "0x1p-1074"),
    ("sin_f32", "0x1p-149", "0x1p-149"),
    ("sin_f64", "0x1p-1074", "0x1p-1074"),
)


@pytest.mark.parametrize("name", sorted(VECTOR_FUNCTIONS))
def test_results_are_within_the_stated_error(name: str, rng: np.random.Generator) -> None:
    x = arguments(name, rng, 20_000)
    result, true = apply(name, *x), truth(name, *x)
    assert same_class(result, true).all(), [part[~same_class(result, true)][:5] for part in x]
    error = units(result, true)
    worst = int(np.argmax(error))
    place = [part[worst] for part in x]
    assert error[worst] <= VECTOR_FUNCTIONS[name].error + slack(name), f"{error[worst]} units at {place!r}"


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("name", sorted(VECTOR_FUNCTIONS))
def test_results_are_within_four_units_without_fused_multiply_add(name: str, rng: np.random.Generator) -> None:
    x = arguments(name, rng, 5_000)
    result, true = apply(name, *x, processor=SSE2), truth(name, *x)
    assert same_class(result, true).all(), [part[~same_class(result, true)][:5] for part in x]
    assert units(result, true).max() <= WITHOUT_FMA + slack(name)


@pytest.mark.parametrize(("operation", "argument", "true"), TRUE_VALUES)
def test_literal_values(operation: str, argument: float, true: float) -> None:
    result = apply(f"{operation}_f64", np.array([argument]))
    assert units(result, np.array([true], np.longdouble))[0] <= 1.6
    # No value may cross what the function cannot: sine, cosine and hyperbolic tangent stay within one.
    assert operation.startswith(("exp", "log")) or abs(result[0]) <= 1.0


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(("operation", "argument", "expected"), SPECIAL_VALUES)
def test_special_values(operation: str, argument: float, expected: float, kind: str) -> None:
    check_special_value(f"{operation}_{kind}", (argument,), expected)


@pytest.mark.parametrize(("name", "argument", "expected"), THRESHOLDS)
def test_thresholds(name: str, argument: str, expected: str) -> None:
    check_threshold(name, (float.fromhex(argument),), float.fromhex(expected))


@pytest.mark.parametrize(
    "name", ["sin_f64", "cos_f64", "sin_f32", "cos_f32", "tanh_f32", "tanh_f64", "erf_f32", "erf_f64"]
)
def test_results_do_not_exceed_one(name: str, rng: np.random.Generator) -> None:
    x = np.concatenate([rng.normal(size=200_000) * 1e-8 + k * np.pi / 2 for k in range(-4, 5)])
    assert np.abs(apply(name, x)).max() <= 1.0
    assert np.abs(apply(name, x * 20.0)).max() <= 1.0


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_powers_of_two_are_exact(kind: str) -> None:
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    exponents = np.arange(limits.minexp - limits.nmant, limits.maxexp)
    powers = np.ldexp(dtype.type(1), exponents)
    assert np.array_equal(apply(f"exp2_{kind}", exponents.astype(dtype)), powers)
    assert np.array_equal(apply(f"log2_{kind}", powers), exponents)


@pytest.mark.parametrize("name", [name for name, f in sorted(VECTOR_FUNCTIONS.items()) if f.near != name])
def test_variants_give_the_same_bits_where_they_are_right(name: str, rng: np.random.Generator) -> None:
    function = VECTOR_FUNCTIONS[name]
    dtype = KINDS[parts(name)[1]].dtype
    x = arguments(name, rng, 20_000)
    if parts(name)[0] in HALF_LINES:
        x = tuple(np.concatenate([part, -part]) for part in x)
    far = compiled(function.is_far)
    edges = [np.array(NEAR_EDGES.get(parts(name)[0], (0.0, -0.0, NAN)), dtype)] * len(x)
    near = [np.concatenate([part[~far(*x)], edge]) for part, edge in zip(x, edges, strict=True)]
    everywhere, only_near = apply(name, *near), apply(function.near, *near)
    nans = np.isnan(everywhere)
    assert np.array_equal(nans, np.isnan(only_near))
    assert np.where(nans, 0, everywhere).tobytes() == np.where(nans, 0, only_near).tobytes()
    assert apply(function.rare, *x).tobytes() == apply(name, *x).tobytes()
    far_edges = FAR_EDGES.get(parts(name)[0], ((INF, -INF),) * len(x))
    assert far(*x).any() and not far(*edges).any() and far(*map(np.array, far_edges)).all()
    # What is rare is called, so that the loop over it is short to compile.
    rare_ir = compiled(function.rare).module.llvm_ir
    assert rare_ir is not None and re.search(rf"define internal .*{function.rare}", rare_ir)
    # There is a reason for two: where an argument is far the variants differ.
    beyond = [part[far(*x)] for part in x]
    assert not np.array_equal(apply(name, *beyond), apply(function.near, *beyond))


@pytest.mark.parametrize("name", ["exp", "tanh", "sin", "cos", "log", "erf"])
def test_odd_and_even_functions_are_so_in_every_bit(name: str, rng: np.random.Generator) -> None:
    for kind in ("f32", "f64"):
        (x,) = arguments(f"{name}_{kind}", rng, 5_000)
        positive, negative = apply(f"{name}_{kind}", np.abs(x)), apply(f"{name}_{kind}", -np.abs(x))
        if name in ("sin", "tanh", "erf"):
            assert np.array_equal(positive, -negative)
        elif name == "cos":
            assert np.array_equal(positive, negative)
        elif name == "log":
            assert np.isnan(negative[x != 0.0]).all()
        else:
            assert (positive >= 1.0).all() and (negative <= 1.0).all()


@pytest.mark.parametrize("name", sorted(VECTOR_FUNCTIONS))
def test_text_means_the_same_uncompiled(name: str, rng: np.random.Generator) -> None:
    function = lookup(name)
    assert function is not None
    few = [part[:: 20 if VECTOR_FUNCTIONS[name].near != name else 10][:400] for part in arguments(name, rng, 40)]
    special = np.array([INF, -INF, NAN, 0.0, -0.0, 1e30, -1e30], few[0].dtype)
    # All pairs of special values, where there are two arguments.
    combined = [part.ravel() for part in np.meshgrid(*[special] * len(few))]
    x = [np.concatenate(pair) for pair in zip(few, combined, strict=True)]
    machine = apply(name, *x)
    with np.errstate(all="ignore"):
        plain = np.array([function(*values) for values in zip(*x, strict=True)])
    assert plain.dtype == machine.dtype
    nans = np.isnan(plain)
    assert np.array_equal(nans, np.isnan(machine))
    if llvm_pipeline.host().traits.fma:
        assert np.where(nans, 0, plain).tobytes() == np.where(nans, 0, machine).tobytes()


VECTORS = {AVX512: (16, 8), AVX2: (8, 4), SSE2: (4, 2)}


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("processor", list(VECTORS), ids=lambda processor: str(processor.cpu))
@pytest.mark.parametrize("name", [*sorted(VECTOR_FUNCTIONS), "sin_f32_near", "cos_f64_near"])
def test_loops_are_vector_code_without_library_calls(name: str, processor: llvm_pipeline.Target) -> None:
    operation, kind = parts(name)
    name = f"{name}_near" if operation in REMAINDERS else name
    module = compiled(name, processor, load=False).module
    assert module.externals == ()
    assert module.llvm_ir is not None
    lanes = VECTORS[processor][0 if kind == "f32" else 1]
    # What had its sign changed last is stored as the integer that its bits are.
    element = "(?:float|i32)" if kind == "f32" else "(?:double|i64)"
    # Functions that compute in f64 inside may hold half as many f32.
    stores = {int(count) for count in re.findall(rf"store <(\d+) x {element}>", module.llvm_ir)}
    assert stores and max(stores) >= lanes // (2 if operation in WIDE_INSIDE and kind == "f32" else 1), stores
    called = set(re.findall(r"call [^@]*@([\w.]+)\(", module.llvm_ir))
    assert all(callee.startswith("llvm.") for callee in called), called
    assert processor is not SSE2 or not any(callee.startswith("llvm.fma") for callee in called)


def test_coefficients_are_what_their_derivation_gives() -> None:
    pytest.importorskip("mpmath")
    derivation = importlib.import_module("tools.coefficients.__main__")
    assert derivation.main(["--check"]) == 0
