"""Complement and inverse of the error function of kernels: literal values, thresholds, how they fit together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.vector_functions import apply, check_literal_value, check_special_value, check_threshold, truth
from tests.helpers.vector_loops import same_class, units
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")

# (function, arguments, true value rounded once), computed with 80 digits.
TRUE_VALUES = (
    ("erfc", (1e-310,), 1.0),
    ("erfc", (1e-08,), 0.9999999887162083),
    ("erfc", (-1e-08,), 1.0000000112837917),
    ("erfc", (0.1,), 0.887537083981715),
    ("erfc", (0.4816130791132155,), 0.4958058454881088),
    ("erfc", (0.5,), 0.4795001221869535),
    ("erfc", (-0.7,), 1.6778011938374184),
    ("erfc", (1.0,), 0.15729920705028513),
    ("erfc", (1.3405808829364947,), 0.057977545461312494),
    ("erfc", (2.0,), 0.004677734981047266),
    ("erfc", (-2.5,), 1.999593047982555),
    ("erfc", (3.5,), 7.430983723414128e-07),
    ("erfc", (-5.5,), 1.9999999999999927),
    ("erfc", (8.25,), 1.8735664705504997e-31),
    ("erfc", (12.0,), 1.3562611692059042e-64),
    ("erfc", (20.91074877607474,), 3.397891112667703e-192),
    ("erfc", (26.0,), 5.663192408856143e-296),
    ("erfc", (26.5,), 2.2109076642637343e-307),
    ("erfc", (26.54,), 2.6455581744685104e-308),
    ("erfc", (27.2,), 1e-323),
    ("erf_inv", (1e-310,), 8.8622692545277e-311),
    ("erf_inv", (1e-08,), 8.86226925452758e-09),
    ("erf_inv", (0.1,), 0.08885599049425769),
    ("erf_inv", (-0.35,), -0.32085832171518147),
    ("erf_inv", (0.5,), 0.4769362762044699),
    ("erf_inv", (0.75,), 0.8134198475976185),
    ("erf_inv", (0.9,), 1.1630871536766743),
    ("erf_inv", (-0.99,), -1.8213863677184494),
    ("erf_inv", (0.998,), 2.1851242191330043),
    ("erf_inv", (0.99807,), 2.1925951873756473),
    ("erf_inv", (0.9999,), 2.75106390571208),
    ("erf_inv", (0.999999,), 3.458910737275499),
    ("erf_inv", (0.9999998,), 3.6764868620428297),
    ("erf_inv", (-0.99999999,), -4.052237243268763),
    ("erf_inv", (0.999999999999,), 5.042031898572696),
    ("erf_inv", (0.9999999999999999,), 5.8635847487551676),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    ("erfc", (NAN,), NAN),
    ("erfc", (INF,), 0.0),
    ("erfc", (-INF,), 2.0),
    ("erfc", (0.0,), 1.0),
    ("erfc", (-0.0,), 1.0),
    ("erfc", (1e-30,), 1.0),
    ("erfc", (30.0,), 0.0),
    ("erfc", (3e38,), 0.0),
    ("erfc", (-3e38,), 2.0),
    ("erf_inv", (NAN,), NAN),
    ("erf_inv", (INF,), NAN),
    ("erf_inv", (-INF,), NAN),
    ("erf_inv", (0.0,), 0.0),
    ("erf_inv", (-0.0,), -0.0),
    ("erf_inv", (1.0,), INF),
    ("erf_inv", (-1.0,), -INF),
    ("erf_inv", (1.0000001192092896,), NAN),
    ("erf_inv", (-3e38,), NAN),
)

# (function, arguments, result): the last argument before a change, the first after it, subnormal results.
THRESHOLDS = (
    ("erfc_f32", ("0x1.41bbf60000000p+3",), "0x1.0000000000000p-149"),
    ("erfc_f32", ("0x1.41bbf80000000p+3",), "0x0.0p+0"),
    ("erfc_f64", ("0x1.b39dc41e48bfcp+4",), "0x0.0000000000001p-1022"),
    ("erfc_f64", ("0x1.b39dc41e48bfdp+4",), "0x0.0p+0"),
    ("erfc_f32", ("-0x1.ea8f940000000p+1",), "0x1.fffffe0000000p+0"),
    ("erfc_f32", ("-0x1.ea8f960000000p+1",), "0x1.0000000000000p+1"),
    ("erfc_f64", ("-0x1.7744f8f74e94ap+2",), "0x1.fffffffffffffp+0"),
    ("erfc_f64", ("-0x1.7744f8f74e94bp+2",), "0x1.0000000000000p+1"),
    ("erfc_f32", ("0x1.2639580000000p+3",), "0x1.003c020000000p-126"),
    ("erfc_f32", ("0x1.3000000000000p+3",), "0x1.a448000000000p-135"),
    ("erfc_f32", ("0x1.0000000000000p-149",), "0x1.0000000000000p+0"),
    ("erfc_f64", ("0x1.a8b12fc08d73ap+4",), "0x1.0000150d0fdb9p-1022"),
    ("erfc_f64", ("0x1.acccccccccccdp+4",), "0x0.000012bc9e6c8p-1022"),
    ("erfc_f64", ("0x0.0000000000001p-1022",), "0x1.0000000000000p+0"),
)


@pytest.mark.parametrize(("operation", "given", "true"), TRUE_VALUES)
def test_literal_values(operation: str, given: tuple[float, ...], true: float) -> None:
    check_literal_value(f"{operation}_f64", given, true)


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize(("operation", "given", "expected"), SPECIAL_VALUES)
def test_special_values(operation: str, given: tuple[float, ...], expected: float, kind: str) -> None:
    check_special_value(f"{operation}_{kind}", given, expected)


@pytest.mark.parametrize(("name", "given", "expected"), THRESHOLDS)
def test_thresholds(name: str, given: tuple[str, ...], expected: str) -> None:
    check_threshold(name, tuple(map(float.fromhex, given)), float.fromhex(expected))


@pytest.mark.parametrize("name", [f"{operation}_{kind}" for operation in ("erf", "erfc") for kind in KIND_NAMES])
def test_results_are_as_stated_where_they_count(name: str, rng: np.random.Generator) -> None:
    kind = name[-3:]
    last = 10.1 if kind == "f32" else 27.3
    x = np.concatenate([rng.uniform(-6.0, last, 40_000), rng.uniform(0.0, 2.0, 20_000)]).astype(KINDS[kind].dtype)
    result, true = apply(name, x), truth(name, x)
    assert same_class(result, true).all(), x[~same_class(result, true)][:5]
    error = units(result, true)
    worst = int(np.argmax(error))
    # The reference is a float64 itself.
    assert error[worst] <= VECTOR_FUNCTIONS[name].error + (kind == "f64"), f"{error[worst]} at {x[worst]!r}"


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_the_error_function_and_its_complement_add_up_to_one(kind: str, rng: np.random.Generator) -> None:
    x = rng.normal(size=20_000).astype(KINDS[kind].dtype) * KINDS[kind].dtype.type(3)
    total = apply(f"erf_{kind}", x).astype(np.longdouble) + apply(f"erfc_{kind}", x)
    assert np.abs(total - 1).max() <= 4 * np.finfo(x.dtype).eps


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_the_inverse_undoes_the_error_function(kind: str, rng: np.random.Generator) -> None:
    x = rng.uniform(-1.0, 1.0, 20_000).astype(KINDS[kind].dtype)
    there_and_back = apply(f"erf_{kind}", apply(f"erf_inv_{kind}", x))
    assert np.abs(there_and_back - x).max() <= 4 * np.finfo(x.dtype).eps
    assert apply(f"erf_inv_{kind}", -x).tobytes() == (-apply(f"erf_inv_{kind}", x)).tobytes()
