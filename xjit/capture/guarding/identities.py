"""Which objects from outside are one: what ``a is b`` answers while tracing, and has to answer at every call.

Nothing tells a trace of a function that compares by ``is`` what it compared. So the code is read: of a function that
might look, objects of one kind stay apart as long as the trace is used; of others nothing is checked. Arguments that
are one array are one traced array only where that matters, because ``f(x, x)`` is mostly a call like ``f(x, y)``.
"""

from __future__ import annotations

import dis
import functools
import operator
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.signature import is_object
from xjit.capture.guarding.texts_of_values import layout_of
from xjit.dataclass import dataclass, field

LOOKING = (id, operator.is_, operator.is_not)
"""Functions that answer by the identity of their arguments."""


@dataclass(frozen=True, slots=True)
class Known:
    """An object from outside, what stands for it while tracing, and where it was read first."""

    value: Any
    seen: Any
    path: Path


@dataclass(eq=False)
class Identities:
    """The objects that one trace has met.

    merging  arguments that are one array, or one with an array from elsewhere, are one traced array
    looked   the function may have compared objects by identity
    assigned  attributes of objects from outside are assigned, or containers changed, which all names of these see
    changed   the containers from outside that the function changes
    fresh     the functions for which others of the same code may stand, and their places
    twins    some are one, but are not merged
    """

    merging: bool
    looked: bool = False
    assigned: bool = False
    twins: bool = False
    changed: list[Known] = field(default_factory=list)
    fresh: list[tuple[Path, Any]] = field(default_factory=list)
    _known: dict[int, Known] = field(default_factory=dict)
    _arguments: dict[int, Known] = field(default_factory=dict)

    def forget(self) -> None:
        """Gives up the objects; of which of them there are guards was decided before."""
        self._known.clear()
        self._arguments.clear()

    def of(self, value: Any) -> Known | None:
        """Return the entry that was met before and is this very object."""
        found = self._known.get(id(value))
        if found is None and id(value) in self._arguments:
            self.twins = True
        return found

    def of_argument(self, array: Any) -> Known | None:
        """The same for an array among the arguments, if such arrays are merged."""
        self.twins |= id(array) in self._arguments and not self.merging
        return self._known.get(id(array)) if self.merging else None

    def add(self, value: Any, seen: Any, path: Path) -> None:
        """Notes an object."""
        self._known[id(value)] = Known(value, seen, path)

    def add_argument(self, array: Any, seen: Any, path: Path) -> None:
        """Notes an array among the arguments."""
        self._arguments[id(array)] = Known(array, seen, path)
        if self.merging:
            self.add(array, seen, path)

    def change(self, container: Any, path: Path) -> None:
        """Notes a container from outside as one that the function changes."""
        self.assigned = True
        self.changed.append(Known(container, None, path))

    def containers(self) -> list[Known]:
        """The lists and dicts that were met, but for the arguments that were taken apart."""
        return [one for one in self._known.values() if type(one.value) in (list, dict)]

    def looking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which from now on has looked once it is called."""

        @functools.wraps(function)
        def looked(*args: Any) -> Any:
            self.looked = True
            return function(*args)

        return looked

    def apart(self) -> Iterator[list[Path]]:
        """Places of which no two hold one object, if the function looks: those of one kind, as others never do.

        Where it assigns, those of arrays may.
        """
        arrays = self.looked or self.merging
        if not (arrays or self.assigned):
            return
        kinds: dict[Any, list[Path]] = {}
        for one in (self._known | self._arguments).values():
            kind = _kind(one.value)
            if kind is not None and (arrays or type(one.value) is not np.ndarray):
                kinds.setdefault(kind, []).append(one.path)
        yield from (paths for paths in kinds.values() if len(paths) > 1)


def _kind(value: Any) -> Any:
    """Return the guarded property of an object that may be another one at the next call; None if it is always the
    same.
    """
    if type(value) is np.ndarray:
        return layout_of(value)
    return type(value) if type(value) in _CONTAINERS or is_object(value) else None


_CONTAINERS = frozenset({list, dict, set, OrderedDict, defaultdict, Counter})


def looks_at_identity(code: types.CodeType, namespace: Mapping[str, Any]) -> bool:
    """Return whether the code, or that of a function inside, compares by ``is`` what may be arrays or objects.

    Constants are none, nor is what is read from a global that holds something else: that it does is a guard.
    """
    names = _compared(code)
    return names is None or any(_kind(namespace.get(name)) is not None for name in names)


@functools.lru_cache(maxsize=4096)
def _compared(code: types.CodeType) -> frozenset[str] | None:
    """The globals on the right of all ``is``; None where something else stands there."""
    names: set[str] = set()
    before = None
    for instruction in dis.get_instructions(code) if _IS in code.co_code[::2] else ():
        if instruction.opcode == _IS and before is not None and before.opname != "LOAD_CONST":
            if before.opname != "LOAD_GLOBAL":
                return None
            names.add(before.argval)
        before = instruction
    for constant in code.co_consts:
        inner = _compared(constant) if isinstance(constant, types.CodeType) else frozenset()
        if inner is None:
            return None
        names |= inner
    return frozenset(names)


@functools.lru_cache(maxsize=4096)
def compares_with_truths(code: types.CodeType) -> bool:
    """Return whether the code compares by ``is`` with truth values, which may be those of the run.

    >>> compares_with_truths((lambda x: x is True).__code__), compares_with_truths((lambda x: x is None).__code__)
    (True, False)
    """
    if _IS not in code.co_code[::2]:
        return False
    found = list(dis.get_instructions(code))
    places = (place for place, one in enumerate(found) if one.opcode == _IS)
    return any(_is_truth(one) for place in places for one in found[max(0, place - 2) : place])


def _is_truth(instruction: dis.Instruction) -> bool:
    return isinstance(instruction.argval, bool) or instruction.argval in ("True_", "False_")


_IS = dis.opmap["IS_OP"]


@functools.lru_cache(maxsize=4096)
def looks_at_objects(code: types.CodeType) -> bool:
    """Return whether the code, or that of a function inside, may see which object a value is, or of which class.

    >>> looks_at_objects((lambda x: x is None).__code__), looks_at_objects((lambda x: x == 1).__code__)
    (True, False)
    """
    if not _LOOKS.isdisjoint(code.co_code[::2]) or "__class__" in code.co_names:
        return True
    return any(looks_at_objects(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))


_LOOKS = frozenset(
    number for name, number in dis.opmap.items() if name == "IS_OP" or name.startswith("MATCH_") or "_NONE" in name
)
