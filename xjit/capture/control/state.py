"""The state of loops and branches: leaves with types of their own, and how results are fitted to them.

A Python number that a loop starts from gives way to the types of arrays, as Python's do. If the body makes something
else of it, it starts as that; an integer that stays one is NumPy's of 64 bits from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.tracers.known_values import plain
from xjit.capture.tracers.provenance import enclosing_capture, noted
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import dataclass, replace
from xjit.errors import ArgumentError, DTypeError, ShapeError, XjitError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.node import Node
from xjit.ir.source_location import user_position
from xjit.ops.control.computations import outline, row_major
from xjit.ops.control.computations import plain as plain_type
from xjit.ops.define.core import aval_of, constant
from xjit.ops.elements.convert import convert_element_type
from xjit.types import COMPLEX128, FLOAT64, INT64, NAMES, ArrayType, DType, dtype_class

NUMBERS: dict[type, DType] = {bool: np.dtype(bool), int: INT64, float: FLOAT64, complex: COMPLEX128}
_GIVES_WAY = frozenset({int, float})
_ORDER = "PIFC"


@dataclass(frozen=True, slots=True)
class Place:
    """The type of one leaf of a state, and what Python sees there: a scalar, or a number of its own.

    ``began`` is Python's type of the number that it started from; what a body makes of it then decides the type.
    """

    label: str
    aval: ArrayType
    scalar: bool = False
    weak: type | None = None
    began: type | None = None

    def seen(self, node: Node, trace: Trace) -> TracedArray:
        """Return what the user's code sees of a value of this place."""
        value = TracedArray(node, trace, weak=self.weak, scalar=self.scalar)
        if self.weak is int:
            value.bounds = (0, 1)  # of a trial: in the end it is NumPy's
        return value

    @property
    def is_open(self) -> bool:
        """Return whether a trial of the body has to tell what the number is."""
        return self.began is int and self.weak is int

    def with_type(self, dtype: DType) -> Place:
        """The place of a number that has come to be of another type."""
        return replace(self, aval=self.aval.with_dtype(dtype), weak=None)


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of messages about a state that should stay as it is, or about results that should agree."""

    differs: str
    wanted: str
    found: str
    convert: str
    reshape: str
    restructure: str


OF_LOOPS = Wording(
    "changes its",
    "before",
    "after",
    "convert it in the body, as in x.astype(np.{}), or start with the other type",
    "start with the shape that it ends with: every turn gets what the one before has made",
    "return a state of the structure that it starts with",
)
OF_BRANCHES = Wording(
    "has another",
    "in the first branch",
    "here",
    "convert one of them, as in x.astype(np.{})",
    "let all branches return arrays of the same shapes",
    "let all branches return values in the same containers",
)


class PromotionError(Exception):
    """A body makes something else of numbers that it starts from: it has to be traced anew, for these places."""

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__("the state starts as other types")
        self.places = tuple(places)


def places_of(value: Any, name: str, argument: str) -> tuple[list[Any], list[Place], tree.Tree]:
    """The leaves of a state as arrays or traced values in row-major order, the place of each, and the structure."""
    leaves, structure = tree.flatten(value)
    pairs = [_place(leaf, name, label) for leaf, label in zip(leaves, tree.labels(structure, argument), strict=True)]
    return [array for array, _ in pairs], [place for _, place in pairs], structure


def _place(leaf: Any, name: str, label: str) -> tuple[Any, Place]:
    operand, kind, scalar = as_array(leaf, name, label)
    type = plain_type(aval_of(operand))
    return row_major(operand), Place(label, type, scalar, kind if kind in _GIVES_WAY else None, kind)


def as_array(leaf: Any, name: str, label: str) -> tuple[Any, type | None, bool]:
    """A leaf as an array or a traced value, Python's type of it where it is a number, and whether it is a scalar."""
    if isinstance(leaf, TracedValue):
        return leaf, leaf.weak, leaf.scalar or leaf.weak is not None
    kind = type(leaf)
    try:
        array = np.asarray(leaf, NUMBERS.get(kind))
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0, object)
    if array.dtype not in NAMES or not isinstance(leaf, np.ndarray | np.generic | bool | int | float | complex):
        raise refused(DTypeError, f"xjit.{name}: {label}: an array or a number is required; got {leaf!r:.60}", ())
    known = kind if kind in NUMBERS else None
    operand = constant(plain(array)) if known else plain(array)
    return operand, known, not isinstance(leaf, np.ndarray)


def fitted(
    results: Any,
    places: Sequence[Place],
    structure: tree.Tree,
    name: str,
    argument: str,
    words: Wording = OF_LOOPS,
) -> list[Any]:
    """The leaves of what a body returns, fitted to the places of the state that it got.

    Raises PromotionError where a number has to start as another type, and the errors of a state that changes.
    """
    leaves, found = tree.flatten(results)
    if found != structure:
        raise refused(
            ArgumentError,
            f"xjit.{name}: {argument}: the result {words.differs} structure; "
            f"got {outline(structure)} {words.wanted} and {outline(found)} {words.found}",
            (),
            words.restructure,
        )
    values = [as_array(leaf, name, place.label) for leaf, place in zip(leaves, places, strict=True)]
    promoted = [_promoted(*value[:2], place) for value, place in zip(values, places, strict=True)]
    if any(a is not b for a, b in zip(promoted, places, strict=True)):
        raise PromotionError(promoted)
    start = f"xjit.{name}: {argument}: "
    return [_fit(*value[:2], place, start, words) for value, place in zip(values, places, strict=True)]


def _promoted(value: Any, weak: type | None, place: Place) -> Place:
    """The place, or another one if it holds a number that a body makes something else of."""
    type = aval_of(value)
    if place.began is None or type.rank:
        return place
    if place.is_open and (weak is int or _rank(type.dtype) < _rank(place.aval.dtype)):
        return place.with_type(place.aval.dtype)
    if _rank(type.dtype) < _rank(place.aval.dtype) or (weak and _fits(weak, place.aval.dtype)):
        return place
    if type.dtype == place.aval.dtype and not place.is_open and (weak or place.weak is None):
        return place
    return place.with_type(type.dtype)


def _rank(dtype: DType) -> int:
    return _ORDER.index(dtype_class(dtype))


def _fits(kind: type, dtype: DType) -> bool:
    """Return whether a number of Python's may become one of this type."""
    return _rank(NUMBERS[kind]) <= _rank(dtype)


def _fit(value: Any, weak: type | None, place: Place, start: str, words: Wording) -> Any:
    found = aval_of(value)
    if found.dtype != place.aval.dtype:
        if weak is None or not _fits(weak, place.aval.dtype):
            fix = words.convert.format(place.aval.dtype.name)
            raise refused(DTypeError, f"{start}{_differs(place, found, 'element type', words)}", (value,), fix)
        value = convert_element_type(value, place.aval.dtype)
    if found.dims != place.aval.dims:
        raise refused(ShapeError, f"{start}{_differs(place, found, 'shape', words)}", (value,), words.reshape)
    return row_major(value)


def _differs(place: Place, found: ArrayType, what: str, words: Wording) -> str:
    types = f"{place.aval} {words.wanted} and {plain_type(found)} {words.found}"
    return f"{place.label} {words.differs} {what}; got {types}"


def refused(kind: type[XjitError], message: str, values: Sequence[Any], fix: str = "") -> XjitError:
    """An error at the user's line, with the origin of the values."""
    error = kind(message, fix=fix)
    return noted(error, *values) if enclosing_capture() is not None else error.located(user_position())


def labelled(trace: Trace, nodes: Sequence[Node], places: Sequence[Place]) -> None:
    """Notes the names of the state's leaves for messages."""
    labels = getattr(trace, "labels", None)
    if labels is not None:
        labels.update(zip(nodes, (place.label for place in places), strict=True))


def finished(values: Sequence[Any], places: Sequence[Place], structure: tree.Tree) -> Any:
    """The state as the user's code sees it behind a loop or a branch."""
    return tree.unflatten(structure, list(_finished(values, places)))


def _finished(values: Sequence[Any], places: Sequence[Place]) -> Iterator[Any]:
    for value, place in zip(values, places, strict=True):
        if isinstance(value, TracedValue):
            yield place.seen(value.node, value.owner)
        else:
            yield value
