"""The rules that every kernel keeps, before and after each rewrite.

Names
  1. Every name is given once in a kernel, and no buffer, scalar, integer or word shares one with another; loops that
     follow each other may have one variable, and scratch of one name.
  2. What is used has been given before, in the same block or in one around it.
Types
  3. A store has the element type of its buffer, a load names that type; an index has one expression for each axis.
  4. The values of an Accumulate and of a Fold have the type of the scalar they change, conditions are pred. Scalars
     that blocks, or elements with their errors, are added to are f64.
  5. Scalars change by Accumulate and Fold only, and only such as Carry gives.
Order
  6. No iteration of a loop without order changes a scalar that is given outside of it; but ``or`` may, which takes
     no harm from taking a value twice: each thread has a flag of its own, and does what follows the loop.
  7. Buffers that are only read are not stored into.
  8. The step of a loop is positive; the extent of an unrolled one is a number.  What rounds in an order along a line
     is inside of the loop over it.
Grids
  9. Loops over threads are inside a loop over blocks, loops over blocks inside no other loop.
 10. Scratch of a block is allocated inside the loop over blocks and outside of that over threads, scratch of a thread
     inside the latter.
 11. A barrier is inside a loop over threads, and under no condition and no loop whose rounds may differ by thread.
Bounds
 12. No index is provably outside of its buffer.  Indices that are not provably inside are listed by `unproved`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from xjit.dataclass import dataclass, field
from xjit.errors import XjitError
from xjit.ir.loops import show
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import (
    LAUNCHED,
    Access,
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
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    LoopKind,
    Order,
    Prim,
    Scope,
    Statement,
    Store,
    TransposeBlock,
    Value,
    Var,
    While,
)
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import defined, integers, parts, values
from xjit.types import BOOL, FLOAT64, INT64, DType


class InvalidLoopsError(XjitError):
    """A kernel breaks a rule of the loop IR; this is a mistake of the compiler."""


@dataclass(frozen=True, slots=True)
class Known:
    """The names in scope at one place.

    ``carried`` are scalars that may be changed here, ``around`` the loops around, the outermost first; ``divergent``
    says that threads of a block may be in different rounds or branches.
    """

    buffers: dict[str, Buffer]
    scalars: dict[str, DType]
    integers: frozenset[str]
    ranges: Ranges
    carried: frozenset[str] = frozenset()
    around: tuple[Loop, ...] = ()
    divergent: bool = False

    @property
    def positions(self) -> frozenset[str]:
        """The scalars that expressions may name: integers as wide as they are."""
        return frozenset(name for name, dtype in self.scalars.items() if dtype == INT64)


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that is broken, and where."""

    what: str
    statement: str

    def __str__(self) -> str:
        return f"{self.what}: {self.statement}"


def verify(kernel: Kernel) -> Kernel:
    """The kernel; InvalidLoopsError names the first rule that it breaks."""
    for problem in problems(kernel):
        raise InvalidLoopsError(f"{problem}\n{show.kernel_text(kernel)}")
    return kernel


def problems(kernel: Kernel) -> Iterator[Problem]:
    """Yield what is wrong with a kernel, in the order of its statements."""
    yield from _Checker(kernel).problems()


def unproved(kernel: Kernel) -> list[str]:
    """Elements whose indices are not provably inside of their buffers."""
    checker = _Checker(kernel)
    for _ in checker.problems():
        pass
    return checker.open


@dataclass
class _Checker:
    """Walks over a kernel once."""

    kernel: Kernel
    given: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.read_only = {one.buffer.name for one in self.kernel.arguments if one.access is Access.READ}
        self.given.update(one.buffer.name for one in self.kernel.arguments)

    def problems(self) -> Iterator[Problem]:
        buffers = {one.buffer.name: one.buffer for one in self.kernel.arguments}
        launched = frozenset(map(str, LAUNCHED))
        yield from self.block(self.kernel.body, Known(buffers, {}, launched, Ranges(facts=self.kernel.facts)))

    def block(self, block: Block, known: Known) -> Iterator[Problem]:
        for statement in block:
            shown = show.block_lines((statement,))[0]
            yield from (Problem(what, shown) for what in self._uses(statement, known))
            yield from (Problem(what, shown) for what in self._rules(statement, known))
            yield from self._inside(statement, known)
            known = self._after(statement, known)
            yield from (Problem(what, shown) for what in self._names(statement))
        self.ended.update(one.buffer.name for one in block if isinstance(one, Alloc))

    # ------------------------------------------------------------------ names

    def _names(self, statement: Statement) -> Iterator[str]:
        for name in defined(statement):
            if name in self.given and not (isinstance(statement, Loop | Alloc) and name in self.ended):
                yield f"{name} is given twice"
            self.given.add(name)
            if isinstance(statement, Loop):
                self.ended.add(name)

    def _uses(self, statement: Statement, known: Known) -> Iterator[str]:
        for expr in integers(statement):
            for name in sorted(expr.names() - known.integers - known.positions):
                yield f"the integer {name} is not given before"
        for value in values(statement):
            for part in parts(value):
                yield from self._part(part, known)
        if isinstance(statement, Store):
            yield from self._element(statement.buffer, statement.index, statement.value.dtype, known)
            if statement.buffer in self.read_only:
                yield f"the buffer {statement.buffer} is only read"
        if isinstance(statement, TransposeBlock):
            for name in (statement.target, statement.source):
                if name not in known.buffers:
                    yield f"the buffer {name} is not given before"

    def _part(self, part: Value, known: Known) -> Iterator[str]:
        if isinstance(part, Var):
            if part.name not in known.scalars:
                yield f"the scalar {part.name} is not given before"
            elif known.scalars[part.name] != part.dtype:
                yield f"{part.name} is a {known.scalars[part.name]}, not a {part.dtype}"
        elif isinstance(part, Load):
            yield from self._element(part.buffer, part.index, part.dtype, known)

    def _element(self, name: str, index: tuple[IntExpr, ...], dtype: DType, known: Known) -> Iterator[str]:
        buffer = known.buffers.get(name)
        if buffer is None:
            yield f"the buffer {name} is not given before"
            return
        if buffer.dtype != dtype:
            yield f"the elements of {name} are {buffer.dtype}, not {dtype}"
        if len(index) != len(buffer.extents):
            yield f"{name} has {len(buffer.extents)} axes, not {len(index)}"
            return
        for axis, (at, extent) in enumerate(zip(index, buffer.extents, strict=True)):
            if known.ranges.at_most(constant(0), at) and known.ranges.below(at, extent):
                continue  # as where a loop has no iterations, of which anything is proved
            if known.ranges.below(at, constant(0)) or known.ranges.at_most(extent, at):
                yield f"the index {at} along axis {axis} is outside of {name}"
            else:
                self.open.append(f"{name}[{', '.join(map(str, index))}] along axis {axis}")

    # ------------------------------------------------------------------ rules of statements

    def _rules(self, statement: Statement, known: Known) -> Iterator[str]:
        match statement:
            case Accumulate():
                flags, value, order = (
                    (statement.name,) if statement.reducer == "or" else (),
                    statement.value,
                    statement.order,
                )
                if order is not None:
                    yield from _ordered(order, known)
                    value = Var(statement.name, FLOAT64) if order.grouping.is_wide else value
                yield from _changes((statement.name,), (value,), known, flags)
            case Fold():
                if len(statement.names) != len(statement.values):
                    yield "as many values as names are expected"
                yield from _changes(statement.names, statement.values, known)
            case While() | If() | Check() if statement.condition.dtype != BOOL:
                yield f"a condition is a pred, not a {statement.condition.dtype}"
            case Loop():
                yield from _loop(statement, known)
            case Alloc():
                yield from _scratch(statement, known)
            case Barrier():
                if not _in_threads(known):
                    yield "a barrier is for the threads of a block"
                elif known.divergent:
                    yield "not all threads may come to the barrier"

    def _inside(self, statement: Statement, known: Known) -> Iterator[Problem]:
        match statement:
            case Loop():
                ordered = statement.kind.is_ordered or statement.kind is LoopKind.VECTOR
                yield from self.block(
                    statement.body,
                    replace(
                        known,
                        integers=known.integers | {statement.variable},
                        ranges=known.ranges.within(statement.variable, statement.start, statement.stop),
                        carried=known.carried if ordered else frozenset(),
                        around=(*known.around, statement),
                        divergent=known.divergent or _by_thread((statement.start, statement.stop), known),
                    ),
                )
            case While():
                yield from self.block(statement.body, replace(known, divergent=True))
            case If():
                inside = replace(known, divergent=True)
                ranges = known.ranges
                for fact in facts(statement.condition):
                    ranges = ranges.supposing(fact)
                yield from self.block(statement.then, replace(inside, ranges=ranges))
                yield from self.block(statement.otherwise, inside)

    def _after(self, statement: Statement, known: Known) -> Known:
        match statement:
            case Let():
                return replace(known, scalars=known.scalars | {statement.name: statement.value.dtype})
            case Find():
                return replace(known, scalars=known.scalars | {statement.name: INT64})
            case Carry():
                scalars = known.scalars | {statement.name: statement.value.dtype}
                return replace(known, scalars=scalars, carried=known.carried | {statement.name})
            case LetInt():
                ranges = known.ranges.named(statement.name, statement.expr)
                return replace(known, integers=known.integers | {statement.name}, ranges=ranges)
            case Alloc():
                return replace(known, buffers=known.buffers | {statement.buffer.name: statement.buffer})
        return known


def facts(condition: Value) -> Iterator[IntExpr]:
    """Yield integer expressions that are not negative where a condition holds."""
    match condition:
        case Prim("and", (one, other)):
            yield from (*facts(one), *facts(other))
        case Prim("lt" | "gt" | "le" | "ge" as name, (one, other)):
            left, right = as_integer(one), as_integer(other)
            if left is not None and right is not None:
                least, most = (left, right) if name in ("lt", "le") else (right, left)
                yield most - least - (1 if name in ("lt", "gt") else 0)


def as_integer(value: Value) -> IntExpr | None:
    """The integer expression that a value is, if it is one."""
    match value:
        case FromInt(expr, dtype) if dtype == INT64:
            return expr
        case Const(literal) if literal.dtype.kind in "iu":
            return constant(int(literal.item()))
    return None


def _changes(
    names: Iterable[str], changed: Iterable[Value], known: Known, flags: Collection[str] = ()
) -> Iterator[str]:
    for name, value in zip(names, changed, strict=False):
        if name not in known.scalars:
            yield f"the scalar {name} is not given before"
        elif name not in known.carried and name not in flags:
            yield f"{name} does not change here: it is no Carry, or given outside of a loop without order"
        elif known.scalars[name] != value.dtype:
            yield f"{name} is a {known.scalars[name]}, not a {value.dtype}"


def _ordered(order: Order, known: Known) -> Iterator[str]:
    lines = {variable(one.variable) for one in known.around if one.kind.is_ordered}
    if order.grouping is not Grouping.ERRORS and order.line not in lines:
        yield f"{order.line} is no loop around, along which elements are in order"


def _loop(loop: Loop, known: Known) -> Iterator[str]:
    kinds = [one.kind for one in known.around]
    if loop.step < 1:
        yield "the step of a loop is positive"
    if loop.kind is LoopKind.UNROLLED and (loop.stop - loop.start).value is None:
        yield "the extent of an unrolled loop is a number"
    if loop.kind is LoopKind.GRID_BLOCK and any(kind is not LoopKind.GRID_BLOCK for kind in kinds):
        yield "a loop over blocks is inside of no other loop"
    if loop.kind is LoopKind.BLOCK_THREAD and LoopKind.GRID_BLOCK not in kinds:
        yield "a loop over threads is inside of a loop over blocks"


def _scratch(alloc: Alloc, known: Known) -> Iterator[str]:
    in_blocks = any(one.kind is LoopKind.GRID_BLOCK for one in known.around)
    if alloc.scope is Scope.BLOCK and (not in_blocks or _in_threads(known)):
        yield "scratch of a block is allocated between the loops over blocks and over threads"
    if alloc.scope is Scope.THREAD and not _in_threads(known):
        yield "scratch of a thread is allocated inside the loop over threads"


def _in_threads(known: Known) -> bool:
    return any(one.kind is LoopKind.BLOCK_THREAD for one in known.around)


def _by_thread(bounds: Iterable[IntExpr], known: Known) -> bool:
    """Return whether bounds differ by thread; a named integer counts as if it did once inside the threads."""
    if not _in_threads(known):
        return False
    outside = {one.variable for one in known.around if one.kind is not LoopKind.BLOCK_THREAD}
    return any(expr.names() - outside for expr in bounds)
