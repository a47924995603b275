"""Library steps: records of NumPy's functions on whole arrays; the function itself runs between kernels.

What NumPy makes of element types and memory orders, NumPy is asked: the function is run once on arrays of a few
elements in the same memory order.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from xjit import jobs
from xjit.ir.opdef import Kind, LineSort, OpDef, Params, Solver
from xjit.ops.define.core import Array, register
from xjit.types import BOOL, ArrayType, DType, TupleType, order_of, scalar_type, type_of

Types: TypeAlias = "tuple[ArrayType, ...]"
Sizes: TypeAlias = "tuple[int, ...]"
Infer: TypeAlias = "Callable[[Types, Params], ArrayType | TupleType]"


def library(
    name: str,
    function: Callable[..., Any],
    infer: Infer,
    doc: str,
    *,
    threaded: bool = False,
    silent: bool = False,
    fresh: bool = False,
    raises: tuple[type[Exception], ...] = (),
    solver: Callable[[Params], Solver | None] | None = None,
    line_sort: Callable[[Params], LineSort | None] | None = None,
    tried: OpDef | None = None,
    marked: OpDef | None = None,
) -> OpDef:
    """Registers the record of a function of NumPy under ``numpy_<name>``.

    ``function`` takes the operands and the params; a result that is a tuple is handed out element by element.
    ``raises`` is what it may raise depending on the elements, ``solver`` the routine that computes it among kernels,
    ``line_sort`` how NumPy's routines do, ``tried`` and ``marked`` the records of what hands its errors out.
    """
    return register(
        OpDef(
            name=f"numpy_{name}",
            kind=Kind.STRUCTURED,
            infer=infer,
            reference=function,
            threaded=threaded,
            silent=silent,
            fresh=fresh,
            raises=raises,
            solver=solver,
            line_sort=line_sort,
            tried=tried,
            marked=marked,
            doc=doc,
        )
    )


def tried(
    name: str,
    function: Callable[..., Any],
    infer: Callable[[Types, Params], Any],
    raises: tuple[type[Exception], ...],
    *,
    silent: bool = False,
) -> OpDef:
    """Registers ``numpy_tried_<name>``: the results of a function, and whether it raises none of these errors.

    Zeros stand for results that are not there.
    """

    def found(types: Types, params: Params) -> tuple[ArrayType, ...]:
        result = infer(types, params)
        return tuple(result.elements) if isinstance(result, TupleType) else (result,)

    def with_truth(types: Types, params: Params) -> TupleType:
        return TupleType((*found(types, params), scalar_type(BOOL)))

    def reference(*operands: Any, **params: Any) -> tuple[Any, ...]:
        try:
            result = function(*operands, **params)
        except raises:
            types = found(tuple(map(type_of, operands)), params)
            return (*(sample(type, type.shape).copy(order="K") for type in types), np.asarray(False))
        return (*result, np.asarray(True)) if isinstance(result, tuple) else (result, np.asarray(True))

    doc = f"The results of {name}, and whether there are any."
    return library(f"tried_{name}", reference, with_truth, doc, threaded=True, silent=silent, fresh=True)


def marked(
    name: str,
    function: Callable[..., Any],
    infer: Callable[[Types, Params], Any],
    raises: tuple[type[Exception], ...],
    solver: Callable[[Params], Solver | None],
    *,
    silent: bool = False,
) -> OpDef:
    """Registers ``numpy_marked_<name>``: the elements of a result, and behind them 1 where there is none, or 0."""

    def with_mark(types: Types, params: Params) -> ArrayType:
        found = infer(types, params)
        return packed_type(found.dtype, (math.prod(found.shape) + 1,))

    def reference(*operands: Any, **params: Any) -> Array:
        try:
            result = np.asarray(function(*operands, **params))
        except raises:
            found = with_mark(tuple(map(type_of, operands)), params)
            return np.append(np.zeros(found.shape[0] - 1, found.dtype), found.dtype.type(1))
        return np.append(result, result.dtype.type(0))

    doc = f"The elements of the result of {name}, and a mark where there is none."
    return library(
        f"marked_{name}", reference, with_mark, doc, threaded=True, silent=silent, fresh=True, solver=solver
    )


# ---- small arrays


def sample(type: ArrayType, sizes: Sizes, diagonal: bool = False) -> Array:
    """An array of these sizes in the memory order of the type: zeros, or ones along the last two axes.

    >>> from xjit.types import array_type
    >>> sample(array_type("f64", (5, 7), order=(1, 0)), (2, 3)).strides
    (8, 16)
    """
    repeated = [axis for axis in range(type.rank) if axis not in type.order]
    order = (*type.order, *repeated)
    packed = np.zeros([1 if axis in repeated else sizes[axis] for axis in order], type.dtype)
    result = packed.transpose(np.argsort(order))
    if diagonal:
        ones = np.eye(*result.shape[-2:]) if type.rank >= 2 else np.ones(())
        result[...] = ones.astype(type.dtype)
    return np.broadcast_to(result, sizes)


def type_of_result(result: Any, dims: Sizes | None = None) -> ArrayType:
    """The type of an array of NumPy, with other dimensions in its memory order."""
    array = np.asarray(result)
    order = order_of(array.shape, array.strides)
    missing = tuple(axis for axis in range(array.ndim) if axis not in order)
    return ArrayType(array.dtype, array.shape if dims is None else dims, (*order, *missing))


def packed_type(dtype: DType, dims: Sizes) -> ArrayType:
    """The type of a row-major array."""
    return ArrayType(dtype, dims, tuple(range(len(dims))))


# ---- functions whose results have sizes of their operands


def by_sizes(function: Callable[..., Any]) -> Infer:
    """The types of results each of whose sizes is one of the operands', one or zero.

    NumPy runs the function on arrays whose different sizes are 2, 3 and so on in the same order, and so makes its own
    checks. An error names the sizes of the operands.
    """

    def infer(types: Types, params: Params) -> ArrayType | TupleType:
        try:
            found: ArrayType | TupleType = _inferred(function, types, tuple(params.items()))
            return found
        except (TypeError, ValueError):
            function(*(np.broadcast_to(np.zeros((), type.dtype), type.shape) for type in types), **params)
            raise

    return infer


@functools.lru_cache(maxsize=1024)
def _inferred(function: Callable[..., Any], types: Types, params: tuple[tuple[str, Any], ...]) -> Any:
    sizes = sorted({size for type in types for size in type.shape if size > 1})
    small = {0: 0, 1: 1, **{size: k + 2 for k, size in enumerate(sizes)}}
    large = {value: size for size, value in small.items()}
    result = run_quietly(
        function,
        *(sample(type, tuple(small[size] for size in type.shape), diagonal=True) for type in types),
        **dict(params),
    )

    def enlarged(one: Any) -> ArrayType:
        return type_of_result(one, tuple(large[size] for size in np.shape(one)))

    return TupleType(tuple(map(enlarged, result))) if isinstance(result, tuple) else enlarged(result)


def run_quietly(function: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """Calls a function of NumPy on a few elements without its warnings, to see what it returns.

    Warnings are switched for all threads: by a job, else one thread might put back what the other one had switched
    off, or a forked child never hear of warnings again.
    """
    return jobs.run(lambda: _quiet(function, operands, params))


def _quiet(function: Callable[..., Any], operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*operands, **params)


def named(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with operands by name: those that are there are listed in the param ``names``."""

    @functools.wraps(function)
    def reference(*operands: Any, names: tuple[str, ...], **params: Mapping[str, Any]) -> Any:
        return function(**dict(zip(names, operands, strict=True)), **params)

    return reference
