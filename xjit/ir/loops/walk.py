"""Ways over statements and values: what is inside, what is read, and the same with parts exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import is_not
from typing import TypeVar

from xjit.dataclass import dataclass, replace
from xjit.ir.loops.intexpr import IntExpr, substitute, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Buffer,
    Carry,
    Check,
    Find,
    Fold,
    FromInt,
    If,
    Invoke,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    Order,
    Prim,
    Statement,
    Store,
    TransposeBlock,
    Value,
    Var,
    While,
)

T = TypeVar("T")
_WITH_BLOCKS = frozenset((Loop, While, If))


def _same(one: T) -> T:
    return one


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside of a statement."""
    if isinstance(statement, Loop | While):
        return (statement.body,)
    if isinstance(statement, If):
        return statement.then, statement.otherwise
    return ()


def inside_out(block: Block, change: Callable[[Statement], Statement]) -> Block:
    """The block with each statement changed behind those inside of it; itself where none is."""
    found = tuple(
        [change(with_blocks(one, tuple(inside_out(each, change) for each in blocks(one)))) for one in block]
    )
    return found if any(map(is_not, found, block)) else block


def blocks_inside_out(block: Block, change: Callable[[Block], Block]) -> Block:
    """The block, changed behind those inside of it; itself where none is."""
    inside = tuple(
        [with_blocks(one, tuple(blocks_inside_out(each, change) for each in blocks(one))) for one in block]
    )
    return change(inside if any(map(is_not, inside, block)) else block)


def with_blocks(statement: Statement, found: tuple[Block, ...]) -> Statement:
    """The statement with other blocks; itself if they are the same."""
    if not found or all(new is old for new, old in zip(found, blocks(statement), strict=True)):
        return statement
    match statement:
        case Loop() | While():
            return replace(statement, body=found[0])
        case If():
            return replace(statement, then=found[0], otherwise=found[1])
    return statement


def statements(block: Block) -> Iterator[Statement]:
    """Yield all statements of a block, each before those inside of it."""
    found: list[Statement] = []
    _collect(block, found)
    return iter(found)


def _collect(block: Block, found: list[Statement]) -> None:
    for statement in block:
        found.append(statement)
        if type(statement) in _WITH_BLOCKS:
            for inner in blocks(statement):
                _collect(inner, found)


def values(statement: Statement) -> tuple[Value, ...]:
    """The values that a statement computes itself, without those of blocks inside."""
    match statement:
        case Let() | Carry() | Accumulate() | Store():
            return (statement.value,)
        case Fold():
            return statement.values
        case While() | If() | Check():
            return (statement.condition,)
        case Find():
            return statement.load, statement.value
    return ()


def parts(value: Value) -> Iterator[Value]:
    """Yield a value and all values inside of it."""
    if not isinstance(value, Prim):
        return iter((value,))
    found = list[Value]()
    _collect_parts(value, found)
    return iter(found)


def _collect_parts(value: Value, found: list[Value]) -> None:
    found.append(value)
    if isinstance(value, Prim):
        for operand in value.operands:
            _collect_parts(operand, found)


def loads(block: Block) -> Iterator[Load]:
    """Yield all elements that a block reads by loads."""
    for statement in statements(block):
        for value in values(statement):
            yield from (part for part in parts(value) if isinstance(part, Load))


def stores(block: Block) -> Iterator[Store]:
    """Yield all stores of a block."""
    return (statement for statement in statements(block) if isinstance(statement, Store))


def buffers(kernel: Kernel) -> dict[str, Buffer]:
    """All buffers of a kernel by name, scratch included."""
    found = {argument.buffer.name: argument.buffer for argument in kernel.arguments}
    allocs = (one.buffer for one in statements(kernel.body) if isinstance(one, Alloc))
    return found | {buffer.name: buffer for buffer in allocs}


def integers(statement: Statement) -> Iterator[IntExpr]:
    """Yield the integer expressions of a statement itself, those of its values included."""
    match statement:
        case LetInt():
            yield statement.expr
        case Loop():
            yield from (statement.start, statement.stop)
        case Store():
            yield from statement.index
        case Alloc():
            yield from statement.buffer.extents
        case TransposeBlock():
            yield from (*statement.at, *statement.start, *statement.extents)
        case Invoke():
            yield from statement.integers
        case Find():
            yield from (statement.start, statement.stop)
        case Accumulate(order=Order(line=line)):
            yield line
    for value in values(statement):
        for part in parts(value):
            if isinstance(part, Load):
                yield from part.index
            elif isinstance(part, FromInt):
                yield part.expr


def names(block: Block) -> set[str]:
    """All names that a block gives to anything."""
    return {name for statement in statements(block) for name in defined(statement)}


def defined(statement: Statement) -> tuple[str, ...]:
    """The names that a statement gives."""
    match statement:
        case Let() | LetInt() | Carry() | Find():
            return (statement.name,)
        case Loop():
            return (statement.variable,)
        case Alloc():
            return (statement.buffer.name,)
    return ()


def mapped_value(value: Value, change: Callable[[Value], Value]) -> Value:
    """The value with ``change`` applied to all parts, the inner ones first."""
    if isinstance(value, Prim):
        operands = tuple([mapped_value(operand, change) for operand in value.operands])
        if any(map(is_not, operands, value.operands)):
            value = replace(value, operands=operands)
    return change(value)


@dataclass(frozen=True, slots=True)
class Change:
    """Replacements of values, of integer expressions and of names, wherever they are."""

    value: Callable[[Value], Value] = _same
    integer: Callable[[IntExpr], IntExpr] = _same
    name: Callable[[str], str] = _same

    def block(self, block: Block) -> Block:
        """The block after the change."""
        only_values = self.name is _same and self.integer is _same
        return _each(self._of_values if only_values else self.statement, block)

    def part(self, one: Value) -> Value:
        """A value whose operands are changed already."""
        match one:
            case Load():
                one = _changed(one, buffer=self.name(one.buffer), index=_each(self.integer, one.index))
            case FromInt():
                one = _changed(one, expr=self.integer(one.expr))
            case Var():
                one = _changed(one, name=self.name(one.name))
        return self.value(one)

    def whole(self, one: Value) -> Value:
        """A value."""
        return mapped_value(one, self.part)

    def statement(self, one: Statement) -> Statement:
        """A statement and the blocks inside of it; itself if nothing changes."""
        match one:
            case Let() | Carry():
                return _changed(one, name=self.name(one.name), value=self.whole(one.value))
            case Accumulate():
                order = one.order and _changed(one.order, line=self.integer(one.order.line))
                return _changed(one, name=self.name(one.name), value=self.whole(one.value), order=order)
            case Fold():
                return _changed(one, names=_each(self.name, one.names), values=_each(self.whole, one.values))
            case Store():
                at = _each(self.integer, one.index)
                return _changed(one, buffer=self.name(one.buffer), index=at, value=self.whole(one.value))
            case Check():
                return _changed(one, condition=self.whole(one.condition))
            case While():
                return _changed(one, condition=self.whole(one.condition), body=self.block(one.body))
            case If():
                then, otherwise = self.block(one.then), self.block(one.otherwise)
                return _changed(one, condition=self.whole(one.condition), then=then, otherwise=otherwise)
        return self._of_integers(one)

    def _of_integers(self, one: Statement) -> Statement:
        name, integer = self.name, self.integer
        match one:
            case LetInt():
                return _changed(one, name=name(one.name), expr=integer(one.expr))
            case Loop():
                start, stop = integer(one.start), integer(one.stop)
                return _changed(one, variable=name(one.variable), start=start, stop=stop, body=self.block(one.body))
            case Alloc():
                return _changed(one, buffer=self._buffer(one.buffer))
            case TransposeBlock():
                extents = _each(integer, one.extents)
                at, origin = _each(integer, one.at), _each(integer, one.start)
                target, source = name(one.target), name(one.source)
                return _changed(one, target=target, at=at, source=source, start=origin, extents=extents)
            case Invoke():
                return _changed(one, buffers=_each(name, one.buffers), integers=_each(integer, one.integers))
            case Find():
                load, value = self.whole(one.load), self.whole(one.value)
                assert isinstance(load, Load), "a search begins at an element"
                start, stop = integer(one.start), integer(one.stop)
                return _changed(one, name=name(one.name), load=load, start=start, stop=stop, value=value)
        return one

    def _of_values(self, one: Statement) -> Statement:
        """The same as :meth:`statement` where neither names nor integers change, in less time."""
        match one:
            case Store() | Let() | Carry() | Accumulate():
                value = mapped_value(one.value, self.value)
                return one if value is one.value else replace(one, value=value)
            case Loop():
                body = _each(self._of_values, one.body)
                return one if body is one.body else replace(one, body=body)
            case LetInt() | Alloc() | TransposeBlock() | Invoke():
                return one
        return self.statement(one)

    def _buffer(self, one: Buffer) -> Buffer:
        extents, strides = _each(self.integer, one.extents), _each(self.integer, one.strides)
        return _changed(one, name=self.name(one.name), extents=extents, strides=strides)


def _changed(one: T, /, **parts: object) -> T:
    """The object with other parts; itself if they are the same."""
    for name, new in parts.items():
        if getattr(one, name) is not new:
            return replace(one, **parts)
    return one


def _each(function: Callable[[T], T], items: tuple[T, ...]) -> tuple[T, ...]:
    """Apply a function to some items; return the items themselves if they stay the same."""
    found = tuple([function(item) for item in items])
    return found if any(map(is_not, found, items)) else items


def substituted(block: Block, integers: Mapping[str, IntExpr]) -> Block:
    """The block with expressions in place of integer variables."""
    others = {name: expr for name, expr in integers.items() if expr != variable(name)}
    return Change(integer=lambda expr: substitute(expr, others)).block(block) if others else block


def renamed(block: Block, names: Mapping[str, str]) -> Block:
    """The block with other names, of integers too."""
    if not names:
        return block
    integers = {old: variable(new) for old, new in names.items()}
    change = Change(integer=lambda expr: substitute(expr, integers), name=lambda name: names.get(name, name))
    return change.block(block)


def with_indices(
    block: Block,
    change: Callable[[str, tuple[IntExpr, ...]], tuple[IntExpr, ...]],
    axis: Callable[[str, int], int] = lambda name, number: number,
) -> Block:
    """The block with other indices; ``change`` gets the name of a buffer and an index into it, ``axis`` the number of
    an axis.
    """

    def value(one: Value) -> Value:
        return replace(one, index=change(one.buffer, one.index)) if isinstance(one, Load) else one

    def statement(one: Statement) -> Statement:
        match one:
            case Store():
                one = replace(one, index=change(one.buffer, one.index))
            case TransposeBlock():
                rows, columns = (
                    (axis(one.target, at), axis(one.source, start)) for (at, start) in (one.rows, one.columns)
                )
                at, start = change(one.target, one.at), change(one.source, one.start)
                one = replace(one, at=at, start=start, rows=rows, columns=columns)
        return with_blocks(one, tuple(_each(statement, inner) for inner in blocks(one)))

    return _each(statement, Change(value=value).block(block))


def replaced(block: Block, old: Statement, new: Block) -> Block:
    """The block with statements in place of one of its own, at any depth; found by identity, not equality."""
    return replaced_all(block, {id(old): new})


def replaced_all(block: Block, new: Mapping[int, Block]) -> Block:
    """The block with others in place of statements of its own, at any depth, by their identities."""
    found: list[Statement] = []
    changes = False
    for statement in block:
        own = new.get(id(statement))
        if own is None and type(statement) in _WITH_BLOCKS:
            other = with_blocks(statement, tuple([replaced_all(one, new) for one in blocks(statement)]))
            changes = changes or other is not statement
            found.append(other)
        else:
            changes = changes or own is not None
            found += (statement,) if own is None else own
    return tuple(found) if changes else block


def path_to(block: Block, wanted: Callable[[Statement], bool]) -> tuple[Statement, ...]:
    """The first statement for which ``wanted`` holds and those around it, the outermost first; empty if none is."""
    for statement in block:
        if wanted(statement):
            return (statement,)
        for inner in blocks(statement):
            found = path_to(inner, wanted)
            if found:
                return (statement, *found)
    return ()
