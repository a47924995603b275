"""Elementwise comparisons, and those of the total order in which -NaN comes first and NaN last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ir.scalar_expr import Arg, Expr
from xjit.ops.define import formulas
from xjit.ops.define.op_tables import Binary, Builder, binary, boolean
from xjit.ops.define.references import total_order_key
from xjit.ops.define.rules import elementwise_type
from xjit.types import BOOL, ArrayType, dtype_class

__all__ = [
    "eq",
    "eq_total_order",
    "ge",
    "ge_total_order",
    "gt",
    "gt_total_order",
    "le",
    "le_total_order",
    "lt",
    "lt_total_order",
    "ne",
    "ne_total_order",
]

_EXAMPLES = {
    "eq": "[False  True False]",
    "ne": "[ True False  True]",
    "ge": "[False  True False]",
    "gt": "[False False False]",
    "le": "[ True  True False]",
    "lt": "[ True False False]",
}
_TOTAL_EXAMPLES = {
    "eq": "[False False]",
    "ne": "[ True  True]",
    "ge": "[False False]",
    "gt": "[False False]",
    "le": "[ True  True]",
    "lt": "[ True  True]",
}


def _plain(name: str, xla_name: str, classes: str, reference: Callable[..., Any], doc: str) -> Binary:
    example = f"np.float32([1, 2, np.nan]), np.float32([2, 2, np.nan]) -> {_EXAMPLES[name]}"

    def build(x: Expr, y: Expr) -> Expr:
        return formulas.compared(name, x, y)

    table: dict[str, Builder] = {"PIF": build}
    if "C" in classes:
        table["C"] = _complex(name)
    return binary(name, xla_name, classes, reference, table, result=boolean, example=example, doc=doc)


def _complex(name: str) -> Builder:
    def build(x: Expr, y: Expr) -> Expr:
        equal = formulas.complex_equal(x, y)
        return equal if name == "eq" else ~equal

    return build


def _total(name: str, xla_name: str, reference: Callable[..., Any], doc: str) -> Binary:
    relation = name

    def build(x: Expr, y: Expr) -> Expr:
        return formulas.compared(relation, formulas.total_order_key(x), formulas.total_order_key(y))

    def keyed(x: Any, y: Any) -> Any:
        return reference(total_order_key(x), total_order_key(y))

    table: dict[str, Builder] = {"PIF": build}
    example = f"np.float32([-0.0, 2]), np.float32([0, np.nan]) -> {_TOTAL_EXAMPLES[name]}"
    name = f"{name}_total_order"
    return binary(name, xla_name, "PIF", keyed, table, result=boolean, narrow=True, example=example, doc=doc)


_ORDERED = "Integers by value, false < true; no order holds with a NaN, zeros are equal."
_TOTAL = "In the total order: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."

eq = _plain("eq", "Eq", "PIFC", np.equal, "Equal; a NaN equals nothing.")
ne = _plain("ne", "Ne", "PIFC", np.not_equal, "Not equal; a NaN differs from everything.")
ge = _plain("ge", "Ge", "PIF", np.greater_equal, f"Greater or equal. {_ORDERED}")
gt = _plain("gt", "Gt", "PIF", np.greater, f"Greater. {_ORDERED}")
le = _plain("le", "Le", "PIF", np.less_equal, f"Less or equal. {_ORDERED}")
lt = _plain("lt", "Lt", "PIF", np.less, f"Less. {_ORDERED}")

eq_total_order = _total("eq", "EqTotalOrder", np.equal, f"Equal. {_TOTAL}")
ne_total_order = _total("ne", "NeTotalOrder", np.not_equal, f"Not equal. {_TOTAL}")
ge_total_order = _total("ge", "GeTotalOrder", np.greater_equal, f"Greater or equal. {_TOTAL}")
gt_total_order = _total("gt", "GtTotalOrder", np.greater, f"Greater. {_TOTAL}")
le_total_order = _total("le", "LeTotalOrder", np.less_equal, f"Less or equal. {_TOTAL}")
lt_total_order = _total("lt", "LtTotalOrder", np.less, f"Less. {_TOTAL}")


def _same(types: tuple[ArrayType, ...], params: Params, out: ArrayType) -> Expr:
    x, y = (Arg(number, type.dtype) for number, type in enumerate(types))
    equal = formulas.compared("eq", x, y)
    return equal | (x.differs(x) & y.differs(y)) if dtype_class(types[0].dtype) == "F" else equal


# What a position of an extreme is found by. No operation of XLA, and so none of the public ones.
SAME = OpDef(
    name="same",
    kind=Kind.ELEMENTWISE,
    infer=lambda types, params: elementwise_type(types, BOOL),
    reference=lambda x, y: (x == y) | ((x != x) & (y != y)),
    element=_same,
    doc="Equal, or both NaN.",
)
