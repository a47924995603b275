"""Loops as data: a kernel is buffers and statements, integers are expressions, elements are named by index vectors.

    kernel row_sums(x: f32[n, m] read, s: f32[n] write)
      parallel i in 0 .. n:
        carry t: f32 = 0.0
        for j in 0 .. m:
          t = add(t, x[i, j])
        s[i] = t

Lowering writes naive loops, rewrites change them (``codegen/rewrites``), a target makes text of them.  What holds of
every kernel is written in :mod:`xjit.ir.loops.verify`.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, variable, word
from xjit.ir.scalar_expr import Literal
from xjit.ir.source_location import Where
from xjit.types import DType

UNKNOWN = word("unknown")
"""The extent of an axis that the kernel is not told: nothing is proved of it, and it is no word of the table."""


LAUNCHED = variable("lo"), variable("hi")
"""The iterations that one call of a kernel runs, where its parallel loops say so; threads get a part each."""


class LoopKind(enum.Enum):
    """The way in which the iterations of a loop run."""

    SERIAL = "for"  # one after the other
    PARALLEL = "parallel"  # in any order, on threads of the processor
    UNROLLED = "unrolled"  # one after the other, written out in the text; the extent is a number
    VECTOR = "vector"  # side by side in lanes
    GRID_BLOCK = "block"  # one block of a grid each, in any order
    BLOCK_THREAD = "thread"  # one thread of a block each, together as far as the next barrier

    @property
    def is_ordered(self) -> bool:
        """Return whether an iteration may need what earlier ones did."""
        return self in (LoopKind.SERIAL, LoopKind.UNROLLED)


class Scope(enum.Enum):
    """Who has a copy of scratch of its own."""

    KERNEL = "kernel"  # one for a launch
    ITERATION = "iteration"  # one for each iteration of the loop around it
    THREAD = "thread"  # one for each thread of a block
    BLOCK = "block"  # one for each block of a grid: its threads share it


class Access(enum.Enum):
    """The use that a kernel makes of a buffer that it is given."""

    READ = "read"
    WRITE = "write"
    UPDATE = "read and write"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Elements in memory, named by index vectors.

    ``extents`` and ``strides``, in elements, are one for each axis; an extent may be `UNKNOWN`.
    """

    name: str
    dtype: DType
    extents: tuple[IntExpr, ...]
    strides: tuple[IntExpr, ...]

    @classmethod
    def packed(cls, name: str, dtype: DType, *extents: IntExpr) -> Buffer:
        """Elements without gaps, the last axis the fastest."""
        strides, step = [], constant(1)
        for extent in reversed(extents):
            strides.append(step)
            step = step * extent
        return cls(name, dtype, extents, tuple(reversed(strides)))


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar that Let or Carry names; narrow floats live in registers as f32."""

    name: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class Const:
    """A number."""

    literal: Literal

    @property
    def dtype(self) -> DType:
        """The type of the number."""
        return self.literal.dtype


@dataclass(frozen=True, slots=True)
class FromInt:
    """An integer expression as a scalar: a position."""

    expr: IntExpr
    dtype: DType


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a buffer.

    ``apart``: in a loop that adds lane by lane the elements lie so far from each other; 0: any load.
    """

    buffer: str
    index: tuple[IntExpr, ...]
    dtype: DType
    apart: int = 0


@dataclass(frozen=True, slots=True)
class Prim:
    """A primitive on values; ``dtype`` is the type of its result, ``variant`` which implementation is meant."""

    name: str
    operands: tuple[Value, ...]
    dtype: DType
    variant: str = ""


Value: TypeAlias = "Var | Const | FromInt | Load | Prim"


# Statements


@dataclass(frozen=True, slots=True)
class Let:
    """name = value, from here to the end of the block."""

    name: str
    value: Value
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class LetInt:
    """name = integer expression, from here to the end of the block."""

    name: str
    expr: IntExpr


@dataclass(frozen=True, slots=True)
class Carry:
    """A carried scalar: loops further in change it, from here to the end of the block."""

    name: str
    value: Value


class Grouping(enum.Enum):
    """Groups of the elements that a reduction rounds in the order of :mod:`xjit.numerics`."""

    BLOCKS = "in blocks"  # those of a line in blocks, added in lanes; blocks in float64, for float64 with errors
    LANES = "in lanes"  # those of a line, at most a block: whole groups of lanes, and what is left as below
    FEW_LANES = "in few lanes"  # those of a line, fewer than lanes: whole groups of few lanes, the rest one by one
    ERRORS = "with errors"  # one by one; the scalar has the sum of their rounding errors too, wherever it is read

    @property
    def is_wide(self) -> bool:
        """Return whether the scalar is a float64, whatever elements are."""
        return self in (Grouping.BLOCKS, Grouping.ERRORS)


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which a reduction takes elements.

    A ``line`` is one run of the loop over this variable; its elements are those of all loops inside of it. Blocks
    are as long as :mod:`xjit.numerics` says, or the iterations of a loop whose steps are as long as that.
    """

    grouping: Grouping
    line: IntExpr = constant(0)


@dataclass(frozen=True, slots=True)
class Accumulate:
    """name = combine(name, value), which may be regrouped as the reducer allows.

    Without an ``order`` that is one after the other, or in any order where the reducer is exact.  With one, elements
    are grouped as it says, and the scalar is read behind the line only.

    ``lanes``: so many elements are combined side by side, in a loop of a whole number of such groups; 0: one after
    the other.
    """

    name: str
    reducer: str
    value: Value
    lanes: int = 0
    order: Order | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """Gives carried scalars new values, all at once, in the order of the loop: (a, b) = (f(a, b), g(a, b))."""

    names: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """Writes one element."""

    buffer: str
    index: tuple[IntExpr, ...]
    value: Value
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop over start, start + step, ... before stop."""

    variable: str
    start: IntExpr
    stop: IntExpr
    body: Block
    kind: LoopKind = LoopKind.SERIAL
    step: int = 1


@dataclass(frozen=True, slots=True)
class While:
    """A loop that goes on while a value holds, computed anew before every round."""

    condition: Value
    body: Block


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks; where it ``jumps``, compilers do not compute both and choose."""

    condition: Value
    then: Block
    otherwise: Block = ()
    jumps: bool = False


@dataclass(frozen=True, slots=True)
class Alloc:
    """Scratch with undefined elements, from here to the end of the block."""

    buffer: Buffer
    scope: Scope = Scope.ITERATION


@dataclass(frozen=True, slots=True)
class Find:
    """name = the first place in [start, stop) of a value that is there, counted along an axis from a load."""

    name: str
    load: Load
    axis: int
    start: IntExpr
    stop: IntExpr
    value: Value


@dataclass(frozen=True, slots=True)
class TransposeBlock:
    """target[at + (j, i)] = source[start + (i, j)] for i, j below ``extents``, through registers.

    ``rows`` are the axes of i in the target and in the source, ``columns`` those of j.  A block of the target has
    the elements of one i side by side, one of the source those of one j.
    """

    target: str
    at: tuple[IntExpr, ...]
    source: str
    start: tuple[IntExpr, ...]
    extents: tuple[IntExpr, IntExpr]
    rows: tuple[int, int] = (-1, -2)
    columns: tuple[int, int] = (-2, -1)


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the block come here before any goes on, and see what the others have written."""


@dataclass(frozen=True, slots=True)
class Invoke:
    """A routine of a library or of the runtime on buffers and integers."""

    routine: str
    buffers: tuple[str, ...]
    integers: tuple[IntExpr, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """Sets a status of the kernel where a condition does not hold."""

    condition: Value
    status: int


Statement: TypeAlias = (
    "Let | LetInt | Carry | Accumulate | Fold | Store | Loop | While | If | Alloc | Find | TransposeBlock | "
    "Barrier | Invoke | Check"
)
Block: TypeAlias = "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class Argument:
    """A buffer of the caller's, and what the kernel does with it."""

    buffer: Buffer
    access: Access

    @property
    def is_written(self) -> bool:
        """Return whether the kernel stores into the buffer."""
        return self.access is not Access.READ


@dataclass(frozen=True, slots=True)
class Kernel:
    """Arguments and what is done with them.

    ``words`` are the words of the table in order; without, they are those that expressions name.  ``facts`` are
    expressions of words that are never negative: callers promise it.
    """

    name: str
    arguments: tuple[Argument, ...]
    body: Block
    words: tuple[str, ...] | None = None
    facts: tuple[IntExpr, ...] = ()
