"""Convolutions: sums of products of windows over an array with a kernel, over features and positions in the window.

    result[b, z, o] = sum over i, k of  lhs[b, i, o * stride + k * dilation - low] * rhs[z, i, k]

The record works on [batch, feature, space...], [out feature, in feature, space...]; other orders of the dimensions
are transposed. Positions of padding and between dilated elements are no terms of the sum: an infinite weight meets no
zero there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, ShapeError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, aval_of, operands_like_each_other, register, static_int, static_ints
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.whole_arrays.concatenate import PAD
from xjit.ops.whole_arrays.linalg import preferred_type
from xjit.ops.whole_arrays.shape import transpose
from xjit.ops.windows.window_padding import Windows, static_windows
from xjit.types import FLOAT32, NARROW_FLOATS, ArrayType, DType

__all__ = ["conv", "conv_general_dilated", "conv_general_padding"]

Types: TypeAlias = "tuple[ArrayType, ...]"
STRAIGHT = ("NCHW", "OIHW", "NCHW")


# ---- the record


@dataclass(frozen=True, slots=True)
class Convolution:
    """The windows over space, and into how many groups features or batches are cut."""

    windows: Windows
    feature_groups: int = 1
    batch_groups: int = 1

    @property
    def groups(self) -> int:
        """The number of groups, of which one kind has one."""
        return self.feature_groups * self.batch_groups

    def dims(self, lhs: Sequence[int], rhs: Sequence[int]) -> tuple[int, ...]:
        """The dimensions of the result."""
        return (lhs[0] // self.batch_groups, rhs[0], *self.windows.counts(lhs[2:]))


def _infer(types: Types, params: Params) -> ArrayType:
    lhs, rhs = types
    dims = params["convolution"].dims(lhs.shape, rhs.shape)
    return ArrayType(lhs.dtype, dims, params["order"])


def _reference(lhs: Array, rhs: Array, convolution: Convolution, order: tuple[int, ...]) -> Array:
    windows, groups = convolution.windows, convolution.groups
    dims = convolution.dims(lhs.shape, rhs.shape)
    batch, outputs, counts = dims[0], rhs.shape[0] // groups, dims[2:]
    result = np.zeros((batch, groups, outputs, math.prod(counts)), lhs.dtype)
    if not result.size:  # padding may remove more than there is
        return np.zeros(dims, lhs.dtype)
    inside = np.ones(lhs.shape[2:], np.bool_)
    padded = PAD.reference(lhs, np.zeros((), lhs.dtype), ((0, 0, 0), (0, 0, 0), *windows.config))
    inside = PAD.reference(inside, np.False_, windows.config)
    for taps in np.ndindex(rhs.shape[2:]):
        at = tuple(_positions(windows, counts, taps))
        place, is_term = padded[(slice(None), slice(None), *at)], inside[at].reshape(-1)
        for group in range(groups):
            one = _group(place, convolution, group).reshape(batch, rhs.shape[1], math.prod(counts))
            weights = rhs[group * outputs : (group + 1) * outputs][(slice(None), slice(None), *taps)]
            result[:, group] += np.where(is_term, np.matmul(weights, one), result.dtype.type(0))
    back = tuple(order.index(axis) for axis in range(len(order)))
    return np.asarray(np.ascontiguousarray(result.reshape(dims).transpose(order)).transpose(back))


def _positions(windows: Windows, counts: Sequence[int], taps: Sequence[int]) -> Iterator[slice]:
    """Yield where an element of all windows lies in the padded array."""
    for count, tap, stride, dilation in zip(counts, taps, windows.strides, windows.window_dilations, strict=True):
        yield slice(tap * dilation, tap * dilation + max(0, (count - 1) * stride + 1) * (count > 0), stride)


def _group(lhs: Array, convolution: Convolution, group: int) -> Array:
    """The part of lhs that the outputs of a group are made of."""
    axis = 0 if convolution.batch_groups > 1 else 1
    size = lhs.shape[axis] // convolution.groups
    part = slice(group * size, (group + 1) * size)
    return lhs[part] if axis == 0 else lhs[:, part]


CONV = register(
    OpDef(
        name="conv_general_dilated",
        kind=Kind.STRUCTURED,
        xla_name="ConvGeneralDilated",
        infer=_infer,
        reference=_reference,
        doc="Sums of products of windows with a kernel, over features and positions in the window.",
    )
)


# ---- the public functions


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    *,
    preferred_element_type: Any = None,
) -> Any:
    """The convolution of lhs [batch, feature, space...] with rhs [out feature, in feature, space...], not flipped.

    ``padding`` is "SAME", "VALID" or (low, high) for each dimension of space. Groups of features, or of batches, are
    convolved with equal groups of out features. Element types: integer (wraps), float (narrow ones add in F32),
    complex, the same for both; with ``preferred_element_type`` both are converted to it first and may differ within
    one class. Raises DTypeError, ArgumentError for lengths, strides and counts, ShapeError for sizes that do not fit.

    >>> conv(np.float32([[[1, 2, 3]]]), np.float32([[[1, 10]]]), (1,), "VALID")
    array([[[21., 32.]]], dtype=float32)
    """
    groups = feature_group_count, batch_group_count
    return _convolution("conv", lhs, rhs, window_strides, padding, groups, preferred_element_type)


def conv_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    *,
    preferred_element_type: Any = None,
) -> Any:
    """As conv, with elements of lhs and of the window that lie apart. Negative padding removes elements.

    >>> conv_general_padding(np.float32([[[1, 2, 3]]]), np.float32([[[1, 10]]]), (1,), ((1, -1),), (1,), (2,))
    array([[[20.]]], dtype=float32)
    """
    groups, dilations = (feature_group_count, batch_group_count), (lhs_dilation, rhs_dilation)
    name = "conv_general_padding"
    return _convolution(name, lhs, rhs, window_strides, padding, groups, preferred_element_type, dilations)


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Sequence[str] = STRAIGHT,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    preferred_element_type: Any = None,
) -> Any:
    """As conv_general_padding, with dimensions in any order: N and C, O and I, and a letter for each one of space.

    Strides, padding and dilations are in the order of the space of rhs.

    >>> x, k = np.float32([[[1], [2], [3]]]), np.float32([[[1]], [[10]]])
    >>> conv_general_dilated(x, k, (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))
    array([[[21.],
            [32.]]], dtype=float32)
    """
    groups, dilations = (feature_group_count, batch_group_count), (lhs_dilation, rhs_dilation)
    return _convolution(
        "conv_general_dilated",
        lhs,
        rhs,
        window_strides,
        padding,
        groups,
        preferred_element_type,
        dilations,
        dimension_numbers,
    )


def _convolution(
    name: str,
    lhs: Any,
    rhs: Any,
    strides: Any,
    padding: Any,
    groups: tuple[Any, Any],
    preferred: Any,
    dilations: tuple[Any, Any] = (None, None),
    numbers: Sequence[str] = STRAIGHT,
) -> Any:
    arrays = operands_like_each_other(name, lhs=lhs, rhs=rhs)
    wide, dtype = _element_types(name, arrays, preferred)
    features, batches = _group_counts(name, *groups)
    turns = _turns(name, numbers, aval_of(arrays[0]).rank, strides, dilations)
    left, right = (_turned(array, turn) for array, turn in zip(arrays, turns[:2], strict=True))
    types = aval_of(left), aval_of(right)
    windows = _windows(name, types, strides, padding, dilations)
    convolution = Convolution(windows, features, batches)
    _check_sizes(name, types, convolution)
    left, right = (
        array if aval_of(array).dtype == wide else convert_element_type(array, wide) for array in (left, right)
    )
    result = apply(CONV, left, right, convolution=convolution, order=turns[2])
    result = result if aval_of(result).dtype == dtype else convert_element_type(result, dtype)
    return _turned(result, turns[2])


def _element_types(name: str, arrays: Sequence[Operand], preferred: Any) -> tuple[DType, DType]:
    """The types in which products are formed, and of the result."""
    types = aval_of(arrays[0]), aval_of(arrays[1])
    for argument, type in zip(("lhs", "rhs"), types, strict=True):
        rules.check_class(name, argument, type, "IFC")
    if preferred is not None:
        return preferred_type(name, *types, preferred)
    rules.check_same_dtype(name, ("lhs", "rhs"), types)
    dtype = types[0].dtype
    return FLOAT32 if dtype in NARROW_FLOATS else dtype, dtype


def _group_counts(name: str, features: Any, batches: Any) -> tuple[int, int]:
    counts = []
    for argument, value in (("feature_group_count", features), ("batch_group_count", batches)):
        counts.append(static_int(value, name, argument))
        rules.check_at_least(name, argument, counts[-1:], 1)
    if min(counts) > 1:
        raise ArgumentError(
            f"ops.{name}: batch_group_count: groups of features or of batches, not both, are required; "
            f"got {tuple(counts)}"
        )
    return counts[0], counts[1]


def _turns(
    name: str, numbers: Any, rank: int, strides: Any, dilations: tuple[Any, Any]
) -> tuple[tuple[int, ...], ...]:
    """The dimensions of lhs and rhs in the order of the record, and those of the result in their order in memory."""
    space = max(rank - 2, 0)
    for argument, values in (
        ("window_strides", strides),
        ("lhs_dilation", dilations[0]),
        ("rhs_dilation", dilations[1]),
    ):
        if values is not None:
            rules.check_length(name, argument, static_ints(values, name, argument), space)
    if numbers is STRAIGHT or (numbers == STRAIGHT and rank != 4):
        return (tuple(range(rank)),) * 3
    specs = _specs(name, numbers)
    if any(len(spec) != rank for spec in specs):
        raise ArgumentError(f"ops.{name}: dimension_numbers: {rank} letters each are required; got {tuple(specs)}")
    lhs, rhs, out = specs
    letters = [letter for letter in rhs if letter not in "OI"]
    left = tuple(lhs.index(letter) for letter in ("N", "C", *letters))
    right = tuple(rhs.index(letter) for letter in ("O", "I", *letters))
    return left, right, tuple(("N", "C", *letters).index(letter) for letter in out)


def _specs(name: str, numbers: Any) -> list[str]:
    is_three = isinstance(numbers, Sequence) and len(numbers) == 3 and all(isinstance(one, str) for one in numbers)
    specs = [one.upper() for one in numbers] if is_three else []
    fits = bool(specs) and all(
        len(set(spec)) == len(spec) and set(pair) <= set(spec)
        for spec, pair in zip(specs, ("NC", "OI", "NC"), strict=True)
    )
    space = [set(spec) - set(pair) for spec, pair in zip(specs, ("NC", "OI", "NC"), strict=False)]
    if not fits or not space[0] == space[1] == space[2]:
        raise ArgumentError(
            f"ops.{name}: dimension_numbers: three texts as ('NHWC', 'HWIO', 'NHWC') with the same letters for space "
            f"are required; got {numbers!r}"
        )
    return specs


def _turned(array: Operand, turn: tuple[int, ...]) -> Any:
    if len(turn) != aval_of(array).rank or turn == tuple(range(len(turn))):
        return array
    return transpose(array, turn)


def _windows(name: str, types: Types, strides: Any, padding: Any, dilations: tuple[Any, Any]) -> Windows:
    lhs, rhs = types
    if lhs.rank != rhs.rank or lhs.rank < 2:
        raise ShapeError(f"ops.{name}: rhs: equal ranks of at least 2 are required; got {got(types)}")
    names = ("rhs", "window_strides", "lhs_dilation", "rhs_dilation")
    return static_windows(name, lhs.shape[2:], rhs.shape[2:], strides, *dilations, padding, names, least=0)


def _check_sizes(name: str, types: Types, convolution: Convolution) -> None:
    lhs, rhs = types
    features, batches = convolution.feature_groups, convolution.batch_groups
    if lhs.shape[1] != rhs.shape[1] * features:
        rule = f"the in features are those of lhs over feature_group_count={features}"
        raise ShapeError(f"ops.{name}: rhs: {rule}, which is required; got {got(types)}")
    if rhs.shape[0] % features or rhs.shape[0] % batches:
        rule = f"out features in {max(features, batches)} equal groups are required"
        raise ShapeError(f"ops.{name}: rhs: {rule}; got {got(types)}")
    if lhs.shape[0] % batches:
        raise ShapeError(f"ops.{name}: lhs: a batch in {batches} equal groups is required; got {got(types)}")
