"""Several rows at a time: a loop over rows around one over accumulators of columns.

    for j0 in range(b0, e0):                      for j0 in range(b0, h0, 4):
        x0 = ldw(m1, j0 - b0)                         j0_1 = j0 + 1
        for i0 in range(n):                           ...
            st(m0, i0, ldw(m0, i0) + x0 * ...)        x0 = ldw(m1, j0 - b0)
                                                      x0_1 = ldw(m1, j0_1 - b0)
                                                      ...
                                                      for i0 in range(n):
                                                          st(m0, i0, ldw(m0, i0) + x0 * ...)
                                                          st(m0, i0, ldw(m0, i0) + x0_1 * ...)
                                                          ...
                                                  for j0 in range(h0, e0):
                                                      ... as before

The compiler keeps the accumulator in a register in between.  Every column adds its rows in the same order as before,
so that no bit changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from xjit.codegen.scopes import Nest
from xjit.ir.loops import Base, Call, For, Let, Load, Multiple, Offset, Position, Statement, Store, Term, Value, Var
from xjit.machine import Machine


def join_rows(nest: Nest, accumulators: Iterable[str]) -> None:
    """Takes several rows in each step of the loop that has just been closed."""
    loop = nest.inner.statements.pop()
    assert isinstance(loop, For)
    nest.inner.statements.extend(several_rows(loop, frozenset(accumulators), nest.fresh("h"), nest.machine))


def several_rows(loop: For, accumulators: Collection[str], whole: str, machine: Machine) -> tuple[Statement, ...]:
    """The loop with several rows in a step, and as it was for the rest; itself where it is of another shape.

    ``accumulators`` are the only buffers that it may write, ``whole`` is a new name for where the rest begins.
    """
    *before, inner = loop.body
    if not isinstance(inner, For) or loop.step != 1 or len(inner.body) > machine.joined_statements:
        return (loop,)
    if not all(isinstance(one, Base | Let) for one in before) or not _adds_up(inner, accumulators):
        return (loop,)
    names = [one.name for one in (*before, *inner.body) if isinstance(one, Base | Let)]
    rows: list[Statement] = []
    steps: list[Statement] = []
    for row in range(machine.joined_rows):
        renamed = {} if row == 0 else {name: f"{name}_{row}" for name in (loop.variable, *names)}
        if row:
            rows.append(Base(renamed[loop.variable], Offset((Term(loop.variable, 1),), row)))
        rows += [_renamed(one, renamed) for one in before]
        steps += [_renamed(one, renamed) for one in inner.body]
    together = replace(inner, body=tuple(steps))
    return (
        Multiple(whole, loop.start, loop.stop, machine.joined_rows),
        replace(loop, stop=whole, step=machine.joined_rows, body=(*rows, together)),
        replace(loop, start=whole),
    )


def _adds_up(inner: For, accumulators: Collection[str]) -> bool:
    """Whether the steps of the loop do not need each other: each reads and writes accumulators of its own."""
    return all(
        isinstance(one, Base | Let) or (isinstance(one, Store) and one.buffer in accumulators) for one in inner.body
    )


def _renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    match statement:
        case Base(name, offset):
            return Base(names.get(name, name), _moved(offset, names))
        case Let(name, value, where):
            return Let(names.get(name, name), _value(value, names), where)
        case Store(buffer, offset, value, dtype, where):
            return Store(buffer, _moved(offset, names), _value(value, names), dtype, where)
    raise TypeError(f"not a statement of a row: {statement!r}")


def _moved(offset: Offset, names: Mapping[str, str]) -> Offset:
    terms = tuple(Term(names.get(term.variable, term.variable), term.stride) for term in offset.terms)
    return replace(offset, terms=terms)


def _value(value: Value, names: Mapping[str, str]) -> Value:
    match value:
        case Var(name, dtype):
            return Var(names.get(name, name), dtype)
        case Call(args=args):
            return replace(value, args=tuple(_value(one, names) for one in args))
        case Load(offset=offset):
            return replace(value, offset=_moved(offset, names))
        case Position(variable=variable) if variable is not None:
            return replace(value, variable=names.get(variable, variable))
    return value
