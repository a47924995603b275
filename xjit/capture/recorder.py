"""Records what the traced function reads, and decides what it gets to see of each value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit.capture import guards
from xjit.capture.guards import Guard
from xjit.capture.memory import Memory
from xjit.capture.paths import Path, leaf_path
from xjit.capture.provenance import CaptureTrace
from xjit.capture.signature import signature
from xjit.capture.traced_array import TracedArray
from xjit.capture.traced_scalar import DTYPES, TracedScalar
from xjit.ir.node import Node
from xjit.ir.where import Where
from xjit.types import ArrayType, scalar_type, type_of


class Recorder:
    """One run of a user's function: the values it was given, the guards, and the inputs of the graph."""

    def __init__(self, trace: CaptureTrace, leaves: Sequence[Any], where: Where) -> None:
        self.trace = trace
        self.leaves = leaves
        self.where = where
        self.guards: list[Guard] = []
        self.inputs: list[Path] = []
        self._handed_out: dict[int, tuple[Any, Path]] = {}
        self._frozen: set[Path] = set()

    def add(self, guard: Guard) -> None:
        """Adds a condition for the trace to hold."""
        self.guards.append(guard)

    def freeze(self, path: Path) -> Any:
        """The value of a scalar that was read there; the trace holds for this value only."""
        value = path.read(self.leaves)
        if path not in self._frozen:
            self._frozen.add(path)
            self.add(guards.same_value(path, value))
        return value

    def argument(self, index: int, leaf: Any, label: str) -> Any:
        """What the function sees of one argument leaf; the dispatch key holds its signature."""
        path = leaf_path(index, f"argument {label}")
        return self._hand_out(self._argument(leaf, path), path)

    def path_of(self, value: Any) -> Path | None:
        """Where the function got this very object from, if it was handed out from outside."""
        known = self._handed_out.get(id(value))
        return known[1] if known is not None else None

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function over recording globals."""
        return function

    def _hand_out(self, value: Any, path: Path) -> Any:
        self._handed_out[id(value)] = (value, path)
        return value

    def _argument(self, leaf: Any, path: Path) -> Any:
        if type(leaf) in DTYPES and signature(leaf) == (type(leaf),):
            node = self._parameter(path, scalar_type(DTYPES[type(leaf)]))
            return TracedScalar(node, self.trace, leaf, (path,), self)
        if isinstance(leaf, np.generic):
            return self._numpy_scalar(leaf, path)
        if type(leaf) is np.ndarray:
            return self._array(leaf, path)
        return leaf

    def _array(self, array: np.ndarray[Any, Any], path: Path) -> TracedArray:
        value = TracedArray(self._parameter(path, type_of(array)), self.trace)
        value.live_in({Memory(str(path))})
        return value

    def _numpy_scalar(self, scalar: np.generic, path: Path) -> TracedArray:
        node = self._parameter(path, scalar_type(scalar.dtype))
        value = TracedArray(node, self.trace, scalar=True)
        value.known = functools.partial(self.freeze, path)
        return value

    def _parameter(self, path: Path, type: ArrayType) -> Node:
        node = self.trace.parameter(type, self.where)
        self.trace.labels[node] = str(path)
        self.inputs.append(path)
        return node
