"""Loop nests as Python source.

def kernel(lo, hi, table):
    a0 = ptr_f64(table, 0)
    o0 = ptr_f64(table, 1)
    for i0 in range(lo, hi):
        x0 = ld(a0, i0)  # demo.py:3
        v0 = sin_f64(x0)  # demo.py:3
        st(o0, i0, v0)  # demo.py:3
"""

from __future__ import annotations

import math
import re
from typing import Any

from xjit import numerics
from xjit.codegen.scalar_text import call_text, kind
from xjit.codegen.writer import Writer
from xjit.ir import loops
from xjit.ir.loops import Kernel, LoopKind, Offset, Statement, Value
from xjit.types import DType, dtype_class

_COMMENT = re.compile(r"  #[^\n]*")


def kernel_source(kernel: Kernel) -> str:
    """The text of a kernel; equal for every CPU, thread count and version."""
    writer = Writer()
    with writer.block("def kernel(lo, hi, table):"):
        for argument in kernel.arguments:
            writer.line(f"{argument.name} = ptr_{kind(argument.dtype)}(table, {argument.slot})")
        for word in kernel.words:
            writer.line(f"{word.name} = word(table, {word.slot})")
        for statement in kernel.body:
            _statement(writer, statement)
    return writer.text()


def without_comments(source: str) -> str:
    """The text that decides what is compiled: the user's line numbers do not."""
    return _COMMENT.sub("", source)


def _statement(writer: Writer, statement: Statement) -> None:
    match statement:
        case loops.Let(name, value, where):
            writer.line(f"{name} = {value_text(value)}", str(where))
        case loops.Assign(name, value):
            writer.line(f"{name} = {value_text(value)}")
        case loops.Accumulate():
            writer.line(_accumulate(statement))
        case loops.Compensated():
            _compensated(writer, statement)
        case loops.Base(name, offset):
            writer.line(f"{name} = {offset_text(offset)}")
        case loops.Bound(name, start, step, limit):
            writer.line(f"{name} = select({start} + {step} < {limit}, {start} + {step}, {limit})")
        case loops.Multiple():
            writer.line(_multiple(statement))
        case loops.Clip(low, high, start, stop, first, last):
            writer.line(f"{low} = select({start} > {first}, {start}, {first})")
            writer.line(f"{high} = select({stop} < {last}, {stop}, {last})")
        case loops.Store(buffer, offset, value, _, where):
            writer.line(f"st({buffer}, {offset_text(offset)}, {value_text(value)})", str(where))
        case loops.First(name, load, start, stop, sought):
            place = f"{load.buffer}, {offset_text(load.offset)}, {start}, {stop}, {value_text(sought)}"
            writer.line(f"{name} = first({place})")
        case loops.Turn():
            writer.line(_turn(statement))
        case loops.Share(low, high, first, extent, start, stop):
            writer.line(f"{low} = select({start} > {first}, {start} - {first}, 0)")
            writer.line(f"{high} = select({stop} - {first} < {extent}, {stop} - {first}, {extent})")
        case loops.Rows(low, high, start, stop, extent):
            writer.line(f"{low} = sdiv({start}, {extent})")
            writer.line(f"{high} = sdiv({stop} + {extent} - 1, {extent})")
        case loops.Alloc(buffer, extent, dtype):
            writer.line(f"{buffer} = scratch_{kind(dtype)}({extent})")
        case loops.If(flag, then):
            _branch(writer, flag, then)
        case loops.For(variable, start, stop, loop, body, step):
            _loop(writer, variable, _range(start, stop, step), loop, body)


def _multiple(one: loops.Multiple) -> str:
    """Where whole steps end, in the form in which LLVM sees that whole steps are all there is."""
    if one.start == "0":
        return f"{one.name} = {one.stop} & {-one.step}"
    return f"{one.name} = {one.start} + (({one.stop} - {one.start}) & {-one.step})"


def _turn(one: loops.Turn) -> str:
    """A block of rows and columns, copied transposed."""
    target = f"{one.target}, {offset_text(one.at)}, {one.step}"
    source = f"{one.source}, {offset_text(one.start)}, {one.stride}"
    counts = ", ".join(f"{limit} - {variable}" for limit, variable in (one.rows, one.columns))
    return f"turn_{kind(one.dtype)}({target}, {source}, {counts})"


def _loop(writer: Writer, variable: str, range_text: str, loop: LoopKind, body: tuple[Statement, ...]) -> None:
    note = "shared among threads" if loop is LoopKind.PARALLEL else ""
    with writer.block(f"for {variable} in {range_text}:", note):
        for statement in body:
            _statement(writer, statement)


def _branch(writer: Writer, flag: str, then: tuple[Statement, ...]) -> None:
    with writer.block(f"if {flag}:"):
        for statement in then:
            _statement(writer, statement)


def _range(start: str, stop: str, step: int) -> str:
    if step != 1:
        return f"range({start}, {stop}, {step})"
    return f"range({stop})" if start == "0" else f"range({start}, {stop})"


def _accumulate(statement: loops.Accumulate) -> str:
    name, dtype = statement.name, statement.dtype
    few = numerics.FEW_LANES if statement.lanes == numerics.FEW_LANES else ""
    prim = f"r{statement.combine}{few}" if statement.lanes else statement.combine
    return f"{name} = {_bare(call_text(prim, ((name, dtype), (_text(statement.value), dtype)), dtype))}"


def _compensated(writer: Writer, statement: loops.Compensated) -> None:
    """Two-sum: the exact rounding error of total + value is added to the error term."""
    total, error = statement.total, statement.error
    writer.line(f"{error}_v = {value_text(statement.value)}")
    writer.line(f"{error}_s = {total} + {error}_v")
    writer.line(f"{error}_d = {error}_s - {total}")
    writer.line(f"{error} = {error} + (({total} - ({error}_s - {error}_d)) + ({error}_v - {error}_d))")
    writer.line(f"{total} = {error}_s")


def value_text(value: Value) -> str:
    """The text of a value."""
    return _bare(_text(value))


def _bare(text: str) -> str:
    """Without the parentheses around the whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]


def _text(value: Value) -> str:
    match value:
        case loops.Var(name, _):
            return name
        case loops.Const(literal):
            return constant_text(literal.item(), literal.dtype)
        case loops.Load(buffer, offset, _, written, apart):
            return f"{'ldw' if written else f'ld{apart or str()}'}({buffer}, {offset_text(offset)})"
        case loops.Position(variable, scale, offset, _):
            return _position(variable, scale, offset)
        case loops.Call("copy", args, _, _):
            return _text(args[0])
        case loops.Call(prim, args, dtype, variant):
            return call_text(prim, tuple((_text(arg), arg.dtype) for arg in args), dtype, variant)
    raise TypeError(f"not a value: {value!r}")


def _position(variable: str | None, scale: int, offset: int) -> str:
    if variable is None:
        return f"i64({offset})"
    scaled = variable if scale == 1 else f"{variable} * {scale}"
    return f"({scaled} + {offset})" if offset else scaled if scale == 1 else f"({scaled})"


def constant_text(value: Any, dtype: DType) -> str:
    """A typed constant.

    >>> import numpy as np
    >>> constant_text(np.float32(0.1), np.dtype(np.float32)), constant_text(np.float64("inf"), np.dtype(np.float64))
    ('f32(0.1)', 'as_f64(u64(9218868437227405312))')
    """
    name = kind(dtype)
    letter = dtype_class(dtype)
    if letter == "C":
        part = value.real.dtype
        return f"cplx({constant_text(value.real, part)}, {constant_text(value.imag, part)})"
    if letter == "F":
        if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
            bits = int(value.view(f"u{dtype.itemsize}"))
            return f"as_{name}(u{dtype.itemsize * 8}({bits}))"
        return f"{name}({float(value)!r})" if name == "f64" else f"{name}({value.item()!r})"
    return f"{name}({int(value)})"


def offset_text(offset: Offset) -> str:
    """An address in elements.

    >>> offset_text(Offset((loops.Term("a0_at0", 1), loops.Term("j0", "a0_s0"))))
    'a0_at0 + j0 * a0_s0'
    """
    text = ""
    for term in offset.terms:
        product = term.variable if term.stride in (1, -1) else f"{term.variable} * {term.stride}"
        sign = (" - " if text else "-") if term.stride == -1 else (" + " if text else "")
        text = f"{text}{sign}{product}"
    if not text:
        return str(offset.constant)
    sign = "-" if offset.constant < 0 else "+"
    return f"{text} {sign} {abs(offset.constant)}" if offset.constant else text
