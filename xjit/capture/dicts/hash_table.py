"""Hash tables of the run: arrays with a slot for each key, found by turns of a loop of the graph.

place of key     slot = hash(key) % size
                 while places[slot] and codes[slot] != code(key): slot = (slot + 1) % size
                 places[slot] - 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.capture.control.loops import while_loop
from xjit.capture.dicts.key_codes import codes_of, scalar
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import is_around
from xjit.capture.tracers.demands import ARMS
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.dataclass import dataclass, replace
from xjit.ir.context import PARAMETER, Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.spans import captured
from xjit.ops.dynamic.uninitialized import uninitialized
from xjit.ops.elements.bits import shift_right_logical
from xjit.ops.elements.elementwise import add, and_, mul, xor
from xjit.tree import distinct
from xjit.types import INT64

_FACTOR = np.int64(-7046029254386353131)
"""The golden ratio, in 64 bits: multiples of it are far from each other in their highest bits."""
_SHARE = 2
"""Slots for each key that there is room for: most keys are in the first slot that is looked at."""
_DEEPEST = 6
"""Operations one upon the other by which equal keys are known to be equal."""
_REMEMBERED = 8
"""Keys that were found, which further code may ask for again."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A key that was searched in a version of a table: its slot, and its place, counted from 1; 0 if there is none.

    ``marks`` tell its numbers from others in the ``trace``.
    """

    trace: CaptureTrace
    marks: tuple[Any, ...]
    version: Node
    codes: tuple[Any, ...]
    slot: Any
    place: Any


class HashTable:
    """The places of keys in the order of their insertion, by ``codes``: integers that are equal where keys are.

    ``room`` is the most keys that there will be, a power of two.
    """

    __slots__ = ("_bits", "_found", "_size", "codes", "places")

    def __init__(self, room: int, codes: int, which: tuple[int, ...]) -> None:
        zeros: Any = np.zeros
        self._size = room * _SHARE
        self._bits = self._size.bit_length() - 1
        self.places = traced_numpy(zeros)((self._size,), INT64)
        self.codes = [uninitialized((self._size,), INT64, (*which, number)) for number in range(codes)]
        self._found: list[Found] = []

    def find(self, key: Sequence[Any]) -> Found:
        """A key in the table, of these numbers.

        One that was found before, in this trace or one around it, and nothing inserted since, is what it was.
        """
        trace = current()
        assert isinstance(trace, CaptureTrace)
        marks, version = tuple(_mark(one, trace) for one in key), self.places.buffer.version(trace)
        for one in self._found:
            if one.marks == marks and one.version is version and is_around(one.trace, trace):
                return one
        home = self._home(trace, key, version)
        with tracing(home):
            codes = tuple(map(scalar, codes_of(key)))
            slot = self._searched(codes)
            return self._noted(Found(home, marks, version, codes, slot, self.places[slot]))

    def _home(self, trace: CaptureTrace, key: Sequence[Any], version: Node) -> CaptureTrace:
        """The trace to search a key in: in front of branches, which are smaller then, where it is known there.

        if t - v in d: ...                   slot of t - v, slot of v
        else: d[v] = k                       if t - v in d: ... else: put k into the slot of v
        """
        outer = trace.parent
        while trace.name in ARMS and isinstance(outer, CaptureTrace) and self.places.buffer.version(outer) is version:
            if not all(outer.reaches(one.last_node) for one in key if isinstance(one, TracedValue)):
                break
            trace, outer = outer, outer.parent
        return trace

    def put(self, found: Found, place: Any) -> None:
        """Puts a key and its place, counted from 1, into its slot."""
        trace = current()
        assert isinstance(trace, CaptureTrace)
        self.places[found.slot] = place
        for column, code in zip(self.codes, found.codes, strict=True):
            column[found.slot] = code
        version = self.places.buffer.version(trace)
        self._noted(replace(found, trace=trace, version=version, place=place))

    def _noted(self, found: Found) -> Found:
        self._found = [found, *self._found[: _REMEMBERED - 1]]
        return found

    def _searched(self, codes: Sequence[Any]) -> Any:
        """The slot of a key, or the free one in which it would be."""

        def goes_on(number: Any) -> Any:
            slot = self._slot(number)
            differs = self.places[slot] != 0
            others: Any = False
            for column, code in zip(self.codes, codes, strict=True):
                others = others | (column[slot] != code)
            return differs & others

        return self._slot(while_loop(goes_on, lambda number: scalar(add(number, np.int64(1))), self._hash(codes)))

    def _slot(self, number: Any) -> Any:
        return scalar(and_(number, np.int64(self._size - 1)))

    def _hash(self, codes: Sequence[Any]) -> Any:
        mixed: Any = None
        for code in codes:
            mixed = mul(code if mixed is None else xor(code, mixed), _FACTOR)
        return scalar(shift_right_logical(mixed, np.int64(64 - self._bits)))


def _mark(number: Any, trace: Trace) -> Any:
    """The mark of a number of a key: how it is computed, or what Python knows."""
    if not isinstance(number, TracedValue):
        return type(number), distinct(number)
    return _computation(number.last_node, trace, _DEEPEST)


def _computation(node: Node, trace: Trace | None, depth: int) -> Any:
    """A node of a trace, or how it is made of others element by element: by equal operations of equal ones."""
    while trace is not None and node.op is PARAMETER and (outer := captured(node, trace)) is not None:
        node, trace = outer, trace.parent
    if not depth or node.op.kind is not Kind.ELEMENTWISE or node.aval.rank:
        return node
    return node.op, node.params, node.type, *(_computation(one, trace, depth - 1) for one in node.inputs)
