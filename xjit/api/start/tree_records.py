"""Structures of nested values as data."""

from __future__ import annotations

from typing import Any, Literal

from xjit import tree
from xjit.api.start.code_digests import UnknownCodeError
from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """The structure of a value: a leaf, nothing, or a container."""

    kind: Literal["leaf", "none", "tuple", "list", "dict"]
    keys: tuple[Any, ...] = ()
    children: tuple[TreeRecord, ...] = ()


def tree_record(structure: tree.Tree) -> TreeRecord:
    """The structure as data; UnknownCodeError for containers of classes of the user."""
    if structure is None:
        return TreeRecord("none")
    if isinstance(structure, tree.Leaf):
        return TreeRecord("leaf")
    children = tuple(map(tree_record, structure.children))
    if structure.kind is dict and all(type(key) is str for key in structure.keys or ()):
        return TreeRecord("dict", structure.keys or (), children)
    if structure.kind is tuple:
        return TreeRecord("tuple", (), children)
    if structure.kind is list:
        return TreeRecord("list", (), children)
    raise UnknownCodeError(f"a container of type {structure.kind.__qualname__}")


def tree_of(record: TreeRecord) -> tree.Tree:
    """The structure that a record describes."""
    if record.kind in ("none", "leaf"):
        return None if record.kind == "none" else tree.LEAF
    children = tuple(map(tree_of, record.children))
    if record.kind == "dict":
        return tree.Branch(dict, record.keys, children, tuple(map(tree.distinct, record.keys)))
    return tree.Branch(tuple if record.kind == "tuple" else list, None, children)


def leaves_of(record: TreeRecord) -> int:
    """Return how many leaves a structure has."""
    return int(record.kind == "leaf") + sum(map(leaves_of, record.children))
