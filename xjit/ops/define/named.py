"""Records of operations by their names."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from xjit import jobs
from xjit import ops as ops
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.opdef import OpDef
from xjit.ops.define.core import registry
from xjit.ops.for_numpy.numpy_ufunc import fold_of, pieces_of, record_of

_LEAVES = {op.name: op for op in (CONSTANT, PARAMETER, PROJECT)}
# Modules with records that the public operations do not need.
_MORE = (
    "xjit.ops.whole_arrays.diagonal",
    "xjit.ops.define.memory_order",
    "xjit.ops.effects.python_call",
    "xjit.ops.whole_arrays.tile_concat",
    "xjit.ops.for_numpy.numpy_linalg",
    "xjit.ops.for_numpy.numpy_sorting",
    "xjit.ops.for_numpy.numpy_statistics",
    "xjit.ops.for_numpy.numpy_transforms",
    "xjit.ops.random.numpy_generators",
    "xjit.ops.whole_arrays.runtime_check",
    "xjit.ops.regions.strided_slices",
    "xjit.ops.dynamic.compaction",
    "xjit.ops.dynamic.counting",
    "xjit.ops.dynamic.repetition",
    "xjit.ops.dynamic.uninitialized",
    "xjit.ops.dynamic.limited_windows",
    "xjit.ops.dynamic.library_calls",
    "xjit.ops.dynamic.limited_places",
    "xjit.ops.windows.joined_blocks",
    "xjit.ops.windows.window_view",
)
_UFUNCS = {"numpy_": "numpy", "scipy_special_": "scipy.special"}
_FOLDS = ("reduce", "accumulate", "reduceat")


def operation(name: str) -> OpDef:
    """The record of this name; KeyError if there is none.

    >>> operation("add").name, operation("numpy_sort").name, operation("numpy_gcd_reduce").name
    ('add', 'numpy_sort', 'numpy_gcd_reduce')
    """
    found = registry.get(name) or _LEAVES.get(name) or _of_ufunc(name)
    for module in _MORE:
        if found is None:
            jobs.module(module)
            found = registry.get(name)
    if found is None:
        raise KeyError(name)
    return found


def _of_ufunc(name: str) -> OpDef | None:
    for prefix, module in _UFUNCS.items():
        if name.startswith(prefix) and module in sys.modules:
            known: Any = vars(sys.modules[module])
            stem = name.removeprefix(prefix)
            if isinstance(known.get(stem), np.ufunc):
                return record_of(known[stem])
            stem, _, method = stem.rpartition("_")
            if isinstance(known.get(stem), np.ufunc) and method in _FOLDS:
                return pieces_of(known[stem]) if method == "reduceat" else fold_of(known[stem], method)
    return None
