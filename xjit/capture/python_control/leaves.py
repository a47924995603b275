"""The values of names before and after a piece of the user's code: which are the same, and of which types."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.constants.choices import as_choice, is_choice, with_items
from xjit.capture.control.state import NUMBERS, Place, as_array
from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.buffer import BufferView
from xjit.capture.memory.carried_layout import ROW_MAJOR, Layout, layout_of
from xjit.capture.memory.origins import Origin, code_of, origin_of
from xjit.capture.recording.object_state import state_of
from xjit.capture.recording.user_objects import RecordingObject
from xjit.capture.rewriting.runtime_protocol import UNBOUND, VALUE
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.optional_value import OptionalValue, is_optional
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import WIDEST, Bounds, Pace
from xjit.dataclass import dataclass, replace
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.control.computations import plain as plain_type
from xjit.ops.define.core import aval_of, constant, lift
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.whole_arrays.concatenate import pad
from xjit.ops.whole_arrays.shape import broadcast
from xjit.types import BOOL, FLOAT64, INT64, ArrayType, DType, in_words, scalar_type

_ARRAYS = (np.ndarray, np.generic, TracedValue)


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of one leaf: that of its elements and shape, what Python sees, and the bounds of its integers.

    ``pace`` is how these bounds came about, where a loop made them. The ``layout`` is that of an array's memory.

    A ``doubtful`` leaf is a number of NumPy's or of this type of Python's: a truth value beside it says which.
    Beside an array that may be one from outside is the number of that, where its ``origin`` is known by numbers.
    One that is ``shown`` by something else, such as the element of a list, may not be written to.
    """

    place: Place
    bounds: Bounds | None = None
    wraps: bool = False
    doubtful: type | None = None
    pace: Pace | None = None
    origin: Origin = Origin.OWN
    layout: Layout = ROW_MAJOR
    shown: bool = False

    @property
    def type(self) -> tuple[Any, ...]:
        """The type without the name and the bounds."""
        return self.place.aval, self.place.scalar, self.place.weak

    @property
    def types(self) -> tuple[ArrayType, ...]:
        """The types of the values that a graph has of such a leaf."""
        carried = self.layout.carried(self.place.aval)
        if self.origin is Origin.NUMBERED:
            return carried, scalar_type(INT64)
        return (carried, scalar_type(BOOL)) if self.doubtful else (carried,)

    def seen(self, nodes: Iterator[Any], trace: Trace) -> TracedArray:
        """Return what the user's code sees of the next values, which are of this kind."""
        node = self.layout.shown(next(nodes), trace)
        value = TracedArray(node, trace, weak=self.place.weak, scalar=self.place.scalar)
        if self.bounds is not None:
            value.bounds, value.wraps = self.bounds, self.wraps
        if self.doubtful:
            value.doubt = TracedValue(next(nodes), trace), self.doubtful
        if self.origin is not Origin.OWN:
            value.code = TracedValue(next(nodes), trace) if self.origin is Origin.NUMBERED else None
        if self.shown:
            value.buffer.shared = True
        return value

    def seen_behind(self, nodes: Iterator[Any], trace: Trace) -> TracedArray:
        """Return the same behind the loop that made the bounds."""
        value = self.seen(nodes, trace)
        value.pace = self.pace
        return value

    def joined(self, other: Kind) -> Kind:
        """The kind of what is of one of two kinds that differ in bounds."""
        pace = self.pace if self.pace == other.pace else None
        origin = max(self.origin, other.origin)
        layout, shown = self.layout.joined(other.layout), self.shown or other.shown
        both = replace(
            self, doubtful=self.doubtful or other.doubtful, pace=pace, origin=origin, layout=layout, shown=shown
        )
        if self.bounds is None or other.bounds is None:
            return both
        low, high = min(self.bounds[0], other.bounds[0]), max(self.bounds[1], other.bounds[1])
        return replace(both, bounds=(low, high), wraps=self.wraps or other.wraps)

    def with_room(self, room: tuple[int, ...] | None) -> Kind:
        """The kind of the same array at other bounds."""
        aval = self.place.aval
        if room is None or room == aval.shape:
            return self
        type = ArrayType(aval.dtype, room, tuple(range(len(room))))
        return replace(self, place=replace(self.place, aval=type), layout=ROW_MAJOR)

    def agreed(self, other: Kind) -> Kind | None:
        """The kind that holds numbers of two kinds exactly; None where there is none.

        A number of Python's and one of NumPy's may be one in doubt.
        """
        if self.doubtful is not None is not other.doubtful is not self.doubtful:
            return None
        if self.type == other.type:
            return self.joined(other)
        if self.place.aval.rank or other.place.aval.rank or (self.place.weak is None) == (other.place.weak is None):
            return None
        weak, strong = (self, other) if self.place.weak is not None else (other, self)
        kind = weak.place.weak
        wide = strong.place.scalar and strong.place.aval.dtype in _WIDE.get(kind or complex, ())
        return replace(strong, doubtful=kind) if wide and strong.doubtful in (None, kind) else None


_WIDE: dict[type, tuple[DType, ...]] = {bool: (BOOL,), int: (INT64, FLOAT64), float: (FLOAT64,)}
"""The types of NumPy's numbers that hold what Python's do, and that other types do not tell apart when they meet."""


def is_array(value: Any) -> bool:
    """Return whether a value is an array that can be written to."""
    return isinstance(value, TracedArray) and not value.scalar and value.weak is None


def is_array_like(leaf: Any) -> bool:
    """Return whether a graph can hold the value of a leaf."""
    return type(leaf) in NUMBERS or isinstance(leaf, _ARRAYS)


def kind_of(leaf: Any, label: str) -> Kind:
    """The kind of a number or an array."""
    operand, weak, scalar = as_array(leaf, "loop", label)
    place = Place(label, plain_type(_type_of(operand)), scalar, weak)
    doubt = doubt_of(leaf)
    pace = getattr(leaf, "pace", None) if isinstance(leaf, TracedArray) else None
    origin = origin_of(leaf) if is_array(leaf) else Origin.OWN
    doubtful = None if doubt is None else doubt[1]
    shown = is_array(leaf) and leaf.is_linked and leaf.buffer.is_shown
    layout = layout_of(operand)
    return Kind(place, *_bounds(leaf, weak), doubtful=doubtful, pace=pace, origin=origin, layout=layout, shown=shown)


def _type_of(operand: Any) -> ArrayType:
    """The type of an operand; that of an array is the same in every version, also after the trace that made it."""
    return operand.last_node.aval if isinstance(operand, BufferView) else aval_of(operand)


def _bounds(leaf: Any, weak: type | None) -> tuple[Bounds | None, bool]:
    if weak not in (bool, int):
        return None, False
    if not isinstance(leaf, TracedValue):
        return (int(leaf), int(leaf)), False
    if hasattr(type(leaf), "value"):
        return WIDEST, False
    return getattr(leaf, "bounds", (0, 1)), getattr(leaf, "wraps", False)


def same(one: Any, other: Any) -> bool:
    """Return whether two leaves are the same value for any code that follows."""
    if one is other:
        return True
    if isinstance(one, TracedValue) and isinstance(other, TracedValue):
        return type(one) is type(other) and one.weak is other.weak and _is_same_memory(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (one == other and math.copysign(1.0, one) == math.copysign(1.0, other)) or (
            one != one and other != other
        )
    return is_plain(one) and bool(one == other)


def _is_same_memory(one: Any, other: Any) -> bool:
    """Return whether two traced values are the same number, or show the same elements of one buffer."""
    if one.scalar or one.weak is not None:
        return other.node is one.node and other.scalar == one.scalar
    return one.is_linked and other.is_linked and one.buffer is other.buffer and one.steps == other.steps


def lifted(leaf: Any, kind: Kind) -> list[Any]:
    """The values of a graph that a leaf of a kind has: packed, and beside it the doubt."""
    operand, weak, _ = as_array(leaf, "loop", kind.place.label)
    value = converted(operand, kind)
    if kind.origin is Origin.NUMBERED:
        code = code_of(leaf)
        return [
            kind.layout.stored(value),
            code if isinstance(code, TracedValue) else constant(np.asarray(code, INT64)),
        ]
    if not kind.doubtful:
        return [kind.layout.stored(value)]
    doubt = doubt_of(leaf)
    return [kind.layout.stored(value), constant(np.asarray(weak is not None)) if doubt is None else doubt[0]]


def converted(number: Any, kind: Kind) -> Any:
    """A number as one of another kind."""
    dtype = kind.place.aval.dtype
    return number if aval_of(number).dtype == dtype else convert_element_type(number, dtype)


def flattened(values: Sequence[Any], names: Sequence[str]) -> tuple[list[Any], list[str], list[tree.Tree]]:
    """The leaves of the values of names, what to call them, and the structure of each value."""
    leaves: list[Any] = []
    labels: list[str] = []
    structures: list[tree.Tree] = []
    for value, name in zip(values, names, strict=True):
        own, structure = tree.flatten(value)
        leaves += own
        labels += tree.labels(structure, name)
        structures.append(structure)
    return leaves, labels, structures


def in_parts(value: Any, structure: tree.Tree, shapes: Sequence[tuple[int, ...]]) -> Any:
    """An array of known sizes as one of a structure in parts whose value has room for these sizes.

    Any other value as it is.
    """
    if not is_in_parts(structure) or not is_array(value) or not shapes:
        return value
    if not has_room(value.shape, shapes[0], structure):
        return value
    assert isinstance(structure, tree.Branch)
    pairs = zip(value.shape, structure.marks, strict=True)
    return tree.unflatten(structure, [value, *(size for size, known in pairs if known is None)])


def room_for(value: Any, structure: tree.Tree, shapes: Sequence[tuple[int, ...]]) -> Sequence[tuple[int, ...]]:
    """The shapes of the leaves of an array in parts, with room for a value along the axes of the run's sizes, too.

    An array from outside gets no room: what has been copied there would not be that array any more.
    """
    if not is_in_parts(structure) or not is_array(value) or len(value.shape) != len(shapes[0]):
        return shapes
    if value.buffer.path is not None and value.shape != shapes[0]:
        return ()
    assert isinstance(structure, tree.Branch)
    axes = zip(value.shape, shapes[0], structure.marks, strict=True)
    return [tuple(max(size, most) if known is None else most for size, most, known in axes), *shapes[1:]]


def common_room(structure: tree.Tree, one: Any, other: Any) -> tuple[int, ...] | None:
    """The bounds of two arrays of sizes that only the run knows, where they are others; None of what is none."""
    if not is_in_parts(structure) or one.shape == other.shape:
        return None
    return tuple(map(max, one.shape, other.shape))


def padded(leaf: Any, room: tuple[int, ...]) -> Any:
    """A value with zeros up to other bounds."""
    if not is_array(leaf) or leaf.shape == room:
        return leaf
    trace, zero = current(), constant(np.zeros((), leaf.dtype))
    assert trace is not None
    found = pad(leaf, zero, [(0, most - size, 0) for size, most in zip(leaf.shape, room, strict=True)])
    return trace.wrap(lift(trace, found), trace)


def is_chosen_alone(leaf: Any) -> bool:
    """Return whether a leaf that one arm alone has can be had behind the branch: no object of that arm's."""
    return is_array_like(leaf) or isinstance(leaf, str | bytes | type(None) | Enum)


def is_in_parts(structure: tree.Tree) -> bool:
    """Return whether a structure is that of an array of a size that only the run knows."""
    if not isinstance(structure, tree.Branch) or not hasattr(structure.kind, "of_parts"):
        return False
    return not is_optional(structure) and not is_choice(structure)


def has_room(shape: tuple[int, ...], room: tuple[int, ...], structure: tree.Tree) -> bool:
    """Return whether an array of a shape fits into a value at its bounds, smaller along axes of the run's sizes."""
    assert isinstance(structure, tree.Branch)
    if len(shape) != len(room):
        return False
    axes = zip(shape, room, structure.marks, strict=True)
    return all(size == most if known is not None else size <= most for size, most, known in axes)


def optional(value: Any, structure: tree.Tree, kinds: Sequence[Any]) -> Any:
    """A value as an optional or chosen one of a structure, or one that holds such; any other value as it is."""
    if not isinstance(structure, tree.Branch) or value is UNBOUND or type(value) is OptionalValue:
        return value
    if is_choice(structure):
        return as_choice(value, structure)
    if structure.kind is type(value) and isinstance(value, tuple) and len(value) == len(structure.children):
        ends = list(itertools.accumulate(map(_count, structure.children), initial=0))
        several = (kinds[begin:end] for begin, end in itertools.pairwise(ends))
        return with_items(value, list(map(optional, value, structure.children, several)))
    if not is_optional(structure):
        return value
    if value is None:
        return tree.unflatten(structure, [False, *map(zeros, kinds[1:])])
    whole: Any = structure.marks[0]
    leaves, own = tree.flatten(optional(value, whole, kinds[1:]))
    return tree.unflatten(structure, [True, *leaves]) if (own,) == structure.marks else value


def zeros(kind: Any) -> Any:
    """A value of a kind that nobody reads."""
    if not isinstance(kind, Kind):
        return kind
    zero = constant(np.zeros((), kind.place.aval.dtype))
    return seen_as(broadcast(zero, kind.types[0].shape) if kind.place.aval.rank else zero, False, kind)


def seen_as(value: Any, is_python: bool, kind: Kind) -> Any:
    """The user's view of a value as one of a kind; a number in doubt is Python's or not."""
    trace = current()
    assert trace is not None
    beside = [constant(np.zeros((), type.dtype)) for type in kind.types[1:]]
    if kind.doubtful:
        beside = [constant(np.asarray(is_python))]
    values = [value, *beside]
    return kind.seen(iter([lift(trace, one) for one in values]), trace)


def unflattened(leaves: Sequence[Any], structures: Sequence[tree.Tree]) -> tuple[Any, ...]:
    """The values of names, of their leaves."""
    values: list[Any] = []
    begin = 0
    for structure in structures:
        end = begin + _count(structure)
        values.append(tree.unflatten(structure, list(leaves[begin:end])))
        begin = end
    return tuple(values)


def _count(structure: tree.Tree) -> int:
    return len(list(tree.labels(structure, "")))


KEEP = "give the name a value of the same type and shape on every way"
"""The advice about a name that is of two kinds."""


def refuse_kinds(label: str, one: Any, other: Any, where: str) -> NoReturn:
    """CaptureError about a name, or what the function returns, that is of two kinds."""
    is_result = label.partition("[")[0] == VALUE
    label, fix = label.replace(VALUE, "the result"), "return a value of one type" if is_result else KEEP
    refuse(f"{label} is {_words(one)} or {_words(other)} {where}, as only the run will tell", one, other, fix=fix)


def _words(leaf: Any) -> str:
    if is_array_like(leaf):
        kind = kind_of(leaf, "")
        word = "a Python " + kind.place.weak.__name__ if kind.place.weak is not None else in_words(kind.place.aval)
        return word
    if type(leaf) in (tuple, list):
        return f"a {type(leaf).__name__} of {', '.join(map(_words, leaf)) or 'nothing'}"
    if isinstance(leaf, LimitedArray):
        return f"{leaf.dtype} of a length of the run"
    if isinstance(leaf, RecordingObject):
        return f"an object of class {state_of(leaf).cls.__qualname__}"
    if type(leaf).__module__.startswith("xjit."):
        return "an object"
    return getattr(leaf, "__qualname__", None) or f"{leaf!r:.40}"
