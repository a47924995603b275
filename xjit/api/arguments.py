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
    return readable(list(map(example, leaves))), in_tree


def readable(leaves: Sequence[Any]) -> list[Any]:
    """The leaves, with copies of those arrays that kernels cannot read."""
    return [normalised(leaf) if signature(leaf) == NORMALISE else leaf for leaf in leaves]


def shows_copies(result: Any, given: Sequence[Any], leaves: Sequence[Any]) -> bool:
    """Return whether a result lies in the memory of what was given instead of a leaf."""
    copies = [one for one, leaf in zip(given, leaves, strict=True) if one is not leaf]
    made = arrays(tree.flatten(result)[0]) if copies else []
    return any(np.may_share_memory(array, copy) for array in made for copy in copies)


def arrays(leaves: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among leaves."""
    return [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
