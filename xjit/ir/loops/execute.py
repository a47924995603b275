"""Loops run in Python, slowly and with every check: the meaning of the loop IR, which compiled code is held against.

Every index is checked against its axis, scratch knows which elements were written, iterations of loops without order
run backwards, and two of them that touch one element, one writing, are a race.  Threads of a block run as far as the
next barrier, where all have to meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import numerics
from xjit.dataclass import dataclass, field
from xjit.ir.loops import intexpr
from xjit.ir.loops.intexpr import IntExpr
from xjit.ir.loops.nodes import (
    UNKNOWN,
    Accumulate,
    Alloc,
    Barrier,
    Block,
    Carry,
    Check,
    Const,
    Find,
    Fold,
    FromInt,
    Grouping,
    If,
    Invoke,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    LoopKind,
    Prim,
    Statement,
    Store,
    TransposeBlock,
    Value,
    Var,
    While,
)
from xjit.ir.loops.ordered_sums import Both, OrderedSums
from xjit.types import DType

Scalar: TypeAlias = Any
Element: TypeAlias = "tuple[str, tuple[int, ...]]"
# (name, variant, operands, type of the result) to the result.
Primitive = Callable[[str, str, Sequence[Scalar], DType], Scalar]


class LoopsError(Exception):
    """A kernel does what no kernel may do."""


class OutsideError(LoopsError):
    """An index is outside of its buffer."""


class UnwrittenError(LoopsError):
    """An element of scratch is read before it is written."""


class RaceError(LoopsError):
    """Two iterations without order touch one element, and one of them writes what the other does not."""


class BarrierError(LoopsError):
    """Not all threads of a block come to a barrier."""


@dataclass(slots=True)
class Memory:
    """The elements of a buffer; of scratch it is known which were written."""

    array: np.ndarray[Any, Any]
    written: np.ndarray[Any, Any] | None = None

    def place(self, name: str, index: tuple[int, ...]) -> tuple[int, ...]:
        """The index, if it is inside."""
        if len(index) != self.array.ndim or not all(
            0 <= at < extent for at, extent in zip(index, self.array.shape, strict=True)
        ):
            raise OutsideError(f"{name}{list(index)} is outside of {list(self.array.shape)}")
        return index


@dataclass(slots=True)
class Trace:
    """The elements that one iteration has touched."""

    read: set[Element] = field(default_factory=set)
    written: dict[Element, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Frame:
    """The values of names at one place of one iteration; ``traces`` are those of all iterations around."""

    scalars: dict[str, Scalar]
    integers: dict[str, int]
    memory: dict[str, Memory]
    traces: tuple[Trace, ...] = ()
    in_threads: bool = False
    sums: OrderedSums = field(default_factory=OrderedSums)
    innermost: str = ""

    def iteration(self, loop: Loop, value: int) -> Frame:
        """A frame of its own for one iteration, which leaves nothing behind but what it stores."""
        integers = {**self.integers, loop.variable: value}
        in_threads = self.in_threads or loop.kind is LoopKind.BLOCK_THREAD
        return Frame(
            dict(self.scalars), integers, dict(self.memory), (*self.traces, Trace()), in_threads, self.sums.copy()
        )


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs kernels; ``primitive`` knows the primitives, ``routines`` those that Invoke calls."""

    primitive: Primitive
    routines: Mapping[str, Callable[..., None]] = field(default_factory=dict)

    def run(self, kernel: Kernel, arrays: Mapping[str, np.ndarray[Any, Any]], words: Mapping[str, int]) -> int:
        """Run a kernel on arrays by the names of its arguments; the status that it ends with, 0 where all held."""
        memory = {}
        for argument in kernel.arguments:
            name, buffer = argument.buffer.name, argument.buffer
            given = arrays[name].shape
            shape = tuple(
                size if extent is UNKNOWN else intexpr.evaluate(extent, words)
                for extent, size in zip(buffer.extents, given, strict=True)
            )
            if given != shape or arrays[name].dtype != buffer.dtype:
                raise ValueError(f"{name} is expected to be {buffer.dtype}{list(shape)}")
            memory[name] = Memory(arrays[name])
        for fact in kernel.facts:
            if intexpr.evaluate(fact, words) < 0:
                raise LoopsError(f"{fact} is negative, against what the kernel is told")
        frame = Frame({}, dict(words), memory)
        with np.errstate(all="ignore"):
            for barrier in self._block(kernel.body, frame):
                raise BarrierError(f"{barrier} is outside of all threads")
        return int(frame.integers.get(_STATUS, 0))

    # ------------------------------------------------------------------ statements

    def _block(self, block: Block, frame: Frame) -> Iterator[Barrier]:
        for statement in block:
            match statement:
                case Loop():
                    yield from self._loop(statement, frame)
                case While():
                    while self._value(statement.condition, frame):
                        yield from self._block(statement.body, frame)
                case If():
                    holds = self._value(statement.condition, frame)
                    yield from self._block(statement.then if holds else statement.otherwise, frame)
                case Barrier():
                    yield statement
                case _:
                    self._step(statement, frame)

    def _step(self, statement: Statement, frame: Frame) -> None:
        match statement:
            case Let() | Carry():
                frame.scalars[statement.name] = self._value(statement.value, frame)
                frame.sums.forget((statement.name,))
            case LetInt():
                frame.integers[statement.name] = _integer(statement.expr, frame)
            case Accumulate():
                self._accumulate(statement, frame)
            case Fold():
                new = [self._value(value, frame) for value in statement.values]
                frame.scalars.update(zip(statement.names, new, strict=True))
                frame.sums.forget(statement.names)
            case Store():
                value = self._value(statement.value, frame)
                _store(frame, statement.buffer, _indices(statement.index, frame), value)
            case _:
                self._rare(statement, frame)

    def _rare(self, statement: Statement, frame: Frame) -> None:
        match statement:
            case Alloc(buffer):
                shape = tuple(_integer(extent, frame) for extent in buffer.extents)
                frame.memory[buffer.name] = Memory(np.zeros(shape, buffer.dtype), np.zeros(shape, bool))
            case TransposeBlock():
                rows, columns = (_integer(extent, frame) for extent in statement.extents)
                at, start = _indices(statement.at, frame), _indices(statement.start, frame)
                (to_rows, from_rows), (to_columns, from_columns) = statement.rows, statement.columns
                for i, j in np.ndindex(rows, columns):
                    value = _load(frame, statement.source, _moved(start, {from_rows: i, from_columns: j}))
                    _store(frame, statement.target, _moved(at, {to_rows: i, to_columns: j}), value)
            case Find():
                frame.scalars[statement.name] = self._place(statement, frame)
            case Invoke():
                arrays = [frame.memory[name].array for name in statement.buffers]
                self.routines[statement.routine](*arrays, *(_integer(one, frame) for one in statement.integers))
            case Check():
                if not self._value(statement.condition, frame):
                    frame.integers[_STATUS] = max(frame.integers.get(_STATUS, 0), statement.status)

    def _accumulate(self, one: Accumulate, frame: Frame) -> None:
        value, before = self._value(one.value, frame), frame.scalars[one.name]
        line = str(one.order.line) if one.order else frame.innermost
        if one.order is not None and one.order.grouping is Grouping.ERRORS:
            frame.scalars[one.name] = frame.sums.two_sum(one.name, before, value)
        elif one.order is not None or one.lanes:
            frame.sums.wait(line, one, value)
        else:
            frame.scalars[one.name] = self._both(one)(before, value)

    def _both(self, one: Accumulate) -> Both:
        return lambda before, value: self.primitive(one.reducer, "", (before, value), value.dtype)

    def _end_line(self, line: str, frame: Frame) -> None:
        """Add up what has waited for the end of a loop."""
        for one, items in frame.sums.ended(line):
            frame.scalars[one.name] = frame.sums.total(one, frame.scalars[one.name], items, self._both(one))

    # ------------------------------------------------------------------ loops

    def _loop(self, loop: Loop, frame: Frame) -> Iterator[Barrier]:
        rounds = range(_integer(loop.start, frame), _integer(loop.stop, frame), loop.step)
        if loop.kind.is_ordered:
            around = frame.innermost
            for value in rounds:
                frame.integers[loop.variable], frame.innermost = value, loop.variable
                yield from self._block(loop.body, frame)
                if loop.step == numerics.BLOCK:
                    self._end_line(loop.variable, frame)
            frame.innermost = around
            self._end_line(loop.variable, frame)
        elif loop.kind is LoopKind.VECTOR:
            self._lanes(loop, rounds, frame)
        elif loop.kind is LoopKind.BLOCK_THREAD:
            yield from self._threads(loop, rounds, frame)
        else:
            frames = [frame.iteration(loop, value) for value in reversed(rounds)]
            for one in frames:
                for barrier in self._block(loop.body, one):
                    raise BarrierError(f"{barrier} is outside of all threads")
            _join(frame, frames, loop)

    def _lanes(self, loop: Loop, rounds: range, frame: Frame) -> None:
        """Run lanes, which may accumulate into a scalar of all."""
        frames = []
        for value in rounds:
            one = frame.iteration(loop, value)
            one.scalars, one.sums, one.innermost = frame.scalars, frame.sums, loop.variable
            frames.append(one)
            for barrier in self._block(loop.body, one):
                raise BarrierError(f"{barrier} is in lanes")
        self._end_line(loop.variable, frame)
        _join(frame, frames, loop)

    def _threads(self, loop: Loop, rounds: range, frame: Frame) -> Iterator[Barrier]:
        """Run threads from barrier to barrier; those of threads around wait at the same ones."""
        frames = [frame.iteration(loop, value) for value in reversed(rounds)]
        threads = [self._block(loop.body, one) for one in frames]
        while threads:
            reached = [next(thread, None) for thread in threads]
            if any(one is not reached[0] for one in reached):
                raise BarrierError(f"only some threads of {loop.variable} come to a barrier")
            _join(frame, frames, loop)
            if reached[0] is None:
                return
            if frame.in_threads:
                yield reached[0]
            for one in frames:
                one.traces[-1].read.clear()
                one.traces[-1].written.clear()

    def _place(self, find: Find, frame: Frame) -> Scalar:
        """The place that a search finds; -1 breaks the promise that there is one."""
        value, first = self._value(find.value, frame), _indices(find.load.index, frame)
        for place in range(_integer(find.start, frame), _integer(find.stop, frame)):
            found = _load(frame, find.load.buffer, _moved(first, {find.axis: place}))
            if found == value or (found != found and value != value):
                return np.int64(place)
        raise LoopsError(f"{find.name}: the value that is searched is not there")

    # ------------------------------------------------------------------ values

    def _value(self, value: Value, frame: Frame) -> Scalar:
        match value:
            case Var():
                return frame.sums.corrected(value.name, frame.scalars[value.name])
            case Const():
                return value.literal.item()
            case FromInt():
                return value.dtype.type(_integer(value.expr, frame))
            case Load():
                return _load(frame, value.buffer, _indices(value.index, frame))
            case Prim("load_where", (condition, element)):
                holds = self._value(condition, frame)
                return self._value(element, frame) if holds else value.dtype.type(0)
            case Prim():
                operands = [self._value(operand, frame) for operand in value.operands]
                return self.primitive(value.name, value.variant, operands, value.dtype)
        raise TypeError(f"not a value: {value!r}")


_STATUS = " status"
"""The name under which a frame keeps the status; no name of a kernel has a space."""


def _integer(expr: IntExpr, frame: Frame) -> int:
    scalars = {name: int(frame.scalars[name]) for name in expr.names() if name not in frame.integers}
    return intexpr.evaluate(expr, {**frame.integers, **scalars} if scalars else frame.integers)


def _indices(index: tuple[IntExpr, ...], frame: Frame) -> tuple[int, ...]:
    return tuple(_integer(expr, frame) for expr in index)


def _moved(index: tuple[int, ...], steps: Mapping[int, int]) -> tuple[int, ...]:
    """The index, some axes further along."""
    found = list(index)
    for axis, step in steps.items():
        found[axis] += step
    return tuple(found)


def _load(frame: Frame, name: str, index: tuple[int, ...]) -> Scalar:
    memory = frame.memory[name]
    place = memory.place(name, index)
    if memory.written is not None and not memory.written[place]:
        raise UnwrittenError(f"{name}{list(index)} is read before it is written")
    for trace in frame.traces:
        trace.read.add((name, index))
    return memory.array[place]


def _store(frame: Frame, name: str, index: tuple[int, ...], value: Scalar) -> None:
    memory = frame.memory[name]
    place = memory.place(name, index)
    memory.array[place] = value
    if memory.written is not None:
        memory.written[place] = True
    for trace in frame.traces:
        trace.written[name, index] = memory.array[place].tobytes()


def _join(frame: Frame, iterations: Sequence[Frame], loop: Loop) -> None:
    """See that no iteration touched what another wrote, but to write the same; scratch of its own does not count."""
    writers: dict[Element, set[int]] = {}
    first: dict[Element, bytes] = {}
    for number, one in enumerate(iterations):
        for element, bits in one.traces[-1].written.items():
            if not _is_shared(element, frame, one):
                continue
            if first.setdefault(element, bits) != bits:
                raise RaceError(f"two iterations of {loop.variable} write {element[0]}{list(element[1])}")
            writers.setdefault(element, set()).add(number)
    for number, one in enumerate(iterations):
        for element in one.traces[-1].read:
            if _is_shared(element, frame, one) and writers.get(element, {number}) != {number}:
                raise RaceError(f"an iteration of {loop.variable} reads {element[0]}{list(element[1])} of another")
    for name, flag in frame.scalars.items():
        if isinstance(flag, bool | np.bool_):
            frame.scalars[name] = any((flag, *(one.scalars[name] for one in iterations)))
    statuses = [one.integers.get(_STATUS, 0) for one in iterations]
    frame.integers[_STATUS] = max([frame.integers.get(_STATUS, 0), *statuses])


def _is_shared(element: Element, frame: Frame, iteration: Frame) -> bool:
    own = frame.memory.get(element[0])
    return own is not None and own is iteration.memory[element[0]]
