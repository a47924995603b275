"""Converts floats that are proved to lie within an integer's range by an instruction, with no care for others.

    select(abs(x) < 2**53, x, 0.0) as s64      each element lies between -2**53 and 2**53, and none is NaN

Elsewhere a conversion saturates, and NaN gives zero, which takes several instructions.
"""

from __future__ import annotations

import numpy as np

from xjit.dataclass import replace
from xjit.ir.node import Node
from xjit.ir.spans import float_span
from xjit.ops.define.core import registry
from xjit.types import FLOAT32, FLOAT64, dtype_class


def with_proved_range(node: Node) -> Node:
    """The conversion marked as one that needs no care; the node itself where that is not proved, or it is none.

    Half of the range has to do: values may be computed a second time, and rounded another way.
    """
    if node.op is not registry["convert_element_type"] or node.kwargs.get("in_range"):
        return node
    (operand,) = node.inputs
    if operand.aval.dtype not in (FLOAT32, FLOAT64) or dtype_class(node.aval.dtype) != "I":
        return node
    span, limits = float_span(operand), np.iinfo(node.aval.dtype)
    fits = span is not None and limits.min / 2 <= span[0] and span[1] <= limits.max / 2
    return replace(node, params=(*node.params, ("in_range", True))) if fits else node
