"""Cases of comparisons, and of the total order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tests.helpers.case_values import (
    COMPLEX,
    EIGHT_BIT,
    FLOATS,
    INTEGERS,
    every,
    float_edges,
    float_pairs,
    integer_edges,
    integers,
    pairs,
    width,
)
from tests.helpers.harness import Case, array
from xjit import ops

RELATIONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
}


def _integer_cases() -> list[Case]:
    found = []
    for dtype in ("pred", *INTEGERS):
        xs, ys = pairs([0, 1] if dtype == "pred" else integer_edges(dtype))
        make = array if dtype == "pred" else integers
        operands = make(dtype, xs), make(dtype, ys)
        for name, relation in RELATIONS.items():
            expected = array("pred", [relation(x, y) for x, y in zip(xs, ys, strict=True)])
            found.append(Case(name, getattr(ops, name), operands, expected))
            name = f"{name}_total_order"
            found.append(Case(name, getattr(ops, name), operands, expected))
    return found


def _places(values: Any, dtype: str) -> list[int]:
    """The place of each pattern in the total order, by walking through it: negatives downwards, positives upwards."""
    top = 1 << (width(dtype) - 1)
    order = [*range(2 * top - 1, top, -1), *range(top)] if "fnuz" in dtype else []
    order = [*order, top] if order else [*range(2 * top - 1, top - 1, -1), *range(top)]
    place = {pattern: number for number, pattern in enumerate(order)}
    return [place[int(pattern)] for pattern in values.view(f"u{width(dtype) // 8}")]


def _float_cases() -> list[Case]:
    found = []
    for dtype in FLOATS:
        x, y = float_pairs(every(dtype) if dtype in EIGHT_BIT else float_edges(dtype))
        wide = x.astype(np.float64), y.astype(np.float64)
        for name, relation in RELATIONS.items():
            expected = array("pred", [relation(a, b) for a, b in zip(*(w.tolist() for w in wide), strict=True)])
            found.append(Case(name, getattr(ops, name), (x, y), expected))
        if width(dtype) > 16:
            continue
        places = _places(x, dtype), _places(y, dtype)
        for name, relation in RELATIONS.items():
            name = f"{name}_total_order"
            expected = array("pred", [relation(a, b) for a, b in zip(*places, strict=True)])
            found.append(Case(name, getattr(ops, name), (x, y), expected))
    return found


def _chain_cases() -> list[Case]:
    """-NaN < -inf < -1.5 < -0 < +0 < 1.5 < inf < NaN, and payloads of NaN in order."""
    found = []
    chains = {
        "f32": np.array([0xFFC00001, 0xFFC00000, 0xFF800000, 0xBFC00000, 0x80000000], np.uint32),
        "f64": np.array([0xFFF8000000000000, 0xFFF0000000000000, 0xBFF8000000000000, 1 << 63], np.uint64),
    }
    for dtype, negative in chains.items():
        sign = negative.dtype.type(1 << (width(dtype) - 1))
        chain = np.concatenate([negative, (negative ^ sign)[::-1]]).view("f4" if dtype == "f32" else "f8")
        xs, ys = pairs(range(len(chain)))
        operands = chain[xs], chain[ys]
        for name, relation in RELATIONS.items():
            expected = array("pred", [relation(a, b) for a, b in zip(xs, ys, strict=True)])
            name = f"{name}_total_order"
            found.append(Case(name, getattr(ops, name), operands, expected, label="chain"))
    return found


def _complex_cases() -> list[Case]:
    found = []
    nan = float("nan")
    x = [1 + 2j, 1 + 2j, 1 + 2j, complex(nan, 0), complex(0.0, -0.0)]
    y = [1 + 2j, 1 + 3j, 2 + 2j, complex(nan, 0), complex(-0.0, 0.0)]
    for dtype in COMPLEX:
        operands = array(dtype, x), array(dtype, y)
        found.append(Case("eq", ops.eq, operands, array("pred", [1, 0, 0, 0, 1])))
        found.append(Case("ne", ops.ne, operands, array("pred", [0, 1, 1, 1, 0])))
        for name in ("lt", "le", "gt", "ge", "eq_total_order", "lt_total_order"):
            found.append(Case(name, getattr(ops, name), operands, ops.DTypeError, label="class"))
    return found


CASES = [*_integer_cases(), *_float_cases(), *_chain_cases(), *_complex_cases()]
