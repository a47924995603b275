"""A compiled program: steps over numbered slots, written out as one Python function.

A program that is nothing but one run of kernels needs none of this: its native entry is the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import config
from xjit.dataclass import dataclass, field
from xjit.errors import TargetError
from xjit.ir.boundary import PLACES
from xjit.ir.node import Node
from xjit.ir.where import Where
from xjit.runtime.blas import limited
from xjit.runtime.miss import MISS
from xjit.runtime.records import ArraySpec, FastProgram
from xjit.runtime.threads import own_limit

Array: TypeAlias = "np.ndarray[Any, Any]"
Function: TypeAlias = "Callable[..., Any]"


@dataclass(eq=False)
class Scope:
    """The objects that the text of a program names."""

    names: dict[str, Any] = field(default_factory=dict)

    def name(self, value: Any) -> str:
        """A name for an object."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name


@dataclass(frozen=True, slots=True, eq=False)
class SegmentStep:
    """Runs kernels: reads ``inputs``, makes ``results``."""

    entry: Function
    record: FastProgram
    inputs: tuple[int, ...]
    results: tuple[int, ...]

    def lines(self, scope: Scope) -> Iterator[str]:
        """Allocates the results and runs the kernels::

        made = k0(s0, s1)
        if made is MISS: raise changed_layout()
        s2, s3 = made
        """
        yield f"made = {scope.name(self.entry)}({_slots(self.inputs)})"
        yield "if made is MISS: raise changed_layout()"
        yield f"{_slots(self.results) if self.record.single else f'[{_slots(self.results)}]'} = made"


@dataclass(frozen=True, slots=True, eq=False)
class CallStep:
    """Calls a library, or the NumPy reference of an operation without code here, on whole arrays.

    ``allocate`` makes the array that the result is written into, where the memory of large results is recycled.
    """

    node: Node
    inputs: tuple[int, ...]
    result: int
    spec: ArraySpec | None
    fallback: str
    allocate: Function | None = None

    @property
    def results(self) -> tuple[int, ...]:
        """The slot that it fills."""
        return (self.result,)

    def lines(self, scope: Scope) -> Iterator[str]:
        """Evaluates the operation; what is not laid out as the kernels expect it is copied::

        s2 = k0(s0, s1)
        if not (type(s2) is ndarray and s2.strides == k1 and s2.dtype is k2): s2 = laid_out(s2, k3)
        s3 = k4(s0, s1, out=k5())
        """
        made, function, operands = f"s{self.result}", scope.name(self.function()), _slots(self.inputs)
        if self.allocate is not None:
            operands += f", out={scope.name(self.allocate)}()"
        if self.node.op.threaded or self.fallback:
            yield f"{made} = limited({function}, {operands}) if own_limit() else {function}({operands})"
        else:
            yield f"{made} = {function}({operands})"
        if self.spec is None or self.allocate is not None:
            return
        if self.spec.shape:
            strides, dtype = scope.name(self.spec.strides), scope.name(self.spec.dtype)
            expected = f"type({made}) is ndarray and {made}.strides == {strides} and {made}.dtype is {dtype}"
            yield f"if not ({expected}): {made} = laid_out({made}, {scope.name(self.spec)})"
        else:
            yield f"{made} = asarray({made}, {scope.name(self.spec.dtype)})"

    def function(self) -> Function:
        """The operation with its params; NumPy's warnings are left out."""
        function: Function = functools.partial(self.node.op.reference, **self.node.kwargs)
        if self.fallback:
            function = self._unless_forbidden(function)
        return function if self.node.op.silent else np.errstate(all="ignore")(function)

    def _unless_forbidden(self, function: Function) -> Function:
        def run(*operands: Any) -> Any:
            if config.flag("XJIT_NO_FALLBACK"):
                reason = f"{self.node.op.name} would run through NumPy: {self.fallback}"
                raise TargetError(reason, where=self.node.where)
            return function(*operands)

        return run


@dataclass(frozen=True, slots=True, eq=False)
class DerivedStep:
    """What makes one array of another."""

    source: int
    result: int

    @property
    def inputs(self) -> tuple[int, ...]:
        """The slot that it reads."""
        return (self.source,)

    @property
    def results(self) -> tuple[int, ...]:
        """The slot that it fills."""
        return (self.result,)


@dataclass(frozen=True, slots=True, eq=False)
class ReshapeStep(DerivedStep):
    """The same memory with other dimensions, in row-major order."""

    spec: ArraySpec

    def lines(self, scope: Scope) -> Iterator[str]:
        """Makes the view."""
        dtype, shape = scope.name(self.spec.dtype), scope.name(self.spec.shape)
        yield f"s{self.result} = asarray(s{self.source}).reshape(-1).view({dtype}).reshape({shape})"


@dataclass(frozen=True, slots=True, eq=False)
class CopyStep(DerivedStep):
    """The same elements in memory of their own, for results that would share it with an argument or each other."""

    def lines(self, scope: Scope) -> Iterator[str]:
        """Makes the copy."""
        yield f"s{self.result} = array(s{self.source}, order='K')"


@dataclass(frozen=True, slots=True, eq=False)
class ViewStep(DerivedStep):
    """Index operations that NumPy answers with a view of existing memory; none at all are the view of the whole."""

    chain: tuple[Node, ...]

    def lines(self, scope: Scope) -> Iterator[str]:
        """Applies the operations to the base array, each to the result of the one before. The base may be a number
        that was passed as an argument, of which the function has made an array of rank 0.
        """
        view = f"s{self.source}"
        if not self.chain or not self.chain[0].inputs[0].aval.rank:
            view = f"asarray({view})"
        if not self.chain:
            view += "[...]"
        for node in self.chain:
            view = f"{scope.name(functools.partial(node.op.view, **node.kwargs))}({view})"
        yield f"s{self.result} = {view}"


Step: TypeAlias = "SegmentStep | CallStep | ReshapeStep | CopyStep | ViewStep"


def _slots(numbers: Sequence[int]) -> str:
    return ", ".join(f"s{number}" for number in numbers)


def laid_out(made: Any, spec: ArraySpec) -> Array:
    """The array itself if it has the layout, else a copy that has."""
    array = np.asarray(made)
    if array.dtype == spec.dtype and array.strides == spec.strides and array.flags.aligned:
        return array
    fresh = np.ndarray(spec.shape, spec.dtype, strides=spec.strides)
    fresh[...] = array
    return fresh


def _changed_layout() -> TargetError:
    return TargetError("a step of the program got an array of another layout than it was compiled for")


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Runs on the values of a graph's parameters and returns its outputs.

    ``direct`` takes the values and returns the only output, or a tuple when there are several or none, or MISS for
    values of another layout. ``fallbacks`` counts the steps that NumPy runs for want of code.
    """

    direct: Function
    outputs: int
    fallbacks: int

    def run(self, values: Sequence[Any]) -> Sequence[Any]:
        """The outputs for these parameter values. What a library raises passes through."""
        made = self.direct(*map(_as_value, values))
        if made is MISS:
            raise _changed_layout()
        return (made,) if self.outputs == 1 else made


def is_taken_as_array(kind: type) -> bool:
    """Whether programs take numbers of a type as arrays of rank 0: NumPy's scalars and complex numbers."""
    return issubclass(kind, np.generic) or kind is complex


def _as_value(value: Any) -> Any:
    return np.asarray(value) if is_taken_as_array(type(value)) else value


def written_out(check: Function, inputs: int, steps: Sequence[Step], outputs: Sequence[int]) -> Function:
    """The steps as a function of the values in the first slots, which ``check`` looks at first, for example

    def program(*values):
        if check(*values) is MISS: return MISS
        s0, s1, = values
        s2 = k0(s0)
        made = k1(s1, s2)
        if made is MISS: raise changed_layout()
        s3 = made
        del s2
        return s3
    """
    scope = Scope()
    places: dict[int, Where] = {}
    lines = ["if check(*values) is MISS: return MISS"]
    if inputs:
        lines.append(f"{_slots(range(inputs))}, = values")
    for step, spent in zip(steps, _spent(steps, inputs, outputs), strict=True):
        before = len(lines)
        lines += step.lines(scope)
        if isinstance(step, CallStep):  # line 1 is the head of the function
            places |= dict.fromkeys(range(before + 2, len(lines) + 2), step.node.where)
        if spent:
            lines.append(f"del {_slots(spent)}")
    lines.append(f"return {_slots(outputs) or '()'}")
    source = "def program(*values):\n" + "".join(f"    {line}\n" for line in lines)
    names: dict[str, Any] = {
        "check": check,
        "MISS": MISS,
        "ndarray": np.ndarray,
        "array": np.array,
        "asarray": np.asarray,
    }
    names |= {"laid_out": laid_out, "changed_layout": _changed_layout, **scope.names}
    names |= {"own_limit": own_limit, "limited": limited, PLACES: places}
    exec(compile(source, "<xjit program>", "exec"), names)
    program: Function = names["program"]
    return program


def _spent(steps: Sequence[Step], inputs: int, outputs: Sequence[int]) -> list[list[int]]:
    """After each step the slots that nothing reads any more, so that their memory is used again."""
    last = {slot: number for number, step in enumerate(steps) for slot in (*step.inputs, *step.results)}
    kept = {*range(inputs), *outputs}
    spent: list[list[int]] = [[] for _ in steps]
    for slot, number in last.items():
        if slot not in kept:
            spent[number].append(slot)
    return spent
