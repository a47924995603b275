"""Statements with other values and indices, and the names that they use."""

from __future__ import annotations

from collections.abc import Callable

from xjit.dataclass import replace
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Block,
    Carry,
    Check,
    Fold,
    If,
    Invoke,
    Let,
    Load,
    Statement,
    Store,
    TransposeBlock,
    Value,
    Var,
    While,
)
from xjit.ir.loops.walk import Change, blocks, integers, parts, statements, values, with_blocks


def with_values(statement: Statement, found: tuple[Value, ...]) -> Statement:
    """The statement with other values that it computes itself."""
    match statement:
        case Let() | Carry() | Accumulate() | Store():
            return replace(statement, value=found[0])
        case Fold():
            return replace(statement, values=found)
        case While() | If() | Check():
            return replace(statement, condition=found[0])
    return statement


def uses(block: Block) -> set[str]:
    """All names that a block uses: of scalars, integers and buffers, those that it gives itself included."""
    found: set[str] = set()
    for statement in statements(block):
        for expr in integers(statement):
            found |= expr.names()
        for value in values(statement):
            found.update(_used(part) for part in parts(value) if isinstance(part, Var | Load))
        match statement:
            case Accumulate(name=name) | Store(buffer=name):
                found.add(name)
            case Fold(names=several) | Invoke(buffers=several):
                found.update(several)
            case TransposeBlock():
                found |= {statement.target, statement.source}
    return found


def _used(part: Var | Load) -> str:
    return part.name if isinstance(part, Var) else part.buffer


def _any(_: tuple[IntExpr, ...]) -> bool:
    return True


def reindexed(
    block: Block,
    buffer: str,
    change: Callable[[tuple[IntExpr, ...]], tuple[IntExpr, ...]],
    name: str = "",
    meant: Callable[[tuple[IntExpr, ...]], bool] = _any,
) -> Block:
    """The block with other indices, and perhaps another name, where a buffer is loaded and stored at some indices."""

    def part(value: Value) -> Value:
        if isinstance(value, Load) and value.buffer == buffer and meant(value.index):
            return replace(value, buffer=name or buffer, index=change(value.index))
        return value

    def moved(one: Statement) -> Statement:
        if isinstance(one, Store) and one.buffer == buffer and meant(one.index):
            one = replace(one, buffer=name or buffer, index=change(one.index))
        return with_blocks(one, tuple(tuple(map(moved, inner)) for inner in blocks(one)))

    return tuple(map(moved, Change(value=part).block(block)))


def with_line(block: Block, old: str, new: str) -> Block:
    """The block with lines of elements along another loop."""

    def changed(one: Accumulate) -> Accumulate:
        if one.order is None or one.order.line != variable(old):
            return one
        return replace(one, order=replace(one.order, line=variable(new)))

    return with_accumulates(block, changed)


def with_accumulates(block: Block, change: Callable[[Accumulate], Accumulate]) -> Block:
    """The block with other accumulations, at any depth."""
    found: list[Statement] = []
    for one in block:
        if isinstance(one, Accumulate):
            found.append(change(one))
        else:
            found.append(with_blocks(one, tuple(with_accumulates(inner, change) for inner in blocks(one))))
    return tuple(found)
