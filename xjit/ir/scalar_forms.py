"""Forms of scalar expressions that loops have: a counter below a number, a counter a number further."""

from __future__ import annotations

from xjit.ir.scalar_expr import Arg, Expr, Prim


def counter_and_limit(expr: Expr | None) -> tuple[Arg, Expr, bool] | None:
    """The two sides of ``counter < limit``, and whether the limit itself is allowed; None of other expressions."""
    match expr:
        case Prim(name="lt" | "le" as name, args=(Arg() as counter, limit)):
            return counter, limit, name == "le"
        case Prim(name="gt" | "ge" as name, args=(limit, Arg() as counter)):
            return counter, limit, name == "ge"
    return None


def counter_and_step(expr: Expr | None) -> tuple[tuple[Arg, Expr], ...]:
    """The ways to read an expression as ``counter + step``."""
    match expr:
        case Prim(name="add", args=(one, other)):
            both = (one, other), (other, one)
            return tuple((counter, step) for counter, step in both if isinstance(counter, Arg))
    return ()


def counter_less_step(expr: Expr | None) -> tuple[Arg, Expr] | None:
    """The two sides of ``counter - step``; None of other expressions."""
    match expr:
        case Prim(name="sub", args=(Arg() as counter, step)):
            return counter, step
    return None


def in_order(expr: Expr | None) -> tuple[Arg, Arg] | None:
    """The operands of a comparison, of which the first one is less, or is the other; None of other expressions."""
    match expr:
        case Prim(name="lt" | "le", args=(Arg() as one, Arg() as other)):
            return one, other
        case Prim(name="gt" | "ge", args=(Arg() as one, Arg() as other)):
            return other, one
    return None


def conjunction(expr: Expr | None) -> tuple[Arg, Arg, Arg | None] | None:
    """The operands that both hold where an expression does, and one that has to be false; None of other ones."""
    match expr:
        case Prim(name="and", args=(Arg() as one, Arg() as other)):
            return one, other, None
        case Prim(name="select", args=(Arg() as one, Arg() as other, Arg() as rest)):
            return one, other, rest
    return None
