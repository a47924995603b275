"""Layouts in memory of the arguments of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.fusion.buffers.layout import Layouts
from xjit.ir.node import Graph
from xjit.passes.stored_results import NO_STORES, Stores
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.types import BOOL, FLOAT64, INT64, as_array

_SCALARS = {float: ScalarSpec(FLOAT64), int: ScalarSpec(INT64), bool: ScalarSpec(BOOL)}


def input_specs(graph: Graph, values: Sequence[Any]) -> tuple[ArraySpec | ScalarSpec, ...]:
    """Describe each parameter's value: an array's layout, or a Python scalar that is passed by pointer."""
    return tuple(_SCALARS.get(type(value)) or _spec_of(as_array(value)) for value in values)


def _spec_of(array: np.ndarray[Any, Any]) -> ArraySpec:
    return ArraySpec(array.dtype, array.shape, array.strides)


def layouts_of(graph: Graph, specs: Sequence[ArraySpec | ScalarSpec], stores: Stores = NO_STORES) -> Layouts:
    """Return where the elements of the parameters lie, and of what is written over them."""
    pairs = zip(graph.parameters, specs, strict=True)
    strides = {node: spec.strides if isinstance(spec, ArraySpec) else () for node, spec in pairs}
    for parameter, chain in stores.chains.items():
        strides |= dict.fromkeys(chain, strides[parameter])
    return Layouts(strides)
