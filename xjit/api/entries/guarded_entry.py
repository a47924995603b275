"""Shortcuts in native code: for calls without nested arguments, whose guards and results native code knows.

Other calls have text in Python (:mod:`xjit.api.entries.shortcut`), which does the same.
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xjit import tree
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guard
from xjit.capture.outline import Outline, Output
from xjit.dataclass import dataclass
from xjit.runtime.calls.guarded import (
    INTEGERS,
    NOTHING,
    SIGNS,
    Compares,
    Form,
    GuardedProgram,
    InCell,
    Is,
    Named,
    OfType,
    OtherThan,
    Requirement,
    SameFloat,
    Within,
)

Function = Callable[..., Any]
Types = Mapping[int | None, type]

_EXACT = 2**53  # the integers up to here are floats
_COMPARISON = re.compile(r"\(\{v\} (\S+) \{k\}\) is (True|False)")
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Finishing:
    """Functions that finish a leaf of the result in Python, from its array or from all that the program made."""

    of_array: Callable[[Output], Function]
    of_all: Callable[[Output], Function]


def guarded_entry(
    captured: Outline,
    program: Function,
    arguments: int,
    left: Sequence[Guard],
    finishing: Finishing,
    kinds: Sequence[type],
) -> Function | None:
    """From so many arguments, none of them nested, to the result; None where native code does not know some part.

    ``left`` are the guards that the program does not check itself, ``kinds`` the types of its inputs.
    """
    inputs = [path.leaf for path in captured.guards.inputs]
    known: dict[int | None, type] = dict(zip(inputs, kinds, strict=True))
    known |= {guard.path.leaf: guard.expected for guard in left if guard.condition == guards.SAME_TYPE}
    conditions = _conditions(left, known)
    forms, single = _forms(captured, finishing)
    if conditions is None or forms is None or None in inputs:
        return None
    places = tuple(place for place in inputs if place is not None)
    made = GuardedProgram(arguments, conditions, places, program, forms, captured.results != 1, single)
    return made.entry()


# Guards


def _conditions(left: Iterable[Guard], known: Types) -> tuple[Requirement, ...] | None:
    """The guards as plain conditions, integers between two bounds as one; None if one of them is none.

    ``known`` are the types of arguments by their numbers.
    """
    ranges: dict[int, tuple[int, int]] = {}
    found: list[Requirement] = []
    modules: set[Path] = set()
    for guard in left:
        one = _condition(guard, modules, known)
        if one is None:
            return None
        if guard.condition == guards.IDENTITY and isinstance(guard.expected, types.ModuleType):
            modules.add(guard.path)
        if isinstance(one, Within):
            low, high = ranges.get(one.argument, INTEGERS)
            ranges[one.argument] = max(low, one.low), min(high, one.high)
        else:
            found.append(one)
    return (*(Within(argument, *bounds) for argument, bounds in ranges.items()), *found)


def _condition(guard: Guard, modules: set[Path], known: Types) -> Requirement | None:
    """One guard; those of attributes of the ``modules`` that guards before it are about are entries of a dict."""
    path, expected = guard.path, guard.expected
    if path.leaf is not None:
        return _about_argument(path.leaf, guard, known.get(path.leaf))
    if guard.condition == guards.NO_ITEM:
        return _named(path, expected, NOTHING, None)
    if guard.condition not in (guards.IDENTITY, guards.SAME_VALUE) or not path.steps:
        return None
    before, last = Path(path.root, path.steps[:-1]), path.steps[-1]
    equal = None if guard.condition == guards.IDENTITY else (expected, functools.partial(guards.same, expected))
    if last.kind == "item":
        return _named(before, last.key, expected, equal)
    if path.is_cell:
        return InCell(path.root.origin, expected, equal)
    module = before.read(()) if last.kind == "attribute" and before in modules else None
    if type(module) is not types.ModuleType or vars(module).get(last.key) is not expected:
        return None
    return Named(vars(module), last.key, expected, equal)


def _named(path: Path, name: Any, value: Any, equal: tuple[Any, Function] | None) -> Named | None:
    namespace = path.root.origin
    plain = path.root.kind == "object" and not path.steps and type(namespace) is dict and type(name) is str
    return Named(namespace, name, value, equal) if plain else None


def _about_argument(place: int, guard: Guard, kind: type | None) -> Requirement | None:
    expected = guard.expected
    if guard.condition == guards.SAME_TYPE:
        return OfType(place, expected)
    if guard.condition == guards.SAME_VALUE:
        return _same_value(place, expected)
    compared = _COMPARISON.fullmatch(guard.condition)
    if compared is None:
        return None
    sign, outcome = compared.groups()
    if kind is float and sign in SIGNS and _is_float(expected):
        return Compares(place, sign, float(expected), outcome == "True")
    if kind is not int or type(expected) is not int or expected not in guards.DYNAMIC_INTEGERS:
        return None
    return _compared(place, sign if outcome == "True" else _OPPOSITE.get(sign, ""), expected)


def _is_float(value: Any) -> bool:
    """Return whether Python compares with the same float."""
    return type(value) is float or (type(value) is int and abs(value) <= _EXACT)


def _same_value(place: int, value: Any) -> Requirement | None:
    if value is None or value is True or value is False:
        return Is(place, value)
    if type(value) is float:
        return SameFloat(place, value)
    return Within(place, value, value) if type(value) is int and value in guards.DYNAMIC_INTEGERS else None


def _compared(place: int, sign: str, value: int) -> Requirement | None:
    low, high = INTEGERS
    match sign:
        case "<=":
            return Within(place, low, value)
        case ">=":
            return Within(place, value, high)
        case "<" if value > low:
            return Within(place, low, value - 1)
        case ">" if value < high:
            return Within(place, value + 1, high)
        case "==":
            return Within(place, value, value)
        case "!=":
            return OtherThan(place, value)
    return None


# Results


def _forms(captured: Outline, finishing: Finishing) -> tuple[tuple[Form, ...] | None, bool]:
    """The forms of the result's leaves, and whether there is only one; None instead of forms that are unknown."""
    structure = captured.out_tree
    if structure is None:
        return (Form("static"),), True
    made = [_form(one, captured, finishing) for one in captured.outputs]
    views = [one.moving.number for one in captured.outputs if one.moving is not None]
    if len(set(views)) < len(views):
        return None, False
    if isinstance(structure, tree.Leaf):
        return _known(made), True
    if not isinstance(structure, tree.Branch) or structure.kind is not tuple or not structure.children:
        return None, False
    if any(isinstance(child, tree.Branch) for child in structure.children):
        return None, False
    leaves = iter(made)
    return _known([Form("static") if child is None else next(leaves) for child in structure.children]), False


def _known(forms: Sequence[Form | None]) -> tuple[Form, ...] | None:
    known = tuple(one for one in forms if one is not None)
    return known if len(known) == len(forms) else None


def _form(output: Output, captured: Outline, finishing: Finishing) -> Form | None:
    if output.source == "static":
        return Form("static", value=output.value)
    if output.source == "argument":
        place = None if output.path is None else output.path.leaf
        return None if place is None else Form("argument", place)
    if output.source == "moving" and output.path is None and output.code < 0:
        alone = Form("made", output.index, finishing.of_array(output))
        return alone if captured.results == 1 else Form("whole", value=finishing.of_all(output))
    if output.source != "graph" or output.code >= 0:
        return None
    if output.doubt >= 0:
        return Form("whole", value=finishing.of_all(output))
    if output.python is not None:
        number = output.python if isinstance(output.python, type) else None
        return Form("number", output.index, finishing.of_array(output), number)
    if output.frozen:
        return Form("made", output.index, finishing.of_array(output))
    return Form("scalar" if output.scalar else "array", output.index)
