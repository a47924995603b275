"""Constants as chosen ones, where ways of a branch or turns of a loop leave different ones in a variable."""

from __future__ import annotations

from typing import Any

from xjit import tree
from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.constants.constant_table import class_of_constant
from xjit.capture.tracers.provenance import enclosing_capture
from xjit.dataclass import replace


def is_choice(structure: tree.Tree) -> bool:
    """Return whether a structure is that of a chosen constant."""
    return isinstance(structure, tree.Branch) and structure.kind is ChosenConstant


def as_choice(value: Any, structure: tree.Tree) -> Any:
    """A constant as a chosen one of a structure; any other value as it is."""
    if type(value) is ChosenConstant or _structure_of(value) != structure:
        return value
    trace = enclosing_capture()
    assert trace is not None
    return tree.unflatten(structure, [trace.recorder.constants.number(value)])


def as_choices(one: Any, other: Any, anew: bool = True) -> tuple[Any, Any]:
    """Two values of a variable, where constants that differ are chosen ones, also those in tuples.

    Unless they are so ``anew``, one of each two has to be one.

    "idle", "up"              the numbers 0 and 1 in the table of the trace
    (x, "idle"), (y, "up")    (x, 0), (y, 1)
    """
    if one is other:
        return one, other
    if type(one) is type(other) and isinstance(one, tuple) and len(one) == len(other):
        pairs = [as_choices(*pair, anew) for pair in zip(one, other, strict=True)]
        return with_items(one, [first for first, _ in pairs]), with_items(other, [second for _, second in pairs])
    structure = _structure_of(one)
    if structure is None or structure != _structure_of(other):
        return one, other
    if type(one) is type(other) is not ChosenConstant and (not anew or one == other):
        return one, other
    return as_choice(one, structure), as_choice(other, structure)


def all_choices(value: Any) -> Any:
    """The value with chosen constants in place of its constants, also of those in tuples."""
    if isinstance(value, tuple):
        return with_items(value, list(map(all_choices, value)))
    structure = _structure_of(value)
    return value if structure is None else as_choice(value, structure)


def numbers_of(value: Any) -> tuple[list[Any], tree.Tree]:
    """The leaves of an entry of a list, with the numbers of its constants among them, and its form."""
    return in_numbers(list(map(all_choices, value)) if type(value) is list else all_choices(value))


def in_numbers(value: Any) -> tuple[list[Any], tree.Tree]:
    """The leaves of a value, with the numbers of chosen constants among them, and its form."""
    return tree.flatten(value, in_parts=ChosenConstant)


def without_choices(form: tree.Tree) -> tuple[tree.Tree, list[bool]]:
    """The form of values with constants in place of their numbers, and which of the leaves these are."""
    if is_choice(form):
        return tree.LEAF, [True]
    if not isinstance(form, tree.Branch):
        return form, [] if form is None else [False]
    found = [without_choices(child) for child in form.children]
    children, places = tuple(child for child, _ in found), [one for _, own in found for one in own]
    return replace(form, children=children), places


def is_constant_of_run(value: Any) -> bool:
    """Return whether a value is a constant that the run may choose, or one that it has chosen."""
    return _structure_of(value) is not None


def _structure_of(value: Any) -> tree.Tree:
    """The structure of a choice among constants such as a value; None of values that are none."""
    if type(value) is ChosenConstant:
        return tree.flatten(value)[1]
    kind = class_of_constant(value)
    return None if kind is None else tree.Branch(ChosenConstant, None, (tree.LEAF,), (kind,))


def with_items(value: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple with other items; the same where all are as before."""
    if all(one is other for one, other in zip(value, items, strict=True)):
        return value
    return type(value)(*items) if tree.is_namedtuple(value) else tuple(items)
