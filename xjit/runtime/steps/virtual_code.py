"""Blocks of steps as instructions over cells: what runs natively, written with one cell for each value.

A cell is memory: that of an argument, of a constant, or of the program's own. Slots of one memory share a cell.
Control is written out in labels and jumps. Loops and branches *move* values between cells, all at once; how much of
that is left to do is decided when cells are given memory (:mod:`xjit.runtime.steps.registers`)::

    move  carried <- initial values
    top:  condition
    test  it, else go to end
    body
    move  carried <- next values
    go to top
    end:

What cannot be written this way raises :class:`NotNativeError` with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xjit.dataclass import dataclass, field
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.spec import (
    BranchStep,
    CallStep,
    Constant,
    ConstantStep,
    CopyStep,
    LoopStep,
    PythonStep,
    ReshapeStep,
    RunStep,
    Step,
    ViewStep,
)

Layout: TypeAlias = ArraySpec | ScalarSpec


class NotNativeError(Exception):
    """A step that needs Python, or NumPy; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Memory of so many bytes: the program's own, that of argument number ``given``, or that of a constant."""

    size: int
    given: int = -1
    constant: Constant | None = None

    @property
    def is_own(self) -> bool:
        """Return whether the program may write there, and exchange it."""
        return self.given < 0 and self.constant is None


@dataclass(frozen=True, slots=True)
class Run:
    """A run of kernels between cells."""

    step: RunStep
    inputs: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Gives cells the values of others, all at once."""

    to: tuple[int, ...]
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Copies the value of one cell to another."""

    to: int
    source: int


@dataclass(frozen=True, slots=True)
class Test:
    """Goes on at a label where the truth value in a cell is false."""

    cell: int
    label: int


@dataclass(frozen=True, slots=True)
class Pick:
    """Goes on at the label with the number in a cell, an integer of ``size`` bytes; at the last one for others."""

    cell: int
    labels: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Goto:
    """Goes on at a label."""

    label: int


@dataclass(frozen=True, slots=True)
class Label:
    """A place to go on at."""

    number: int


Virtual: TypeAlias = "Run | Move | Duplicate | Test | Pick | Goto | Label"

_INTEGERS = {"int32": 4, "int64": 8, "bool": 1}
"""Bytes of the numbers that a branch may ask for, by their types."""


@dataclass(eq=False)
class Writer:
    """Writes steps down as virtual code. ``layouts`` and ``of`` say of slots how they lie in memory and where.

    What is read and not made by the steps becomes an argument; ``given`` are the slots of the arguments in order,
    with their layouts.
    """

    layouts: dict[int, Layout] = field(default_factory=dict)
    of: dict[int, int] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    code: list[Virtual] = field(default_factory=list)
    given: dict[int, Layout] = field(default_factory=dict)
    labels: int = 0
    loops: int = 0

    def steps(self, steps: Iterable[Step]) -> None:
        """Writes the steps of a block."""
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """Writes one step."""
        match step:
            case RunStep():
                self._run(step)
            case ConstantStep(constant, _, (result,)):
                layout = ArraySpec(
                    constant.dtype, constant.shape, _row_major(constant.dtype.itemsize, constant.shape)
                )
                self.bind(result, self._cell(Cell(len(constant.data), constant=constant)), layout)
            case ReshapeStep((source,), (result,), layout):
                self._require(is_row_major(self._layout(source)), "reshapes an array whose elements lie apart")
                self.bind(result, self.cell(source), layout)
            case CopyStep((source,), (result,)):
                layout = as_array(self._dense(source))
                self.bind(result, self.duplicate(self.cell(source), layout), layout)
            case LoopStep():
                self._loop(step)
            case BranchStep():
                self._branch(step)
            case _:
                raise NotNativeError(_reason(step))

    def cell(self, slot: int) -> int:
        """The cell of a slot; of one that nothing has filled here, that of an argument."""
        if slot not in self.of:
            layout = self._layout(slot)
            self.of[slot] = self._cell(Cell(byte_count(layout), given=len(self.given)))
            self.given[slot] = layout
        return self.of[slot]

    def duplicate(self, cell: int, layout: Layout) -> int:
        """A new cell with the value of another one."""
        made = self._own(layout)
        self.code.append(Duplicate(made, cell))
        return made

    def _asked(self, slot: int) -> int:
        """The cell of a slot whose value decides where to go on."""
        cell = self.cell(slot)
        return cell if self.cells[cell].constant is None else self.duplicate(cell, self._layout(slot))

    def bind(self, slot: int, cell: int, layout: Layout) -> None:
        """Notes where a slot lies, and how."""
        self.of[slot], self.layouts[slot] = cell, layout

    def label(self) -> int:
        """The number of a new label."""
        self.labels += 1
        return self.labels - 1

    def _require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise NotNativeError(reason)

    def _cell(self, cell: Cell) -> int:
        self.cells.append(cell)
        return len(self.cells) - 1

    def _own(self, layout: Layout) -> int:
        return self._cell(Cell(byte_count(layout)))

    def _layout(self, slot: int) -> Layout:
        found = self.layouts.get(slot)
        if found is None:
            raise NotNativeError("reads a value of which only Python knows how it lies in memory")
        return found

    def _dense(self, slot: int) -> Layout:
        """The layout of a slot of which all bytes between its ends are elements."""
        layout = self._layout(slot)
        self._require(is_dense(layout), "copies an array whose elements lie apart")
        return layout

    def _run(self, step: RunStep) -> None:
        for slot, layout in zip(step.inputs, step.arguments, strict=True):
            known = self.layouts.setdefault(slot, layout)
            self._require(is_same(known, layout), "runs a kernel on an array of another layout")
        inputs = tuple(map(self.cell, step.inputs))
        for slot, output in zip(step.results, step.outputs, strict=True):
            self.bind(slot, self._own(output), output)
        self.code.append(Run(step, inputs, tuple(self.of[slot] for slot in step.results)))

    def _loop(self, step: LoopStep) -> None:
        self.loops += 1
        sources = tuple(map(self.cell, step.inputs))
        layouts = [as_array(self._dense(slot)) for slot in step.inputs]
        carried = tuple(map(self._own, layouts))
        top, end = self.label(), self.label()
        self.code.append(Move(carried, sources))
        self._carry(step.results, carried, layouts)
        self.code.append(Label(top))
        self.steps(step.condition.steps)
        self._require(_is_truth(self._layout(step.test)), "asks for something else than one truth value")
        self.code.append(Test(self._asked(step.test), end))
        self.steps(step.body.steps)
        self._hand_over(carried, step.next, layouts)
        self.code += (Goto(top), Label(end))
        self._carry(step.results, carried, layouts)

    def _carry(self, slots: Sequence[int], cells: Sequence[int], layouts: Sequence[Layout]) -> None:
        for slot, cell, layout in zip(slots, cells, layouts, strict=True):
            self.bind(slot, cell, layout)

    def _hand_over(self, to: tuple[int, ...], values: tuple[int, ...], layouts: Sequence[Layout]) -> None:
        """Gives cells the values of slots, which have to lie as the cells do."""
        for slot, layout in zip(values, layouts, strict=True):
            self._require(is_same(self._layout(slot), layout), "hands on arrays of different layouts")
        self.code.append(Move(to, tuple(map(self.cell, values))))

    def _branch(self, step: BranchStep) -> None:
        (asked,) = step.inputs
        layout = self._layout(asked)
        size = _INTEGERS.get(layout.dtype.name, 0)
        self._require(size > 0 and math.prod(as_array(layout).shape) == 1, "branches by something else than a number")
        labels, end = tuple(self.label() for _ in step.blocks), self.label()
        self.code.append(Pick(self._asked(asked), labels, size))
        made: tuple[tuple[int, ...], list[ArraySpec]] | None = None
        for label, block, values in zip(labels, step.blocks, step.values, strict=True):
            self.code.append(Label(label))
            self.steps(block.steps)
            if made is None:
                found = [as_array(self._dense(slot)) for slot in values]
                made = tuple(map(self._own, found)), found
            self._hand_over(made[0], values, made[1])
            self.code.append(Goto(end))
        self.code.append(Label(end))
        assert made is not None, "a branch has blocks"
        self._carry(step.results, *made)


def _reason(step: Step) -> str:
    match step:
        case CallStep(operation, fallback=fallback) if fallback:
            return f"{operation.name} runs through NumPy: {fallback}"
        case CallStep(operation):
            return f"{operation.name} is computed by a library"
        case PythonStep(name):
            return f"{name} runs in Python"
        case ViewStep():
            return "takes a view of an array"
    return f"{type(step).__name__} runs in Python"


# Layouts


def as_array(layout: Layout) -> ArraySpec:
    """The layout of an array; a number lies in memory as an array of no dimensions."""
    return layout if isinstance(layout, ArraySpec) else ArraySpec(layout.dtype, (), ())


def byte_count(layout: Layout) -> int:
    """The bytes of the elements."""
    return layout.dtype.itemsize * math.prod(as_array(layout).shape)


def _row_major(item: int, shape: Sequence[int]) -> tuple[int, ...]:
    strides = [item]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * max(extent, 1))
    return tuple(reversed(strides[: len(shape)]))


def _steps_of(layout: Layout) -> list[tuple[int, int]]:
    """Stride and extent of each axis along which an index changes anything."""
    array = as_array(layout)
    if 0 in array.shape:
        return []
    return [(stride, extent) for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]


def is_same(one: Layout, other: Layout) -> bool:
    """Return whether two layouts have every element in the same place."""
    return (
        one.dtype == other.dtype
        and as_array(one).shape == as_array(other).shape
        and _steps_of(one) == _steps_of(other)
    )


def is_dense(layout: Layout) -> bool:
    """Return whether elements follow each other in memory, whatever the order of the axes."""
    return _follow(layout.dtype.itemsize, sorted(_steps_of(layout)))


def is_row_major(layout: Layout) -> bool:
    """Return whether elements follow each other in row-major order."""
    return _follow(layout.dtype.itemsize, reversed(_steps_of(layout)))


def _follow(item: int, steps: Iterable[tuple[int, int]]) -> bool:
    expected = item
    for stride, extent in steps:
        if stride != expected:
            return False
        expected *= extent
    return True


def _is_truth(layout: Layout) -> bool:
    return layout.dtype.kind == "b" and math.prod(as_array(layout).shape) == 1
