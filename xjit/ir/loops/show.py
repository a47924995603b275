"""Loops as text for people: one line for each statement, blocks to the right of what they belong to.

kernel row_sums(x: f32[n, m] read, s: f32[n] write)
  parallel i in 0 .. n:
    carry t: f32 = 0.0
    for j in 0 .. m:
      t = add(t, x[i, j])
    s[i] = t
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.ir.loops.intexpr import IntExpr
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Barrier,
    Block,
    Buffer,
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
    Order,
    Statement,
    Store,
    TransposeBlock,
    Value,
    Var,
    While,
)
from xjit.types import NAMES

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}


def kernel_text(kernel: Kernel) -> str:
    """The whole kernel."""
    arguments = ", ".join(f"{buffer_text(one.buffer)} {one.access.value}" for one in kernel.arguments)
    facts = [f"  given {fact} >= 0" for fact in kernel.facts]
    return "\n".join([f"kernel {kernel.name}({arguments})", *facts, *block_lines(kernel.body, "  ")])


def block_lines(block: Block, margin: str = "") -> list[str]:
    """The lines of a block."""
    return [f"{margin}{line}" for statement in block for line in _lines(statement)]


def buffer_text(buffer: Buffer) -> str:
    """A buffer with its extents; strides only where it has gaps or another order."""
    shown = f"{buffer.name}: {NAMES[buffer.dtype]}{_index(buffer.extents)}"
    packed = Buffer.packed(buffer.name, buffer.dtype, *buffer.extents)
    return shown if buffer.strides == packed.strides else f"{shown} by {_index(buffer.strides)}"


def value_text(value: Value) -> str:
    """A value; operators between their operands."""
    match value:
        case Var(name=name):
            return name
        case Const():
            return str(value.literal)
        case FromInt():
            return f"{NAMES[value.dtype]}({value.expr})"
        case Load():
            apart = f" by {value.apart}" if value.apart else ""
            return f"{value.buffer}{_index(value.index)}{apart}"
    name = f"{value.name}_{value.variant}" if value.variant else value.name
    operands = [value_text(operand) for operand in value.operands]
    if name in INFIX and len(operands) == 2:
        return f"({operands[0]} {INFIX[name]} {operands[1]})"
    kind = f"[{NAMES[value.dtype]}]" if name in ("cast", "cast_in_range", "bitcast") else ""
    return f"{name}{kind}({', '.join(operands)})"


def _index(index: tuple[IntExpr, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _lines(statement: Statement) -> Iterator[str]:
    match statement:
        case Loop():
            step = f" by {statement.step}" if statement.step != 1 else ""
            yield f"{statement.kind.value} {statement.variable} in {statement.start} .. {statement.stop}{step}:"
            yield from block_lines(statement.body, "  ")
        case While():
            yield f"while {value_text(statement.condition)}:"
            yield from block_lines(statement.body, "  ")
        case If():
            yield f"if {value_text(statement.condition)}{', by a jump' if statement.jumps else ''}:"
            yield from block_lines(statement.then, "  ")
            if statement.otherwise:
                yield "else:"
                yield from block_lines(statement.otherwise, "  ")
        case _:
            yield _line(statement)


def _order(order: Order) -> str:
    of_line = f" along {order.line}" if order.grouping is not Grouping.ERRORS else ""
    return f"{order.grouping.value}{of_line}"


def _line(statement: Statement) -> str:
    match statement:
        case Let():
            return f"{statement.name} = {value_text(statement.value)}"
        case LetInt():
            return f"{statement.name} = {statement.expr}"
        case Carry():
            return f"carry {statement.name}: {NAMES[statement.value.dtype]} = {value_text(statement.value)}"
        case Accumulate():
            lanes = f" in {statement.lanes} lanes" if statement.lanes else ""
            order = f" {_order(statement.order)}" if statement.order else ""
            given = f"{statement.name}, {value_text(statement.value)}"
            return f"{statement.name} = {statement.reducer}({given}){lanes}{order}"
        case Fold():
            return f"{', '.join(statement.names)} = {', '.join(map(value_text, statement.values))}"
        case Store():
            return f"{statement.buffer}{_index(statement.index)} = {value_text(statement.value)}"
        case Alloc():
            return f"alloc {buffer_text(statement.buffer)} for each {statement.scope.value}"
        case TransposeBlock():
            target, source = (
                f"{statement.target}{_index(statement.at)}",
                f"{statement.source}{_index(statement.start)}",
            )
            return f"{target} = transposed {source} of {' x '.join(map(str, statement.extents))}"
        case Invoke():
            words = [*statement.buffers, *map(str, statement.integers)]
            return f"invoke {statement.routine}({', '.join(words)})"
        case Find():
            places = f"{statement.start} and {statement.stop} along axis {statement.axis}"
            where = f"{value_text(statement.load)} between {places}"
            return f"{statement.name} = first {value_text(statement.value)} from {where}"
        case Check():
            return f"check {value_text(statement.condition)} else status {statement.status}"
        case Barrier():
            return "barrier"
    raise TypeError(f"not a statement: {statement!r}")
