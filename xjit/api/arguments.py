"""Arguments of calls: containers among them, and arrays in the place of descriptions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.api.descriptions import example
from xjit.capture.guarding.signature import NORMALISE, normalised, signature


def same(leaves: Sequence[Any], arguments: Sequence[Any]) -> bool:
    """Return whether no argument is a container: as many leaves as arguments do not tell, ``[x]`` has one too."""
    return len(leaves) == len(arguments) and all(map(operator.is_, leaves, arguments))


def nested(in_tree: tree.Tree) -> bool:
    """Return whether an argument is a container."""
    assert isinstance(in_tree, tree.Branch)
    arguments = [one for part in in_tree.children for one in getattr(part, "children", ())]
    return not all(isinstance(one, tree.Leaf) for one in arguments)


def examples(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], tree.Tree]:
    """Leaves to trace with, arrays for those that are described."""
    leaves, in_tree = tree.flatten((args, kwargs))
    leaves = list(map(example, leaves))
    return [normalised(leaf) if signature(leaf) == NORMALISE else leaf for leaf in leaves], in_tree


def arrays(leaves: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among leaves."""
    return [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
