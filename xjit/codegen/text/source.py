"""Loops as kernel text: Python source in the language that :mod:`xjit.codegen.language.intrinsics` lists.

kernel demo(a0: f64[n] read, o0: f64[n] write)      def kernel(lo, hi, table):
  parallel i0 in 0 .. n:                                a0 = ptr_f64(table, 0)
    x0 = a0[i0]                                         o0 = ptr_f64(table, 1)
    v0 = sin(x0)                                        for i0 in range(lo, hi):  # shared among threads
    o0[i0] = v0                                             x0 = ld(a0, i0)  # demo.py:3
                                                            v0 = sin_f64(x0)  # demo.py:3
                                                            st(o0, i0, v0)  # demo.py:3
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from xjit import numerics
from xjit.codegen.language.scalar_types import TURNED
from xjit.codegen.lowering.addresses import Addresses, Frame
from xjit.codegen.text.integer_text import IntegerText
from xjit.codegen.text.scalar_text import call_text, constant_text, kind
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Atom, IntExpr, as_int, constant, maximum, minimum, operands, terms, variable
from xjit.ir.loops.nodes import (
    LAUNCHED,
    Access,
    Accumulate,
    Alloc,
    Barrier,
    Block,
    Carry,
    Const,
    Find,
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
    TransposeBlock,
    Value,
    Var,
    While,
)
from xjit.ir.loops.walk import buffers, integers, names, parts, statements
from xjit.ir.source_location import Where
from xjit.types import INT64, DType

_COMMENT = re.compile(r"  #[^\n]*")
SHARED = "  # shared among threads"
# The names of the loops that a grid has.
_GRID = {LoopKind.GRID_BLOCK: "block_index()", LoopKind.BLOCK_THREAD: "thread_index()"}
_EXTREMES = {Atom.MIN: minimum, Atom.MAX: maximum}


@dataclass(frozen=True, slots=True)
class KernelText:
    """The text of a kernel, and what its table holds behind the pointers: the words, by name, in order.

    ``rounds`` is the extent of the loops that threads share, or of the grid; ``threads`` that of a block.
    """

    text: str
    words: tuple[str, ...]
    rounds: IntExpr
    threads: int = 1


def kernel_text(kernel: Kernel) -> KernelText:
    """The text of a kernel, equal for every processor, thread count and version.

    ValueError for what the text cannot say.
    """
    shared = [one for one in kernel.body if _is_shared(one)]
    if shared and any(isinstance(one, Loop | While | If | Store) for one in kernel.body if one is not shared[0]):
        raise ValueError(f"what threads share is the loop over {shared[0].variable} alone")
    words = tuple(dict.fromkeys(_words(kernel))) if kernel.words is None else kernel.words
    printer = _Printer(kernel)
    with printer.block("def kernel(lo, hi, table):"):
        for slot, argument in enumerate(kernel.arguments):
            printer.line(f"{argument.buffer.name} = ptr_{kind(argument.buffer.dtype)}(table, {slot})")
        for slot, name in enumerate(words, len(kernel.arguments)):
            printer.line(f"{name} = word(table, {slot})")
        allocs = {one.buffer.name: one for one in statements(kernel.body) if isinstance(one, Alloc)}
        for alloc in allocs.values():
            printer.line(_scratch(alloc))
        printer.statements(kernel.body)
    return KernelText(printer.text(), words, _rounds(shared), _block_size(kernel))


def without_comments(source: str) -> str:
    """The text that decides what is compiled: the user's line numbers do not."""
    return _COMMENT.sub("", source)


def _is_shared(one: Statement) -> TypeGuard[Loop]:
    """Return whether a statement is a loop of which each thread or block runs a part that the text finds."""
    return isinstance(one, Loop) and one.kind in (LoopKind.PARALLEL, LoopKind.GRID_BLOCK) and not _is_launched(one)


def _is_launched(loop: Loop) -> bool:
    """Return whether the bounds of a loop say which iterations one call runs."""
    return bool(loop.start.names() | loop.stop.names())


def _rounds(shared: Sequence[Loop]) -> IntExpr:
    """The number of iterations of the loop that threads or blocks share; 1 where there is none."""
    return constant(1) if not shared else (shared[0].stop - shared[0].start + (shared[0].step - 1)) // shared[0].step


def _block_size(kernel: Kernel) -> int:
    size = 1
    for loop in statements(kernel.body):
        if isinstance(loop, Loop) and loop.kind is LoopKind.BLOCK_THREAD:
            extent = (loop.stop - loop.start).value
            if extent is None:
                raise ValueError(f"the number of threads over {loop.variable} is not known")
            size = max(size, extent)
    return size


def _words(kernel: Kernel) -> Iterator[str]:
    """The words that expressions name, and strides, in order."""
    found: list[IntExpr] = []
    for argument in kernel.arguments:
        found += (*argument.buffer.extents, *argument.buffer.strides)
    for statement in statements(kernel.body):
        found += integers(statement)
    yield from (name for expr in found for name in sorted(expr.words()))


def _scratch(alloc: Alloc) -> str:
    """Scratch of all iterations is one block, in front of the loops."""
    count = as_int(1)
    for extent in alloc.buffer.extents:
        count = count * extent
    if count.names():
        raise ValueError(f"the extent of {alloc.buffer.name} is not known before the loops")
    space = "shared" if alloc.scope is Scope.BLOCK else "scratch"
    return f"{alloc.buffer.name} = {space}_{kind(alloc.buffer.dtype)}({IntegerText().of(count)})"


@dataclass(eq=False)
class _Printer:
    """Writes blocks, the innermost last of ``frames``."""

    kernel: Kernel
    frames: list[Frame] = field(default_factory=lambda: [Frame()])
    integers: IntegerText = field(default_factory=IntegerText)

    def __post_init__(self) -> None:
        self.read_only = {one.buffer.name for one in self.kernel.arguments if one.access is Access.READ}
        self.buffers = buffers(self.kernel)
        self.addresses = Addresses(self.buffers, self.integers, self.frames, names(self.kernel.body))
        for name in LAUNCHED:
            self.give(str(name))

    def text(self) -> str:
        """All lines."""
        return "".join(f"{line}\n" for line in self.frames[0].lines)

    def line(self, text: str, where: Where | None = None) -> None:
        """Write a line into the innermost block."""
        self.frames[-1].lines.append(f"{text}  # {where}" if where is not None else text)

    @contextlib.contextmanager
    def block(self, head: str, variable: str = "") -> Iterator[None]:
        """Write a block; its lines come when it ends, behind what it has put into those around."""
        self.frames.append(Frame())
        if variable:
            self.give(variable)
        yield
        lines = self.frames.pop().lines or ["pass"]
        self.frames[-1].lines += [head, *(f"    {line}" for line in lines)]

    def give(self, name: str) -> None:
        """Note that the innermost block gives an integer."""
        self.frames[-1].given.add(name)
        self.integers.give(name)

    def statements(self, block: Block) -> None:
        """Write the statements of a block."""
        for statement in block:
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Loop():
                self._loop(statement)
            case While():
                with self.block(f"while {self.value(statement.condition)}:"):
                    self.statements(statement.body)
            case If():
                self._branch(statement)
            case Fold():
                self._fold(statement)
            case Alloc():
                return
            case _:
                self._line(statement)

    def _line(self, statement: Statement) -> None:
        match statement:
            case Let() | Carry():
                self.line(f"{statement.name} = {self.value(statement.value)}", getattr(statement, "where", None))
                if statement.value.dtype == INT64:
                    self.give(statement.name)
            case LetInt():
                self.line(f"{statement.name} = {self.integers.of(statement.expr)}")
                self.give(statement.name)
            case Accumulate():
                self.line(f"{statement.name} = {self._combined(statement)}")
            case Store():
                place = self.addresses.of(statement.buffer, statement.index)
                self.line(f"st({statement.buffer}, {place}, {self.value(statement.value)})", statement.where)
            case Find():
                self._find(statement)
            case TransposeBlock():
                self.line(self._transposed(statement))
            case Barrier():
                self.line("barrier()")
            case _:
                raise ValueError(f"kernel text has no {type(statement).__name__}")

    def _combined(self, statement: Accumulate) -> str:
        if statement.order is not None:
            raise ValueError(f"kernel text adds nothing {statement.order.grouping.value}: {statement.name}")
        few = numerics.FEW_LANES if statement.lanes == numerics.FEW_LANES else ""
        name = f"r{statement.reducer}{few}" if statement.lanes else statement.reducer
        dtype = statement.value.dtype
        return _bare(call_text(name, ((statement.name, dtype), (self._inner(statement.value), dtype)), dtype))

    def _find(self, one: Find) -> None:
        place = f"{one.load.buffer}, {self.addresses.of(one.load.buffer, one.load.index)}"
        bounds = f"{self.integers.of(one.start)}, {self.integers.of(one.stop)}"
        self.line(f"{one.name} = first({place}, {bounds}, {self.value(one.value)})")
        self.give(one.name)

    def _transposed(self, one: TransposeBlock) -> str:
        target, source = self.buffers[one.target], self.buffers[one.source]
        step, stride = target.strides[one.columns[0]], source.strides[one.rows[1]]
        to = f"{one.target}, {self.addresses.of(one.target, one.at)}, {self.integers.of(step)}"
        origin = f"{one.source}, {self.addresses.of(one.source, one.start)}, {self.integers.of(stride)}"
        counts = ", ".join(self.bound(_in_block(count, target.dtype)) for count in one.extents)
        return f"turn_{kind(target.dtype)}({to}, {origin}, {counts})"

    def _loop(self, loop: Loop) -> None:
        name, grid = loop.variable, _GRID.get(loop.kind)
        if grid is not None:
            self.line(f"{name} = {self.integers.of(loop.start)} + {grid}")
            self.give(name)
            self.statements(loop.body)
            return
        if not (_is_shared(loop) and any(one is loop for one in self.kernel.body)):
            note = SHARED if loop.kind is LoopKind.PARALLEL else ""
            with self.block(f"for {name} in {self._range(loop)}:{note}", name):
                self.statements(loop.body)
        elif (loop.start.value, loop.step) == (0, 1):
            with self.block(f"for {name} in range(lo, hi):{SHARED}", name):
                self.statements(loop.body)
        else:
            with self.block(f"for {name}_at in range(lo, hi):{SHARED}", f"{name}_at"):
                self._line(LetInt(name, loop.start + variable(f"{name}_at") * loop.step))
                self.statements(loop.body)

    def _range(self, loop: Loop) -> str:
        start, stop = self.bound(loop.start), self.bound(loop.stop)
        count = (loop.stop - loop.start).value if loop.kind is LoopKind.VECTOR else None
        if count is not None and loop.step == 1:
            return f"lanes({start}, {count})"
        if loop.step != 1:
            return f"range({start}, {stop}, {loop.step})"
        return f"range({stop})" if start == "0" else f"range({start}, {stop})"

    def bound(self, expr: IntExpr) -> str:
        """The text of where a loop or a block ends; minima and maxima in it are named where they are known."""
        return self.integers.of(self._with_names(expr))

    def _with_names(self, expr: IntExpr) -> IntExpr:
        """The expression with names for its minima and maxima, the inner ones first."""
        for coefficient, atom in terms(expr):
            if atom is not None and atom.kind in _EXTREMES:
                inner = _EXTREMES[atom.kind](*map(self._with_names, operands(atom)))
                expr = expr + (self.addresses.named("stop", inner) - atom) * coefficient
        return expr

    def _branch(self, statement: If) -> None:
        """Write both blocks behind what either has put into those around: nothing parts an if and its else."""
        head = f"if {self.value(statement.condition)}:"
        then, otherwise = self._inside(statement.then), self._inside(statement.otherwise)
        if statement.jumps:
            then.insert(0, "    keep_jump()")
        self.frames[-1].lines += [head, *(then or ["    pass"])]
        if statement.otherwise:
            self.frames[-1].lines += ["else:", *(otherwise or ["    pass"])]

    def _inside(self, block: Block) -> list[str]:
        """The lines of a block of its own."""
        self.frames.append(Frame())
        self.statements(block)
        return [f"    {line}" for line in self.frames.pop().lines]

    def _fold(self, statement: Fold) -> None:
        """Give several scalars new values at once: what a later value reads is given last."""
        waiting = []
        for number, (name, value) in enumerate(zip(statement.names, statement.values, strict=True)):
            later = (part for other in statement.values[number + 1 :] for part in parts(other))
            if any(_names(part, name) for part in later):
                waiting.append(name)
            self.line(f"{name}{'_new' if name in waiting else ''} = {self.value(value)}")
        for name in waiting:
            self.line(f"{name} = {name}_new")

    def value(self, value: Value) -> str:
        """The text of a value."""
        return _bare(self._inner(value))

    def _inner(self, value: Value) -> str:
        match value:
            case Var():
                return value.name
            case Const():
                return constant_text(value.literal.item(), value.literal.dtype)
            case FromInt():
                return self._position(value)
            case Load():
                place = self.addresses.of(value.buffer, value.index)
                name = f"ld{value.apart or ''}" if value.buffer in self.read_only else "ldw"
                return f"{name}({value.buffer}, {place})"
            case Prim("load_where", (condition, Load() as load)):
                name = "ld_where" if load.buffer in self.read_only else "ldw_where"
                return (
                    f"{name}({load.buffer}, {self.addresses.of(load.buffer, load.index)}, {self._inner(condition)})"
                )
            case Prim("copy", (operand,)):
                return self._inner(operand)
            case Prim():
                texts = tuple((self._inner(operand), operand.dtype) for operand in value.operands)
                return call_text(value.name, texts, value.dtype, value.variant)
        raise TypeError(f"not a value: {value!r}")

    def _position(self, value: FromInt) -> str:
        text = self.integers.of(value.expr)
        if value.dtype != INT64 or value.expr.value is not None:
            return f"{kind(value.dtype)}({text})"
        return f"({text})" if " " in text else text


def _names(part: Value, name: str) -> bool:
    """Return whether a value is a scalar of this name, or an integer or an element that is found by it."""
    match part:
        case Var():
            return part.name == name
        case FromInt():
            return name in part.expr.names()
        case Load():
            return any(name in at.names() for at in part.index)
    return False


def _in_block(count: IntExpr, dtype: DType) -> IntExpr:
    """The rows or columns that a word is told to transpose, at most those of its block."""
    most = TURNED[dtype.itemsize]
    if count.kind is Atom.MIN and constant(most) in operands(count):
        return minimum(*(one for one in operands(count) if one.value != most))
    if count.value is None or count.value > most:
        raise ValueError(f"a block has {most} rows and columns at most, not {count}")
    return count


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
