"""LLVM instructions that transpose a block of a few rows in registers.

``turn_T(target, at, step, source, start, stride, rows, columns)`` copies what is contiguous along one axis to where
the other one is::

    for i in range(min(rows, N)):
        for j in range(min(columns, N)):
            target[at + j * step + i] = source[start + i * stride + j]

N is :data:`~xjit.codegen.language.scalar_types.TURNED` of the element's size. A whole block is N vector loads, N log2
N shuffles and N vector stores: as often as it takes, the rows of the upper half are interleaved with those of the
lower half, first within 128 bits, which every processor does in one instruction, then 128 bits at a time. Elements of
16 bytes are two words each that stay together. Less than a block is copied element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from xjit.codegen.cpu.emit_memory import record
from xjit.codegen.cpu.emitters import INT64, Builder, Operation, Typing, Value, check, pointer_parts, strong
from xjit.codegen.language.scalar_types import KINDS, TURNED, KernelTypeError
from xjit.dataclass import dataclass

LANE_BYTES = 16
# The largest elements of a vector; memory is aligned to no more.
WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class Side:
    """The place of a block in memory: its first element, the distance of its rows, the slot of the pointer."""

    pointer: Value
    step: Value
    slot: str

    def address(self, builder: Builder, row: Value, column: Value) -> Value:
        """The address of an element."""
        return _at(builder, self.pointer, builder.add(builder.mul(row, self.step), column))

    def vector(self, builder: Builder, row: int, vector: Any) -> Value:
        """The address of the vector that a row of the block is."""
        return builder.bitcast(self.address(builder, _number(row), _number(0)), vector.as_pointer())


def operations() -> dict[str, Operation]:
    """``turn_T`` for every type whose elements are small enough."""
    return {f"turn_{kind}": _turn(kind) for kind in KINDS if KINDS[kind].bytes in TURNED}


def _turn(element: str) -> Operation:
    name = f"turn_{element}"
    size = TURNED[KINDS[element].bytes]

    def infer(kinds: tuple[str, ...]) -> Typing:
        target, at, step, source, start, stride, rows, columns = kinds
        for pointer in (target, source):
            if pointer_parts(pointer)[0] != element:
                raise KernelTypeError(f"{name} copies {element}; got {pointer}")
        for kind in (at, step, start, stride, rows, columns):
            check(name, strong(kind), ("i64",))
        return (target, "i64", "i64", source, "i64", "i64", "i64", "i64"), "void"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        target, at, step, source, start, stride, *counts = values
        to = Side(_at(builder, target, at), step, pointer_parts(kinds[0])[1])
        origin = Side(_at(builder, source, start), stride, pointer_parts(kinds[3])[1])
        enough = [builder.icmp_signed(">=", count, _number(size)) for count in counts]
        with builder.if_else(builder.and_(*enough)) as (whole, less):
            with whole:
                _copy_whole(builder, KINDS[element].bytes, to, origin)
            with less:
                rows, columns = (builder.select(all, _number(size), n) for all, n in zip(enough, counts, strict=True))
                _copy_elements(builder, rows, columns, to, origin)

    return Operation(name, infer, emit)


def _number(value: int) -> Value:
    return ir.Constant(INT64, value)


def _at(builder: Builder, pointer: Value, index: Value) -> Value:
    return builder.gep(pointer, [index], inbounds=True)


def _copy_whole(builder: Builder, item: int, to: Side, origin: Side) -> None:
    word = min(item, WORD_BYTES)
    words = item // word
    vector = ir.VectorType(ir.IntType(8 * word), TURNED[item] * words)
    rows = []
    for number in range(TURNED[item]):
        row = builder.load(origin.vector(builder, number, vector), align=word, typ=vector)
        record(builder, row, origin.slot, read_only=True)
        rows.append(row)
    for number, column in enumerate(_transposed(builder, rows, LANE_BYTES // item, words)):
        store = builder.store(column, to.vector(builder, number, vector), align=word)
        record(builder, store, to.slot, read_only=False)


def _transposed(builder: Builder, rows: list[Value], lane: int, words: int) -> list[Value]:
    """The columns of a block; ``lane`` are the elements in 128 bits, of so many words each."""
    starts = range(0, len(rows), lane)
    turned = [_network(builder, rows[first : first + lane], words, lane * words) for first in starts]
    parts = [[part[place] for part in turned] for place in range(lane)]
    columns = [_network(builder, part, lane * words, len(rows) * words) for part in parts]
    return [column[number] for number in range(len(turned)) for column in columns]


def _network(builder: Builder, rows: list[Value], unit: int, span: int) -> list[Value]:
    """Within every ``span`` elements: the units of as many rows as there are units in it, exchanged with these."""
    half = len(rows) // 2
    for _ in range(half.bit_length()):
        masks = [_interleaving(rows[0].type.count, unit, span, first) for first in (0, span // 2)]
        pairs = list(zip(rows[:half], rows[half:], strict=True))
        rows = [builder.shuffle_vector(a, b, mask) for a, b in pairs for mask in masks]
    return rows


def _interleaving(width: int, unit: int, span: int, first: int) -> Any:
    """The mask of a shuffle that takes units of two vectors in turn, of one half of every span."""
    places = [
        start + first + at + source + element
        for start in range(0, width, span)
        for at in range(0, span // 2, unit)
        for source in (0, width)
        for element in range(unit)
    ]
    return ir.Constant(ir.VectorType(ir.IntType(32), width), places)


def _copy_elements(builder: Builder, rows: Value, columns: Value, to: Side, origin: Side) -> None:
    def copy(i: Value, j: Value) -> None:
        value = builder.load(origin.address(builder, i, j))
        record(builder, value, origin.slot, read_only=True)
        store = builder.store(value, to.address(builder, j, i))
        record(builder, store, to.slot, read_only=False)

    _repeat(builder, rows, lambda i: _repeat(builder, columns, lambda j: copy(i, j)))


def _repeat(builder: Builder, count: Value, body: Callable[[Value], None]) -> None:
    """``for i in range(count): body(i)``."""
    with builder.goto_entry_block():
        counter = builder.alloca(INT64)
    builder.store(_number(0), counter)
    head, inside, after = (builder.append_basic_block(f"turn_{part}") for part in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    current = builder.load(counter)
    builder.cbranch(builder.icmp_signed("<", current, count), inside, after)
    builder.position_at_end(inside)
    body(current)
    builder.store(builder.add(current, _number(1), flags=["nsw"]), counter)
    builder.branch(head)
    builder.position_at_end(after)
