"""Running results of an associative function, by slices of half the length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit import tree
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ops.control.computations import check_arity, fresh, outline
from xjit.ops.define import rules
from xjit.ops.define.core import as_operand, aval_of, static_flag, static_int
from xjit.ops.define.rules import got
from xjit.ops.whole_arrays.concatenate import concatenate
from xjit.ops.whole_arrays.shape import reshape, rev, slice

__all__ = ["associative_scan"]

NAME = "associative_scan"
Combine = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, dimension: int = 0, reverse: bool = False) -> Any:
    """Along a dimension the running results of ``fn``: the first slice, fn(first, second), and so on.

    ``elems`` is an array, or a nested tuple of arrays of one size along the dimension. ``fn`` gets two values of this
    structure, slices of equal shapes of the first and of later elements, and returns a third; it has to be
    associative. With ``reverse`` results run from the last slice. Any element types. Raises DTypeError,
    ArgumentError and ShapeError.

    >>> import numpy as np
    >>> from xjit.ops.elements.elementwise import add
    >>> associative_scan(add, np.int32([1, 2, 3, 4]))
    array([ 1,  3,  6, 10], dtype=int32)
    """
    leaves, structure = tree.flatten(elems)
    labels = tree.labels(structure, "elems")
    arrays = [as_operand(leaf, NAME, label) for leaf, label in zip(leaves, labels, strict=True)]
    axis, backwards = static_int(dimension, NAME, "dimension"), static_flag(reverse, NAME, "reverse")
    _check(arrays, axis)
    check_arity(fn, 2, NAME, "fn")

    def combine(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
        made, found = tree.flatten(fn(tree.unflatten(structure, one), tree.unflatten(structure, other)))
        if found != structure:
            rule = "results of the structure of elems are required"
            raise ArgumentError(f"ops.{NAME}: fn: {rule}; got {outline(found)} for {outline(structure)}")
        values = [as_operand(value, NAME, "fn") for value in made]
        for value, like in zip(values, other, strict=True):
            _check_result(aval_of(value), aval_of(like))
        return values

    found = _turned(_scanned(_turned(arrays, axis, backwards), axis, combine), axis, backwards)
    return tree.unflatten(structure, [fresh(one, NAME, "result") for one in found])


def _check(arrays: Sequence[Any], axis: int) -> None:
    if not arrays:
        raise ArgumentError(f"ops.{NAME}: elems: at least one array is required; got none")
    for number, array in enumerate(arrays):
        type = aval_of(array)
        rules.check_axis(NAME, "dimension", axis, type.rank)
        if type.shape[axis] != aval_of(arrays[0]).shape[axis]:
            types = got((aval_of(arrays[0]), type))
            raise ShapeError(f"ops.{NAME}: elems[{number}]: sizes differ in dimension {axis}; got {types}")


def _check_result(found: Any, like: Any) -> None:
    types = f"got {got((found,))} for {got((like,))}"
    if found.dtype != like.dtype:
        raise DTypeError(f"ops.{NAME}: fn: a result has another element type than its operands; {types}")
    if found.dims != like.dims:
        raise ShapeError(f"ops.{NAME}: fn: a result has another shape than its operands; {types}")


def _turned(arrays: Sequence[Any], axis: int, backwards: bool) -> list[Any]:
    return [rev(array, (axis,)) if backwards else array for array in arrays]


def _scanned(arrays: Sequence[Any], axis: int, combine: Combine) -> list[Any]:
    """Pairs are combined and scanned: these are the results at odd places. Those at even ones need one step more."""
    count = aval_of(arrays[0]).shape[axis]
    if count < 2:
        return list(arrays)
    pairs = combine(_every_other(arrays, axis, 0, count - 1), _every_other(arrays, axis, 1, count))
    odd = _scanned(pairs, axis, combine)
    if count == 2:
        return _joined(_every_other(arrays, axis, 0, 1), odd, axis)
    before = [_part(one, axis, 0, (count - 1) // 2, 1) for one in odd]
    even = combine(before, _every_other(arrays, axis, 2, count))
    return _joined(_joined(_every_other(arrays, axis, 0, 1), even, axis), odd, axis, woven=True)


def _every_other(arrays: Sequence[Any], axis: int, first: int, end: int) -> list[Any]:
    return [_part(array, axis, first, end, 2) for array in arrays]


def _part(array: Any, axis: int, first: int, end: int, step: int) -> Any:
    sizes = aval_of(array).shape
    starts = tuple(first if k == axis else 0 for k in range(len(sizes)))
    ends = tuple(end if k == axis else size for k, size in enumerate(sizes))
    return slice(array, starts, ends, tuple(step if k == axis else 1 for k in range(len(sizes))))


def _joined(ones: Sequence[Any], others: Sequence[Any], axis: int, woven: bool = False) -> list[Any]:
    join = _woven if woven else lambda one, other, axis: concatenate((one, other), axis)
    return [join(one, other, axis) for one, other in zip(ones, others, strict=True)]


def _woven(even: Any, odd: Any, axis: int) -> Any:
    """The slices of two arrays in turns; the first may have one more."""
    sizes = aval_of(odd).shape
    count, split = sizes[axis], (*sizes[: axis + 1], 1, *sizes[axis + 1 :])
    pairs = concatenate((reshape(_part(even, axis, 0, count, 1), split), reshape(odd, split)), axis + 1)
    both = reshape(pairs, (*sizes[:axis], 2 * count, *sizes[axis + 1 :]))
    rest = aval_of(even).shape[axis]
    return both if rest == count else concatenate((both, _part(even, axis, count, rest, 1)), axis)
