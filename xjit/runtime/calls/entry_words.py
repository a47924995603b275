"""Programs as words: what the native entry reads, and what makes a program unfit for it.

The order of the words is that of :mod:`xjit.runtime.native.entry_native`, that of instructions is documented in
:mod:`xjit.runtime.native.instructions_native`.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xjit.alignment import SMALLEST_BYTES, padded
from xjit.runtime.calls.entry_layout import OFFSETS
from xjit.runtime.calls.instructions import (
    BeginTiles,
    Choose,
    Copy,
    EndIf,
    EndTurn,
    Jump,
    Note,
    Rotate,
    Unless,
    buffers_of,
    targets_of,
)
from xjit.runtime.calls.records import ArraySpec, FastProgram, Instruction, KernelCall, ScalarSpec
from xjit.runtime.calls.tiled_turns import ENTRY, HEADER, NestRows, TimeTiles

_SCALAR_KINDS = {"f": 1, "i": 2, "b": 3}
_BUILTIN_TYPES = tuple(np.dtype(code) for code in "?bBhHiIlLqQefdgFDG")
_LONG_COPY_BYTES = 1 << 20
PATIENCE = 64
"""The weight of small kernels after which it is asked whether to give up, and that of a kernel that is not small."""


def check(program: FastProgram) -> None:
    """Refuse programs that would make native code read or write out of bounds."""
    if program.single and len(program.outputs) != 1:
        raise ValueError(f"a single-output program has exactly one output, this one {len(program.outputs)}")
    buffers = len(program.inputs) + len(program.arrays) + len(program.temps) + len(program.failures)
    buffers += len(program.cut)
    for call in program.kernels:
        if call.chunk < 1:
            raise ValueError(f"a kernel call needs a chunk of at least 1, got {call.chunk}")
        for slot, buffer, _ in call.patches:
            if not (0 <= slot < len(call.table) and 0 <= buffer < buffers):
                raise ValueError(f"patch ({slot}, {buffer}) is outside the table or the {buffers} buffers")
    if program.code:
        _check_code(program, buffers)
    for place in itertools.chain(*program.conditions.apart, program.conditions.written):
        if not 0 <= place < len(program.inputs):
            raise ValueError(f"input {place} is none of the {len(program.inputs)} inputs")
    for number in program.cut:
        if not program.outputs[number].shape or program.outputs[number].strides != _c_strides(
            program.outputs[number]
        ):
            raise ValueError(f"output {number} is cut along its first axis, and is not laid out in row-major order")
    for spec in (*program.inputs, *program.arrays):
        if isinstance(spec, ArraySpec) and len(spec.shape) != len(spec.strides):
            raise ValueError(f"shape {spec.shape} and strides {spec.strides} differ in length")


def _check_code(program: FastProgram, buffers: int) -> None:
    if program.calls:
        raise ValueError("a program has calls in a straight line or code, not both")
    for one in program.code:
        if isinstance(one, KernelCall | Note):
            continue
        if not all(0 <= buffer < buffers for buffer in buffers_of(one)):
            raise ValueError(f"{one} works on other buffers than the {buffers} of the program")
        if not all(0 <= target <= len(program.code) for target in targets_of(one)):
            raise ValueError(f"{one} goes on outside the {len(program.code)} instructions")
        if isinstance(one, Rotate | Choose) and not (one.buffers if isinstance(one, Rotate) else one.targets):
            raise ValueError(f"{one} says nothing")


def frame_words(program: FastProgram) -> int:
    """Words of stack that one native call of the program takes."""
    arrays = 2 * (len(program.inputs) + len(program.arrays)) + len(program.temps)
    return arrays + 2 * (len(program.failures) + len(program.cut)) + _table_words(program)


def _table_words(program: FastProgram) -> int:
    return max((len(call.table) for call in program.calls), default=0)


def pack(program: FastProgram, unlocked: bool) -> bytes:
    """The record of a program."""
    offsets, size = program.block
    temp_bytes = padded(size) if program.code else size
    meetings = tuple(_meetings(program))
    words = [
        len(program.inputs),
        len(program.arrays),
        len(program.temps),
        len(program.calls),
        _table_words(program),
        int(program.single),
        int(unlocked),
        temp_bytes + 8 * program.tables,
        len(program.failures),
        len(program.conditions.apart),
        len(program.conditions.codes),
        len(program.spares),
        len(program.code),
        temp_bytes,
        len(meetings),
        len(program.cut),
        *map(id, program.failures),
        *itertools.chain(*map(functools.partial(_cut_words, program), program.cut)),
        *itertools.chain(*program.conditions.apart),
        *map(id, itertools.chain(*program.conditions.codes)),
    ]
    for number, spec in enumerate(program.inputs):
        words += _with_length(_input_words(spec, number in program.conditions.written))
    words += itertools.chain(*meetings)
    for output in program.arrays:
        words += _with_length(_output_words(output))
    words += offsets
    for call in program.calls:
        words += _with_length(_call_words(call))
    if program.code:
        words += _code_words(program.code)
    return struct.pack(f"={len(words)}q", *words)


def _cut_words(program: FastProgram, number: int) -> tuple[int, int, int]:
    """The number of an output, the rows that it has room for, and the bytes of a row."""
    spec = program.outputs[number]
    return number, spec.shape[0], spec.dtype.itemsize * math.prod(spec.shape[1:])


def _with_length(words: list[int]) -> list[int]:
    return [1 + len(words), *words]


def _meetings(program: FastProgram) -> Iterator[tuple[int, int, int, int]]:
    """For each input that is written, with each other array: the distances of the second from the first at which both
    have bytes in common, that is their first and their number.
    """
    spans = {number: _span(one) for number, one in enumerate(program.inputs) if isinstance(one, ArraySpec)}
    for one in program.conditions.written:
        for other, (begin, end) in spans.items():
            again = other in program.conditions.written and other < one
            if other != one and not again and begin < end and spans[one][0] < spans[one][1]:
                yield one, other, spans[one][0] - end + 1, end - begin + spans[one][1] - spans[one][0] - 1


def _span(spec: ArraySpec) -> tuple[int, int]:
    """The bytes between which an array lies, from its first element on; none at all of an empty one."""
    moves = [stride * (extent - 1) for stride, extent in zip(spec.strides, spec.shape, strict=True)]
    if 0 in spec.shape:
        return 0, 0
    return sum(min(move, 0) for move in moves), sum(max(move, 0) for move in moves) + spec.dtype.itemsize


def _input_words(spec: ArraySpec | ScalarSpec, is_written: bool) -> list[int]:
    if isinstance(spec, ScalarSpec):
        return [_SCALAR_KINDS[spec.dtype.kind]]
    flags = OFFSETS["ARRAY_ALIGNED"] | (OFFSETS["ARRAY_WRITEABLE"] if is_written else 0)
    return [0, id(spec.dtype), numbers_of(spec.dtype), flags, len(spec.shape), *spec.shape, *spec.strides]


def numbers_of(dtype: np.dtype[Any]) -> int:
    """The bits of all numbers that C has for an element type."""
    return sum(1 << one.num for one in _BUILTIN_TYPES if one == dtype)


def _output_words(spec: ArraySpec) -> list[int]:
    ordinary = spec.strides == _c_strides(spec)
    return [
        int(byte_count(spec) >= SMALLEST_BYTES),
        id(spec.dtype),
        len(spec.shape),
        int(not ordinary),
        *spec.shape,
        *spec.strides,
    ]


def byte_count(spec: ArraySpec) -> int:
    """The bytes of the elements of an array."""
    return spec.dtype.itemsize * math.prod(spec.shape)


def _c_strides(spec: ArraySpec) -> tuple[int, ...]:
    """The strides NumPy gives a new C-ordered array (all of them, empty extents counting as one)."""
    strides: list[int] = []
    step = spec.dtype.itemsize
    for extent in reversed(spec.shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _call_words(call: KernelCall) -> list[int]:
    patches: list[int] = [word for patch in call.patches for word in patch]
    sizes = (len(call.table), len(call.patches))
    unwatched = call.final or (call.light and call.chunk >= call.extent)
    how = (2 if call.resumed else int(call.in_turn)) | 4 * unwatched
    return [call.address, call.extent, call.chunk, how, *sizes, *call.table, *patches]


# Instructions


def _code_words(code: Sequence[Instruction]) -> Iterator[int]:
    """The words of instructions and of their end; targets become distances from the first one."""
    places = list(itertools.accumulate((len(_instruction_words(one, 0)) for one in code), initial=0))
    table = 0
    for one in code:
        words = _instruction_words(one, table)
        for number in _places_of_targets(one):
            words[number] = places[words[number]]
        yield from words
        table += len(one.table) if isinstance(one, KernelCall) else 0
    yield from _with_length([7, 0])


def _places_of_targets(one: Instruction) -> Sequence[int]:
    """The numbers of the words that are targets: the last ones."""
    if isinstance(one, KernelCall):
        return ()
    count, words = len(targets_of(one)), len(_instruction_words(one, 0))
    return range(words - count, words)


def _instruction_words(one: Instruction, table: int) -> list[int]:
    match one:
        case KernelCall():
            return _with_length([0, _weight(one), table, *_with_length(_call_words(one))])
        case Jump(target, long):
            return _with_length([1, PATIENCE if long else 1, target])
        case Unless(buffer, target):
            return _with_length([2, 0, buffer, target])
        case Choose(buffer, targets, size):
            return _with_length([3, 0, buffer, len(targets), size, *targets])
        case Rotate(buffers):
            return _with_length([4, 0, len(buffers), *buffers])
        case Copy(to, source, size, address):
            return _with_length([5, PATIENCE if size > _LONG_COPY_BYTES else 1, to, source, address, size])
        case EndIf(first, count):
            return _with_length([6, 0, first, count])
        case Note(record, call, nests, copied):
            words = [word for nest in nests for word in _nest_words(nest)]
            return _with_length(
                [8, 0, record, *_with_length(_call_words(call)), len(nests), *words, *_counted(copied)]
            )
        case BeginTiles(record, tiles):
            return _with_length([9, 0, record, *_header_words(tiles)])
        case EndTurn(record, last):
            return _with_length([10, PATIENCE, record, int(last)])


def _counted(words: Sequence[int]) -> list[int]:
    return [len(words), *words]


def _nest_words(nest: NestRows) -> list[int]:
    return [nest.first, nest.stop, nest.steps, nest.begin, nest.skew, nest.before]


def _header_words(tiles: TimeTiles) -> list[int]:
    """The first words of a record in which nothing is noted."""
    behind = HEADER + ENTRY * tiles.entries
    shape = tiles.begin, tiles.width, tiles.tiles, tiles.band, tiles.turns, tiles.skew, tiles.before
    return [0, behind, 0, 0, behind, *shape]


def _weight(call: KernelCall) -> int:
    if call.chunk < call.extent:
        return 0  # the pool asks
    if call.final:
        return 0  # nobody asks
    return 1 if call.light else PATIENCE
