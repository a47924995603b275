"""The variables that calls may assign by ``nonlocal``: those of the functions that blocks can get at.

def add(v):                 a block that calls add may assign total, which the text of the block does not tell:
    nonlocal total          add is in a cell of the block, and total in one of add
    total += v
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType, GeneratorType, MethodType
from typing import Any

_ASSIGNING = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_MOST_ITEMS = 64
"""Items of a container that are looked through for functions."""


def assigned_cells(functions: Iterable[Any]) -> list[tuple[str, CellType]]:
    """Return the cells that calls of functions, and of those that they can get at, may assign, with their names."""
    found: dict[int, tuple[str, CellType]] = {}
    seen: set[int] = set()
    pending = list(functions)
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, FunctionType):
            assigned = assigned_names(one.__code__)
            for name, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=True):
                if name in assigned:
                    found.setdefault(id(cell), (name, cell))
                pending += _content(cell)
        pending += _within(one)
    return list(found.values())


def _content(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _within(value: Any) -> Iterable[Any]:
    """Return the values next to a function, or in a container, among which functions may be."""
    if isinstance(value, FunctionType):
        return (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), vars(value).get("__wrapped__"))
    if isinstance(value, MethodType):
        return (value.__func__,)
    if isinstance(value, GeneratorType):
        return () if value.gi_frame is None else value.gi_frame.f_locals.values()
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    items = value.values() if isinstance(value, dict) else value
    return list(items) if isinstance(value, dict | list | tuple) and len(value) <= _MOST_ITEMS else ()


@functools.lru_cache(maxsize=4096)
def assigned_names(code: CodeType) -> frozenset[str]:
    """Return the variables of functions around that code assigns or deletes, and functions inside of it."""
    return frozenset(_assigned_names(code))


def _assigned_names(code: CodeType) -> Iterator[str]:
    free = set(code.co_freevars)
    if free:
        yield from (
            one.argval for one in dis.get_instructions(code) if one.opname in _ASSIGNING and one.argval in free
        )
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from free & assigned_names(constant)
