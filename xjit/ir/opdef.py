"""One record per operation: everything that any layer needs to know of it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, TypeAlias

from xjit.dataclass import dataclass, field
from xjit.ir.scalar_expr import Expr
from xjit.showing import Showing
from xjit.types import ArrayType, DType, Type, in_classes

Params: TypeAlias = Mapping[str, Any]


class Kind(enum.Enum):
    """Kinds of operations: planning and code generation ask for these instead of names."""

    LEAF = "leaf"  # parameters, constants, projections out of a tuple
    ELEMENTWISE = "elementwise"
    INDEXING = "indexing"
    REDUCE = "reduce"
    SCAN = "scan"
    UPDATE = "update"  # the first operands with some of their elements changed
    STRUCTURED = "structured"
    CONTROL = "control"
    COLLECTIVE = "collective"
    EFFECT = "effect"


for _kind in Kind:  # Python 3.11 finds members through a property that it calls each time
    type.__setattr__(Kind, _kind.name, _kind)


class Parity(enum.Enum):
    """Change of the result when the sign of one float operand flips, bit for bit."""

    ODD = "odd"  # flips as well
    EVEN = "even"  # stays


ORDERED = frozenset({Kind.EFFECT, Kind.COLLECTIVE})


class AxisMap(NamedTuple):
    """Index map of one operand axis: scale * (position on result axis ``axis``) + offset; axis None: at offset.

    ``found`` are integers that come from data and are added.  ``also`` are (axis, scale) of further result axes whose
    positions are added, as a window moves by its own position and by that within it; their numbers rise, and no axis
    is named twice.  A tuple, as planning makes and compares thousands.
    """

    axis: int | None
    scale: int = 1
    offset: int = 0
    found: tuple[Lookup, ...] = ()
    also: tuple[tuple[int, int], ...] = ()

    @property
    def terms(self) -> tuple[tuple[int, int], ...]:
        """(axis, scale) of all axes whose positions are added."""
        return () if self.axis is None else ((self.axis, self.scale), *self.also)


class Lookup(NamedTuple):
    """``times`` the element at ``axes`` of an array of integers.

    The source is the number of an operand in the Access of an operation, the node itself in an index.
    """

    source: Any
    axes: tuple[AxisMap, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class Access:
    """Index map of an INDEXING operation: one AxisMap per axis of its first operand, in the axes of the result.

    That of an UPDATE operation says where the elements of the update lie in the operand, in the axes of the update.
    """

    axes: tuple[AxisMap, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of an assembled result (pad, concatenate): operand elements written to a strided part of it.

    Along axis d the elements ``source[d] .. source[d] + count[d]`` go to ``start[d] + k * step[d]``. Operands of
    rank 0 fill their part. With ``axes`` the operand has other axes than the result: the elements along its axis d go
    along ``axes[d]`` of that, and where two of them lie along one axis their steps add up.
    """

    operand: int
    source: tuple[int, ...]
    count: tuple[int, ...]
    start: tuple[int, ...]
    step: tuple[int, ...]
    axes: tuple[int, ...] | None = None

    @property
    def is_block(self) -> bool:
        """Return whether the elements make a block of the result, without gaps, along the same axes."""
        return self.axes is None and all(step == 1 for step in self.step)


@dataclass(frozen=True, slots=True)
class Product:
    """Sums of products of two operands: pairs of axes that are summed over, pairs along which it runs separately.

    The axes of the result are those of ``batch``, then the others of the first operand, then those of the second.
    """

    summed: tuple[tuple[int, int], ...]
    batch: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Solver:
    """A routine of LAPACK or BLAS that computes an operation on each matrix of a stack, with its options.

    Where it fails for a matrix the program raises ``failure``; without one the result is NaN. With ``marks`` there is
    one matrix, and behind its result an element that says whether it has failed.
    """

    routine: str
    options: tuple[int, ...]
    failure: Callable[[], Exception] | None = None
    marks: bool = False


Algorithm: TypeAlias = Literal["quick", "stable", "signed"]


@dataclass(frozen=True, slots=True)
class LineSort:
    """A sort of one operand's lines along an axis by the order of its elements: ``quick`` or ``stable`` as NumPy
    names its algorithms; ``signed`` is stable for floats, which differ from equal ones by the signs of zeros.

    The result are the ``positions`` of elements, or these themselves. Where there is only one line the operand of the
    number ``until`` may say how many elements it has.
    """

    axis: int
    kind: Algorithm
    positions: bool = False
    until: int | None = None


@dataclass(frozen=True, slots=True)
class BlockRoutine:
    """A routine of the runtime over the elements of the first operand, of rank 1: its name, how many elements a block
    has, and whether that operand may be a ``strided`` one. Threads share the blocks. The last element of the operand
    of number ``ends`` says how many elements of the result are written, if one does.
    """

    name: str
    block: int
    strided: bool = False
    ends: int | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A routine of NumPy's that draws numbers.

    Its address is the word at this ``place`` of the first operand; it gets these words and so many ``operands``, in
    one of several ways. A number costs so many additions. Bounded integers are those of ``masked`` bits that fit.
    Kernels draw by the routine at ``single``, which returns a number, if there is one; they find the address of the
    words at ``own``, and that of the memory of a routine of trials begins with the word at ``setup``.
    """

    place: int
    way: str
    operands: int
    cost: float
    masked: bool
    single: int
    own: int
    setup: int


@dataclass(frozen=True, slots=True)
class Ordering:
    """Lines along ``axis`` that are put in order: the first ``moved`` operands move together, of which the first
    ``results`` are results.

    ``before`` is a computation over scalars ``(a_0, b_0, a_1, b_1, ...)``, two for each operand that moves, and the
    operands behind these: whether the elements a come before the elements b.
    """

    axis: int
    moved: int
    results: int
    before: Any


@dataclass(frozen=True, slots=True)
class Reducer:
    """A reduction as a value: how to combine, what to start from, and what may differ by the order of elements.

    The fields from ``classes`` on belong to its name, and do not take part in comparisons:

    classes    element types that it reduces
    runs_over  element types of which it makes running results
    spoken     NumPy's name of the reduction
    equals     operations and the classes on which a fold with them is this reduction
    operation  the public operation that combines two elements
    fold       array, dimensions -> the result by NumPy
    step       results so far, next elements -> results, by NumPy
    """

    name: str
    combine: str  # the primitive
    identity: Callable[[DType], Any]
    reassociates: bool  # rounding may differ by order; exact reducers need no care
    last_word: Callable[[DType], Any] | None = None  # what no further element changes; NaN aside
    either_zero: bool = False  # of zeros of both signs any one may be the result
    factors: bool = False  # adds up products of two operands, one after the other in row-major order
    orders_zeros: bool = field(default=False, compare=False)  # the result depends on the signs of zeros
    classes: str = field(default="", compare=False)
    runs_over: str = field(default="", compare=False)
    spoken: str = field(default="", compare=False)
    equals: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    operation: Callable[..., Any] | None = field(default=None, compare=False)
    fold: Callable[..., Any] | None = field(default=None, compare=False)
    step: Callable[..., Any] | None = field(default=None, compare=False)

    def with_either_zero(self) -> Reducer:
        """The reducer that may take either of two zeros, if it is an extreme."""
        return dataclasses.replace(self, either_zero=True) if self.orders_zeros else self


@dataclass(frozen=True, slots=True)
class Gap:
    """Something an operation cannot do on a target, and why.

    ``classes`` holds class letters and names of element types, as in ``"C"``, ``"FC"`` or ``"C f64"``.
    """

    target: str
    classes: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpDef:
    """An operation.

    infer      types of operands and params -> type of the result; raises the errors of the operation
    reference  arrays, params -> result: the obvious NumPy definition
    element    types of operands, params, result type -> the scalar expression of one output element
    access     types of operands, params, result type -> the index map of the first operand, None if not affine
    limits     params -> the axes of the result that end before their bound, each with the operand that says where
    pieces     types of operands, params, result type -> the parts of an assembled result
    product    params -> which axes a product of matrices sums over, for what BLAS can compute
    solver     params -> the routine that computes it on each of the row-major matrices over the last two dimensions,
               if there is one
    shorter    a number -> what computes the same where the last operand is this number: an operation, and its operand
    parity     how the result follows the sign of each operand, for floats; empty: in no simple way
    sorts      types of operands, params -> the order that lines are put in by kernels; None where a library sorts
    line_sort  params -> how NumPy's routines sort the lines of its first operand, if they do
    in_blocks  types of operands, params -> the routine that computes it among kernels, if there is one
    draws      params -> the routine of NumPy's that draws the result, if it is one of random numbers
    shown      types of operands, params, result type -> how NumPy shows the first operand, with numbers of operands
    part       array -> the view of a complex operand that the operation is in NumPy: its real or imaginary parts
    flat       the result holds the operand's bytes in row-major order (reshape, bitcasts between widths)
    threaded   the library that computes it may round otherwise with another number of threads (BLAS, LAPACK)
    alone      results -> a context in which no other thread works with what they stand for
    puts_back  results -> what gives back the state that the thing they stand for has now
    fresh      the reference's result is memory that nothing else holds, nor looks at
    takes_out  the reference has a parameter ``out`` as NumPy's functions have: a row-major array for the result
    barrier    the result is the first operand in its memory, there once all operands are: nothing moves across it
    unread     nobody reads an element of the result before it is written: a copy of it stores nothing but one element
    trims      the result is smaller than its type says, which only the caller sees
    silent     the reference gives no warnings: it moves or compares elements, or NumPy has none of it
    failure    params -> the error that the program raises unless the last operand, a condition, holds everywhere
    control    what an operation with graphs inside of it does with them: it runs them in a loop, or one of them
    reads      params of such an operation -> the numbers of the operands that the parameters of each graph start as
    raises     what else the reference may raise, depending on the elements
    tried      the operation with the same results, and whether there are any behind them: zeros where this one raises
    marked     the operation of one array: the elements of the result in row-major order, and behind them one that is
               zero where there is a result, else one
    bound      params -> the reference with these, where it is called more quickly so
    leaves     params -> whether NumPy does the call from the beginning where the reference raises an error
    """

    name: str
    kind: Kind
    infer: Callable[[tuple[Any, ...], Params], Type]
    reference: Callable[..., Any]
    xla_name: str | None = None
    element: Callable[[tuple[ArrayType, ...], Params, ArrayType], Expr] | None = None
    access: Callable[[tuple[ArrayType, ...], Params, ArrayType], Access | None] | None = None
    limits: Callable[[Params], Mapping[int, int]] | None = None
    pieces: Callable[[tuple[ArrayType, ...], Params, ArrayType], tuple[Piece, ...]] | None = None
    product: Callable[[Params], Product] | None = None
    solver: Callable[[Params], Solver | None] | None = None
    sorts: Callable[[tuple[ArrayType, ...], Params], Ordering | None] | None = None
    line_sort: Callable[[Params], LineSort | None] | None = None
    in_blocks: Callable[[tuple[ArrayType, ...], Params], BlockRoutine | None] | None = None
    draws: Callable[[Params], Drawing] | None = None
    shown: Callable[[tuple[ArrayType, ...], Params, ArrayType], Showing] | None = None
    part: Callable[[Any], Any] | None = None
    flat: bool = False
    threaded: bool = False
    alone: Callable[..., AbstractContextManager[None]] | None = None
    puts_back: Callable[..., Callable[[], object]] | None = None
    fresh: bool = False
    takes_out: bool = False
    barrier: bool = False
    unread: bool = False
    trims: bool = False
    silent: bool = False
    failure: Callable[[Params], Exception] | None = None
    control: Literal["", "loop", "branch"] = ""
    reads: Callable[[Params], tuple[range | tuple[int, ...], ...]] | None = None
    raises: tuple[type[Exception], ...] = ()
    tried: OpDef | None = None
    marked: OpDef | None = None
    bound: Callable[[Params], Callable[..., Any]] | None = None
    leaves: Callable[[Params], bool] | None = None
    gaps: tuple[Gap, ...] = field(default=())
    parity: tuple[Parity, ...] = ()
    shorter: Callable[[Any], tuple[OpDef, Any] | None] | None = None
    doc: str = ""

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    @property
    def has_effects(self) -> bool:
        """Return whether applications of the operation keep their order, and none of them is left out."""
        return self.kind in ORDERED

    @property
    def view(self) -> Callable[..., Any]:
        """Return the function that makes a view of an array: the reference of index operations, the part of those
        that show parts.
        """
        return self.reference if self.part is None else self.part

    def gap(self, target: str, dtypes: tuple[DType, ...], letters: str) -> Gap | None:
        """The declared gap that these operand types fall into on a target, if any."""
        for gap in self.gaps:
            if gap.target == target and any(in_classes(dtype, gap.classes) for dtype in dtypes):
                return gap
        return None
