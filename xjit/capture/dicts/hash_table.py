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
from xjit.capture.dicts.key_codes import scalar
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.current import current
from xjit.ops.elements.bits import shift_right_logical
from xjit.ops.elements.elementwise import add, and_, mul, xor
from xjit.types import INT64

_FACTOR = np.int64(-7046029254386353131)
"""The golden ratio, in 64 bits: multiples of it are far from each other in their highest bits."""
_SHARE = 4
"""Slots for each key that there is room for: most keys are in the first slot that is looked at."""


class HashTable:
    """The places of keys in the order of their insertion, by ``codes``: integers that are equal where keys are.

    ``room`` is the most keys that there will be, a power of two.
    """

    __slots__ = ("_bits", "_found", "_size", "codes", "places")

    def __init__(self, room: int, codes: int) -> None:
        make: Any = np.zeros
        zeros = traced_numpy(make)
        self._size = room * _SHARE
        self._bits = self._size.bit_length() - 1
        self.places = zeros((self._size,), INT64)
        self.codes = [zeros((self._size,), INT64) for _ in range(codes)]
        self._found: tuple[Any, ...] | None = None

    def find(self, codes: Sequence[Any]) -> tuple[Any, Any]:
        """The slot of a key, and its place, counted from 1; 0 where the key is not there.

        Of a key that was found before, and nothing inserted since, these are what they were.
        """
        trace = current()
        assert isinstance(trace, CaptureTrace)
        mark = (*(code.node for code in codes), self.places.buffer.version(trace))
        if self._found is not None and self._found[0] is trace and self._found[1] == mark:
            slot, place = self._found[2]
            return slot, place
        slot = self._searched([TracedArray(code.node, trace, scalar=True) for code in codes])
        found = slot, self.places[slot]
        self._found = trace, mark, found
        return found

    def put(self, slot: Any, codes: Sequence[Any], place: Any) -> None:
        """Puts a key and its place, counted from 1, into its slot."""
        self.places[slot] = place
        for column, code in zip(self.codes, codes, strict=True):
            column[slot] = code

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
