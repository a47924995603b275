"""Arguments of calls: containers among them, and arrays in the place of descriptions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.api.descriptions import example
from xjit.capture.guarding.signature import NORMALISE, normalised, signature
from xjit.capture.recording.containers import has_plain_entries
from xjit.dataclass import replace
from xjit.errors import CaptureError


class OpenedArguments:
    """The arguments of a function that are lists and dicts which it changes: these are not taken apart."""

    def __init__(self) -> None:
        self._places: frozenset[int | str] = frozenset()

    def learn(self, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Takes in which arguments a trace would have had opened; return whether there are more of them now."""
        found = error.opens - self._places if isinstance(error, CaptureError) else frozenset()
        given = [args[one] if isinstance(one, int) else kwargs[one] for one in found]
        if not given or not all(map(has_plain_entries, given)):
            return False
        self._places |= found
        return True

    def flattened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], tree.Tree]:
        """The leaves of arguments, and their structure."""
        if not self._places:
            return tree.flatten((args, kwargs))
        leaves: list[Any] = []
        positional = tuple(self._part(place, one, leaves) for place, one in enumerate(args))
        named = tuple(self._part(name, one, leaves) for name, one in kwargs.items())
        _, structure = tree.flatten(((None,) * len(args), dict.fromkeys(kwargs)))
        assert isinstance(structure, tree.Branch)
        first, second = structure.children
        return leaves, replace(
            structure, children=(replace(first, children=positional), replace(second, children=named))
        )

    def _part(self, place: int | str, value: Any, leaves: list[Any]) -> tree.Tree:
        if place in self._places and type(value) in (list, dict):
            leaves.append(value)
            return tree.LEAF
        found, structure = tree.flatten(value)
        leaves += found
        return structure


def same(leaves: Sequence[Any], arguments: Sequence[Any]) -> bool:
    """Return whether no argument is a container: as many leaves as arguments do not tell, ``[x]`` has one too."""
    return len(leaves) == len(arguments) and all(map(operator.is_, leaves, arguments))


def nested(in_tree: tree.Tree) -> bool:
    """Return whether an argument is a container."""
    assert isinstance(in_tree, tree.Branch)
    arguments = [one for part in in_tree.children for one in getattr(part, "children", ())]
    return not all(isinstance(one, tree.Leaf) for one in arguments)


def examples(leaves: Sequence[Any], in_tree: tree.Tree) -> tuple[list[Any], tree.Tree]:
    """Leaves to trace with, arrays for those that are described."""
    return readable(list(map(example, leaves))), in_tree


def readable(leaves: Sequence[Any]) -> list[Any]:
    """The leaves, with copies of those arrays that kernels cannot read."""
    return [normalised(leaf) if signature(leaf) == NORMALISE else leaf for leaf in leaves]


def shows_copies(result: Any, given: Sequence[Any], leaves: Sequence[Any]) -> bool:
    """Return whether a result lies in the memory of what was given instead of a leaf."""
    copies = [one for one, leaf in zip(given, leaves, strict=True) if one is not leaf]
    made = arrays(tree.flatten(result)[0]) if copies else []
    owners = {id(_owner(copy)) for copy in copies}  # views without elements share none of them
    return any(id(_owner(one)) in owners or any(np.may_share_memory(one, copy) for copy in copies) for one in made)


def _owner(array: Any) -> Any:
    """The object whose memory an array shows."""
    return array if getattr(array, "base", None) is None else _owner(array.base)


def arrays(leaves: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among leaves."""
    return [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
