"""Loop nests as data: what lowering makes and the source writer prints.

Offsets are in elements and sums of ``variable * stride``; a stride is the name of a table word, or a small integer
that is baked in. Values are named by Let and used by name, so shared work is written once.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from xjit.dataclass import dataclass
from xjit.ir.expr import Literal
from xjit.ir.where import Where
from xjit.types import DType


class LoopKind(enum.Enum):
    """How a loop runs."""

    SERIAL = "serial"
    PARALLEL = "parallel"  # its range is split among threads: the kernel gets lo and hi


@dataclass(frozen=True, slots=True)
class Term:
    """variable * stride; the stride is a table word's name or an integer."""

    variable: str
    stride: str | int


@dataclass(frozen=True, slots=True)
class Offset:
    """A sum of terms and a constant."""

    terms: tuple[Term, ...] = ()
    constant: int = 0


@dataclass(frozen=True, slots=True)
class Var:
    """A named value; narrow floats live in registers as f32."""

    name: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class Const:
    """A literal."""

    literal: Literal

    @property
    def dtype(self) -> DType:
        """The literal's type."""
        return self.literal.dtype


@dataclass(frozen=True, slots=True)
class Call:
    """A primitive on values; ``dtype`` is its result type, ``variant`` which of its implementations is meant."""

    prim: str
    args: tuple[Value, ...]
    dtype: DType
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a buffer; ``written`` says that this kernel stores into the same buffer.

    ``apart``: in a loop that adds lane by lane the elements lie so far from each other; 0: any load.
    """

    buffer: str
    offset: Offset
    dtype: DType
    written: bool = False
    apart: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """A loop position as s64: scale * variable + offset."""

    variable: str | None
    scale: int
    offset: int
    dtype: DType


Value: TypeAlias = "Var | Const | Call | Load | Position"


@dataclass(frozen=True, slots=True)
class Let:
    """name = value, once."""

    name: str
    value: Value
    where: Where


@dataclass(frozen=True, slots=True)
class Assign:
    """Gives a carried variable a new value."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Accumulate:
    """name = combine(name, value).

    ``lanes``: so many elements are combined side by side, in a loop of a whole number of such groups; 0: one by one.
    """

    name: str
    combine: str
    value: Value
    dtype: DType
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class Compensated:
    """Adds ``value`` to ``total`` and the rounding error of that addition to ``error`` (two-sum)."""

    total: str
    error: str
    value: Value
    dtype: DType


@dataclass(frozen=True, slots=True)
class Base:
    """name = offset: the part of an address that an inner loop does not change."""

    name: str
    offset: Offset


@dataclass(frozen=True, slots=True)
class Store:
    """Writes one element."""

    buffer: str
    offset: Offset
    value: Value
    dtype: DType
    where: Where


@dataclass(frozen=True, slots=True)
class First:
    """name = the first place in [start, stop), counted in elements from a load, of a value that is there."""

    name: str
    load: Load
    start: str
    stop: str
    value: Value


@dataclass(frozen=True, slots=True)
class Turn:
    """Copies a block, transposed: target[at + j * step + i] = source[start + i * stride + j].

    ``rows`` and ``columns``, the numbers of i and j, are as many as there are from a variable to a limit, in that
    order (limit, variable), and no more than a block has.
    """

    target: str
    at: Offset
    step: str | int
    source: str
    start: Offset
    stride: str | int
    rows: tuple[str, str]
    columns: tuple[str, str]
    dtype: DType


@dataclass(frozen=True, slots=True)
class For:
    """A counted loop over [start, stop) in steps; bounds are names or integers."""

    variable: str
    start: str
    stop: str
    kind: LoopKind
    body: tuple[Statement, ...]
    step: int = 1


@dataclass(frozen=True, slots=True)
class If:
    """A branch on a flag; around whole loops only, inside them ``select`` keeps the code vectorisable."""

    flag: str
    then: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """name = min(start + step, limit): the end of a block."""

    name: str
    start: str
    step: str | int
    limit: str


@dataclass(frozen=True, slots=True)
class Multiple:
    """name = stop less the rest of ``stop - start`` by the step, a power of two: where whole steps end."""

    name: str
    start: str
    stop: str
    step: int


@dataclass(frozen=True, slots=True)
class Clip:
    """low, high = the part of [start, stop) that lies in [first, last); low is above high if there is none."""

    low: str
    high: str
    start: str
    stop: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Share:
    """low, high = the part of a range that lies in [first, first + extent), counted from first. The range is the
    kernel's own, or given by the names of its bounds.
    """

    low: str
    high: str
    first: str
    extent: str
    start: str = "lo"
    stop: str = "hi"


@dataclass(frozen=True, slots=True)
class Rows:
    """low, high = the rows of ``extent`` elements each, one behind the other, that [start, stop) has elements of."""

    low: str
    high: str
    start: str
    stop: str
    extent: str


@dataclass(frozen=True, slots=True)
class Alloc:
    """Scratch of ``extent`` elements (a name or an integer) that lives as long as the kernel call."""

    buffer: str
    extent: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class Argument:
    """A buffer of the kernel: its slot in the table and element type."""

    name: str
    dtype: DType
    slot: int
    written: bool


@dataclass(frozen=True, slots=True)
class Word:
    """An integer of the table: an extent or a stride."""

    name: str
    slot: int


Integer: TypeAlias = "Base | Bound | Multiple | Clip | Share | Rows"
Statement: TypeAlias = "Let | Assign | Accumulate | Compensated | Store | First | Turn | For | If | Integer | Alloc"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its table, scratch and loops. Equal kernels are compiled once."""

    arguments: tuple[Argument, ...]
    words: tuple[Word, ...]
    body: tuple[Statement, ...]
    title: str = ""
