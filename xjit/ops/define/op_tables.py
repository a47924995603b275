"""Rows of the elementwise tables: a record and its strict public function, made together.

A row says in which classes of element types an operation exists, what NumPy computes, and how one element is
computed, by class:

    abs = unary("abs", "Abs", "IF", np.abs, {"I": absolute, "F": primitive("abs")}, example="...", doc="...")

Most elements are the primitive of the operation's name, and need less:

    sin = function("sin", "FC", np.sin, "np.float32([0, np.inf]) -> [ 0. nan]", "Sine.")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack

from xjit.ir.opdef import Gap, Kind, OpDef, Params, Parity
from xjit.ir.scalar_expr import Arg, Expr, prim
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, operands_like_each_other, register
from xjit.ops.define.references import widened
from xjit.ops.whole_arrays.shape import broadcast_together
from xjit.types import BOOL, ArrayType, DType, dtype_class, real_dtype

Builder: TypeAlias = Callable[..., Expr]
Element: TypeAlias = Callable[[tuple[ArrayType, ...], Params, ArrayType], Expr]
Result: TypeAlias = Callable[[DType], DType]


class Unary(Protocol):
    """A public function of one operand."""

    __name__: str

    def __call__(self, operand: Any) -> Any: ...


class Binary(Protocol):
    """A public function of two operands that broadcast as the caller says."""

    __name__: str

    def __call__(self, lhs: Any, rhs: Any, broadcast_dimensions: Sequence[int] | None = None) -> Any: ...


def same(dtype: DType) -> DType:
    """The result has the operands' type."""
    return dtype


def boolean(dtype: DType) -> DType:
    """The result is PRED."""
    return BOOL


def part(dtype: DType) -> DType:
    """The result has the type of the operand's parts."""
    return real_dtype(dtype)


def primitive(name: str) -> Builder:
    """The builder of an element that is one primitive."""

    def build(*operands: Expr) -> Expr:
        return prim(name, *operands)

    return build


def element_of(name: str, table: Mapping[str, Builder], which: int = 0) -> Element:
    """The element of an operation by the class of operand ``which``; TypeError for a class with a declared gap."""
    builders = {letter: builder for letters, builder in table.items() for letter in letters}

    def element(types: tuple[ArrayType, ...], params: Params, out: ArrayType) -> Expr:
        letter = dtype_class(types[which].dtype)
        if letter not in builders:
            raise TypeError(f"{name} has no scalar expression for class {letter}")
        return builders[letter](*(Arg(k, type.dtype) for k, type in enumerate(types)))

    return element


ODD, EVEN = (Parity.ODD,), (Parity.EVEN,)
"""The parity of a function of one operand."""


class Options(TypedDict, total=False):
    """Options of few rows.

    result  the element type of the result; the operands' by default
    gaps    what has no code on a target, and why
    narrow  the reference looks at the bits of narrow floats; by default it sees them as float32
    parity  what a flipped sign of an operand does
    part    what of a complex operand the result shows
    shorter what computes the same with a number that is known
    """

    result: Result
    gaps: tuple[Gap, ...]
    narrow: bool
    parity: tuple[Parity, ...]
    part: Callable[[Any], Any]
    shorter: Callable[[Any], tuple[OpDef, Any] | None]


def elementwise(
    name: str,
    xla_name: str | None,
    arguments: Sequence[str],
    classes: str,
    reference: Callable[..., Any],
    table: Mapping[str, Builder],
    doc: str,
    options: Options,
) -> OpDef:
    """Registers the record of an operation over operands of one element type and equal dimensions."""
    infer = rules.part_infer if "part" in options else rules.elementwise_infer
    return register(
        OpDef(
            name=name,
            kind=Kind.ELEMENTWISE,
            infer=infer(name, arguments, classes, options.get("result", same)),
            reference=reference if options.get("narrow", False) else widened(reference),
            xla_name=xla_name,
            element=element_of(name, table),
            gaps=options.get("gaps", ()),
            parity=options.get("parity", ()),
            part=options.get("part"),
            shorter=options.get("shorter"),
            doc=doc,
        )
    )


def unary(
    name: str,
    xla_name: str | None,
    classes: str,
    reference: Callable[..., Any],
    table: Mapping[str, Builder],
    *,
    example: str,
    doc: str,
    **options: Unpack[Options],
) -> Unary:
    """A record of one operand and its public function."""
    op = elementwise(name, xla_name, ("operand",), classes, reference, table, doc, options)

    def function(operand: Any) -> Any:
        return apply(op, as_operand(operand, name, "operand"))

    more = f"The result has the operand's dimensions. Element types: {rules.words(classes)}; DTypeError otherwise."
    _describe(function, op, more, example)
    return function


def binary(
    name: str,
    xla_name: str | None,
    classes: str,
    reference: Callable[..., Any],
    table: Mapping[str, Builder],
    *,
    example: str,
    doc: str,
    **options: Unpack[Options],
) -> Binary:
    """A record of two operands and its public function, which broadcasts them explicitly."""
    op = elementwise(name, xla_name, ("lhs", "rhs"), classes, reference, table, doc, options)

    def function(lhs: Any, rhs: Any, broadcast_dimensions: Sequence[int] | None = None) -> Any:
        operands = operands_like_each_other(name, lhs=lhs, rhs=rhs)
        return apply(op, *broadcast_together(name, operands, classes, broadcast_dimensions))

    more = (
        f"Element types: {rules.words(classes)}, the same for both. Operands of rank 0 and dimensions of size 1\n"
        "    are repeated; different ranks need ``broadcast_dimensions``, the dimensions of the longer operand that\n"
        "    those of the shorter one meet. Raises DTypeError, ArgumentError or ShapeError where this does not fit."
    )
    _describe(function, op, more, example)
    return function


def xla_name_of(name: str) -> str:
    """The name in XLA's manner.

    >>> xla_name_of("round_nearest_even"), xla_name_of("and_")
    ('RoundNearestEven', 'And')
    """
    return "".join(part.capitalize() for part in name.split("_"))


def function(
    name: str,
    classes: str,
    reference: Callable[..., Any],
    example: str,
    doc: str,
    *,
    in_xla: bool = True,
    **options: Unpack[Options],
) -> Unary:
    """A row of one operand whose element is the primitive of its name."""
    xla_name = xla_name_of(name) if in_xla else None
    return unary(name, xla_name, classes, reference, {classes: primitive(name)}, example=example, doc=doc, **options)


def operator(
    name: str,
    classes: str,
    reference: Callable[..., Any],
    example: str,
    doc: str,
    *,
    in_xla: bool = True,
    **options: Unpack[Options],
) -> Binary:
    """A row of two operands whose element is the primitive of its name."""
    xla_name = xla_name_of(name) if in_xla else None
    return binary(name, xla_name, classes, reference, {classes: primitive(name)}, example=example, doc=doc, **options)


def _describe(function: Any, op: OpDef, more: str, example: str) -> None:
    """Names the function and writes its docstring; ``example`` is ``arguments -> printed result``."""
    call, _, result = example.rpartition(" -> ")
    function.__name__ = function.__qualname__ = op.name
    function.record = op
    function.__doc__ = f"{op.doc}\n\n    {more}\n\n    >>> print(ops.{op.name}({call}))\n    {result}\n    "
