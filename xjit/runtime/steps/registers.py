"""Registers for cells: which cells share memory, and what is left of their moves.

A register is a word with the address of some memory. Cells that never hold values at the same time may share one.
Those that a move connects do so wherever possible, which leaves nothing to move; else the registers exchange their
memory, and only what is still needed where it was, or is not the program's own, is copied.

Which values are needed later is found by the usual walk backwards along the jumps. Sets of cells are integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xjit.dataclass import dataclass
from xjit.runtime.steps.virtual_code import (
    Begin,
    Cell,
    Duplicate,
    Goto,
    Label,
    Move,
    NotNativeError,
    Pick,
    Run,
    Test,
    TurnEnd,
    Virtual,
)


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """Code in which every move only exchanges, and the register of every cell of the program's own.

    ``sizes`` are the bytes of the registers.
    """

    code: tuple[Virtual, ...]
    cells: tuple[Cell, ...]
    registers: dict[int, int]
    sizes: tuple[int, ...]

    def rotations(self, move: Move) -> Iterator[tuple[int, ...]]:
        """The exchanges that a move takes: each register gets the memory of the next one, the last that of the first.

        A cell that is moved and not replaced gets the memory that nobody has then.
        """
        pairs = zip(move.to, move.sources, strict=True)
        source = {self.registers[to]: self.registers[one] for to, one in pairs}
        source = {to: one for to, one in source.items() if to != one}
        ends = [to for to in source if to not in source.values()]
        for end in (*ends, *source):
            chain = [end]
            while chain[-1] in source:
                chain.append(source.pop(chain[-1]))
            if len(chain) > 1:
                yield tuple(chain[:-1] if chain[-1] == end else chain)


def assign(
    code: Sequence[Virtual], cells: Sequence[Cell], outputs: Sequence[int], alone: Sequence[int] = ()
) -> Assignment:
    """Registers for the cells of some code, of which ``outputs`` are needed behind its end.

    The cells ``alone`` share memory with no other.
    """
    kept = _set(outputs)
    copied, all_cells = _with_copies(list(code), list(cells), kept)
    conflicts = _conflicts(copied, all_cells, kept)
    for cell in alone:
        conflicts[cell] = _set(range(len(all_cells)))
    registers, sizes = _merged(copied, all_cells, conflicts)
    return Assignment(tuple(copied), tuple(all_cells), registers, sizes)


def _with_copies(code: list[Virtual], cells: list[Cell], kept: int) -> tuple[list[Virtual], list[Cell]]:
    """The code with copies in front of moves, of values that cannot be taken from where they are."""
    needed = needed_behind(code, kept)
    made: list[Virtual] = []
    for one, later in zip(code, needed, strict=True):
        if isinstance(one, Move):
            sources = list(one.sources)
            for number, source in enumerate(one.sources):
                again = source in one.sources[:number]
                stays = later >> source & 1 and source not in one.to
                if again or stays or not cells[source].is_own:
                    cells.append(Cell(cells[one.to[number]].size))
                    sources[number] = len(cells) - 1
                    made.append(Duplicate(sources[number], source))
                elif cells[source].size != cells[one.to[number]].size:
                    raise NotNativeError("hands on arrays of different sizes")
            one = Move(one.to, tuple(sources))
        made.append(one)
    return made, cells


def effects(one: Virtual) -> tuple[int, int]:
    """The cells that an instruction reads, and those that it fills."""
    match one:
        case Run(_, inputs, results, noting):
            record = () if noting is None else (noting.record,)
            return _set([*(place.cell for place in inputs), *record]), _set(results)
        case Begin(record):
            return 0, 1 << record
        case TurnEnd(record, touched):
            return _set([*touched, record]), 0
        case Move(to, sources):
            return _set(sources), _set(to)
        case Duplicate(to, source):
            return 1 << source, 1 << to
        case Test(cell) | Pick(cell):
            return 1 << cell, 0
    return 0, 0


def _set(cells: Sequence[int]) -> int:
    found = 0
    for cell in cells:
        found |= 1 << cell
    return found


def needed_behind(code: Sequence[Virtual], kept: int) -> list[int]:
    """For every instruction the cells whose values are read after it; ``kept`` are read behind the end."""
    places = {one.number: place for place, one in enumerate(code) if isinstance(one, Label)}
    needed = [0] * len(code) + [kept]
    behind = [0] * len(code)
    changed = True
    while changed:
        changed = False
        for place in range(len(code) - 1, -1, -1):
            one = code[place]
            later = 0
            for follower in _followers(one, place, places):
                later |= needed[follower]
            reads, fills = effects(one)
            before = reads | later & ~fills
            changed = changed or before != needed[place] or later != behind[place]
            needed[place], behind[place] = before, later
    return behind


def _followers(one: Virtual, place: int, places: dict[int, int]) -> tuple[int, ...]:
    match one:
        case Goto(label):
            return (places[label],)
        case Test(_, label):
            return (place + 1, places[label])
        case Pick(_, labels):
            return tuple(places[label] for label in labels)
    return (place + 1,)


def _conflicts(code: Sequence[Virtual], cells: Sequence[Cell], kept: int) -> list[int]:
    """For every cell of the program's own the others that hold values while it is filled, or the other way round."""
    conflicts, own = [0] * len(cells), _set([cell for cell, one in enumerate(cells) if one.is_own])
    for one, later in zip(code, needed_behind(code, kept), strict=True):
        reads, fills = effects(one)
        others = (fills | later | (reads if isinstance(one, Run) else 0)) & own
        for cell in _members(fills):
            conflicts[cell] |= others
            for other in _members(others):
                conflicts[other] |= 1 << cell
    return conflicts


def _members(cells: int) -> Iterator[int]:
    while cells:
        lowest = cells & -cells
        yield lowest.bit_length() - 1
        cells ^= lowest


def _merged(
    code: Sequence[Virtual], cells: Sequence[Cell], conflicts: list[int]
) -> tuple[dict[int, int], tuple[int, ...]]:
    """The register of every cell, and their sizes. Cells that a move connects come first, inner loops before others:
    these stand further behind in the code than the moves into them.
    """
    groups = {cell: (1 << cell, conflicts[cell]) for cell, one in enumerate(cells) if one.is_own}
    home = {cell: cell for cell in groups}

    def join(one: int, other: int) -> bool:
        first, second = home[one], home[other]
        if first == second or cells[first].size != cells[second].size:
            return first == second
        (ones, against_ones), (others, against_others) = groups[first], groups[second]
        if ones & against_others or others & against_ones:
            return False
        groups[first] = ones | others, against_ones | against_others
        for member in _members(others):
            home[member] = first
        del groups[second]
        return True

    moves = [one for one in reversed(code) if isinstance(one, Move)]
    for to, source in (pair for move in moves for pair in zip(move.to, move.sources, strict=True)):
        join(to, source)
    _share(list(groups), lambda one, other: join(one, other))
    numbers = {group: number for number, group in enumerate(groups)}
    return {cell: numbers[home[cell]] for cell in home}, tuple(cells[group].size for group in groups)


def _share(groups: list[int], join: Callable[[int, int], bool]) -> None:
    """Lets groups that are never needed at the same time share memory."""
    kept: list[int] = []
    for group in groups:
        if not any(join(one, group) for one in kept):
            kept.append(group)
