"""Access paths, as data: an argument, a global, a closure cell, and steps from there on.

>>> path = Path(Root("leaf", 0, "argument config"), (Step("item", "scale"), Step("attribute", "x")))
>>> str(path)
"argument config['scale'].x"
>>> path.read([{"scale": 2j}])
Traceback (most recent call last):
...
AttributeError: 'complex' object has no attribute 'x'
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from xjit.dataclass import dataclass
from xjit.types import Box


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """The start of a path: ``leaf`` number ``origin`` of the arguments, or the ``object`` ``origin`` itself."""

    kind: str
    origin: Any
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int]:
        return (self.kind, self.origin if self.kind == "leaf" else id(self.origin))

    def read(self, leaves: Sequence[Any]) -> Any:
        """The object that the path starts from."""
        return leaves[self.origin] if self.kind == "leaf" else self.origin


@dataclass(frozen=True, slots=True)
class Step:
    """One step: ``attribute`` key, ``item`` key, the ``type`` of the object, or the object itself, ``boxed``."""

    kind: str
    key: Any = None

    def read(self, value: Any) -> Any:
        """The value one step on."""
        if self.kind == "attribute":
            return getattr(value, self.key)
        if self.kind == "boxed":
            return Box(value)
        return value[self.key] if self.kind == "item" else type(value)


@dataclass(frozen=True, slots=True)
class Path:
    """A root and the steps from it; paths are equal if they read the same place."""

    root: Root
    steps: tuple[Step, ...] = ()

    def attribute(self, name: str) -> Path:
        """The attribute of this name."""
        return Path(self.root, (*self.steps, Step("attribute", name)))

    def item(self, key: Any) -> Path:
        """The entry under a key or at a position."""
        return Path(self.root, (*self.steps, Step("item", key)))

    def type(self) -> Path:
        """The class of the value."""
        return Path(self.root, (*self.steps, Step("type")))

    def boxed(self) -> Path:
        """The object that stands there, which is no array of a program."""
        return Path(self.root, (*self.steps, Step("boxed")))

    def within(self, other: Path) -> bool:
        """Return whether this place is the other one or a part of what stands there."""
        return self.root == other.root and self.steps[: len(other.steps)] == other.steps

    def read(self, leaves: Sequence[Any]) -> Any:
        """The value that stands there now; what reading raises is raised."""
        value = self.root.read(leaves)
        for step in self.steps:
            value = step.read(value)
        return value

    @property
    def leaf(self) -> int | None:
        """The number of the argument leaf if the path is nothing but that."""
        return self.root.origin if self.root.kind == "leaf" and not self.steps else None

    @property
    def is_cell(self) -> bool:
        """Return whether the path is what a closure cell holds."""
        return type(self.root.origin) is types.CellType and self.steps == (Step("attribute", "cell_contents"),)

    @property
    def expression(self) -> str:
        """The place as the user writes it, as far as its words begin with the kind of a name."""
        words = str(self)
        return next((words.removeprefix(one) for one in _KINDS_OF_NAMES if words.startswith(one)), words)

    def __str__(self) -> str:
        return self.root.text + _steps_text(self.root, self.steps)


_KINDS_OF_NAMES = ("argument ", "global ", "closure variable ")


def leaf_path(index: int, label: str) -> Path:
    """The path of an argument leaf."""
    return Path(Root("leaf", index, label))


def global_path(namespace: dict[str, Any], name: str) -> Path:
    """The path of a global name."""
    return Path(Root("object", namespace, "global "), (Step("item", name),))


def cell_path(cell: Any, name: str) -> Path:
    """The path of what a closure cell holds."""
    return Path(Root("object", cell, f"closure variable {name}"), (Step("attribute", "cell_contents"),))


def object_path(value: Any, text: str) -> Path:
    """The path of an object that stays the same: a module, a function, a class."""
    return Path(Root("object", value, text))


def _steps_text(root: Root, steps: tuple[Step, ...]) -> str:
    text = ""
    for position, step in enumerate(steps):
        if position == 0 and root.text == "global ":
            text += str(step.key)
        elif step.kind == "attribute":
            text += "" if step.key == "cell_contents" else f".{step.key}"
        elif step.kind != "boxed":
            text += f"[{step.key!r}]" if step.kind == "item" else "'s class"
    return text
