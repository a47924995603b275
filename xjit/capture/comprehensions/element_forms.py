"""Elements of comprehensions as numbers of arrays: their form, and the types of what they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.gathered import Column, Fixed, Gathered, is_own, listed
from xjit.capture.constants.choices import in_numbers
from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.buffer import BufferView
from xjit.capture.python_control.leaves import Kind, is_array, is_array_like, kind_of
from xjit.capture.recording.container_entries import EntryType, common_type
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.dataclass import dataclass
from xjit.ir.current import current

_NEW: Any = np.array


class Holder:
    """Stands for a list that has arrays which others have, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The form of the elements: a type for each leaf, or the value that it always is, and whether it is a view."""

    tree: tree.Tree
    kinds: tuple[tuple[Any, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """The type of a leaf: a column of these elements; of ``lists`` of numbers the type of the array of one.

    Numbers that are ``doubtful`` are of this class of Python's or NumPy's, as another column says.
    """

    shape: tuple[int, ...]
    dtype: Any
    weak: type | None
    lists: bool = False
    doubtful: type | None = None

    def zero(self) -> Any:
        """A number of the type."""
        return self.dtype.type(0) if self.weak is None else self.weak(0)


def form_of(element: Any, outer: CaptureTrace) -> Form | None:
    """The form of an element that a turn makes; None where it is no such form."""
    leaves, structure = in_numbers(in_rows(element))
    found = [_kind(leaf, outer) for leaf in leaves]
    memory = [leaf.buffer for leaf in leaves if is_array(leaf) and isinstance(leaf, BufferView)]
    if len(set(memory)) < len(memory):
        return None
    kinds = [one for one in found if one is not None]
    return Form(structure, tuple(kinds)) if len(kinds) == len(found) else None


def _kind(leaf: Any, outer: CaptureTrace) -> tuple[Any, bool] | None:
    numbers = numbers_in(leaf)
    if numbers is not None:
        return Type(numbers.array.shape, numbers.array.dtype, numbers.weak, lists=True), False
    if not is_array_like(leaf):
        return (Fixed(leaf), False) if is_plain(leaf) else None
    if isinstance(leaf, np.ndarray):
        return None
    kind: Kind = kind_of(leaf, "an element")
    place = kind.place
    if not place.aval.rank and not place.scalar and place.weak is None:
        return None
    shown = is_array(leaf) and not is_own(leaf, outer)
    if shown and not isinstance(leaf, BufferView):
        return None
    return Type(place.aval.shape, place.aval.dtype, place.weak, doubtful=kind.doubtful), shown


def in_rows(element: Any) -> Any:
    """The element with its lists of numbers as ones whose numbers are known as an array."""
    if type(element) is tuple:
        return tuple(map(in_rows, element))
    kind = common_type(element) if type(element) is list else None
    if not isinstance(kind, EntryType) or not kind.is_number or kind.doubtful is not None:
        return element
    trace, make, dtype = current(), traced_numpy(_NEW), kind.dtype
    assert trace is not None
    return listed(Gathered(tree.LEAF, (Column(make(element, dtype), kind.weak),), len(element)), trace)


def numbers_in(leaf: Any) -> Column | None:
    """The numbers of a list of a known length; None of anything else."""
    known = leaf.elements if type(leaf) is DeferredObject else None
    return None if known is None else known.numbers()


def column_of(kind: Type, arrays: Iterator[Any], holder: Holder | None) -> Column:
    """The column of a leaf, of the next arrays: the numbers, and the doubts of these; of shown ones with a holder."""
    array = next(arrays)
    doubts = None if kind.doubtful is None else next(arrays)
    return Column(array, kind.weak or kind.doubtful, holder is not None, doubts, kind.lists, holder)
