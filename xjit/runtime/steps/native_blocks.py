"""Steps with loops and branches as one native program: its buffers, and its instructions.

The buffers of a program are those of its arguments, arrays, temporaries and statuses. Registers are arrays where an
output may end in their memory, else temporaries; behind these lies the scratch memory of the runs of kernels, one
after the other in the same place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from xjit.alignment import padded
from xjit.dataclass import dataclass, field
from xjit.runtime.calls.instructions import BeginTiles, Choose, Copy, EndIf, EndTurn, Jump, Note, Rotate, Unless
from xjit.runtime.calls.records import ArraySpec, Conditions, FastProgram, Instruction, KernelCall
from xjit.runtime.spec import RunStep, Step
from xjit.runtime.steps.kernel_calls import Loading, error_maker, fast_program
from xjit.runtime.steps.registers import Assignment, assign
from xjit.runtime.steps.virtual_code import (
    Begin,
    Duplicate,
    Goto,
    Label,
    Layout,
    Move,
    Noting,
    NotNativeError,
    Pick,
    Place,
    Run,
    Test,
    TurnEnd,
    Virtual,
    Writer,
    as_array,
    is_row_major,
)

NO_CONDITIONS = Conditions()
NO_LENGTHS: Mapping[int, int] = MappingProxyType({})
LENGTHS = (np.dtype(np.int32), np.dtype(np.int64))
"""The types of lengths."""
NUMBER_BYTES = 8
"""Bytes of what counts as a number in a turn."""


@dataclass(frozen=True, slots=True, eq=False)
class NativeBlock:
    """A program, and the slots that it reads and fills, in the order of its arguments and results."""

    program: FastProgram
    inputs: tuple[int, ...]
    results: tuple[int, ...]


def native_block(
    steps: Sequence[Step],
    layouts: Mapping[int, Layout],
    wanted: Sequence[int],
    loading: Loading,
    given: Sequence[int] = (),
    conditions: Conditions = NO_CONDITIONS,
    lengths: Mapping[int, int] = NO_LENGTHS,
) -> NativeBlock:
    """The program of steps that run natively. ``wanted`` are the slots that are read behind them.

    ``layouts`` say how the slots that they read lie in memory. The slots ``given`` are arguments whether they are
    read or not, and come first. Of those that are wanted, the ones with ``lengths``, which other slots hold, are cut.
    """
    for tiling in (True, False):
        writer = Writer(layouts=dict(layouts), tiling=tiling)
        for slot in given:
            writer.place(slot)
        writer.steps(steps)
        outputs = {slot: as_array(writer.layouts[slot]) for slot in wanted}
        noted = {slot: _length(writer, outputs[slot], lengths[slot]) for slot in wanted if slot in lengths}
        assignment, cells = _assigned(writer, outputs, list(noted.values()))
        if _can_be_noted(writer, assignment):
            break
    return _Assembler(writer, assignment, outputs, cells, noted, loading, conditions).block()


def _length(writer: Writer, array: ArraySpec, slot: int) -> int:
    """A cell with the length of an array that is cut."""
    place = writer.place(slot)
    length = as_array(writer.layouts[slot])
    if not array.shape or not is_row_major(array) or length.dtype not in LENGTHS or length.shape:
        raise NotNativeError("cuts an array along another axis than the first of rows")
    return writer.duplicate(place, length)


def _assigned(writer: Writer, outputs: dict[int, ArraySpec], lengths: list[int]) -> tuple[Assignment, dict[int, int]]:
    """Registers, and the cells of the outputs. These are copied where arrays of other layouts could change places, or
    where they are no memory of their own. The cells of ``lengths`` hold them in the end, too.
    """
    cells = {slot: writer.cell(slot) for slot in outputs}
    for slot, cell in cells.items():
        if not writer.cells[cell].is_own or list(cells.values()).count(cell) > 1:
            cells[slot] = writer.duplicate(Place(cell), outputs[slot])
    assignment = assign(writer.code, writer.cells, [*cells.values(), *lengths], lengths)
    families = _families(assignment)
    taken: dict[int, ArraySpec] = {}
    apart = [
        slot
        for slot, cell in cells.items()
        if taken.setdefault(families[assignment.registers[cell]], outputs[slot]) != outputs[slot]
    ]
    if not apart:
        return assignment, cells
    alone = {slot: writer.duplicate(Place(cells[slot]), outputs[slot]) for slot in apart}
    cells |= alone
    return assign(writer.code, writer.cells, [*cells.values(), *lengths], [*alone.values(), *lengths]), cells


def _families(assignment: Assignment) -> list[int]:
    """For every register the first of those that its memory may get to."""
    families = list(range(len(assignment.sizes)))
    moves = [one for one in assignment.code if isinstance(one, Move)]
    for chain in itertools.chain.from_iterable(map(assignment.rotations, moves)):
        lowest = min(families[one] for one in chain)
        joined = {families[one] for one in chain}
        families = [lowest if family in joined else family for family in families]
    return families


def _numbers(step: RunStep) -> Iterator[int]:
    """Yield the numbers of the kernels that have something to do."""
    return (number for number, kernel in enumerate(step.kernels) if kernel.extent > 0)


def _can_be_noted(writer: Writer, assignment: Assignment) -> bool:
    """Return whether rows of turns touch memory as the steps say: registers of different families share none, and
    nothing but numbers is copied between the kernels of a turn.
    """
    families = _families(assignment)
    for several in writer.families:
        own = [
            {families[assignment.registers[cell]] for cell in family if cell in assignment.registers}
            for family in several
        ]
        if sum(map(len, own)) > len(set().union(*own)):
            return False
    inside = False
    for one in assignment.code:
        if isinstance(one, Run) and one.noting is not None:
            inside = True
        elif isinstance(one, TurnEnd) and one.last:
            inside = False
        elif inside and isinstance(one, Duplicate) and assignment.cells[one.to].size > NUMBER_BYTES:
            return False
    return True


@dataclass(eq=False)
class _Assembler:
    """Numbers the buffers and writes the instructions."""

    writer: Writer
    assignment: Assignment
    outputs: dict[int, ArraySpec]
    cells: dict[int, int]
    lengths: dict[int, int]
    loading: Loading
    conditions: Conditions
    keep: list[object] = field(default_factory=list)
    code: list[Instruction | Goto | Test | Pick] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    runs: dict[int, FastProgram] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)

    def block(self) -> NativeBlock:
        """The whole program."""
        self._number()
        for one in self.assignment.code:
            self._write(one)
        steps = [one.step for one in self.assignment.code if isinstance(one, Run)]
        program = FastProgram(
            inputs=tuple(self.writer.given.values()),
            outputs=tuple(self.outputs.values()),
            spares=tuple(self.spares),
            temps=tuple(size for size, _ in self.temps),
            temp_offsets=tuple(offset for _, offset in self.temps),
            calls=(),
            code=tuple(map(self._with_targets, self.code)),
            single=len(self.outputs) == 1,
            heavy=self.writer.loops > 0 or any(step.heavy for step in steps),
            lasting=any(step.lasting for step in steps),
            keep_alive=tuple(self.keep),
            failures=tuple(error_maker(one, self.loading) for step in steps for one in step.failures),
            conditions=self.conditions,
            cut=tuple(number for number, slot in enumerate(self.outputs) if slot in self.lengths),
        )
        return NativeBlock(program, tuple(self.writer.given), tuple(self.outputs))

    def _number(self) -> None:
        """Gives numbers to all buffers: arguments, outputs, spare arrays, other registers, scratch, statuses and
        lengths.
        """
        registers, families = self.assignment.registers, _families(self.assignment)
        ends = {registers[cell]: self.outputs[slot] for slot, cell in self.cells.items()}
        specs = {families[register]: spec for register, spec in ends.items()}
        lengths = [registers[cell] for cell in self.lengths.values()]
        rest = [one for one in range(len(families)) if one not in ends and one not in lengths]
        arrays = [one for one in rest if families[one] in specs]
        others = [one for one in rest if families[one] not in specs]
        self.spares = [specs[families[one]] for one in arrays]
        first = len(self.writer.given)
        self.buffers = {register: first + number for number, register in enumerate((*ends, *arrays, *others))}
        begins = list(itertools.accumulate((padded(self.assignment.sizes[one]) for one in others), initial=0))
        self.temps = [(self.assignment.sizes[one], begin) for one, begin in zip(others, begins, strict=False)]
        self.scratch: dict[tuple[int, int], int] = {}
        behind = first + len(self.buffers)
        steps = [one.step for one in self.assignment.code if isinstance(one, Run)]
        for step in steps:
            for size, offset in zip(step.temps, step.offsets, strict=True):
                if (size, offset) not in self.scratch:
                    self.scratch[size, offset] = behind + len(self.scratch)
                    self.temps.append((size, begins[-1] + offset))
        self.status = behind + len(self.scratch)
        last = self.status + sum(len(step.failures) for step in steps)
        self.buffers |= {register: last + number for number, register in enumerate(lengths)}

    def _buffer(self, cell: int) -> int:
        given = self.assignment.cells[cell].given
        return given if given >= 0 else self.buffers[self.assignment.registers[cell]]

    def _write(self, one: Virtual) -> None:
        match one:
            case Run():
                self.code += self._run(one)
            case Move():
                for chain in self.assignment.rotations(one):
                    self.code.append(Rotate(tuple(self.buffers[register] for register in chain)))
            case Duplicate():
                self.code.append(self._copy(one))
            case Label(number):
                self.places[number] = len(self.code)
            case Begin(record, tiles):
                self.code.append(BeginTiles(self._buffer(record), tiles))
            case TurnEnd(record, _, last):
                self.code.append(EndTurn(self._buffer(record), last))
            case _:
                self.code.append(one)

    def _copy(self, one: Duplicate) -> Copy:
        to, size = self._buffer(one.to), self.assignment.cells[one.to].size
        if self.assignment.cells[one.source].constant is not None:
            return Copy(to, -1, size, self._address(one.source) + one.offset)
        return Copy(to, self._buffer(one.source), size, one.offset)

    def _address(self, cell: int) -> int:
        """The address of a constant."""
        if cell not in self.constants:
            constant = self.assignment.cells[cell].constant
            assert constant is not None
            array = constant.array()
            self.keep.append(array)
            self.constants[cell] = array.ctypes.data
        return self.constants[cell]

    def _run(self, run: Run) -> Iterator[Instruction]:
        """The calls of a run, and the end of the program if one of its statuses is set."""
        step, program = run.step, fast_program(run.step, self.loading, NO_CONDITIONS)
        self.keep += program.keep_alive
        scratch = (self.scratch[one] for one in zip(step.temps, step.offsets, strict=True))
        statuses = range(self.status, self.status + len(step.failures))
        self.status += len(step.failures)
        places = (*run.inputs, *map(Place, run.results))
        beyond = (*scratch, *statuses)
        for call, number in zip(program.calls, _numbers(step), strict=True):
            made = self._call(call, places, beyond, light=not step.heavy)
            yield made if run.noting is None else self._noted(made, run.noting, number)
        if step.failures:
            yield EndIf(statuses.start, len(statuses))

    def _noted(self, call: KernelCall, noting: Noting, number: int) -> Instruction:
        """A call of a turn in tiles; of those that are no rows the call itself."""
        kernel = noting.first + number
        nests = tuple(one for one in noting.tiles.nests if one.kernel == kernel)
        copied = tuple(slot for one, slot in noting.tiles.copied if one == kernel)
        return Note(self._buffer(noting.record), call, nests, copied) if nests else call

    def _call(self, call: KernelCall, places: tuple[Place, ...], beyond: tuple[int, ...], light: bool) -> KernelCall:
        """A call with the buffers of the whole program. Addresses of constants stand in its table."""
        table, patches = list(call.table), []
        for slot, buffer, offset in call.patches:
            if buffer >= len(places):
                patches.append((slot, beyond[buffer - len(places)], offset))
                continue
            cell, offset = places[buffer].cell, offset + places[buffer].offset
            if self.assignment.cells[cell].constant is not None:
                table[slot] = self._address(cell) + offset
            else:
                patches.append((slot, self._buffer(cell), offset))
        how = call.in_turn, light or call.light, call.resumed, call.final
        parts: Any = (call.address, call.extent, call.chunk, tuple(table), tuple(patches), *how)
        return KernelCall(*parts)

    def _with_targets(self, one: Instruction | Goto | Test | Pick) -> Instruction:
        match one:
            case Goto(label, long):
                return Jump(self.places[label], long)
            case Test(cell, label):
                return Unless(self._buffer(cell), self.places[label])
            case Pick(cell, labels, size):
                return Choose(self._buffer(cell), tuple(self.places[label] for label in labels), size)
        return one
