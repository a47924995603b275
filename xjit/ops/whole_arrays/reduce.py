"""Reduce: a left fold over dimensions, with reducers as values.

A computation equal to one of the reducers may be reassociated; any other is folded exactly, element after element in
row-major order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from xjit.dataclass import dataclass, replace
from xjit.errors import ArgumentError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Graph
from xjit.ir.opdef import Kind, OpDef, Params, Reducer
from xjit.ir.scalar_expr import Literal
from xjit.ops.define import references, rules
from xjit.ops.define.computation import captured, traced_scalars
from xjit.ops.define.core import apply, as_operand, aval_of, constant, lift, register, static_ints
from xjit.ops.define.evaluate import evaluate_elementwise
from xjit.ops.define.references import Array
from xjit.ops.elements import elementwise
from xjit.ops.elements.convert import convert_element_type
from xjit.types import BOOL, FLOAT32, NARROW_FLOATS, ArrayType, DType, TupleType, dtype_class, scalar_type

__all__ = ["reduce", "reduce_all"]

_float_info: Callable[[DType], Any] = ml_dtypes.finfo  # the package is not annotated


# ---- reducers


def _number(value: int) -> Callable[[DType], Any]:
    return lambda dtype: np.array(value).astype(dtype)[()]


def _ones(dtype: DType) -> Any:
    return np.invert(np.zeros((), dtype))[()]


def _highest(dtype: DType) -> Any:
    if dtype == BOOL:
        return np.True_
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max)
    infinite = np.array(np.inf).astype(dtype)
    return infinite[()] if not np.isnan(infinite) else _float_info(dtype).max


def _lowest(dtype: DType) -> Any:
    if dtype == BOOL:
        return np.False_
    return dtype.type(np.iinfo(dtype).min) if dtype.kind in "iu" else np.negative(_highest(dtype))


def _maximum(operand: Array, dims: tuple[int, ...]) -> Any:
    if operand.dtype.kind in "iu":
        return np.maximum.reduce(operand, dims, initial=_lowest(operand.dtype))
    wide = operand.astype(FLOAT32) if operand.dtype in NARROW_FLOATS else operand
    result = np.maximum.reduce(wide, dims, initial=_lowest(operand.dtype).astype(wide.dtype))
    zeros = np.add.reduce(np.where(wide == 0, wide, -0.0), dims, initial=-0.0)  # +0 if any zero is +0
    return np.asarray(np.where(result == 0, zeros, result)).astype(operand.dtype)


def _minimum(operand: Array, dims: tuple[int, ...]) -> Any:
    if operand.dtype.kind in "iu":
        return np.minimum.reduce(operand, dims, initial=_highest(operand.dtype))
    return np.negative(_maximum(np.negative(operand), dims))


def _exactly(ufunc: np.ufunc) -> Callable[[Array, tuple[int, ...]], Any]:
    return lambda operand, dims: ufunc.reduce(operand, dims, dtype=operand.dtype)


def _rounded(ufunc: np.ufunc) -> Callable[[Array, Array], Array]:
    return lambda x, y: np.asarray(ufunc(x, y, dtype=x.dtype) if x.dtype not in NARROW_FLOATS else ufunc(x, y))


def _larger(x: Array, y: Array) -> Array:
    return np.asarray(np.maximum(x, y) if x.dtype.kind in "biu" else references.maximum(x, y))


def _smaller(x: Array, y: Array) -> Array:
    return np.asarray(np.minimum(x, y) if x.dtype.kind in "biu" else references.minimum(x, y))


# PRED has no sum: its add is an or.
REDUCERS: dict[str, Reducer] = {
    reducer.name: reducer
    for reducer in (
        Reducer(
            *("add", "add", _number(0)),
            reassociates=True,
            classes="PIFC",
            runs_over="IFC",
            spoken="sum",
            equals=(("add", "IFC"),),
            operation=elementwise.add,
            fold=_exactly(np.add),
            step=_rounded(np.add),
        ),
        Reducer(
            *("mul", "mul", _number(1)),
            reassociates=True,
            classes="PIFC",
            runs_over="IFC",
            spoken="prod",
            equals=(("mul", "IFC"),),
            operation=elementwise.mul,
            fold=_exactly(np.multiply),
            step=_rounded(np.multiply),
        ),
        Reducer(
            *("min", "min", _highest),
            reassociates=False,
            last_word=_lowest,
            orders_zeros=True,
            classes="PIF",
            runs_over="PIF",
            equals=(("min", "IF"),),
            operation=elementwise.min,
            fold=_minimum,
            step=_smaller,
        ),
        Reducer(
            *("max", "max", _lowest),
            reassociates=False,
            last_word=_highest,
            orders_zeros=True,
            classes="PIF",
            runs_over="PIF",
            equals=(("max", "IF"),),
            operation=elementwise.max,
            fold=_maximum,
            step=_larger,
        ),
        Reducer(
            *("and", "and", _ones),
            reassociates=False,
            last_word=_number(0),
            classes="PI",
            runs_over="PI",
            spoken="all",
            equals=(("and_", "PI"), ("mul", "P"), ("min", "P")),
            operation=elementwise.and_,
            fold=_exactly(np.bitwise_and),
            step=np.bitwise_and,
        ),
        Reducer(
            *("or", "or", _number(0)),
            reassociates=False,
            last_word=_ones,
            classes="PI",
            runs_over="PI",
            spoken="any",
            equals=(("or_", "PI"), ("add", "P"), ("max", "P")),
            operation=elementwise.or_,
            fold=_exactly(np.bitwise_or),
            step=np.bitwise_or,
        ),
        Reducer(
            *("xor", "xor", _number(0)),
            reassociates=False,
            classes="PI",
            equals=(("xor", "PI"),),
            operation=elementwise.xor,
            fold=_exactly(np.bitwise_xor),
        ),
    )
}
"""The reducers by name. ``reassociates`` concerns floats and complex numbers: integer sums and products are exact."""

_SPOKEN = {reducer.spoken or reducer.name: reducer for reducer in REDUCERS.values()} | REDUCERS
_EQUAL = {
    (operation, letter): reducer
    for reducer in REDUCERS.values()
    for operation, letters in reducer.equals
    for letter in letters
}


def reducer_named(name: str) -> Reducer:
    """One of ``REDUCERS``, or the one that NumPy calls so."""
    return _SPOKEN[name]


def recognised(computation: Graph) -> Reducer | None:
    """The reducer that a computation over (accumulator, element) is equal to, operands in either order."""
    if len(computation.parameters) != 2 or len(computation.outputs) != 1:
        return None
    (node,) = computation.outputs
    if len(node.inputs) != 2 or set(node.inputs) != set(computation.parameters):
        return None
    return _EQUAL.get((node.op.name, dtype_class(node.inputs[0].aval.dtype)))


def _usable(reducer: Reducer | None, dtype: DType, init: Any) -> Reducer | None:
    """The reducer, unless its rounding would show that ``init`` is not its identity."""
    if reducer is None or not reducer.reassociates or dtype_class(dtype) == "I":
        return reducer
    return reducer if _literal(init) == Literal.of(reducer.identity(dtype), dtype) else None


def _literal(operand: Any) -> Literal | None:
    if not isinstance(operand, TracedValue):
        return Literal.of(operand)
    value: Literal | None = operand.node.param("value") if operand.node.op is CONSTANT else None
    return value


# ---- the record


def _infer_reduce(types: tuple[ArrayType, ...], params: Params) -> ArrayType | TupleType:
    n, dims = params["n"], params["dims"]
    operands, inits = types[:n], types[n : 2 * n]
    names = [f"operands[{k}]" for k in range(n)]
    for k in range(n):
        rules.check_same_dtype("reduce", (names[k], f"init_values[{k}]"), (operands[k], inits[k]))
    rules.check_axes("reduce", "dimensions", dims, operands[0].rank)
    rules.check_same_dims("reduce", names, operands)
    for k in range(n):
        rules.check_rank("reduce", f"init_values[{k}]", inits[k], 0)
    kept = [axis for axis in range(operands[0].rank) if axis not in dims]
    order = rules.elementwise_type(operands, operands[0].dtype).order
    places = tuple(kept.index(axis) for axis in order if axis in kept)
    rest = tuple(operands[0].dims[axis] for axis in kept)
    results = tuple(ArrayType(type.dtype, rest, places) for type in operands)
    return results[0] if n == 1 else TupleType(results)


def _reduce_reference(
    *arrays: Array, dims: tuple[int, ...], reducer: Reducer | None, computation: Graph, n: int
) -> Any:
    operands, inits, extra = arrays[:n], arrays[n : 2 * n], arrays[2 * n :]
    if reducer is not None:
        if reducer.fold is None:
            raise TypeError(f"the reducer {reducer.name} has no reference")
        partial = np.asarray(reducer.fold(operands[0], dims))
        return evaluate_elementwise(computation, (inits[0], partial, *extra), partial.shape)[0]
    results = _left_fold(operands, inits, extra, dims, computation)
    return results[0] if n == 1 else results


def _left_fold(
    operands: Sequence[Array], inits: Sequence[Array], extra: Sequence[Array], dims: tuple[int, ...], graph: Graph
) -> tuple[Any, ...]:
    shape = operands[0].shape
    kept = tuple(axis for axis in range(len(shape)) if axis not in dims)
    rest, count = tuple(shape[axis] for axis in kept), int(np.prod([shape[axis] for axis in dims], dtype=int))
    rows = [np.transpose(operand, (*sorted(dims), *kept)).reshape(count, *rest) for operand in operands]
    state: tuple[Any, ...] = tuple(np.broadcast_to(init, rest) for init in inits)
    for k in range(count):
        state = evaluate_elementwise(graph, (*state, *(row[k] for row in rows), *extra), rest)
    return state


REDUCE = register(
    OpDef(
        name="reduce",
        kind=Kind.REDUCE,
        xla_name="Reduce",
        infer=_infer_reduce,
        reference=_reduce_reference,
        doc="Folds a computation over dimensions, starting from init values.",
    )
)


def reducer_function(reducer: Reducer) -> Callable[..., Any]:
    """The operation that a reducer folds with."""
    if reducer.operation is None:
        raise TypeError(f"the reducer {reducer.name} has no operation")
    return reducer.operation


def reduction_graph(reducer: Reducer, dtype: DType) -> Graph:
    """The computation of a reducer on scalars of a type."""
    return traced_scalars("reduce", reducer_function(reducer), (scalar_type(dtype), scalar_type(dtype)), [dtype])


# ---- the public function


def reduce(operands: Any, init_values: Any, computation: Callable[..., Any], dimensions: Sequence[int]) -> Any:
    """Folds ``computation(*accumulators, *elements)`` over ``dimensions``, in row-major order, from ``init_values``.

    One operand, by itself or in a sequence, gives one array; several of equal dimensions give a tuple. Any element
    types; init values have rank 0. Sums and products of narrow floats accumulate in F32 and are rounded once.
    Raises DTypeError, ArgumentError for wrong counts or dimensions, ShapeError.

    >>> reduce(np.float32([[1, 2], [3, 4]]), np.float32(0), elementwise.add, (1,))
    array([3., 7.], dtype=float32)
    """
    return _reduce(operands, init_values, computation, dimensions)


def reduce_all(operand: Any, init: Any, computation: Callable[..., Any]) -> Any:
    """Folds ``computation`` over every dimension, as :func:`reduce` does. Any element types.

    Raises what :func:`reduce` raises.

    >>> reduce_all(np.float32([[1, 2], [3, 4]]), np.float32(0), elementwise.add)
    array(10., dtype=float32)
    """
    arrays, _ = _operands("reduce_all", operand, init)
    return _reduce(operand, init, computation, range(aval_of(arrays[0]).rank))


def _reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[..., Any],
    dimensions: Sequence[int],
    either_zero: bool = False,
) -> Any:
    fold = fold_of("reduce", operands, init_values, computation, either_zero)
    dims = tuple(sorted(static_ints(dimensions, "reduce", "dimensions")))
    if fold.accumulates_wider:
        return _accumulated_in_float32(fold, dims)
    return reduced(fold, dims)


@dataclass(frozen=True, slots=True)
class Fold:
    """Arrays that are folded, the init values, and the computation, a reducer's own or any other."""

    arrays: tuple[Any, ...]
    inits: tuple[Any, ...]
    computation: Graph
    reducer: Reducer | None

    @property
    def accumulates_wider(self) -> bool:
        """Return whether it is a sum or product of narrow floats, of which float32 is the accumulator."""
        return self.reducer is not None and self.reducer.reassociates and self.dtype in NARROW_FLOATS

    @property
    def dtype(self) -> DType:
        """The element type of the first operand."""
        return aval_of(self.arrays[0]).dtype

    @property
    def function(self) -> Callable[..., Any]:
        """The operation of the reducer."""
        assert self.reducer is not None
        return reducer_function(self.reducer)

    @property
    def wide(self) -> tuple[Any, Any]:
        """The operand and the init value in float32."""
        (array,), (init,) = self.arrays, self.inits
        start = convert_element_type(init, FLOAT32)
        if not isinstance(init, TracedValue):
            start = constant(np.asarray(init).astype(FLOAT32))
        elif (value := _literal(init)) is not None:
            start = constant(value.array().astype(FLOAT32))
        return convert_element_type(array, FLOAT32), start

    def over(self, arrays: Sequence[Any]) -> Fold:
        """The same fold of other arrays."""
        return replace(self, arrays=tuple(arrays))


def fold_of(
    name: str, operands: Any, init_values: Any, computation: Callable[..., Any], either_zero: bool = False
) -> Fold:
    """The fold that the arguments of an operation describe; element types and the computation are checked."""
    arrays, inits = _operands(name, operands, init_values)
    types = [scalar_type(aval_of(value).dtype) for value in arrays]
    for k, (type, init) in enumerate(zip(types, inits, strict=True)):
        rules.check_same_dtype(name, (f"operands[{k}]", f"init_values[{k}]"), (type, aval_of(init)))
    graph = traced_scalars(name, computation, (*types, *types), [type.dtype for type in types])
    reducer = recognised(graph) if len(arrays) == 1 else None
    if reducer is not None and not (reducer.reassociates and types[0].dtype in NARROW_FLOATS):
        inits = [_as_value(inits[0])]
        reducer = _usable(reducer.with_either_zero() if either_zero else reducer, types[0].dtype, inits[0])
    return Fold(tuple(arrays), tuple(inits), graph, reducer)


def reduced(fold: Fold, dims: tuple[int, ...]) -> Any:
    """The fold over dimensions, in ascending order, as one node."""
    from xjit.ops.control.each_element import fits_kernels
    from xjit.ops.control.folds import folded_in_turns

    if current() is not None and not fits_kernels(fold.computation):
        results = folded_in_turns(fold.computation, fold.arrays, fold.inits, dims)
        return results[0] if len(results) == 1 else results
    extra, n = captured(fold.computation), len(fold.arrays)
    params = {"reducer": fold.reducer, "computation": fold.computation, "n": n}
    return apply(REDUCE, *fold.arrays, *fold.inits, *extra, dims=dims, **params)


def _operands(name: str, operands: Any, init_values: Any) -> tuple[list[Any], list[Any]]:
    values = list(operands) if isinstance(operands, tuple | list) else [operands]
    starts = list(init_values) if isinstance(init_values, tuple | list) else [init_values]
    arrays = [as_operand(value, name, f"operands[{k}]") for k, value in enumerate(values)]
    if len(values) == 0 or len(values) != len(starts):
        raise ArgumentError(
            f"ops.{name}: init_values: one for each of at least one operand is required; "
            f"got {len(values)} operands and {len(starts)} init values"
        )
    inits = [
        as_operand(start, name, f"init_values[{k}]", aval_of(array).dtype)
        for k, (start, array) in enumerate(zip(starts, arrays, strict=True))
    ]
    return arrays, inits


def _as_value(operand: Any) -> Any:
    trace = current()
    return operand if trace is None else TracedValue(lift(trace, operand), trace)


def _accumulated_in_float32(fold: Fold, dims: tuple[int, ...]) -> Any:
    """One rounding at the end, as if the accumulator were wide: the sum itself is one of float32."""
    return convert_element_type(reduce(*fold.wide, fold.function, dims), fold.dtype)


# ---- what the NumPy surface builds on


def reduction(operand: Any, reducer_name: str, dims: Sequence[int], dtype: DType | None = None) -> Any:
    """One of ``REDUCERS`` over dimensions, from its identity; the operand is converted to ``dtype`` first.

    NumPy's names of reductions are understood as well. An extreme that is zero may be either zero of the operand's.

    >>> reduction(np.float32([[1, 5], [4, 2]]), "max", (0,))
    array([4., 5.], dtype=float32)
    """
    reducer = reducer_named(reducer_name)
    array = as_operand(operand, "reduce", "operand")
    if dtype is not None and aval_of(array).dtype != dtype:
        array = convert_element_type(array, dtype)
    found = aval_of(array).dtype
    rules.check_class("reduce", "operand", aval_of(array), reducer.classes)
    init = constant(np.asarray(reducer.identity(found), found))
    return _reduce(array, init, reducer_function(reducer), dims, either_zero=True)
