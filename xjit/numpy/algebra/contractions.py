"""Sums of products over labelled axes: what einsum and the products of stacks of vectors come down to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xjit import ops
from xjit.dataclass import dataclass
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.values import shape_of
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.whole_arrays.diagonal import diagonal
from xjit.ops.whole_arrays.reduce import reduction
from xjit.types import BOOL

Labels = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """An operand with a label for each of its axes; all labels differ."""

    value: Operand
    labels: Labels

    @property
    def sizes(self) -> dict[Any, int]:
        """The size of the axis of each label."""
        return dict(zip(self.labels, shape_of(self.value), strict=True))


def labelled(value: Operand, labels: Sequence[Any]) -> Labelled:
    """The operand with one axis for each label: axes of equal labels become their diagonal."""
    found = list(labels)
    for label in dict.fromkeys(labels):
        while found.count(label) > 1:
            first = found.index(label)
            second = found.index(label, first + 1)
            value = diagonal(value, first, second, writable=True)
            found = [one for place, one in enumerate(found) if place not in (first, second)] + [label]
    return Labelled(value, tuple(found))


def without_ones(one: Labelled, sizes: dict[Any, int]) -> Labelled:
    """Without the axes of size one whose label has another size elsewhere: products repeat the operand there."""
    kept = tuple(label for label in one.labels if one.sizes[label] == sizes[label])
    return one if kept == one.labels else Labelled(ops.reshape(one.value, tuple(sizes[k] for k in kept)), kept)


def summed(one: Labelled, kept: Sequence[Any]) -> Labelled:
    """Summed over all labels but these, in the operand's own element type; truth values by or."""
    axes = tuple(place for place, label in enumerate(one.labels) if label not in kept)
    if not axes:
        return one
    value = reduction(one.value, "or" if dtype_of(one.value) == BOOL else "add", axes)
    return Labelled(value, tuple(label for label in one.labels if label in kept))


def arranged(one: Labelled, labels: Sequence[Any]) -> Labelled:
    """With the axes in the order of the labels."""
    places = tuple(one.labels.index(label) for label in labels)
    if places == tuple(range(len(places))):
        return one
    return Labelled(ops.transpose(one.value, places), tuple(labels))


def contracted(x: Labelled, y: Labelled, kept: Sequence[Any]) -> Labelled:
    """The sum of products over all labels but these; ``kept`` also says in which order they are wanted."""
    x = summed(x, (*kept, *y.labels))
    y = summed(y, (*kept, *x.labels))
    shared = [label for label in x.labels if label in y.labels]
    over = [label for label in shared if label not in kept]
    own = [label for label in x.labels if label not in shared]
    others = [label for label in y.labels if label not in shared]
    if not over:
        return _product(x, y, [label for label in kept if label in x.labels or label in y.labels])
    if not (own and others) and (len(shared) > len(over) or not (own or others)):
        order = [label for label in kept if label in x.labels or label in y.labels]
        return summed(_product(x, y, [*order, *over]), kept)
    free = [label for label in kept if label in own or label in others]
    return _matrix_product(y, x, over) if free and free[0] in others else _matrix_product(x, y, over)


def _product(x: Labelled, y: Labelled, labels: list[Any]) -> Labelled:
    """All products of elements, with the axes in this order."""
    sizes = x.sizes | y.sizes
    shape = tuple(sizes[label] for label in labels)
    values = (broadcast_to_shape(_spread(one, labels), shape) for one in (x, y))
    multiply = ops.logical_and if dtype_of(x.value) == BOOL else ops.mul
    return Labelled(multiply(*values), tuple(labels))


def _spread(one: Labelled, labels: list[Any]) -> Operand:
    turned = arranged(one, [label for label in labels if label in one.labels])
    result: Operand = ops.reshape(turned.value, tuple(one.sizes.get(label, 1) for label in labels))
    return result


def _matrix_product(x: Labelled, y: Labelled, over: list[Any]) -> Labelled:
    """The contraction as one product of (stacks of) matrices."""
    batch = [label for label in x.labels if label in y.labels and label not in over]
    left, right = (tuple(tuple(one.labels.index(k) for k in labels) for labels in (over, batch)) for one in (x, y))
    value = ops.dot_general(x.value, y.value, ((left[0], right[0]), (left[1], right[1])))
    free = (label for one in (x, y) for label in one.labels if label not in over and label not in batch)
    return Labelled(value, (*batch, *free))
