"""The outline of a trace that a call needs besides its program: the guards, and the form of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guards
from xjit.dataclass import dataclass
from xjit.showing import MovingView
from xjit.tree import Tree

Source: TypeAlias = Literal["graph", "static", "argument", "made", "moving"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The function from a number to a constant of Python's."""

    constants: tuple[Any, ...]

    def __call__(self, number: int) -> Any:
        """Return the constant."""
        return self.constants[number]


@dataclass(frozen=True, slots=True)
class Output:
    """Source of one leaf of the result.

    source  ``graph``: output ``index`` of the graph. ``static``: ``value``, the same at each call. ``argument``: the
            very object that ``path`` reads. ``made``: the object of this ``index`` that the call makes. ``moving``: a
            view of that output, or of the array that ``path`` reads, as ``moving`` says
    scalar  NumPy returns a scalar, not an array of rank 0
    view    NumPy returns a view of the memory that the chain of indexing operations starts from
    frozen  NumPy returns an array that cannot be written to
    memory  a number for the memory that the result lies in under NumPy; equal ones share it
    python  float, if Python itself computed this: the result is a Python number; ``itself`` of any other object;
            ``Chosen`` where the output is the number of a constant
    doubt   the output of the graph that says if it is one, and not NumPy's; -1 where that is known
    code    the output of the graph that says which of the arrays from outside it is, 0 if none; -1 where it is none
    arrays  the places of these, from 1
    """

    source: Source
    index: int = -1
    value: Any = None
    path: Path | None = None
    scalar: bool = False
    view: bool = False
    frozen: bool = False
    python: Callable[[Any], Any] | None = None
    memory: int = -1
    doubt: int = -1
    code: int = -1
    arrays: tuple[Path, ...] = ()
    moving: MovingView | None = None


Way: TypeAlias = Literal["attribute", "field", "item", "entries", "contents"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment behind the program: to an object of the call's own, the ``made`` one of this number, or to one
    from outside, which ``path`` reads.

    way  ``attribute``: as ``setattr`` does. ``field``: the same past what the class says of it. ``item``: the entry
         ``key`` of a dict. ``entries``: further ones, of a list or a dict. ``contents``: all entries
    """

    way: Way
    key: Any = None
    path: Path | None = None
    made: int = -1


class Outline(Protocol):
    """A trace without its graph; ``results`` is how many of its outputs are results.

    ``makes`` are the classes of the objects that a call makes. Where it makes or assigns something the outputs are
    those of a tuple: the result, and the value of each assignment.
    """

    @property
    def guards(self) -> Guards: ...

    @property
    def outputs(self) -> tuple[Output, ...]: ...

    @property
    def out_tree(self) -> Tree: ...

    @property
    def makes(self) -> tuple[type, ...]: ...

    @property
    def assignments(self) -> tuple[Assignment, ...]: ...

    @property
    def begins_anew(self) -> bool: ...

    @property
    def results(self) -> int: ...
