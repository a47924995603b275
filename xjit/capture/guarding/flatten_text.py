"""Text that takes nested arguments apart into leaves, and misses where they are nested in another way.

For the arguments ``({"a": leaf, "b": (leaf, None)}, leaf)``::

    c0 = args[0]
    if type(c0) is not dict or len(c0) != 2 or not all(map(is_, c0, k1)): return missed
    c1 = c0['b']
    if type(c1) is not tuple or len(c1) != 2: return missed
    if c1[1] is not None: return missed
    leaves = (c0['a'], c1[0], args[1], )
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit import tree
from xjit.dataclass import dataclass, field

# Of nested containers.
MOST_LEVELS = 64


def is_flat(arguments: Sequence[tree.Tree]) -> bool:
    """Return whether every argument is a leaf."""
    return all(isinstance(one, tree.Leaf) for one in arguments)


def can_unpack(structure: tree.Tree) -> bool:
    """Return whether there is text for a structure: for all but deep ones and dicts with other keys than text."""
    return not is_deep(structure) and _has_text_keys(structure)


def is_deep(structure: tree.Tree, levels: int = MOST_LEVELS) -> bool:
    """Return whether containers are nested in more levels than the parser takes brackets."""
    if not isinstance(structure, tree.Branch):
        return False
    return levels == 0 or any(is_deep(child, levels - 1) for child in structure.children)


def _has_text_keys(structure: tree.Tree) -> bool:
    if not isinstance(structure, tree.Branch):
        return True
    return all(type(key) is str for key in structure.keys or ()) and all(map(_has_text_keys, structure.children))


@dataclass(eq=False)
class Unpacking:
    """The lines for arguments of these structures. ``constant`` names an object for the text."""

    constant: Callable[[Any], str]
    lines: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    _containers: int = 0

    def text(self, arguments: Sequence[tree.Tree]) -> list[str]:
        """The lines from ``args`` to ``leaves``."""
        for number, structure in enumerate(arguments):
            self._take(structure, f"args[{number}]")
        return [*self.lines, f"leaves = ({''.join(f'{leaf}, ' for leaf in self.leaves)})"]

    def _take(self, structure: tree.Tree, source: str) -> None:
        if structure is None:
            self.lines.append(f"if {source} is not None: return missed")
        elif isinstance(structure, tree.Leaf):
            self.leaves.append(source)
        else:
            self._open(structure, source)

    def _open(self, structure: tree.Branch, source: str) -> None:
        name, size = f"c{self._containers}", len(structure.children)
        self._containers += 1
        self.lines.append(f"{name} = {source}")
        test = f"type({name}) is not {self.constant(structure.kind)} or len({name}) != {size}"
        keys: Sequence[Any] = range(size)
        if structure.keys is not None:
            keys = structure.keys
            test += f" or not all(map(is_, {name}, {self.constant(structure.keys)}))"
        self.lines.append(f"if {test}: return missed")
        for key, child in zip(keys, structure.children, strict=True):
            self._take(child, f"{name}[{key!r}]")
