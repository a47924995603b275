"""rng_bit_generator: arrays of random bits as a function of a state.

Every element is computed of the number of its block alone, in elementwise operations on positions, so that neither
threads nor vector width have a say in it, and what reads the bits may compute them in its own loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ops.define import rules
from xjit.ops.define.core import Shape, as_operand, as_shape, aval_of
from xjit.ops.elements.compare import lt
from xjit.ops.elements.convert import bitcast_convert_type, convert_element_type
from xjit.ops.elements.elementwise import add
from xjit.ops.random.philox import philox_words
from xjit.ops.random.random_words import U64, joined
from xjit.ops.random.threefry import threefry_words
from xjit.ops.whole_arrays.concatenate import concatenate
from xjit.ops.whole_arrays.shape import broadcast_in_dim, iota, reshape
from xjit.ops.whole_arrays.shape import slice as slice_of
from xjit.types import DTYPES, NAMES, DType, dtype_class

__all__ = ["rng_bit_generator"]

_NAME = "rng_bit_generator"


def rng_bit_generator(algorithm: str, initial_state: Any, shape: Any) -> tuple[Any, Any]:
    """A new state and an array of uniformly distributed bits, both functions of ``initial_state`` alone.

    ``algorithm`` is "RNG_THREE_FRY" with a state of U64 key and counter, or "RNG_PHILOX", which "RNG_DEFAULT" stands
    for, with a U64 key and one or two U64 words of counter. ``shape`` has an integer type. Raises DTypeError for
    another type of shape or state, ArgumentError for an unknown algorithm, ShapeError for a state of another length.

    >>> rng_bit_generator("RNG_THREE_FRY", np.uint64([0, 0]), "u32[2]")
    (array([0, 1], dtype=uint64), array([1797259609, 2579123966], dtype=uint32))
    """
    described, state = as_shape(shape, _NAME), as_operand(initial_state, _NAME, "initial_state")
    if dtype_class(described.dtype) != "I":
        raise DTypeError(f"ops.{_NAME}: shape: the element type must be one of: integer; got {described}")
    rules.check_class(_NAME, "initial_state", aval_of(state), "u64")
    found = _ALGORITHMS.get(algorithm.upper()) if isinstance(algorithm, str) else None
    if found is None:
        names = ", ".join(_ALGORITHMS)
        raise ArgumentError(f"ops.{_NAME}: algorithm: one of {names} is required; got {algorithm!r}")
    if aval_of(state).dims not in [(length,) for length in found.lengths]:
        lengths = " or ".join(f"u64[{length}]" for length in found.lengths)
        raise ShapeError(f"ops.{_NAME}: initial_state: {lengths} is required; got {rules.got((aval_of(state),))}")
    return found.draw(state, described)


def threefry_bits(state: Any, shape: Shape) -> tuple[Any, Any]:
    """Two words of a block for two neighbours along one dimension; or for one element of 64 bits."""
    key, counter = _part(state, 0), _part(state, 1)
    if shape.dtype.itemsize == 8:
        count = math.prod(shape.dims)
        words = threefry_words(key, add(counter, iota(Shape((count,), U64), 0)))
        bits = reshape(joined(*words), shape.dims)
    else:
        along = split_dimension(shape.dims)
        outer, size, inner = around(shape.dims, along)
        half = -(-size // 2)
        count = outer * half * inner
        words = threefry_words(key, add(counter, _positions((outer * half, inner))))
        bits = without_last(beside(words, 1), (outer, 2 * half, inner), size, shape.dims)
    return _state(key, add(counter, np.uint64(count))), _as_type(bits, shape.dtype)


def philox_bits(state: Any, shape: Shape) -> tuple[Any, Any]:
    """The words of the blocks one behind the other, one for each element, two for those of 64 bits."""
    key, low = _part(state, 0), _part(state, 1)
    short = aval_of(state).dims == (2,)
    high = key if short else _part(state, 2)
    size, count = math.prod(shape.dims), philox_blocks(shape)
    words: Any = philox_words(key, *_wide_sum(low, high, iota(Shape((count,), U64), 0)))
    if shape.dtype.itemsize == 8:
        words = joined(*words[:2]), joined(*words[2:])
    flat = reshape(beside(words, 1), (count * len(words),))
    bits = reshape(slice_of(flat, (0,), (size,)), shape.dims)
    after = _wide_sum(low, high, np.uint64(count))
    return _state(key, *after[: 1 if short else 2]), _as_type(bits, shape.dtype)


def philox_blocks(shape: Shape) -> int:
    """The number of blocks of four words that hold the bits of a shape.

    >>> philox_blocks(Shape((5,), "u32")), philox_blocks(Shape((5,), "u64"))
    (2, 3)
    """
    words = math.prod(shape.dims) * (2 if shape.dtype.itemsize == 8 else 1)
    return -(-words // 4)


@dataclass(frozen=True, slots=True)
class _Algorithm:
    """A way to draw bits, and the lengths of the states that it takes."""

    draw: Callable[[Any, Shape], tuple[Any, Any]]
    lengths: tuple[int, ...]


_ALGORITHMS = {
    "RNG_THREE_FRY": _Algorithm(threefry_bits, (2,)),
    "RNG_PHILOX": _Algorithm(philox_bits, (2, 3)),
    "RNG_DEFAULT": _Algorithm(philox_bits, (2, 3)),
}


def split_dimension(dims: tuple[int, ...]) -> int:
    """The dimension along which two neighbours share a block: the first of even size, else the first of the largest.

    >>> split_dimension((3, 4, 2)), split_dimension((3, 5, 5)), split_dimension(())
    (1, 1, 0)
    """
    even = [axis for axis, size in enumerate(dims) if size % 2 == 0]
    if even or not dims:
        return even[0] if even else 0
    return dims.index(max(dims))


def around(dims: tuple[int, ...], along: int) -> tuple[int, int, int]:
    """The number of elements in front of a dimension, along it and behind it; without dimensions one of each."""
    size = dims[along] if dims else 1
    return math.prod(dims[:along]), size, math.prod(dims[along + 1 :])


def beside(parts: Sequence[Any], axis: int) -> Any:
    """Arrays put beside each other along a new dimension."""
    dims = aval_of(parts[0]).shape
    wider = (*dims[:axis], 1, *dims[axis:])
    kept = tuple(k for k in range(len(wider)) if k != axis)
    return concatenate([broadcast_in_dim(part, wider, kept) for part in parts], axis)


def _positions(dims: tuple[int, int]) -> Any:
    """The row-major number of each element."""
    rows, columns = iota(Shape(dims, U64), 0), iota(Shape(dims, U64), 1)
    return add(rows if dims[1] == 1 else rows * np.uint64(dims[1]), columns)


def without_last(bits: Any, dims: tuple[int, int, int], size: int, out: tuple[int, ...]) -> Any:
    """The elements without those beyond the size of the middle dimension, in other dimensions."""
    bits = reshape(bits, dims)
    if size != dims[1]:
        bits = slice_of(bits, (0, 0, 0), (dims[0], size, dims[2]))
    return reshape(bits, out)


def _part(state: Any, place: int) -> Any:
    return reshape(slice_of(state, (place,), (place + 1,)), ())


def _state(*parts: Any) -> Any:
    return concatenate([reshape(part, (1,)) for part in parts], 0)


def _wide_sum(low: Any, high: Any, number: Any) -> tuple[Any, Any]:
    """A number of 128 bits plus one of 64."""
    total = add(low, number)
    return total, add(high, convert_element_type(lt(total, low), U64))


def _as_type(bits: Any, dtype: DType) -> Any:
    """Bits as integers of a type, the low ones where it is narrower."""
    unsigned = DTYPES[f"u{NAMES[dtype][1:]}"]
    if aval_of(bits).dtype != unsigned:
        bits = convert_element_type(bits, unsigned)
    return bits if unsigned == dtype else bitcast_convert_type(bits, dtype)
