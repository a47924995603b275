"""Functions of NumPy on arrays that end before their bounds: the library gets what exists, between kernels."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, LineSort, OpDef, Params
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.library_op import run_quietly
from xjit.ops.define.references import Array
from xjit.ops.for_numpy.numpy_sorting import ALGORITHMS
from xjit.types import ArrayType, TupleType

Types = tuple[ArrayType, ...]
Ends = tuple[tuple[int, int], ...]
"""Of an operand the axes that end early, each with the number of the operand that says where."""


def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = operator.attrgetter(name)(np)
    return found


def _cut(array: Array, ends: Ends, operands: Sequence[Array]) -> Array:
    if not ends:
        return array  # which may be a number among the arguments, one of Python's
    there = [slice(None)] * array.ndim
    for axis, number in ends:
        there[axis] = slice(int(operands[number]))
    return array[tuple(there)]


def _infer(types: Types, params: Params) -> ArrayType | TupleType:
    found: ArrayType | TupleType = params["result"]
    return found


def _call(
    *operands: Array, function: str, ends: tuple[Ends, ...], options: Any, result: ArrayType | TupleType
) -> Any:
    arrays = [_cut(array, own, operands) for array, own in zip(operands, ends, strict=False)]
    found = _function(function)(*arrays, **dict(options))
    if isinstance(result, ArrayType):
        return _padded(found, result)
    return tuple(map(_padded, found, result.elements))


def _padded(part: Any, type: ArrayType) -> Array:
    """An array with zeros up to the bounds."""
    found = np.asarray(part)
    if found.shape == type.shape:
        return found
    padded = np.zeros(type.shape, found.dtype)
    padded[tuple(map(slice, found.shape))] = found
    return padded


def _line_sort(params: Params) -> LineSort | None:
    """The sort of the first elements of a line; None of other functions."""
    name, options = params["function"], dict(params["options"])
    if name not in ("sort", "argsort") or params["ends"] != (((0, 1),),) or params["result"].rank != 1:
        return None
    stable, kind = options.get("stable"), ALGORITHMS.get(options.get("kind"))
    if stable is not None:
        kind = "stable" if stable else "quick"
    return None if kind is None else LineSort(0, kind, positions=name == "argsort", until=1)


LIMITED_CALL = register(
    OpDef(
        name="limited_call",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_call,
        fresh=True,
        line_sort=_line_sort,
        doc="A function of NumPy of arrays of which other operands say where they end.",
    )
)

LIMITED_SOLVER = register(
    OpDef(
        name="limited_solver",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_call,
        threaded=True,
        fresh=True,
        raises=(np.linalg.LinAlgError,),
        doc="A function of numpy.linalg of matrices of which other operands say where they end.",
    )
)


def limited_call(
    function: str,
    arrays: Sequence[Operand],
    sizes: Sequence[Mapping[int, Any]],
    options: Mapping[str, Any],
    dims: Sequence[Any],
) -> Any:
    """``function(*arrays, **options)`` of NumPy, where arrays end at sizes along some axes.

    The result has the dimensions ``dims``, or ends before them; of a tuple of arrays these are several. Its element
    type is that of NumPy. Raises what the function raises of a few elements, and when the program runs, of those that
    are there.
    """
    numbers: list[Any] = []
    ends = []
    for own in sizes:
        ends.append(tuple((axis, len(arrays) + len(numbers) + place) for place, axis in enumerate(own)))
        numbers += own.values()
    sample = run_quietly(_function(function), *map(_few, arrays), **options)
    several = isinstance(sample, tuple)
    result = TupleType(tuple(map(_type, sample, dims))) if several else _type(sample, dims)
    static = tuple(options.items())
    record = LIMITED_SOLVER if function.startswith("linalg.") else LIMITED_CALL
    return apply(record, *arrays, *numbers, function=function, ends=tuple(ends), options=static, result=result)


def _type(sample: Any, dims: Sequence[int]) -> ArrayType:
    return ArrayType(np.asarray(sample).dtype, tuple(dims), tuple(range(len(dims))))


def _few(array: Operand) -> Array:
    """An array of the same type with few elements: a matrix that has an inverse, or zeros."""
    rank = np.ndim(_hollow(array))
    return np.eye(2, dtype=array.dtype) if rank == 2 else np.zeros((2,) * rank, array.dtype)


def _hollow(array: Any) -> Any:
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)
