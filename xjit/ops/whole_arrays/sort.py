"""Sort: lines of several operands put in order together. NumPy's sorts compute it between kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, ShapeError
from xjit.ir.current import current
from xjit.ir.node import Graph
from xjit.ir.opdef import Kind, LineSort, OpDef, Ordering, Params
from xjit.ops.define import rules
from xjit.ops.define.computation import captured, replay, traced_scalars
from xjit.ops.define.core import Array, apply, as_operand, aval_of, register, static_int
from xjit.ops.define.evaluate import evaluate_graph
from xjit.ops.define.references import total_order_key
from xjit.ops.define.sort_keys import Key, Keys, Order, order_of
from xjit.ops.dynamic.dimension_sizes import at_bound, joint_sizes, sized
from xjit.ops.dynamic.paddings import before_size
from xjit.ops.elements.compare import eq, ge, gt, gt_total_order, le, lt, lt_total_order
from xjit.ops.elements.elementwise import and_, not_, or_
from xjit.ops.whole_arrays.shape import iota
from xjit.ops.whole_arrays.shape import slice as slice_of
from xjit.types import BOOL, FLOAT32, NARROW_FLOATS, ArrayType, TupleType, dtype_class, scalar_type

__all__ = ["sort", "top_k"]

Types = tuple[ArrayType, ...]

# ---- types


def _infer(types: Types, params: Params) -> ArrayType | TupleType:
    operands = types[: params["n"]]
    rank, dim = operands[0].rank, params["dim"]
    _check_dimension(dim, rank)
    rules.check_same_dims("sort", [f"operands[{k}]" for k in range(len(operands))], operands)
    if rank == 0:
        raise ShapeError(f"ops.sort: operands[0]: rank 1 or more is required; got {rules.got(operands)}")
    results = tuple(rules.elementwise_type((type,), type.dtype) for type in operands)
    return results[0] if len(results) == 1 else TupleType(results)


def _check_dimension(dim: int, rank: int) -> None:
    if not -1 <= dim < rank:
        raise ArgumentError(f"ops.sort: dimension: -1 or a dimension of rank {rank} is required; got {dim}")


# ---- by keys


def _sort(*operands: Array, keys: Keys, computation: Graph | None, dim: int, n: int) -> Any:
    if len(operands) == 1 and len(keys) == 1:
        return _sorted_alone(operands[0], keys[0], dim)
    order = positions(operands, keys, dim)
    moved = tuple(np.take_along_axis(operand, order, dim) for operand in operands[:n])
    return moved[0] if n == 1 else moved


def positions(operands: Sequence[Array], keys: Keys, dim: int) -> Array:
    """Return the positions that a stable sort by these keys takes the elements from."""
    numbers = [_sortable(operands[key.operand], key) for key in keys]
    if len(numbers) == 1:
        return np.argsort(numbers[0], dim, kind="stable")
    found: Array = np.lexsort(tuple(reversed(numbers)), dim)
    return found


def _sortable(operand: Array, key: Key) -> Array:
    """Numbers that NumPy sorts ascending as the key wants the operand's elements."""
    if key.total:
        operand = total_order_key(np.ascontiguousarray(operand))
    elif operand.dtype in NARROW_FLOATS:
        operand = operand.astype(FLOAT32)
    if not key.descending:
        return operand
    return np.invert(operand) if operand.dtype.kind in "biu" else np.negative(operand)


def _sorted_alone(operand: Array, key: Key, dim: int) -> Array:
    """One operand by its own elements: they need not be moved by position."""
    letter = dtype_class(operand.dtype)
    if (key.total and letter == "F") or operand.dtype in NARROW_FLOATS or letter == "C":
        return np.take_along_axis(operand, positions((operand,), (key,), dim), dim)
    return _sortable(_stably_sorted(_sortable(operand, key), dim), key)


def _stably_sorted(operand: Array, dim: int) -> Array:
    """As a stable sort does it: equal elements differ in nothing but the signs of zeros."""
    result = np.sort(operand, dim)
    if operand.dtype.kind != "f":
        return result
    zeros = operand == 0
    if not zeros.any():  # quickly said, and often so
        return result
    negative = np.signbit(operand[zeros])
    return result if negative.all() or not negative.any() else np.sort(operand, dim, kind="stable")


def _sorts(types: Types, params: Params) -> Ordering | None:
    """The order of kernels; those without a comparator sort what NumPy has no fast code for."""
    before, n = params["computation"], params["n"]
    return None if before is None else Ordering(params["dim"] % types[0].rank, len(types), n, before)


def _sorts_lines(params: Params) -> LineSort | None:
    """The order of NumPy's routines: ascending."""
    return LineSort(params["dim"], "signed") if params["keys"] == (Key(0),) and params["n"] == 1 else None


def comparator_of(keys: Keys, types: Types) -> Graph:
    """The comparator by keys, ascending ones as NumPy orders: NaN is last, in whichever direction."""

    def before(*sides: Any) -> Any:
        result = None
        for key in reversed(keys):
            a, b = sides[2 * key.operand], sides[2 * key.operand + 1]
            first = _comes_first(key, types[key.operand], a, b)
            if result is not None:
                then = and_(not_(_comes_first(key, types[key.operand], b, a)), result)
                first = or_(first, then)
            result = first
        return result

    scalars = [scalar_type(type.dtype) for type in types for _ in range(2)]
    return traced_scalars("sort", before, scalars, [BOOL])


def _comes_first(key: Key, type: ArrayType, a: Any, b: Any) -> Any:
    """The comparison of two elements by one key."""
    if key.total:
        return (gt_total_order if key.descending else lt_total_order)(a, b)
    if dtype_class(type.dtype) == "F":
        return and_(not_((le if key.descending else ge)(a, b)), eq(a, a))
    return (gt if key.descending else lt)(a, b)


def _sorts_in_library(keys: Keys, types: Types, n: int) -> bool:
    """Return whether NumPy sorts: one array by its own elements, or numbers that have an order in NumPy alone."""
    letters = {dtype_class(types[key.operand].dtype) for key in keys}
    if "C" in letters:
        return True
    key, alone = keys[0], len(types) == len(keys) == n == 1
    return alone and types[0].dtype not in NARROW_FLOATS and not (key.total and letters == {"F"})


SORT = register(
    OpDef(
        name="sort",
        kind=Kind.STRUCTURED,
        xla_name="Sort",
        infer=_infer,
        reference=_sort,
        sorts=_sorts,
        line_sort=_sorts_lines,
        fresh=True,
        doc="Lines along a dimension of the first operands, put in the order of keys, which any operand may be.",
    )
)


# ---- by any other comparator


def _sort_by(*arrays: Array, computation: Graph, dim: int, n: int) -> Any:
    operands, extra = arrays[:n], arrays[n:]
    lines = [np.moveaxis(operand, dim, -1) for operand in operands]
    order = np.empty(lines[0].shape, np.intp)
    for place in np.ndindex(lines[0].shape[:-1]):
        order[place] = _merged([line[place] for line in lines], computation, extra)
    moved = tuple(np.take_along_axis(operand, np.moveaxis(order, -1, dim), dim) for operand in operands)
    return moved[0] if n == 1 else moved


def _merged(lines: Sequence[Array], computation: Graph, extra: Sequence[Array]) -> list[int]:
    """Positions in the order of the comparator: Python's stable merge sort, which ends whatever it answers."""

    def compared(i: int, j: int) -> int:
        pairs = [np.asarray(line[k]) for line in lines for k in (i, j)]
        return -1 if evaluate_graph(computation, (*pairs, *extra))[0] else 1

    return sorted(range(len(lines[0])), key=functools.cmp_to_key(compared))


def _sorts_by(types: Types, params: Params) -> Ordering:
    n = params["n"]
    return Ordering(params["dim"] % types[0].rank, n, n, params["computation"])


SORT_BY = register(
    OpDef(
        name="sort_by",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_sort_by,
        sorts=_sorts_by,
        fresh=True,
        doc="Lines along a dimension, put in the order of an arbitrary comparator.",
    )
)


# ---- the public functions


def sort(
    operands: Any, comparator: Callable[..., Any] | None = None, dimension: int = -1, is_stable: bool = False
) -> Any:
    """Sorts each line along a dimension; lines of several operands of equal dimensions move together.

    ``comparator(a_0, b_0, a_1, b_1, ...)`` says whether the elements a belong before the elements b; without one the
    first operand decides: ascending, NaNs last, zeros equal, complex numbers by real, then by imaginary part. The
    sort is always stable. One operand by itself gives one array, a sequence gives a tuple; element types: any.
    Raises DTypeError for a comparator that does not return PRED, ArgumentError, ShapeError.

    >>> sort(np.int32([3, 1, 2]))
    array([1, 2, 3], dtype=int32)
    """
    values = list(operands) if isinstance(operands, tuple | list) else [operands]
    arrays = [as_operand(value, "sort", f"operands[{k}]") for k, value in enumerate(values)]
    if not arrays:
        raise ArgumentError("ops.sort: operands: at least one array is required; got none")
    dim = static_int(dimension, "sort", "dimension")
    sizes = joint_sizes("sort", arrays)
    result = _sorted_in_front(arrays, comparator, dim, sizes) if sizes else _sorted(arrays, comparator, dim)
    return result if isinstance(operands, tuple | list) else result[0]


def _sorted(arrays: Sequence[Any], comparator: Callable[..., Any] | None, dim: int) -> tuple[Any, ...]:
    """The arrays in the order of a comparator, or ascending."""
    order: Order | None = Order((Key(0),))
    if comparator is not None:
        scalars = [scalar_type(aval_of(array).dtype) for array in arrays for _ in range(2)]
        graph = traced_scalars("sort", comparator, scalars, [BOOL])
        order = order_of(graph)
    if order is not None:
        result = _sorted_by_keys(order, arrays, dim)
    else:
        result = apply(SORT_BY, *arrays, *captured(graph), computation=graph, dim=dim, n=len(arrays))
    return result if len(arrays) > 1 else (result,)


def _sorted_in_front(
    arrays: Sequence[Any], comparator: Callable[..., Any] | None, dim: int, sizes: dict[int, Any]
) -> tuple[Any, ...]:
    """The arrays in order with padding last: whether an element is padding decides first."""
    dims, n = aval_of(arrays[0]).shape, len(arrays)
    rules.check_same_dims("sort", [f"operands[{k}]" for k in range(n)], [aval_of(array) for array in arrays])
    _check_dimension(dim, len(dims))
    lines, axis = [at_bound(array) for array in arrays], dim % len(dims)
    if axis not in sizes:
        found = _sorted(lines, comparator, axis)
    elif comparator is None:
        lines.append(not_(before_size(dims, [(axis, sizes[axis])])))
        found = _sorted_by_keys(Order((Key(n), Key(0))), lines, axis)
    else:
        compared = comparator
        lines.append(not_(before_size(dims, [(axis, sizes[axis])])))
        found = _sorted(lines, lambda *all: or_(lt(*all[-2:]), and_(eq(*all[-2:]), compared(*all[:-2]))), axis)
    return tuple(sized(one, sizes) for one in found[:n])


def _sorted_by_keys(order: Order, arrays: Sequence[Any], dim: int) -> Any:
    """The arrays in the order of keys."""
    lines = [*arrays, *_made(order, arrays)]
    types, n = tuple(aval_of(line) for line in lines), len(arrays)
    in_library = current() is None or _sorts_in_library(order.keys, types, n)
    before = None if in_library else comparator_of(order.keys, types)
    return apply(SORT, *lines, keys=order.keys, computation=before, dim=dim, n=n)


def _made(order: Order, arrays: Sequence[Any]) -> list[Any]:
    """The keys that are computed from the elements of the operands; there are none for operands that do not match."""
    if not order.made:
        return []
    types = [aval_of(array) for array in arrays]
    rules.check_same_dims("sort", [f"operands[{k}]" for k in range(len(types))], types)
    return [replay(graph, arrays, types[0].dims)[0] for graph in order.made]


def top_k(operand: Any, k: int, largest: bool = True) -> Any:
    """The k largest (or smallest) elements of each line along the last dimension, and their S32 positions.

    In the total order, so that NaN is the largest; of equal elements the first come first. Element types: integer,
    float. Raises DTypeError, ArgumentError for a negative k, ShapeError for more than there are.

    >>> top_k(np.float32([1, 5, 5, 2]), 3)
    (array([5., 5., 2.], dtype=float32), array([1, 2, 3], dtype=int32))
    """
    array = as_operand(operand, "top_k", "operand")
    type, count = aval_of(array), static_int(k, "top_k", "k")
    rules.check_class("top_k", "operand", type, "IF")
    rules.check_at_least("top_k", "k", (count,), 0)
    if type.rank == 0 or count > type.shape[-1]:
        raise ShapeError(
            f"ops.top_k: operand: a last dimension of {count} or more is required; got {rules.got((type,))}"
        )
    last = type.rank - 1
    places = iota(f"s32[{','.join(map(str, type.shape))}]", last)
    if sizes := joint_sizes("top_k", (array,)):
        places = sized(places, sizes)
    before = gt_total_order if largest else lt_total_order
    both = sort((array, places), lambda a, b, p, q: before(a, b), last)
    starts, ends = (0,) * type.rank, (*type.shape[:-1], count)
    return tuple(slice_of(part, starts, ends) for part in both)
