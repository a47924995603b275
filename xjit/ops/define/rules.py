"""Type rules that operations share: one check and one wording for each kind of mistake.

Every message has the form ``ops.<name>: <operand or argument>: <rule>; got <shapes or values>``. Callers check
element types first, then static arguments, then shapes, so the first broken rule in this order is the one reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.types import DTYPES, NAMES, ArrayType, Dim, DType, c_order, combined_order, in_classes, order_of

_WORDS = {"P": "pred", "I": "integer", "F": "float", "C": "complex"}


def got(types: Iterable[ArrayType]) -> str:
    """Types for a message, without their memory order.

    >>> from xjit.types import array_type
    >>> got((array_type("f32", (2, 3)), array_type("s8", ())))
    'f32[2,3] and s8[]'
    """
    return " and ".join(f"{NAMES.get(t.dtype, t.dtype)}[{','.join(map(str, t.dims))}]" for t in types)


def words(classes: str) -> str:
    """Classes of element types in words.

    >>> words("IF")
    'integer, float'
    >>> words("u64")
    'u64'
    """
    return ", ".join(word for part in classes.split() for word in _spoken(part))


def _spoken(part: str) -> Iterable[str]:
    """Words for class letters, and names of element types as they are."""
    return (part,) if part in DTYPES else (_WORDS[letter] for letter in part)


def check_class(name: str, argument: str, type: ArrayType, classes: str) -> None:
    """DTypeError unless the element type is of one of these classes."""
    if not in_classes(type.dtype, classes):
        raise DTypeError(
            f"ops.{name}: {argument}: the element type must be one of: {words(classes)}; got {got((type,))}"
        )


def check_same_dtype(name: str, arguments: Sequence[str], types: Sequence[ArrayType]) -> None:
    """DTypeError unless all element types are equal; the first one that differs is named."""
    for argument, type in zip(arguments, types, strict=False):
        if type.dtype != types[0].dtype:
            raise DTypeError(
                f"ops.{name}: {argument}: element types differ; got {got((types[0], type))}",
                fix=f"convert it: ops.convert_element_type({argument}, np.{types[0].dtype.name})",
            )


def check_same_dims(name: str, arguments: Sequence[str], types: Sequence[ArrayType]) -> None:
    """ShapeError unless all dimensions are equal; the first operand that differs is named."""
    for argument, type in zip(arguments, types, strict=False):
        if type.dims == types[0].dims:
            continue
        if type.rank != types[0].rank:
            rule = f"ranks {types[0].rank} and {type.rank} differ"
        else:
            axis = next(k for k in range(type.rank) if type.dims[k] != types[0].dims[k])
            rule = f"sizes differ in dimension {axis}"
        raise ShapeError(f"ops.{name}: {argument}: {rule}; got {got((types[0], type))}")


def check_rank(name: str, argument: str, type: ArrayType, rank: int) -> None:
    """ShapeError unless the operand has this rank."""
    if type.rank != rank:
        raise ShapeError(f"ops.{name}: {argument}: rank {rank} is required; got {got((type,))}")


def check_length(name: str, argument: str, values: Sequence[Any], length: int) -> None:
    """ArgumentError unless there is one value for each dimension."""
    if len(values) != length:
        raise ArgumentError(f"ops.{name}: {argument}: {length} values are required; got {tuple(values)}")


def check_at_least(name: str, argument: str, values: Iterable[int], least: int) -> None:
    """ArgumentError for a value below the least one."""
    values = tuple(values)
    if any(value < least for value in values):
        raise ArgumentError(f"ops.{name}: {argument}: values of at least {least} are required; got {values}")


def check_axis(name: str, argument: str, axis: int, rank: int) -> None:
    """ArgumentError for a dimension number outside the rank."""
    if not 0 <= axis < rank:
        raise ArgumentError(f"ops.{name}: {argument}: a dimension of rank {rank} is required; got {axis}")


def check_axes(name: str, argument: str, axes: Sequence[int], rank: int) -> None:
    """ArgumentError for dimension numbers that are outside the rank or repeated."""
    if any(not 0 <= axis < rank for axis in axes) or len(set(axes)) != len(axes):
        raise ArgumentError(
            f"ops.{name}: {argument}: distinct dimensions of rank {rank} are required; got {tuple(axes)}"
        )


def check_permutation(name: str, argument: str, axes: Sequence[int], rank: int) -> None:
    """ArgumentError unless the numbers are a permutation of the dimensions."""
    if sorted(axes) != list(range(rank)):
        raise ArgumentError(
            f"ops.{name}: {argument}: a permutation of {rank} dimensions is required; got {tuple(axes)}"
        )


def check_increasing(name: str, argument: str, axes: Sequence[int], rank: int) -> None:
    """ArgumentError unless the dimension numbers are in range and strictly increasing."""
    ordered = all(a < b for a, b in itertools.pairwise(axes))
    if not ordered or any(not 0 <= axis < rank for axis in axes):
        raise ArgumentError(
            f"ops.{name}: {argument}: strictly increasing dimensions of rank {rank} are required; got {tuple(axes)}"
        )


def elementwise_type(types: Sequence[ArrayType], dtype: DType) -> ArrayType:
    """The type of an elementwise result over operands of equal dimensions; its memory order is NumPy's K order."""
    dims, straight = types[0].dims, c_order(types[0].rank)
    if all(type.order == straight for type in types) or not types[0].is_static:
        return ArrayType(dtype, dims, straight)
    return ArrayType(dtype, dims, combined_order(types[0].shape, tuple(type.strides for type in types)))


def view_type(type: ArrayType, dims: tuple[Dim, ...], sources: Sequence[int | None]) -> ArrayType:
    """The type of a view whose result axis k is operand axis ``sources[k]``; None repeats the operand.

    Order is that of the operand; repeated axes are left out of it.
    """
    result = ArrayType(type.dtype, dims, c_order(len(dims)))
    unmoved = type.order == c_order(type.rank) and tuple(sources) == type.order
    if unmoved or not (type.is_static and result.is_static):
        return result
    strides = tuple(0 if source is None else type.strides[source] for source in sources)
    return ArrayType(type.dtype, dims, order_of(result.shape, strides))


def elementwise_infer(
    name: str, arguments: Sequence[str], classes: str, result: Callable[[DType], DType]
) -> Callable[[tuple[ArrayType, ...], Any], ArrayType]:
    """The rule of operations over operands of one element type and equal dimensions."""

    def infer(types: tuple[ArrayType, ...], params: Any) -> ArrayType:
        check_class(name, arguments[0], types[0], classes)
        check_same_dtype(name, arguments, types)
        check_same_dims(name, arguments, types)
        return elementwise_type(types, result(types[0].dtype))

    return infer


def part_infer(
    name: str, arguments: Sequence[str], classes: str, result: Callable[[DType], DType]
) -> Callable[[tuple[ArrayType, ...], Any], ArrayType]:
    """The rule of operations that show a part of each element: in the order of the operand, repeated or not."""

    def infer(types: tuple[ArrayType, ...], params: Any) -> ArrayType:
        check_class(name, arguments[0], types[0], classes)
        return types[0].with_dtype(result(types[0].dtype))

    return infer


def joint_dims(
    name: str, lhs: ArrayType, rhs: ArrayType, mapping: tuple[int, ...] | None
) -> tuple[tuple[Dim, ...], tuple[int, ...], tuple[int, ...]]:
    """Result dimensions of a binary operation and, for each operand, which of them its own dimensions meet.

    ``mapping`` is broadcast_dimensions; None and () are the same. Raises ArgumentError for a bad mapping and
    ShapeError for ranks or sizes that do not fit.
    """
    rank, low = max(lhs.rank, rhs.rank), min(lhs.rank, rhs.rank)
    straight, placed = tuple(range(rank)), mapping or ()
    if lhs.rank == rhs.rank:
        if placed not in ((), straight):
            raise ArgumentError(f"ops.{name}: broadcast_dimensions: equal ranks need none; got {placed}")
        placed = straight
    elif low == 0:
        if placed:
            raise ArgumentError(f"ops.{name}: broadcast_dimensions: rank 0 needs none; got {placed}")
    else:
        _check_mapping(name, lhs, rhs, placed)
    maps = (straight, placed) if lhs.rank >= rhs.rank else (placed, straight)
    return _stretched(name, (lhs, rhs), maps, rank), *maps


def _check_mapping(name: str, lhs: ArrayType, rhs: ArrayType, mapping: tuple[int, ...]) -> None:
    if not mapping:
        shorter = "lhs" if lhs.rank < rhs.rank else "rhs"
        raise ShapeError(
            f"ops.{name}: {shorter}: ranks {lhs.rank} and {rhs.rank} differ, broadcast_dimensions required; "
            f"got {got((lhs, rhs))}",
            fix=f"say which dimensions {shorter} meets, as in broadcast_dimensions=(1,)",
        )
    check_length(name, "broadcast_dimensions", mapping, min(lhs.rank, rhs.rank))
    check_increasing(name, "broadcast_dimensions", mapping, max(lhs.rank, rhs.rank))


def _stretched(
    name: str, types: tuple[ArrayType, ArrayType], maps: tuple[tuple[int, ...], tuple[int, ...]], rank: int
) -> tuple[Dim, ...]:
    result: list[Dim] = [1] * rank
    for type, places in zip(types, maps, strict=True):
        for dim, axis in zip(type.dims, places, strict=True):
            if result[axis] == 1:
                result[axis] = dim
            elif dim not in (1, result[axis]):
                raise ShapeError(f"ops.{name}: rhs: sizes differ in dimension {axis}; got {got(types)}")
    return tuple(result)
