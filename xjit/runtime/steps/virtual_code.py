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

import numpy as np

from xjit.dataclass import dataclass, field, replace
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.calls.tiled_turns import TimeTiles
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
class Place:
    """A byte of a cell, from which on the elements of an array lie."""

    cell: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of kernels on places, which fills cells."""

    step: RunStep
    inputs: tuple[Place, ...]
    results: tuple[int, ...]
    noting: Noting | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Noting:
    """The place that kernels of a run are noted in: the cell of a ``record``, and the number of the ``first`` one in
    its turn.
    """

    record: int
    tiles: TimeTiles
    first: int = 0


@dataclass(frozen=True, slots=True)
class Begin:
    """Begins to note kernels in a cell."""

    record: int
    tiles: TimeTiles


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of a turn, or of the ``last`` one, behind which what was noted may be run; it touches these cells."""

    record: int
    cells: tuple[int, ...]
    last: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """Gives cells the values of others, all at once."""

    to: tuple[int, ...]
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Copies a value to a cell: as many bytes as that has, from a byte of another one on."""

    to: int
    source: int
    offset: int = 0


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
    """Goes on at a label, behind something ``long`` that signals have waited for."""

    label: int
    long: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A place to go on at."""

    number: int


Virtual: TypeAlias = "Run | Move | Duplicate | Test | Pick | Goto | Label | Begin | TurnEnd"

_INTEGERS = {"int32": 4, "int64": 8, "bool": 1}
"""Bytes of the numbers that a branch may ask for, by their types."""


@dataclass(eq=False)
class Writer:
    """Writes steps down as virtual code. ``layouts`` and ``places`` say of slots how they lie in memory and where.

    What is read and not made by the steps becomes an argument; ``given`` are the slots of the arguments in order,
    with their layouts.
    """

    layouts: dict[int, Layout] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    code: list[Virtual] = field(default_factory=list)
    given: dict[int, Layout] = field(default_factory=dict)
    families: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)
    labels: int = 0
    loops: int = 0
    tiling: bool = True

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
                self.bind(result, Place(self._cell(Cell(len(constant.data), constant=constant))), layout)
            case ReshapeStep((source,), (result,), layout):
                self._require(is_row_major(self._layout(source)), "reshapes an array whose elements lie apart")
                self.bind(result, self.place(source), layout)
            case CopyStep((source,), (result,)):
                layout = as_array(self._dense(source))
                self.bind(result, Place(self.duplicate(self.place(source), layout)), layout)
            case ViewStep((source,), (result,)):
                layout, offset = seen(step, self._layout(source))
                place = self.place(source)
                self.bind(result, Place(place.cell, place.offset + offset), layout)
            case LoopStep():
                self._loop(step)
            case BranchStep():
                self._branch(step)
            case _:
                raise NotNativeError(_reason(step))

    def place(self, slot: int) -> Place:
        """The place of a slot; of one that nothing has filled here, that of an argument."""
        if slot not in self.places:
            layout = self._layout(slot)
            self.places[slot] = Place(self._cell(Cell(byte_count(layout), given=len(self.given))))
            self.given[slot] = layout
        return self.places[slot]

    def cell(self, slot: int) -> int:
        """A cell with the value of a slot and nothing else: its own, or a copy of a part."""
        place, layout = self.place(slot), self._dense(slot)
        whole = not place.offset and self.cells[place.cell].size == byte_count(layout)
        return place.cell if whole else self.duplicate(place, layout)

    def duplicate(self, place: Place, layout: Layout) -> int:
        """A new cell with the value at a place."""
        made = self._own(layout)
        self.code.append(Duplicate(made, place.cell, place.offset))
        return made

    def _asked(self, slot: int) -> int:
        """The cell of a slot whose value decides where to go on."""
        place, cell = self.place(slot), self.cell(slot)
        return cell if self.cells[cell].constant is None else self.duplicate(place, self._layout(slot))

    def bind(self, slot: int, place: Place, layout: Layout) -> None:
        """Notes where a slot lies, and how."""
        self.places[slot], self.layouts[slot] = place, layout

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
        self._require(not found.dtype.hasobject, "reads an object, whose names only Python counts")
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
        inputs, results = tuple(map(self.place, step.inputs)), tuple(map(self._own, step.outputs))
        self._fill(step.results, results, step.outputs)
        self.code.append(Run(step, inputs, results))

    def _record(self, step: LoopStep, tiles: TimeTiles) -> int:
        """The cell of a record for the kernels of a loop."""
        kernels = [kernel for one in step.body.steps if isinstance(one, RunStep) for kernel in one.kernels]
        noted = {nest.kernel for nest in tiles.nests}
        words = (len(kernels[number].pointers) + len(kernels[number].words) for number in noted)
        record = self._cell(Cell(tiles.record_bytes(words)))
        self.code.append(Begin(record, tiles))
        return record

    def _tiled(self, step: LoopStep, tiles: TimeTiles, record: int) -> None:
        """Writes the body of a loop whose kernels are noted."""
        begin, first = len(self.code), 0
        self.steps(step.body.steps)
        for place, one in enumerate(self.code[begin:], begin):
            if isinstance(one, Run):
                self.code[place] = replace(one, noting=Noting(record, tiles, first))
                first += len(one.step.kernels)
        runs = [one for one in self.code[begin:] if isinstance(one, Run)]
        cells = {cell for run in runs for cell in (*run.results, *(place.cell for place in run.inputs))}
        self.families.append(tuple(tuple(self.places[slot].cell for slot in family) for family in tiles.families))
        self.code.append(TurnEnd(record, tuple(sorted(cells))))

    def _loop(self, step: LoopStep) -> None:
        self.loops += 1
        sources = tuple(map(self.cell, step.inputs))
        layouts = [as_array(self._dense(slot)) for slot in step.inputs]
        carried = tuple(map(self._own, layouts))
        top, end = self.label(), self.label()
        self.code.append(Move(carried, sources))
        self._fill(step.results, carried, layouts)
        tiles = step.tiles if self.tiling else None
        record = -1 if tiles is None else self._record(step, tiles)
        self.code.append(Label(top))
        self.steps(step.condition.steps)
        self._require(_is_truth(self._layout(step.test)), "asks for something else than one truth value")
        self.code.append(Test(self._asked(step.test), end))
        if tiles is None:
            self.steps(step.body.steps)
        else:
            self._tiled(step, tiles, record)
        self._hand_over(carried, step.next, layouts)
        waited = any(isinstance(one, RunStep) and one.final for one in step.body.steps)
        self.code += (Goto(top, long=waited), Label(end))
        if tiles is not None:
            self.code.append(TurnEnd(record, (), last=True))
        self._fill(step.results, carried, layouts)

    def _fill(self, slots: Sequence[int], cells: Sequence[int], layouts: Sequence[Layout]) -> None:
        for slot, cell, layout in zip(slots, cells, layouts, strict=True):
            self.bind(slot, Place(cell), layout)

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
        self._fill(step.results, *made)


def _reason(step: Step) -> str:
    match step:
        case CallStep(operation, fallback=fallback) if fallback:
            return f"{operation.name} runs through NumPy: {fallback}"
        case CallStep(operation):
            return f"{operation.name} is computed by a library"
        case PythonStep(name):
            return f"{name} runs in Python"
    return f"{type(step).__name__} runs in Python"


# Layouts


def seen(step: ViewStep, base: Layout) -> tuple[ArraySpec, int]:
    """The layout of a view, and the distance in bytes of its first element from that of what it is taken of."""
    from xjit.ops.define.named import operation

    array = as_array(base)
    model = np.lib.stride_tricks.as_strided(np.empty(1, array.dtype), array.shape, array.strides)
    view = model
    for one in step.chain:
        view = operation(one.name).view(view, **dict(one.params))
    offset = view.ctypes.data - model.ctypes.data if view.size else 0
    return ArraySpec(view.dtype, view.shape, view.strides), offset


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
