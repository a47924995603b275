"""Loops as kernel text for a target.

parallel i in 0 .. n:                  def kernel(lo, hi, table):
  carry t: f32 = 0.0                       x = ptr_f32(table, 0)
  for j in 0 .. m:                         s = ptr_f32(table, 1)
    t = add(t, x[i, j])                    m = word(table, 2)
  s[i] = t                                 for i in range(lo, hi):
                                               t = f32(0.0)
                                               for j in range(0, m):
                                                   t = t + ld(x, i * m + j)
                                               st(s, i, t)
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.scalar_text import call_text, kind
from xjit.codegen.source import constant_text
from xjit.codegen.writer import Writer
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Atom, IntExpr, as_int, operands, terms
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Alloc,
    Barrier,
    Block,
    Buffer,
    Carry,
    Const,
    Fold,
    FromInt,
    If,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    LoopKind,
    Prim,
    Scope,
    Statement,
    Store,
    Value,
    Var,
    While,
)
from xjit.ir.loops.walk import buffers, integers, statements

# The names of the loops that a grid has.
_GRID = {LoopKind.GRID_BLOCK: "block_index()", LoopKind.BLOCK_THREAD: "thread_index()"}


@dataclass(frozen=True, slots=True)
class KernelText:
    """The text of a kernel, and what its table holds behind the pointers: the words, by name, in order.

    ``rounds`` is the extent of the loop that threads share, or of the grid; ``threads`` that of a block.
    """

    text: str
    words: tuple[str, ...]
    rounds: IntExpr
    threads: int = 1


def kernel_text(kernel: Kernel) -> KernelText:
    """The text of a kernel. ValueError for what the text cannot say."""
    words = tuple(dict.fromkeys(_words(kernel)))
    shared = next((one for one in kernel.body if isinstance(one, Loop) and _is_shared(one)), None)
    threads = [one for one in statements(kernel.body) if isinstance(one, Loop) and one.kind is LoopKind.BLOCK_THREAD]
    if shared is not None and any(
        isinstance(one, Loop | While | If | Store) for one in kernel.body if one is not shared
    ):
        raise ValueError(f"what threads share is the loop over {shared.variable} alone")
    read_only = frozenset(one.buffer.name for one in kernel.arguments if one.access is Access.READ)
    printer = _Printer(kernel, buffers(kernel), read_only)
    with printer.writer.block("def kernel(lo, hi, table):"):
        for slot, argument in enumerate(kernel.arguments):
            printer.writer.line(f"{argument.buffer.name} = ptr_{kind(argument.buffer.dtype)}(table, {slot})")
        for slot, name in enumerate(words, len(kernel.arguments)):
            printer.writer.line(f"{name} = word(table, {slot})")
        for one in statements(kernel.body):
            if isinstance(one, Alloc):
                printer.writer.line(_scratch(one))
        printer.block(kernel.body)
    rounds = as_int(1) if shared is None else (shared.stop - shared.start + (shared.step - 1)) // shared.step
    return KernelText(printer.writer.text(), words, rounds, _block_size(threads))


def _block_size(threads: list[Loop]) -> int:
    size = 1
    for loop in threads:
        extent = (loop.stop - loop.start).value
        if extent is None:
            raise ValueError(f"the number of threads over {loop.variable} is not known")
        size = max(size, extent)
    return size


def _words(kernel: Kernel) -> Iterator[str]:
    for argument in kernel.arguments:
        for expr in (*argument.buffer.extents, *argument.buffer.strides):
            yield from sorted(expr.words())
    for statement in statements(kernel.body):
        for expr in integers(statement):
            yield from sorted(expr.words())


def _is_shared(loop: Loop) -> bool:
    return loop.kind in (LoopKind.PARALLEL, LoopKind.GRID_BLOCK)


def _scratch(alloc: Alloc) -> str:
    """Scratch of all iterations is one block, in front of the loops."""
    count = as_int(1)
    for extent in alloc.buffer.extents:
        count = count * extent
    if count.names():
        raise ValueError(f"the extent of {alloc.buffer.name} is not known before the loops")
    word = "shared" if alloc.scope is Scope.BLOCK else "scratch"
    return f"{alloc.buffer.name} = {word}_{kind(alloc.buffer.dtype)}({integer_text(count)})"


@dataclass(slots=True)
class _Printer:
    kernel: Kernel
    buffers: dict[str, Buffer]
    read_only: frozenset[str]
    writer: Writer = field(default_factory=Writer)

    def block(self, block: Block) -> None:
        for statement in block:
            self._statement(statement, statement in self.kernel.body)

    def _statement(self, statement: Statement, outermost: bool) -> None:
        match statement:
            case Loop():
                self._loop(statement, outermost)
            case While():
                with self.writer.block(f"while {self._value(statement.condition)}:"):
                    self.block(statement.body)
            case If():
                self._branch(statement)
            case Fold():
                self._fold(statement)
            case Alloc():
                return
            case _:
                self.writer.line(self._line(statement))

    def _line(self, statement: Statement) -> str:
        match statement:
            case Let() | Carry():
                return f"{statement.name} = {self._value(statement.value)}"
            case LetInt():
                return f"{statement.name} = {integer_text(statement.expr)}"
            case Accumulate():
                dtype = statement.value.dtype
                name = f"r{statement.reducer}" if statement.lanes else statement.reducer
                pair = (statement.name, dtype), (self._value(statement.value), dtype)
                return f"{statement.name} = {call_text(name, pair, dtype)}"
            case Store():
                place = self._place(statement.buffer, statement.index)
                return f"st({statement.buffer}, {place}, {self._value(statement.value)})"
            case Barrier():
                return "barrier()"
        raise ValueError(f"kernel text has no {type(statement).__name__}")

    def _loop(self, loop: Loop, outermost: bool) -> None:
        name, grid = loop.variable, _GRID.get(loop.kind)
        if grid is not None:
            self.writer.line(f"{name} = {integer_text(loop.start)} + {grid}")
            self.block(loop.body)
            return
        if outermost and _is_shared(loop) and (loop.start.value, loop.step) != (0, 1):
            with self.writer.block(f"for {name}_at in range(lo, hi):", "shared among threads"):
                self.writer.line(f"{name} = {integer_text(loop.start)} + {name}_at * {loop.step}")
                self.block(loop.body)
            return
        bounds = f"{integer_text(loop.start)}, {integer_text(loop.stop)}"
        if outermost and _is_shared(loop):
            bounds = "lo, hi"
        step = f", {loop.step}" if loop.step != 1 else ""
        with self.writer.block(f"for {name} in range({bounds}{step}):"):
            self.block(loop.body)

    def _branch(self, statement: If) -> None:
        with self.writer.block(f"if {self._value(statement.condition)}:"):
            self.block(statement.then)
        if statement.otherwise:
            with self.writer.block("else:"):
                self.block(statement.otherwise)

    def _fold(self, statement: Fold) -> None:
        """Give several scalars new values at once: first all are computed, then given."""
        if len(statement.names) == 1:
            self.writer.line(f"{statement.names[0]} = {self._value(statement.values[0])}")
            return
        for name, value in zip(statement.names, statement.values, strict=True):
            self.writer.line(f"{name}_new = {self._value(value)}")
        for name in statement.names:
            self.writer.line(f"{name} = {name}_new")

    def _value(self, value: Value) -> str:
        match value:
            case Var():
                return value.name
            case Const():
                return constant_text(value.literal.item(), value.literal.dtype)
            case FromInt():
                return f"{kind(value.dtype)}({integer_text(value.expr)})"
            case Load():
                word = "ld" if value.buffer in self.read_only else "ldw"
                return f"{word}({value.buffer}, {self._place(value.buffer, value.index)})"
            case Prim():
                texts = tuple((self._value(operand), operand.dtype) for operand in value.operands)
                return call_text(value.name, texts, value.dtype, value.variant)
        raise TypeError(f"not a value: {value!r}")

    def _place(self, name: str, index: tuple[IntExpr, ...]) -> str:
        place = as_int(0)
        for at, stride in zip(index, self.buffers[name].strides, strict=True):
            place = place + at * stride
        return integer_text(place)


def integer_text(expr: IntExpr) -> str:
    """An integer expression in the kernel language.

    >>> from xjit.ir.loops.intexpr import minimum, variable, word
    >>> integer_text(minimum(variable("i") + 4, word("n")) * 2)
    'select(i + 4 < n, i + 4, n) * 2'
    """
    match expr.kind:
        case Atom.VARIABLE | Atom.WORD:
            return str(expr)
        case Atom.PRODUCT:
            return " * ".join(map(_factor_text, operands(expr)))
        case Atom.MIN | Atom.MAX:
            return _extreme_text(expr)
        case Atom.FLOORDIV | Atom.MOD:
            return _quotient_text(expr)
    text = ""
    for coefficient, product in terms(expr):
        size = abs(coefficient)
        shown = str(size) if product is None else _factor_text(product)
        shown = shown if product is None or size == 1 else f"{shown} * {size}"
        sign = "-" if coefficient < 0 else "+"
        text = f"{text} {sign} {shown}" if text else f"-{shown}" if coefficient < 0 else shown
    return text or "0"


def _extreme_text(expr: IntExpr) -> str:
    first, *rest = map(integer_text, operands(expr))
    sign = "<" if expr.kind is Atom.MIN else ">"
    for other in rest:
        first = f"select({first} {sign} {other}, {first}, {other})"
    return first


def _quotient_text(expr: IntExpr) -> str:
    """A quotient that rounds down, or what it leaves: the language's own division rounds towards zero."""
    a, b = operands(expr)
    dividend, divisor = integer_text(a), integer_text(b)
    if b.value is not None and b.value.bit_count() == 1:
        shift = b.value.bit_length() - 1
        return f"ashr({dividend}, {shift})" if expr.kind is Atom.FLOORDIV else f"(({dividend}) & {b.value - 1})"
    quotient = f"sdiv({dividend} - select({dividend} < 0, {divisor} - 1, 0), {divisor})"
    return quotient if expr.kind is Atom.FLOORDIV else f"({dividend} - {quotient} * ({divisor}))"


def _factor_text(expr: IntExpr) -> str:
    text = integer_text(expr)
    return f"({text})" if expr.kind is Atom.SUM else text
