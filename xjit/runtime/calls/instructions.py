"""Instructions of programs with loops and branches, besides calls of kernels.

They work on the numbered buffers of a :class:`~xjit.runtime.calls.records.FastProgram`. Targets are numbers of
instructions, the number behind the last one is the end of the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from xjit.dataclass import dataclass
from xjit.runtime.calls.tiled_turns import NestRows, TimeTiles

if TYPE_CHECKING:
    from xjit.runtime.calls.records import KernelCall


@dataclass(frozen=True, slots=True)
class Jump:
    """Goes on at another instruction; signals are looked at if something ``long`` lies behind."""

    target: int
    long: bool = False


@dataclass(frozen=True, slots=True)
class Unless:
    """Goes on at another instruction where the first byte of a buffer is zero."""

    buffer: int
    target: int


@dataclass(frozen=True, slots=True)
class Choose:
    """Goes on at the target with the number in a buffer, at the last one where none has that number.

    The number is an integer of ``size`` bytes: one of 4 or 8, or a truth value.
    """

    buffer: int
    targets: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Rotate:
    """Exchanges memory instead of elements: each buffer gets that of the next one, the last that of the first."""

    buffers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """Copies bytes to a buffer, from the byte ``start`` of another one on; from this address where that is -1."""

    to: int
    source: int
    size: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class EndIf:
    """Ends the program if one of so many statuses is set; ``first`` is the number of the first of these buffers."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class BeginTiles:
    """Begins to note calls in a record, a buffer, which a loop runs in tiles of time."""

    record: int
    tiles: TimeTiles


@dataclass(frozen=True, slots=True)
class Note:
    """Notes a call of a kernel in a record: ``nests`` are its iterations that are rows.

    The words that the slots ``copied`` point to are copied, as they change before it runs.
    """

    record: int
    call: KernelCall
    nests: tuple[NestRows, ...]
    copied: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EndTurn:
    """Runs what a record holds, in tiles, where it holds as many turns as it may, or that was the ``last`` one."""

    record: int
    last: bool = False


Control: TypeAlias = "Jump | Unless | Choose | Rotate | Copy | EndIf | BeginTiles | Note | EndTurn"
"""An instruction that is no call of a kernel now."""


def targets_of(instruction: Control) -> tuple[int, ...]:
    """The instructions that it may go on at besides the next one."""
    match instruction:
        case Jump(target, _) | Unless(_, target):
            return (target,)
        case Choose(_, targets):
            return targets
    return ()


def buffers_of(instruction: Control) -> tuple[int, ...]:
    """The buffers that it reads, writes or exchanges."""
    match instruction:
        case Unless(buffer) | Choose(buffer):
            return (buffer,)
        case Rotate(buffers):
            return buffers
        case Copy(to, source):
            return (to,) if source < 0 else (to, source)
        case EndIf(first, count):
            return tuple(range(first, first + count))
        case BeginTiles(record) | Note(record) | EndTurn(record):
            return (record,)
    return ()
