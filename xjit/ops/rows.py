"""Rows of the elementwise tables: a record and its strict public function, made together.

A row says in which classes of element types an operation exists, what NumPy computes, and how one element is
computed, by class:

    exp = unary("exp", "Exp", "FC", np.exp, {"F": primitive("exp")}, gaps=HOST_COMPLEX, doc="e to the power x.")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from xjit.ir.expr import Arg, Expr, prim
from xjit.ir.opdef import Gap, Kind, OpDef, Params, Parity
from xjit.ops import rules
from xjit.ops._core import apply, as_operand, operands_like_each_other, register
from xjit.ops.references import widened
from xjit.ops.shape import broadcast_together
from xjit.types import BOOL, ArrayType, DType, dtype_class, real_dtype

Builder: TypeAlias = Callable[..., Expr]
Element: TypeAlias = Callable[[tuple[ArrayType, ...], Params, ArrayType], Expr]
Result: TypeAlias = Callable[[DType], DType]

HOST_COMPLEX = (Gap("cpu", "C", "there is no vector function for complex numbers; NumPy computes this step"),)


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


def elementwise(
    name: str,
    xla_name: str | None,
    arguments: Sequence[str],
    classes: str,
    reference: Callable[..., Any],
    table: Mapping[str, Builder],
    *,
    result: Result = same,
    gaps: tuple[Gap, ...] = (),
    narrow: bool = False,
    parity: tuple[Parity, ...] = (),
    doc: str,
) -> OpDef:
    """Registers the record of an operation over operands of one element type and equal dimensions.

    The reference sees narrow floats as float32, unless ``narrow`` says that it looks at their bits.
    """
    return register(
        OpDef(
            name=name,
            kind=Kind.ELEMENTWISE,
            infer=rules.elementwise_infer(name, arguments, classes, result),
            reference=reference if narrow else widened(reference),
            xla_name=xla_name,
            element=element_of(name, table),
            gaps=gaps,
            parity=parity,
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
    result: Result = same,
    gaps: tuple[Gap, ...] = (),
    narrow: bool = False,
    parity: tuple[Parity, ...] = (),
    doc: str,
) -> Unary:
    """A record of one operand and its public function."""
    arguments = ("operand",)
    op = elementwise(
        name,
        xla_name,
        arguments,
        classes,
        reference,
        table,
        result=result,
        gaps=gaps,
        narrow=narrow,
        parity=parity,
        doc=doc,
    )

    def function(operand: Any) -> Any:
        return apply(op, as_operand(operand, name, "operand"))

    _describe(function, op, f"The result has the operand's dimensions. Element types: {rules.words(classes)}.")
    return function


def binary(
    name: str,
    xla_name: str | None,
    classes: str,
    reference: Callable[..., Any],
    table: Mapping[str, Builder],
    *,
    result: Result = same,
    gaps: tuple[Gap, ...] = (),
    narrow: bool = False,
    parity: tuple[Parity, ...] = (),
    doc: str,
) -> Binary:
    """A record of two operands and its public function, which broadcasts them explicitly."""
    arguments = ("lhs", "rhs")
    op = elementwise(
        name,
        xla_name,
        arguments,
        classes,
        reference,
        table,
        result=result,
        gaps=gaps,
        narrow=narrow,
        parity=parity,
        doc=doc,
    )

    def function(lhs: Any, rhs: Any, broadcast_dimensions: Sequence[int] | None = None) -> Any:
        operands = operands_like_each_other(name, lhs=lhs, rhs=rhs)
        return apply(op, *broadcast_together(name, operands, classes, broadcast_dimensions))

    _describe(
        function,
        op,
        f"Element types: {rules.words(classes)}, the same for both. Operands of rank 0 and dimensions of size 1\n"
        "    are repeated; different ranks need ``broadcast_dimensions``, the dimensions of the longer operand that\n"
        "    those of the shorter one meet. Raises DTypeError, ArgumentError or ShapeError where this does not fit.",
    )
    return function


def _describe(function: Any, op: OpDef, more: str) -> None:
    function.__name__ = function.__qualname__ = op.name
    function.__doc__ = f"{op.doc}\n\n    {more}\n    "
