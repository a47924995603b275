"""Records of ufuncs that no kernel computes: NumPy runs their loops between kernels."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define.core import Array
from xjit.ops.define.library_op import Types, by_sizes, run_quietly, sample, type_of_result
from xjit.ops.define.rules import elementwise_type
from xjit.types import ArrayType, TupleType

# Where a name means the same ufunc in every process.
_MODULES = ("numpy", "scipy.special")


@functools.cache
def record_of(ufunc: np.ufunc) -> OpDef | None:
    """The record of an elementwise ufunc of NumPy or SciPy; None for those of a program's own.

    Its operands have equal dimensions and the element types of one of the ufunc's loops.

    >>> record_of(np.gcd).name
    'numpy_gcd'
    """
    name = ufunc.__name__
    modules = [one for one in _MODULES if getattr(sys.modules.get(one), name, None) is ufunc]
    if not modules or ufunc.signature is not None:
        return None

    def infer(types: Types, params: Params) -> ArrayType | TupleType:
        loop = ufunc.resolve_dtypes((*(type.dtype for type in types), *(None,) * ufunc.nout))
        results = tuple(elementwise_type(types, dtype) for dtype in loop[ufunc.nin :])
        return results[0] if len(results) == 1 else TupleType(results)

    return OpDef(
        name=f"{modules[0]}_{name}".replace(".", "_"),
        kind=Kind.STRUCTURED,
        infer=infer,
        reference=ufunc,
        fresh=True,
        takes_out=ufunc.nout == 1,
        doc=f"{modules[0]}.{name} on arrays of equal dimensions.",
    )


@functools.cache
def fold_of(ufunc: np.ufunc, method: str) -> OpDef | None:
    """The record of ``ufunc.reduce`` or ``ufunc.accumulate``, on one array; None for ufuncs without a record.

    Params are NumPy's arguments of the method.

    >>> fold_of(np.gcd, "reduce").name
    'numpy_gcd_reduce'
    """
    record = record_of(ufunc)
    if record is None or ufunc.nin != 2 or ufunc.nout != 1:
        return None

    def fold(array: Array, **params: Any) -> Any:
        return getattr(ufunc, method)(array, **params)

    return OpDef(
        name=f"{record.name}_{method}",
        kind=Kind.STRUCTURED,
        infer=by_sizes(fold),
        reference=fold,
        fresh=True,
        doc=f"{ufunc.__name__}.{method} along axes.",
    )


@functools.cache
def pieces_of(ufunc: np.ufunc) -> OpDef | None:
    """The record of ``ufunc.reduceat`` of an array and positions; None for ufuncs without a record.

    Params are the axis and the element type, if one is given.

    >>> pieces_of(np.add).name
    'numpy_add_reduceat'
    """
    record = record_of(ufunc)
    if record is None or ufunc.nin != 2 or ufunc.nout != 1:
        return None

    def folds(array: Array, positions: Array, **params: Any) -> Any:
        return ufunc.reduceat(array, positions, **params)

    def infer(types: Types, params: Params) -> ArrayType:
        array, positions = types
        few = (2,) * array.rank
        found = run_quietly(folds, sample(array, few), np.zeros((1,) * positions.rank, positions.dtype), **params)
        dims = list(array.shape)
        dims[params.get("axis", 0)] = positions.shape[0]
        return type_of_result(found, tuple(dims))

    return OpDef(
        name=f"{record.name}_reduceat",
        kind=Kind.STRUCTURED,
        infer=infer,
        reference=folds,
        fresh=True,
        raises=(IndexError,),
        doc=f"{ufunc.__name__}.reduceat along an axis.",
    )
