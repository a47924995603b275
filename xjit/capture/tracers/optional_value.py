"""Optional values: what a variable is that may be None, as only the run tells.

best = None                              best is None
for i in range(len(x)):                  turns carry a truth value, whether there is one, and two numbers
    if best is None or x[i] > best[1]:   asks the truth value; behind ``or`` it is known to hold
        best = i, x[i]
return best                              it is expected to hold: where it does not, NumPy does the call
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from xjit import tree
from xjit.capture.tracers.demands import expect
from xjit.ir.current import current
from xjit.ir.spans import span_of


class OptionalValue:
    """A value beside a truth value, ``present``: where that does not hold the variable is None.

    No code of the user's sees one: what reads the variable gets None or the value, see `settled`.
    """

    __slots__ = ("present", "value")

    def __init__(self, present: Any, value: Any) -> None:
        self.present = present
        self.value = value

    def parts(self) -> tuple[list[Any], tuple[tree.Tree]]:
        """Return the truth value and the leaves of the value, and the structure of that."""
        leaves, structure = tree.flatten(self.value)
        return [self.present, *leaves], (structure,)

    @classmethod
    def of_parts(cls, parts: Sequence[Any], form: tuple[tree.Tree]) -> OptionalValue:
        """Return the optional value of these parts."""
        return cls(parts[0], tree.unflatten(form[0], list(parts[1:])))


def structure_of(value: tree.Tree, leaves: int) -> tree.Branch:
    """The structure of an optional value, of which the value has so many leaves."""
    return tree.Branch(OptionalValue, None, (tree.LEAF,) * (1 + leaves), (value,))


def is_optional(structure: tree.Tree) -> bool:
    """Return whether a structure is that of an optional value."""
    return isinstance(structure, tree.Branch) and structure.kind is OptionalValue


def presence(value: Any) -> tuple[Any, Any]:
    """The presence of a value, that is, if a variable is not None, and the value."""
    return (value.present, value.value) if type(value) is OptionalValue else (value is not None, value)


def is_present(value: OptionalValue) -> Any:
    """The presence of a value: a bool where branches around tell, else a truth value of the run."""
    if isinstance(value.present, bool):
        return value.present
    low, high = span_of(value.present.node, current())
    return bool(low) if low == high else value.present


def settled(value: Any, whole: bool, otherwise: Callable[[OptionalValue], Any]) -> Any:
    """The value of a variable that is read; with ``whole`` all items of a tuple are.

    Where only the run tells whether it is None, it is expected not to be. Where NumPy could not do the call instead
    it is what ``otherwise`` makes of it.
    """
    if type(value) is not OptionalValue:
        deep = whole and type(value) is tuple
        items = tuple(settled(one, True, otherwise) for one in value) if deep else value
        return value if items is value or all(map(operator.is_, items, value)) else items
    found = is_present(value)
    if isinstance(found, bool):
        return value.value if found else None
    return value.value if expect(found) else otherwise(value)
