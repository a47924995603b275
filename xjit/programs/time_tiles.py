"""Loops whose turns are done for one tile of rows after the other: several turns while its rows are in the cache.

    for t in turns:                        for tiles of rows, each by itself:
      for rows: new[r] = f(old[r-1 : r+2])     for bands of rows:
      old, new = new, old                        for t in turns:
                                                   for rows of the band, t behind: new[r] = f(old[r-1 : r+2])
                                                   old, new = new, old
                                           between the tiles: the rows that they have left, in the same way

A turn works in place: nothing is computed twice or copied. What says how far rows are apart that need each other is
memory: the bytes that iterations of its kernels touch (:mod:`xjit.codegen.lowering.kernels.footprints`). From one
nest to a later one, and from one turn to the next, rows lie *behind* by so many that what they need is done, and a
tile keeps so many rows from its edges that it needs none of others. Kernels that work on numbers only, such as
counters, run turn by turn; rows get copies of the numbers that they read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from xjit.codegen.lowering.kernels.footprints import NestFootprint, NoFootprintError, footprints
from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.dataclass import dataclass
from xjit.errors import XjitError
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.runtime.calls.tiled_turns import NestRows, TimeTiles
from xjit.runtime.spec import (
    Block,
    ConstantStep,
    CopyStep,
    KernelSpec,
    KernelText,
    LoopStep,
    ReshapeStep,
    RunStep,
)
from xjit.runtime.steps.native_blocks import NUMBER_BYTES
from xjit.runtime.steps.virtual_code import byte_count


class NoTimeTilesError(XjitError):
    """The turns of a loop are not done in tiles; the message says why."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """Memory that kernels of a turn touch: that of a slot, or a temporary at this place. What turns exchange is of
    one ``family``.
    """

    kind: str
    number: int
    size: int
    family: object


@dataclass(frozen=True, slots=True)
class _Touch:
    """Bytes of some memory that a row touches: from ``low`` to before ``high``, moved by ``step`` for each row."""

    memory: _Memory
    low: int
    high: int
    step: int
    written: bool


@dataclass(frozen=True, slots=True)
class _Rows:
    """A nest as rows: so many iterations (``steps``) of its kernel for each row, the first of which is ``begin``."""

    kernel: int
    first: int
    stop: int
    steps: int
    begin: int
    touched: tuple[_Touch, ...]
    work: float

    @property
    def end(self) -> int:
        """The row behind the last one."""
        return self.begin - (self.first - self.stop) // self.steps


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel of a turn with the memory of its pointers, and the byte that each leads to."""

    number: int
    lowered: LoweredKernel
    memory: tuple[_Memory | None, ...]
    offsets: tuple[int, ...]

    def touched(self, written: bool) -> Iterator[_Memory]:
        """The memory that it writes, or reads."""
        for one, argument in zip(self.memory, self.lowered.kernel.arguments, strict=True):
            if one is not None and argument.is_written == written:
                yield one


def may_be_tiled(node: Node, machine: Machine) -> bool:
    """Return whether turns of an operation of control change so much that tiles may pay."""
    if node.op.control != "loop":
        return False
    carried = node.inputs[: node.param("n")]
    return 2 * sum(one.aval.nbytes for one in carried) >= machine.time_tiled_bytes


def time_tiles(step: LoopStep, kernels: Sequence[LoweredKernel], machine: Machine) -> TimeTiles:
    """The tiles of a loop whose body has these kernels; NoTimeTilesError where there are none, or they do not pay."""
    turn = _Turn.of(step, kernels)
    size = sum(one.size for one in turn.state)
    if size < machine.time_tiled_bytes:
        raise NoTimeTilesError(f"{size:,} bytes stay in the cache from turn to turn")
    return _Tiles(turn, machine).found()


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """The kernels of a turn that rows are done by, and what is copied for them."""

    rows: tuple[_Rows, ...]
    copied: tuple[tuple[int, int], ...]
    families: tuple[tuple[int, ...], ...]

    @property
    def state(self) -> frozenset[_Memory]:
        """All memory that rows touch and that changes."""
        return frozenset(one.memory for nest in self.rows for one in nest.touched)

    @classmethod
    def of(cls, step: LoopStep, lowered: Sequence[LoweredKernel]) -> _Turn:
        """The turn of a loop."""
        _check_steps(step)
        families = _families(step)
        kernels = list(_kernels(step.body, lowered, families))
        changed = {one.family for kernel in kernels for one in kernel.touched(written=True)}
        at_once = [kernel for kernel in kernels if _is_of_numbers(kernel, changed)]
        by_rows = [kernel for kernel in kernels if kernel not in at_once]
        made = {one.family for kernel in by_rows for one in kernel.touched(written=True)}
        if not by_rows:
            raise NoTimeTilesError("a turn changes no arrays")
        asked = {families.get(slot, slot) for one in step.condition.steps for slot in one.inputs}
        if made & asked:
            raise NoTimeTilesError("the condition of the loop reads what the rows of a turn make")
        if made & {one.family for kernel in at_once for one in kernel.touched(written=False)}:
            raise NoTimeTilesError("a number is made of what the rows of a turn make")
        _check_apart(by_rows, at_once, [one for one in step.condition.steps if isinstance(one, RunStep)])
        copied = [
            (kernel.number, slot)
            for kernel in by_rows
            for slot, one in enumerate(kernel.memory)
            if one is not None and one.family in changed - made
        ]
        nests = tuple(_as_rows(by_rows, made))
        slots = sorted({one.number for kernel in by_rows for one in kernel.memory if one and one.kind == "slot"})
        grouped = itertools.groupby(
            sorted(slots, key=lambda slot: str(families.get(slot, slot))), lambda slot: str(families.get(slot, slot))
        )
        return cls(nests, tuple(copied), tuple(tuple(group) for _, group in grouped))


def _check_steps(step: LoopStep) -> None:
    """Refuses bodies with other steps than kernels, and those that hand on what would have to be copied."""
    constants = [one for one in step.body.steps if isinstance(one, ConstantStep)]
    numbers = {one.results[0] for one in constants if len(one.constant.data) <= NUMBER_BYTES}
    for one in (*step.condition.steps, *step.body.steps):
        is_number = isinstance(one, CopyStep) and one.inputs[0] in numbers
        if not is_number and not isinstance(one, RunStep | ReshapeStep | ConstantStep):
            raise NoTimeTilesError(f"a turn has a {type(one).__name__}, which is no kernel")
        if isinstance(one, RunStep) and one.failures:
            raise NoTimeTilesError("a turn has a condition that may not hold")
    made = {slot for one in step.body.steps if isinstance(one, RunStep | CopyStep) for slot in one.results}
    if len(set(step.next)) < len(step.next) or not made | set(step.results) >= set(step.next):
        raise NoTimeTilesError("a turn hands on copies")


def _families(step: LoopStep) -> dict[int, int]:
    """For each slot that turns exchange memory of the first one of its family."""
    found: dict[int, int] = {}
    pairs = [(one.inputs[0], one.results[0]) for one in step.body.steps if isinstance(one, ReshapeStep)]
    for one, other in (*zip(step.results, step.next, strict=True), *pairs):
        first, second = found.get(one, one), found.get(other, other)
        joined = min(first, second)
        for slot in (one, other, *(slot for slot, family in found.items() if family in (first, second))):
            found[slot] = joined
    return found


def _kernels(body: Block, lowered: Sequence[LoweredKernel], families: dict[int, int]) -> Iterator[_Kernel]:
    """Yield the kernels of a body with their memory."""
    runs = [one for one in body.steps if isinstance(one, RunStep)]
    aliases = {one.results[0]: one.inputs[0] for one in body.steps if isinstance(one, ReshapeStep)}
    specs = [(run, kernel) for run in runs for kernel in run.kernels]
    if len(specs) != len(lowered) or not all(isinstance(kernel.code, KernelText) for _, kernel in specs):
        raise NoTimeTilesError("a turn calls a library")
    for number, ((run, spec), kernel) in enumerate(zip(specs, lowered, strict=True)):
        if spec.in_turn or spec.resumed:
            raise NoTimeTilesError("a turn has a loop of its own")
        offsets = tuple(pointer.offset for pointer in spec.pointers)
        yield _Kernel(number, kernel, tuple(_memory(spec, run, families, aliases)), offsets)


def _memory(
    spec: KernelSpec, run: RunStep, families: dict[int, int], aliases: dict[int, int]
) -> Iterator[_Memory | None]:
    """Yield the memory that each pointer of a kernel leads to; None for constants."""
    slots, layouts = (*run.inputs, *run.results), (*run.arguments, *run.outputs)
    for pointer in spec.pointers:
        if pointer.to != "buffer":
            yield None
        elif pointer.number < len(slots):
            slot = slots[pointer.number]
            size = byte_count(layouts[pointer.number])
            while slot in aliases:
                slot = aliases[slot]
            yield _Memory("slot", slot, size, families.get(slot, slot))
        else:
            number = pointer.number - len(slots)
            yield _Memory("temporary", run.offsets[number], run.temps[number], ("temporary", run.offsets[number]))


def _is_of_numbers(kernel: _Kernel, changed: set[object]) -> bool:
    """Return whether a kernel makes numbers of numbers, and of what no turn changes."""
    made = kernel.touched(written=True)
    read = (one for one in kernel.touched(written=False) if one.family in changed)
    return all(one.size <= NUMBER_BYTES for one in (*made, *read))


def _check_apart(by_rows: Sequence[_Kernel], at_once: Sequence[_Kernel], condition: Sequence[RunStep]) -> None:
    """Refuses temporaries that share a part of their memory."""
    used = {one for kernel in by_rows for one in kernel.memory if one is not None and one.kind == "temporary"}
    others = {one for kernel in at_once for one in kernel.memory if one is not None and one.kind == "temporary"}
    for run in condition:
        others |= {
            _Memory("temporary", begin, size, None) for begin, size in zip(run.offsets, run.temps, strict=True)
        }
    for one, other in itertools.product(used, used | others):
        meet = one.number < other.number + other.size and other.number < one.number + one.size
        if meet and (one != other or other in others):
            raise NoTimeTilesError("temporaries of a turn share memory")


def _as_rows(kernels: Sequence[_Kernel], made: set[object]) -> Iterator[_Rows]:
    """Yield the nests of some kernels over rows of what is ``made``."""
    found: list[tuple[_Kernel, NestFootprint, tuple[_Touch, ...]]] = []
    for kernel in kernels:
        try:
            nests = footprints(kernel.lowered)
        except NoFootprintError as error:
            raise NoTimeTilesError(str(error)) from None
        for nest in nests:
            touched = list[_Touch]()
            for one in nest.touched:
                memory, offset = kernel.memory[one.slot], kernel.offsets[one.slot]
                if memory is not None and memory.family in made and one.high > one.low:
                    touched.append(_Touch(memory, one.low + offset, one.high + offset, one.step, one.written))
            found.append((kernel, nest, tuple(touched)))
    longest: dict[object, int] = {}
    for _, _, several in found:
        for touch in several:
            longest[touch.memory.family] = max(longest.get(touch.memory.family, 0), touch.step)
    for kernel, nest, several in found:
        if nest.count and any(touch.written for touch in several):
            yield _rows(kernel, nest, several, longest)


def _rows(kernel: _Kernel, nest: NestFootprint, touched: Sequence[_Touch], steps: dict[object, int]) -> _Rows:
    """A nest as rows, each as long as the ``steps`` from row to row of the memory that it touches."""
    moves = {steps[touch.memory.family] / touch.step if touch.step else 0.0 for touch in touched}
    one_row = nest.count == 1
    if not one_row and (len(moves) != 1 or min(moves) < 1 or not min(moves).is_integer()):
        raise NoTimeTilesError("iterations of a turn lie across rows, or read what is the same for all rows")
    each = 1 if one_row else int(moves.pop())
    first = next(touch for touch in touched if touch.written)
    begin = first.low // steps[first.memory.family] if steps[first.memory.family] else 0
    placed = []
    for touch in touched:
        row = steps[touch.memory.family]
        if not row:
            raise NoTimeTilesError("a turn changes an array that has no rows")
        high = touch.high + (each - 1) * touch.step
        placed.append(_Touch(touch.memory, touch.low - begin * row, high - begin * row, row, touch.written))
    work = kernel.lowered.work * each / max(kernel.lowered.extent, 1)
    whole = kernel.number, nest.first, nest.first + nest.count, each, begin, tuple(placed)
    return _Rows(*whole, work=work)


def _distances(earlier: _Rows, later: _Rows, same_turn: bool) -> Iterator[tuple[int, int]]:
    """Yield by how many rows, at least and at most, a row lies behind an earlier one that it may meet in memory."""
    for one, other in itertools.product(earlier.touched, later.touched):
        meet = one.memory == other.memory if same_turn else one.memory.family == other.memory.family
        if meet and (one.written or other.written):
            low, high = (one.low - other.high) // one.step + 1, -((other.low - one.high) // one.step) - 1
            if low <= high:
                yield low, high


@dataclass(frozen=True, slots=True, eq=False)
class _Tiles:
    """Looks for tiles of the turns of a loop on a machine."""

    turn: _Turn
    machine: Machine

    def found(self) -> TimeTiles:
        """The tiles."""
        behind, inside = self._within_turn()
        skew, before = self._from_turn_to_turn(behind, inside)
        reach = max((max(-low, high) for low, high in self._all_distances()), default=0)
        each = self._bytes_of_row()
        band = self._band(each)
        least = max(behind) + max(inside) + reach + 1
        in_cache = (self.machine.time_tile_bytes // each - band - max(behind) - reach) // max(skew, 1)
        if in_cache < 2:
            what = f"the rows that two turns need, {skew} further on in each turn,"
            raise NoTimeTilesError(f"{what} do not stay in the cache")
        turns, tiles = self._turns_and_tiles(min(in_cache, self.machine.most_turns), least, max(skew + before, 1))
        nests = tuple(
            NestRows(one.kernel, one.first, one.stop, one.steps, one.begin, late, early)
            for one, late, early in zip(self.turn.rows, behind, inside, strict=True)
        )
        shape = turns, self._begin, -(-self._count // tiles), tiles, band, skew, before
        return TimeTiles(*shape, nests, self.turn.copied, self.turn.families)

    @property
    def _begin(self) -> int:
        return min(one.begin for one in self.turn.rows)

    @property
    def _count(self) -> int:
        """The number of rows."""
        return max(one.end for one in self.turn.rows) - self._begin

    def _turns_and_tiles(self, most: int, least: int, moved: int) -> tuple[int, int]:
        """The turns to do at a time, ``most`` of them, and the tiles to do them in.

        The edges of a tile come ``moved`` rows nearer to each other in each turn, and stay ``least`` rows apart. What
        is left between tiles is read from memory once more, for which tiles are wide.
        """
        count, machine = self._count, self.machine
        work = sum(one.work * (one.end - one.begin) for one in self.turn.rows)
        for turns in range(most, 1, -1):
            narrowest = least + 3 * turns * moved // 2 + 1
            width = max(narrowest, min(4 * turns * moved, count // machine.least_time_tiles))
            tiles = max(min(count // width, machine.most_pieces), math.ceil(turns * work / machine.time_tile_work))
            if tiles >= machine.least_time_tiles and count >= tiles * narrowest:
                return turns, tiles
        raise NoTimeTilesError(f"rows reach {moved} rows further in each turn, which is much of {count}")

    def _within_turn(self) -> tuple[list[int], list[int]]:
        """For each nest how many rows it is behind the first one, and from the beginning of a tile."""
        behind, inside = list[int](), list[int]()
        for nest in self.turn.rows:
            found = [
                (late - low, early + high)
                for one, late, early in zip(self.turn.rows, behind, inside, strict=False)
                for low, high in _distances(one, nest, same_turn=True)
            ]
            behind.append(max((late for late, _ in found), default=0))
            inside.append(max((early for _, early in found), default=0))
            behind[-1], inside[-1] = max(behind[-1], 0), max(inside[-1], 0)
        return behind, inside

    def _from_turn_to_turn(self, behind: Sequence[int], inside: Sequence[int]) -> tuple[int, int]:
        """The rows by which a turn is further behind than the one before it, and from the beginning of a tile."""
        skew = before = 0
        whole = list(zip(self.turn.rows, behind, inside, strict=True))
        for (one, late, early), (other, other_late, other_early) in itertools.product(whole, whole):
            for low, high in _distances(one, other, same_turn=False):
                skew, before = max(skew, late - low - other_late), max(before, early + high - other_early)
        return skew, before

    def _all_distances(self) -> Iterator[tuple[int, int]]:
        for one, other in itertools.product(self.turn.rows, self.turn.rows):
            yield from _distances(one, other, same_turn=False)

    def _bytes_of_row(self) -> int:
        steps = {one.memory: one.step for nest in self.turn.rows for one in nest.touched}
        return sum(steps.values())

    def _band(self, each: int) -> int:
        """The rows that a nest takes at a time: enough to be worth a call, and few enough to stay in the cache."""
        work = max(min(one.work for one in self.turn.rows if one.end - one.begin > 1), 1.0)
        most = max(1, self.machine.time_tile_bytes // (8 * each))
        return min(math.ceil(self.machine.band_work / work), most)
