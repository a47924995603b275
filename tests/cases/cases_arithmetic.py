"""Cases of elementwise binary arithmetic, on every class of element types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.helpers.case_values import (
    COMPLEX,
    EIGHT_BIT,
    FLOATS,
    INTEGERS,
    every,
    exactly,
    float_edges,
    float_pairs,
    inf,
    integer_edges,
    integers,
    nan,
    pairs,
    truncated,
    width,
    wrapped,
)
from tests.helpers.harness import Case, array
from xjit import ops


def _quotient(x: int, y: int) -> int:
    return -1 if y == 0 else truncated(x, y)


def _rest(x: int, y: int) -> int:
    return x if y == 0 else x - truncated(x, y) * y


def _numpy_rest(x: int, y: int) -> int:
    return 0 if y == 0 else x - truncated(x, y) * y


def _shifted_right(dtype: str, x: int, amount: int, *, arithmetic: bool) -> int:
    amount &= (1 << width(dtype)) - 1
    if not arithmetic:
        return 0 if amount >= width(dtype) else (x & ((1 << width(dtype)) - 1)) >> amount
    top = x if dtype[0] == "s" else wrapped(x, "s" + dtype[1:])
    return top >> min(amount, width(dtype) - 1)


def _shifted_left(dtype: str, x: int, amount: int) -> int:
    amount &= (1 << width(dtype)) - 1
    return 0 if amount >= width(dtype) else x << amount


def _power(x: int, y: int) -> int:
    if y >= 0:
        return pow(x, y, 1 << 64)
    return 1 if x == 1 else ((1 if y % 2 == 0 else -1) if x == -1 else 0)


INTEGER_RULES: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _quotient,
    "rem": _rest,
    "max": lambda x, y: x if x > y else y,
    "min": lambda x, y: x if x < y else y,
    "and_": lambda x, y: x & y,
    "or_": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "pow": _power,
    "floor_divide": lambda x, y: 0 if y == 0 else x // y,
    "remainder": lambda x, y: 0 if y == 0 else x % y,
    "fmod": _numpy_rest,
}


def _integer_cases() -> list[Case]:
    found = []
    for dtype in INTEGERS:
        xs, ys = pairs(integer_edges(dtype))
        operands = integers(dtype, xs), integers(dtype, ys)
        rules = dict(INTEGER_RULES)
        rules["shift_left"] = lambda x, y, dtype=dtype: _shifted_left(dtype, x, y)
        rules["shift_right_logical"] = lambda x, y, d=dtype: _shifted_right(d, x, y, arithmetic=False)
        rules["shift_right_arithmetic"] = lambda x, y, d=dtype: _shifted_right(d, x, y, arithmetic=True)
        for name, rule in rules.items():
            expected = [wrapped(rule(x, y), dtype) for x, y in zip(xs, ys, strict=True)]
            found.append(Case(name, getattr(ops, name), operands, integers(dtype, expected)))
    return found


def _larger(x: Any, y: Any) -> Any:
    ordered = np.where((x > y) | ((x == y) & ~np.signbit(x)), x, y)
    return np.where(np.isnan(x) | np.isnan(y), nan, ordered)


def _smaller(x: Any, y: Any) -> Any:
    return -_larger(-x, -y)


def _c_remainder(x: float, y: float) -> float:
    return nan if y == 0 or math.isinf(x) or math.isnan(x + y) else math.fmod(x, y)


def _python_remainder(x: float, y: float) -> float:
    if y == 0 or math.isinf(x) or math.isnan(x + y):
        return nan
    if math.isinf(y):
        return math.copysign(0.0, y) if x == 0 else (x if (x < 0) == (y < 0) else y)
    return x % y


def _each(function: Callable[[float, float], float]) -> Callable[[Any, Any], Any]:
    return np.vectorize(function, otypes=[np.float64])


FLOAT_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rem": _each(_c_remainder),
    "fmod": _each(_c_remainder),
    "max": _larger,
    "min": _smaller,
    "copysign": lambda x, y: np.where(np.signbit(x) == np.signbit(y), x, -x),
    "remainder": _each(_python_remainder),
}


def _float_cases() -> list[Case]:
    found = []
    for dtype in FLOATS:
        operands = float_pairs(every(dtype) if dtype in EIGHT_BIT else float_edges(dtype))
        for name, rule in FLOAT_RULES.items():
            found.append(Case(name, getattr(ops, name), operands, exactly(dtype, rule, *operands)))
    return found


def _floor_cases() -> list[Case]:
    """Floor division, where the quotient of the exact remainder decides: literals checked by hand."""
    x = [7.0, -7.0, 7.0, -7.0, 1.0, -1.0, 0.0, -0.0, 1.0, 0.0, inf, 1.0, -1.0, nan, 0.3, 1.0, 6.0]
    y = [2.0, 2.0, -2.0, -2.0, 0.0, 0.0, 5.0, 5.0, inf, 0.0, 2.0, -inf, inf, 1.0, 0.1, 0.1, 0.1]
    want = [3.0, -4.0, -4.0, 3.0, inf, -inf, 0.0, -0.0, 0.0, nan, nan, -1.0, -1.0, nan, 2.0, 9.0, 59.0]
    found = [Case("floor_divide", ops.floor_divide, (array("f64", x), array("f64", y)), array("f64", want))]
    operands = array("f32", x[:14]), array("f32", y[:14])
    found.append(Case("floor_divide", ops.floor_divide, operands, array("f32", want[:14])))
    for dtype in ("f16", "bf16", "f8e5m2"):
        operands = array(dtype, x[:14]), array(dtype, y[:14])
        found.append(Case("floor_divide", ops.floor_divide, operands, array(dtype, want[:14])))
    return found


def _complex_cases() -> list[Case]:
    found = []
    x = [1 + 2j, -3 + 0.5j, 0j, 2 - 1j, 1e-3j, 5 + 0j, complex(inf, 1)]
    y = [1 + 1j, 2 - 4j, 1 + 1j, 1e3 + 1e-3j, -2 + 0j, 0.25j, 1 + 0j]
    for dtype in COMPLEX:
        operands = array(dtype, x[:6]), array(dtype, y[:6])
        exact = [a * b for a, b in zip(x[:6], y[:6], strict=True)]
        ratio = [a / b for a, b in zip(x[:6], y[:6], strict=True)]
        found += [
            Case("add", ops.add, operands, array(dtype, [a + b for a, b in zip(x[:6], y[:6], strict=True)]), 1),
            Case("sub", ops.sub, operands, array(dtype, [a - b for a, b in zip(x[:6], y[:6], strict=True)]), 1),
            Case("mul", ops.mul, operands, array(dtype, exact), 4),
            Case("div", ops.div, operands, array(dtype, ratio), 4),
            Case(
                "pow",
                ops.pow,
                (array(dtype, [2j, 0j, 1 + 1j]), array(dtype, [2, 0, 2])),
                array(dtype, [-4, 1, 2j]),
                8,
            ),
        ]
    zero_divisor = array("c128", [1 + 1j, 0j]), array("c128", [0j, 0j])
    found.append(
        Case("div", ops.div, zero_divisor, np.array([complex(inf, inf), complex(nan, nan)]), label="by_zero")
    )
    huge = array("c128", [1e300 + 1e300j, 1e-300 + 1e-300j]), array("c128", [1e300 + 1e300j, 1e-300 - 1e-300j])
    found.append(Case("div", ops.div, huge, np.array([1 + 0j, 1j]), 2, label="scaled"))
    return found


def _pred_cases() -> list[Case]:
    x, y = array("pred", [1, 1, 0, 0]), array("pred", [1, 0, 1, 0])
    tables = {
        "add": [1, 1, 1, 0],
        "mul": [1, 0, 0, 0],
        "max": [1, 1, 1, 0],
        "min": [1, 0, 0, 0],
        "and_": [1, 0, 0, 0],
        "or_": [1, 1, 1, 0],
        "xor": [0, 1, 1, 0],
    }
    return [Case(name, getattr(ops, name), (x, y), array("pred", want)) for name, want in tables.items()]


def _error_cases() -> list[Case]:
    found = []
    refused = {
        "sub": "pred",
        "div": "pred",
        "rem": "c64",
        "max": "c64",
        "min": "c128",
        "and_": "f32",
        "or_": "c64",
        "xor": "f64",
        "shift_left": "f32",
        "shift_right_logical": "pred",
        "shift_right_arithmetic": "f16",
        "pow": "pred",
        "floor_divide": "c64",
        "remainder": "pred",
        "fmod": "c64",
        "copysign": "s32",
        "complex": "f16",
    }
    for name, dtype in refused.items():
        operand = array(dtype, [1])
        found.append(Case(name, getattr(ops, name), (operand, operand), ops.DTypeError, label="class"))
    x, y = array("s32", [1]), array("f32", [1])
    for name in ("add", "mul", "eq", "max"):
        found.append(Case(name, getattr(ops, name), (x, y), ops.DTypeError, label="types_differ"))
    return found


def _power_cases() -> list[Case]:
    x = [0, -0.0, -8, 2, 1, nan, -1, -1, 2, 0.5, inf, -inf, -inf, -2, -2, 0, -0.0, -0.0, 2, nan, 4, 1.5]
    y = [0, -1, 0.5, 0.5, nan, 0, inf, 3, inf, inf, -1, 3, 0.5, 3, -2, -2, 3, -3, -1074, 1, -0.5, 2.5]
    with np.errstate(all="ignore"):
        want = np.array(x, np.float64) ** np.array(y, np.float64)
    return [
        Case("pow", ops.pow, (array(dtype, x), array(dtype, y)), array(dtype, want), 1)
        for dtype in ("f32", "f64", "f16", "bf16", "f8e5m2")
    ]


def _angle_cases() -> list[Case]:
    """C99's table of zeros and infinities, then points of every quadrant."""
    pi = math.pi
    table = [
        *((0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, pi), (-0.0, -0.0, -pi)),
        *((0.0, -2.0, pi), (-0.0, -2.0, -pi), (3.0, 0.0, pi / 2), (-3.0, -0.0, -pi / 2), (1.0, -inf, pi)),
        *((-1.0, -inf, -pi), (1.0, inf, 0.0), (-1.0, inf, -0.0), (inf, 5.0, pi / 2), (-inf, 5.0, -pi / 2)),
        *((inf, inf, pi / 4), (-inf, inf, -pi / 4), (inf, -inf, 3 * pi / 4), (-inf, -inf, -3 * pi / 4)),
        *((nan, 1.0, nan), (1.0, nan, nan), (1.0, 1.0, pi / 4), (1.0, -1.0, 3 * pi / 4), (-1.0, -1.0, -3 * pi / 4)),
        (math.sqrt(3.0), 1.0, pi / 3),
    ]
    y, x, angle = zip(*table, strict=True)
    return [
        Case("atan2", ops.atan2, (array(dtype, y), array(dtype, x)), array(dtype, angle), 2)
        for dtype in ("f32", "f64", "f16", "bf16")
    ]


def _length_cases() -> list[Case]:
    x = [3.0, -5.0, 0.0, -0.0, inf, nan, nan, 8.0, 0.0, 20.0]
    y = [4.0, 12.0, 0.0, -0.0, nan, -inf, 1.0, -15.0, 2.0, 21.0]
    want = [5.0, 13.0, 0.0, 0.0, inf, inf, nan, 17.0, 2.0, 29.0]
    found = [
        Case("hypot", ops.hypot, (array(dtype, x), array(dtype, y)), array(dtype, want))
        for dtype in ("f32", "f64", "f16", "bf16")
    ]
    for dtype, large, small in (("f32", 2.0**125, 2.0**-147), ("f64", 2.0**1021, 2.0**-1072)):
        edges = array(dtype, [3 * large, 3 * small]), array(dtype, [4 * large, 4 * small])
        found.append(Case("hypot", ops.hypot, edges, array(dtype, [5 * large, 5 * small]), label="edges"))
    return found


def _scalar_cases() -> list[Case]:
    """Bare Python scalars take the element type of the other operand when their kind fits."""
    x = array("f32", [1, 2])
    return [
        Case("add", lambda a: ops.add(a, 1), (x,), array("f32", [2, 3]), label="int_to_float"),
        Case("sub", lambda a: ops.sub(0.5, a), (x,), array("f32", [-0.5, -1.5]), label="float_first"),
        Case("mul", lambda a: ops.mul(a, 2j), (array("c64", [1j]),), array("c64", [-2]), label="complex"),
        Case("or_", lambda a: ops.or_(a, True), (array("pred", [0]),), array("pred", [1]), label="bool"),
        Case("add", lambda a: ops.add(a, 1.5), (array("s32", [1]),), ops.DTypeError, label="float_to_int"),
        Case("add", lambda a: ops.add(a, 1j), (x,), ops.DTypeError, label="complex_to_float"),
        Case("add", lambda a: ops.add(a, True), (x,), ops.DTypeError, label="bool_to_float"),
        Case("add", lambda a: ops.add(a, [1, 2]), (x,), ops.DTypeError, label="list"),
        Case("add", lambda a: ops.add(a, np.array(["x"])), (x,), ops.DTypeError, label="text"),
    ]


CASES = [
    *_integer_cases(),
    *_float_cases(),
    *_floor_cases(),
    *_complex_cases(),
    *_pred_cases(),
    *_power_cases(),
    *_angle_cases(),
    *_length_cases(),
    *_scalar_cases(),
    *_error_cases(),
    *(
        Case(
            "complex",
            ops.complex,
            (array(part, [[1, -2.5, 0.0], [-0.0, inf, nan]]), array(part, [[-inf, 3, -0.0], [nan, 0.0, 1]])),
            np.array(
                [
                    [complex(1, -inf), complex(-2.5, 3), complex(0.0, -0.0)],
                    [complex(-0.0, nan), complex(inf, 0.0), complex(nan, 1)],
                ],
                whole,
            ),
        )
        for part, whole in (("f32", np.complex64), ("f64", np.complex128))
    ),
    Case(
        "complex",
        ops.complex,
        (array("f32", [1, -0.0, inf]), array("f32", [-2, 0.0, nan])),
        np.array([complex(1, -2), complex(-0.0, 0.0), complex(inf, nan)], np.complex64),
    ),
]
