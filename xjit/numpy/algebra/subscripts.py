"""np.einsum: subscripts read as labels of axes, then contracted operand by operand from left to right."""

from __future__ import annotations

import string
import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError
from xjit.numpy.algebra.contractions import Labelled, Labels, arranged, contracted, labelled, summed, without_ones
from xjit.numpy.rules.promotion import cast, requested, result_type, supported
from xjit.numpy.rules.static import miniatures
from xjit.numpy.rules.values import (
    Shape,
    as_scalar,
    as_value,
    as_view,
    numpy_errors,
    refuse,
    shape_of,
    whole_number,
    with_order,
)
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import FLOAT32, NARROW_FLOATS, DType, order_of

_RULE = "write one term for each operand, a letter for each of its axes, the same one for axes of one size"
_LETTERS = string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class Subscripts:
    """One label for each axis of each operand, and those of the result in their order.

    Letters are labels; axes of an ellipsis have negative numbers, counted from their last one.
    """

    operands: tuple[Labels, ...]
    result: Labels


def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: str = "K",
    casting: Any = "safe",
) -> Any:
    """Sums of products over labelled axes: ``einsum("ij,jk->ik", a, b)``, or with lists of numbers behind operands.

    Any element types, promoted together; integers wrap, truth values are or of and. Axes may be repeated (diagonals)
    and hidden in an ellipsis. What only moves elements is a view. ``optimize`` chooses no other order of contractions
    than from left to right. Raises ArgumentError for subscripts that are wrong or do not fit, DTypeError for a cast
    that ``casting`` forbids, CaptureError for ``out``.

    >>> einsum("ij->j", np.array([[1, 2], [3, 4]]))
    array([4, 6])
    """
    refuse("einsum", out=out)
    text, arrays = _arguments(operands)
    values = [as_value(one, "einsum", f"operand {place}") for place, one in enumerate(arrays)]
    small = miniatures(*values)
    options = {"optimize": optimize, "order": order, "casting": casting, "dtype": requested(dtype, "einsum")}
    with numpy_errors("einsum", ArgumentError, _RULE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of casts that leave imaginary parts out
        judged = np.asarray(np.einsum(text, *small, **{k: v for k, v in options.items() if v is not None}))
    subscripts = read(text, [len(shape_of(value)) for value in values])
    for value, labels in zip(values, subscripts.operands, strict=True):
        _check_diagonals(shape_of(value), labels)
    if len(values) == 1 and any(np.shares_memory(judged, one) for one in small):
        only = arranged(labelled(values[0], subscripts.operands[0]), subscripts.result)
        return as_view(only.value) if shape_of(only.value) else as_scalar(only.value)
    found = options["dtype"] or _common_type(values) or supported(judged.dtype, "einsum")
    return as_scalar(_evaluated(values, subscripts, found, order_of(judged.shape, judged.strides)))


def _common_type(values: list[Operand]) -> DType | None:
    """The type of products where some operand is of a type that NumPy's einsum refuses, but its ``matmul`` takes."""
    if all(dtype_of(value).name not in ml_dtypes.__all__ for value in values):
        return None
    return result_type(*values, name="einsum")


def _arguments(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The subscripts as text, and the operands."""
    if not operands:
        raise ArgumentError("numpy.einsum: must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        return operands[0], list(operands[1:])
    pairs = list(zip(operands[::2], operands[1::2], strict=False))
    text = ",".join(_spelled(labels) for _, labels in pairs)
    result = f"->{_spelled(operands[-1])}" if len(operands) % 2 else ""
    return text + result, [array for array, _ in pairs]


def _spelled(labels: Any) -> str:
    with numpy_errors("einsum", ArgumentError):
        return "".join("..." if one is Ellipsis else _letter(whole_number(one)) for one in labels)


def _letter(number: int) -> str:
    if not 0 <= number < len(_LETTERS):
        raise ValueError(f"subscript is not within the valid range [0, {len(_LETTERS)}); got {number}")
    return _LETTERS[number]


def read(text: str, ranks: Sequence[int]) -> Subscripts:
    """The labels that subscripts of operands of these ranks stand for; the subscripts are right.

    >>> read("i...,i", (2, 1))
    Subscripts(operands=(('i', -1), ('i',)), result=(-1,))
    """
    terms, arrow, wanted = text.replace(" ", "").partition("->")
    found = tuple(_labels(term, rank) for term, rank in zip(terms.split(","), ranks, strict=True))
    hidden = sorted({label for labels in found for label in labels if isinstance(label, int)})
    if arrow:
        before, dots, after = wanted.partition("...")
        return Subscripts(found, (*before, *(hidden if dots else ()), *after))
    letters = [label for labels in found for label in labels if isinstance(label, str)]
    return Subscripts(found, (*hidden, *sorted(label for label in set(letters) if letters.count(label) == 1)))


def _labels(term: str, rank: int) -> Labels:
    before, dots, after = term.partition("...")
    count = rank - len(before) - len(after) if dots else 0
    return (*before, *range(-count, 0), *after)


def _check_diagonals(shape: Shape, labels: Labels) -> None:
    """ArgumentError for a label of axes of two sizes: NumPy's own check lets axes without elements pass."""
    for label, size in zip(labels, shape, strict=True):
        first = shape[labels.index(label)]
        if size != first:
            raise ArgumentError(
                f"numpy.einsum: dimensions in operand for collapsing index {label!r} don't match ({first} != {size})"
            )


def _evaluated(values: list[Operand], subscripts: Subscripts, dtype: DType, order: tuple[int, ...]) -> Any:
    working = FLOAT32 if dtype in NARROW_FLOATS else dtype
    parts = [
        labelled(cast(value, working), labels) for value, labels in zip(values, subscripts.operands, strict=True)
    ]
    sizes: dict[Any, int] = {}
    for part in parts:
        sizes.update({label: size for label, size in part.sizes.items() if sizes.get(label, 1) == 1})
    parts = [without_ones(part, sizes) for part in parts]
    in_memory = tuple(subscripts.result[place] for place in order)
    result = arranged(
        _folded(parts, in_memory if len(order) == len(subscripts.result) else subscripts.result), subscripts.result
    )
    return with_order(cast(result.value, dtype), order)


def _folded(parts: list[Labelled], wanted: Labels) -> Labelled:
    result, *rest = parts
    for place, part in enumerate(rest):
        later = {label for one in rest[place + 1 :] for label in one.labels}
        known = (*result.labels, *part.labels)
        kept = [label for label in wanted if label in known]
        kept += [label for label in dict.fromkeys(known) if label in later and label not in kept]
        result = contracted(result, part, kept)
    result = summed(result, wanted)
    return result
