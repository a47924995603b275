"""Entry of a tree of pinned traces: the value of a call is computed first, and tells the leaf.

node(x) -> 3         the program of argmax(x)
branches[3](x)       the leaf for that value, or the entry of another node
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xjit.capture.guarding.pins import bits_of
from xjit.runtime.miss import MISS

Entry = Callable[..., Any]

_EXACT = frozenset((bool, int, np.bool_, *(np.dtype(code).type for code in "bhilBHIL")))
"""Classes of numbers that are one value where they compare equal."""


class TreeEntry:
    """The entry of a node, with one for each of its values; MISS where there is none."""

    __slots__ = ("_branches", "_node")

    def __init__(self, node: Entry, branches: Mapping[Any, Entry]) -> None:
        self._node = node
        self._branches = branches

    def __call__(self, *args: Any) -> Any:
        value = self._node(*args)
        if value is MISS:
            return MISS
        branch = self._branches.get(branch_key(value))
        return MISS if branch is None else branch(*args)


def branch_key(value: Any) -> Any:
    """The key of a branch of a node: whole numbers themselves, the bits of all others.

    >>> branch_key(np.int64(3)), branch_key(-0.0) == branch_key(0.0)
    (np.int64(3), False)
    """
    return value if type(value) in _EXACT else bits_of(value)
