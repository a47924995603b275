"""Why kernels stay apart, in words: one line for each pair of values, however many parts they are made in."""

from __future__ import annotations

from collections.abc import Iterable

from xjit.dataclass import dataclass
from xjit.fusion.statements import Statement
from xjit.ir.node import Node

PARTS = "parts of one result run one after the other"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A statement that does not join the kernel that begins with another one."""

    statement: Statement
    other: Statement
    reason: str


def in_words(refusals: Iterable[Refusal]) -> tuple[str, ...]:
    """The reasons, each once for two values::

    mosaic f64[102,102] at f.py:3 is made in 9 kernels: parts of one result run one after the other
    mul [100, 100] at f.py:4 stays apart from 8 parts of mosaic f64[102,102] at f.py:3: the loops ...
    """
    found: dict[tuple[Node, Node, str], list[Refusal]] = {}
    for one in refusals:
        found.setdefault((one.statement.target, one.other.target, one.reason), []).append(one)
    return tuple(_line(list(dict.fromkeys(same))) for same in found.values())


def _line(same: list[Refusal]) -> str:
    statements = tuple(dict.fromkeys(one.statement for one in same))
    others = tuple(dict.fromkeys(one.other for one in same))
    reason = same[0].reason
    if reason == PARTS:
        return f"{_value(statements[0].target)} is made in {len({*statements, *others})} kernels: {reason}"
    return f"{_name(statements)} stays apart from {_name(others)}: {reason}"


def _name(statements: tuple[Statement, ...]) -> str:
    if len(statements) > 1:
        return f"{len(statements)} parts of {_value(statements[0].target)}"
    (statement,) = statements
    return f"{statement.target.op.name} {list(statement.dims)} at {statement.target.where}"


def _value(node: Node) -> str:
    return f"{node.op.name} {node.type} at {node.where}"
