"""Windows over an array: the padding around it, and how many windows there are.

A window of ``size`` elements, ``window_dilation`` apart, moves by ``stride`` over an axis whose elements lie
``base_dilation`` apart, with ``low`` positions of padding before and ``high`` after them::

    . . 0 . 1 . 2 .      n = 3, base_dilation = 2, low = 2, high = 1
    x     x              the first window of size 2, window_dilation = 3
        x     x          the second one of stride 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError
from xjit.ops.define import rules
from xjit.ops.define.core import static_ints

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows along every axis of an array; ``padding`` has (low, high), of which negative ones remove positions."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base_dilations: tuple[int, ...]
    window_dilations: tuple[int, ...]
    padding: Pairs

    def counts(self, dims: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each axis of an array of these dimensions."""
        rows = zip(
            dims, self.sizes, self.strides, self.base_dilations, self.window_dilations, self.padding, strict=True
        )
        return tuple(
            [
                window_count(low + dilated(n, base) + high, dilated(k, step), stride)
                for n, k, stride, base, step, (low, high) in rows
            ]
        )

    def along(self, axis: int) -> Windows:
        """The windows along one axis alone, over an array that is padded."""
        ones = (1,) * len(self.sizes)
        rows = (self.sizes, self.strides, ones, self.window_dilations)
        own = [tuple([row[axis] if place == axis else 1 for place in range(len(ones))]) for row in rows]
        return Windows(own[0], own[1], own[2], own[3], ((0, 0),) * len(ones))

    @property
    def config(self) -> tuple[tuple[int, int, int], ...]:
        """The padding as :func:`xjit.ops.pad` takes it."""
        return tuple(
            [(low, high, base - 1) for (low, high), base in zip(self.padding, self.base_dilations, strict=True)]
        )

    @property
    def pads(self) -> bool:
        """Return whether the padded array differs from the array."""
        return any(row != (0, 0, 0) for row in self.config)


def dilated(size: int, dilation: int) -> int:
    """The positions that so many elements span.

    >>> [dilated(size, 3) for size in (0, 1, 2, 4)]
    [0, 1, 4, 10]
    """
    return (size - 1) * dilation + 1 if size else 0


def window_count(positions: int, window: int, stride: int) -> int:
    """The number of windows that span so many positions; none where one does not fit."""
    return 0 if positions <= 0 or window > positions else (positions - window) // stride + 1


def static_windows(
    name: str,
    dims: Sequence[int],
    sizes: Any,
    strides: Any = None,
    base_dilations: Any = None,
    window_dilations: Any = None,
    padding: Any = "VALID",
    names: Sequence[str] = ("window_dimensions", "window_strides", "base_dilations", "window_dilations"),
    least: int = 1,
) -> Windows:
    """The windows that the arguments of an operation describe; None stands for ones.

    ``padding`` is "SAME", "VALID", in any case, or a pair for each axis. ``names`` are those of the arguments. Raises
    ArgumentError for a wrong length, sizes below ``least``, strides and dilations below 1, and unknown padding.

    >>> static_windows("f", (5,), (3,), (2,), padding="same").padding
    ((1, 1),)
    """
    found: list[tuple[int, ...]] = []
    for argument, values in zip(names, (sizes, strides, base_dilations, window_dilations), strict=True):
        row = (1,) * len(dims) if values is None else static_ints(values, name, argument)
        rules.check_length(name, argument, row, len(dims))
        rules.check_at_least(name, argument, row, least if argument == names[0] else 1)
        found.append(row)
    window, steps, base, apart = found
    return Windows(window, steps, base, apart, _resolved(name, padding, dims, window, steps, base, apart))


def _resolved(
    name: str,
    padding: Any,
    dims: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    base_dilations: Sequence[int],
    window_dilations: Sequence[int],
) -> Pairs:
    """The padding as (low, high) for each axis, from such pairs or a word."""
    if isinstance(padding, str):
        word = padding.upper()
        if word not in ("SAME", "VALID"):
            raise ArgumentError(f"ops.{name}: padding: 'SAME', 'VALID' or pairs are required; got {padding!r}")
        rows = zip(dims, sizes, strides, base_dilations, window_dilations, strict=True)
        return tuple(
            [
                _same(dilated(n, base), dilated(k, step), stride) if word == "SAME" else (0, 0)
                for n, k, stride, base, step in rows
            ]
        )
    if not isinstance(padding, Sequence):
        raise ArgumentError(f"ops.{name}: padding: 'SAME', 'VALID' or pairs are required; got {padding!r}")
    pairs = tuple([static_ints(pair, name, "padding") for pair in padding])
    rules.check_length(name, "padding", pairs, len(dims))
    if any(len(pair) != 2 for pair in pairs):
        raise ArgumentError(f"ops.{name}: padding: (low, high) is required for each dimension; got {pairs}")
    return tuple([(low, high) for low, high in pairs])


def _same(positions: int, window: int, stride: int) -> tuple[int, int]:
    count = -(-positions // stride)
    total = max((count - 1) * stride + window - positions, 0)
    return total // 2, total - total // 2
