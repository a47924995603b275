"""Nested arguments and results: tuples, lists, dicts and None, flattened to leaves and rebuilt.

>>> leaves, tree = flatten({"a": (1, 2), "b": None})
>>> leaves, unflatten(tree, [10, 20])
([1, 2], {'a': (10, 20), 'b': None})
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from xjit.dataclass import dataclass

# Their text is exact, while equal ones may differ: in sign, in trailing zeros, in the end of a range, in time zone.
_TOLD_BY_TEXT: Final = (float, complex, np.generic, range, datetime.date, datetime.time)


@dataclass(frozen=True, slots=True)
class Leaf:
    """The place of one leaf."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One container: its type, the keys of a dict, and what it holds.

    ``marks`` tells keys apart that are equal: 1, 1.0 and True, 0.0 and -0.0. Of an object in parts they are its form.
    """

    kind: type
    keys: tuple[Any, ...] | None
    children: tuple[Tree, ...]
    marks: tuple[Hashable, ...] = ()


Tree = Leaf | Branch | None
LEAF = Leaf()


def is_namedtuple(value: object) -> bool:
    """Return whether the value is an instance of a named tuple class."""
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def flatten(value: Any, *, in_parts: bool | type = True) -> tuple[list[Any], Tree]:
    """The leaves of a nested value, in order, and its structure. Subclasses of dict and list are leaves.

    An object whose class has ``of_parts`` is what its ``parts()`` are, and of a form; unless these are None or not
    asked for. Those of one class may be asked for alone.
    """
    leaves: list[Any] = []
    return leaves, _collect(value, leaves, in_parts)


def _collect(value: Any, leaves: list[Any], in_parts: bool | type) -> Tree:
    if value is None:
        return None
    if in_parts in (True, type(value)) and hasattr(type(value), "of_parts"):
        found = value.parts()
        if found is not None:
            parts, form = found
            leaves.extend(parts)
            return Branch(type(value).of_parts.__self__, None, (LEAF,) * len(parts), form)
    if type(value) in (tuple, list) or is_namedtuple(value):
        return Branch(type(value), None, tuple(_collect(item, leaves, in_parts) for item in value))
    if type(value) is dict:
        return Branch(
            dict,
            tuple(value),
            tuple(_collect(item, leaves, in_parts) for item in value.values()),
            tuple(map(distinct, value)),
        )
    leaves.append(value)
    return LEAF


def distinct(value: Hashable) -> Hashable:
    """A key for a plain value that no other value has, even one that is equal to it.

    >>> distinct(1) == distinct(True), distinct(0.0) == distinct(-0.0), distinct((1, "a")) == distinct((1, "a"))
    (False, False, True)
    """
    kind = type(value)
    if kind is str:
        return value
    if isinstance(value, tuple):
        return (kind, *map(distinct, value))
    if isinstance(value, set | frozenset):
        return (kind, frozenset(map(distinct, value)))
    return (kind, repr(value) if isinstance(value, _TOLD_BY_TEXT) or _is_decimal(value) else value)


def _is_decimal(value: Hashable) -> bool:
    """Return whether the value is a decimal number; programs that have none need not load them."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and isinstance(value, decimal.Decimal)


def has_other_entries(container: Any, kinds: Sequence[type | None], values: Iterable[Any]) -> bool:
    """Return whether a list or dict has other entries than some values; where a class stands, anything of it is one.

    >>> has_other_entries([1, "a"], (None, None), (1, "a")), has_other_entries([1, []], (None, list), (2,))
    (False, True)
    """
    entries = container.values() if isinstance(container, dict) else container
    if len(entries) != len(kinds):
        return True
    rest = iter(values)
    pairs = zip(entries, kinds, strict=True)
    return any(entry is not next(rest) if kind is None else type(entry) is not kind for entry, kind in pairs)


def labels(tree: Tree, text: str) -> Iterator[str]:
    """A name for each leaf of a value that is called so.

    >>> list(labels(flatten({"a": (1, 2), "b": 3})[1], "state"))
    ["state['a'][0]", "state['a'][1]", "state['b']"]
    """
    if isinstance(tree, Leaf):
        yield text
    elif tree is not None:
        keys = tree.keys if tree.keys is not None else range(len(tree.children))
        for key, child in zip(keys, tree.children, strict=True):
            yield from labels(child, f"{text}[{key!r}]")


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The nested value of this structure over other leaves."""
    return _rebuild(tree, iter(leaves))


def _rebuild(tree: Tree, leaves: Iterator[Any]) -> Any:
    if tree is None:
        return None
    if isinstance(tree, Leaf):
        return next(leaves)
    children = [_rebuild(child, leaves) for child in tree.children]
    if tree.keys is not None:
        return dict(zip(tree.keys, children, strict=True))
    if hasattr(tree.kind, "of_parts"):
        return tree.kind.of_parts(children, tree.marks)
    if hasattr(tree.kind, "_fields"):
        return tree.kind(*children)
    return tree.kind(children)
