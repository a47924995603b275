"""A compiled program: steps over numbered slots. Most programs are one run of kernels and skip the steps."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from xjit import config
from xjit.errors import TargetError
from xjit.ir.node import Node
from xjit.runtime.blas import blas_limit
from xjit.runtime.records import MISS, ArraySpec, FastProgram

Array: TypeAlias = "np.ndarray[Any, Any]"
Slots: TypeAlias = "list[Any]"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentStep:
    """Runs kernels: reads ``inputs``, makes ``results``."""

    entry: Callable[..., Any]
    record: FastProgram
    inputs: tuple[int, ...]
    results: tuple[int, ...]

    def run(self, slots: Slots) -> None:
        """Allocates the results and runs the kernels."""
        made = self.entry(*(slots[number] for number in self.inputs))
        if made is MISS:
            raise TargetError("a step of the program got an array of another layout than it was compiled for")
        for number, array in zip(self.results, (made,) if self.record.single else made, strict=True):
            slots[number] = array


@dataclass(frozen=True, slots=True, eq=False)
class CallStep:
    """Calls a library, or the NumPy reference of an operation without code here, on whole arrays."""

    node: Node
    inputs: tuple[int, ...]
    result: int
    spec: ArraySpec | None
    fallback: str
    function: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", functools.partial(self.node.op.reference, **self.node.kwargs))

    def run(self, slots: Slots) -> None:
        """Evaluates the operation and lays its result out as the kernels expect it."""
        operands = [slots[number] for number in self.inputs]
        if not self.fallback and not self.node.op.threaded:
            made = self.function(*operands)
        elif self.fallback and config.flag("XJIT_NO_FALLBACK"):
            reason = f"{self.node.op.name} would run through NumPy: {self.fallback}"
            raise TargetError(reason, where=self.node.where)
        else:
            with blas_limit():
                made = self.function(*operands)
        slots[self.result] = made if self.spec is None else laid_out(np.asarray(made), self.spec)


@dataclass(frozen=True, slots=True, eq=False)
class ReshapeStep:
    """The same memory with other dimensions, in row-major order."""

    source: int
    result: int
    spec: ArraySpec

    def run(self, slots: Slots) -> None:
        """Makes the view."""
        slots[self.result] = np.asarray(slots[self.source]).reshape(-1).view(self.spec.dtype).reshape(self.spec.shape)


@dataclass(frozen=True, slots=True, eq=False)
class CopyStep:
    """The same elements in memory of their own, for results that would share it with an argument or each other."""

    source: int
    result: int

    def run(self, slots: Slots) -> None:
        """Makes the copy."""
        slots[self.result] = np.array(slots[self.source], order="K")


@dataclass(frozen=True, slots=True, eq=False)
class ViewStep:
    """Index operations that NumPy answers with a view of existing memory."""

    chain: tuple[Node, ...]
    source: int
    result: int

    def run(self, slots: Slots) -> None:
        """Applies the operations to the base array."""
        array = slots[self.source]
        for node in self.chain:
            array = node.op.reference(array, **node.kwargs)
        slots[self.result] = array


Step: TypeAlias = "SegmentStep | CallStep | ReshapeStep | CopyStep | ViewStep"


def laid_out(array: Array, spec: ArraySpec) -> Array:
    """The array itself if it has the layout, else a copy that has."""
    if array.dtype == spec.dtype and array.strides == spec.strides and array.flags.aligned:
        return array
    fresh = np.ndarray(spec.shape, spec.dtype, strides=spec.strides)
    fresh[...] = array
    return fresh


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Runs on the values of a graph's parameters and returns its outputs.

    ``direct`` is set when the program is one run of kernels whose results are the outputs: it takes the values and
    returns the only output or a tuple of them, or MISS for values of another layout. ``calls`` says whether any step
    calls NumPy, whose warnings are left out.
    """

    steps: tuple[Step, ...]
    inputs: int
    slots: int
    outputs: tuple[int, ...]
    direct: Callable[..., Any] | None
    fallbacks: int
    calls: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "calls", any(isinstance(step, CallStep) for step in self.steps))

    def run(self, values: Sequence[Any]) -> list[Any]:
        """The outputs for these parameter values. What a library raises passes through."""
        slots: Slots = [*map(_as_value, values), *([None] * (self.slots - self.inputs))]
        with np.errstate(all="ignore") if self.calls else contextlib.nullcontext():
            for step in self.steps:
                step.run(slots)
        return [slots[number] for number in self.outputs]


def _as_value(value: Any) -> Any:
    """NumPy scalars and complex numbers as arrays of rank 0; everything else is taken as it is."""
    return np.asarray(value) if isinstance(value, np.generic) or type(value) is complex else value
