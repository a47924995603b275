"""Lists and dicts among the arguments: a call takes them apart, so that a trace has their entries, not themselves.

f(s.counts, s, x)        the function does s.counts[0] += 1, and reads the list by its other name, too

Where a function changes a list from outside, or looks which object a list is, none of those may be that list. Their
entries tell: a list of other objects is another list. Where all are the same objects, an argument of numbers and text
is not taken apart at the next try, and NumPy does the call for others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path, leaf_path
from xjit.capture.guarding.identities import Known
from xjit.capture.recording.container_entries import containers_in
from xjit.capture.recording.object_state import assigned_to, state_of
from xjit.capture.tracers.provenance import refuse
from xjit.dataclass import dataclass

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder


@dataclass(frozen=True, slots=True, eq=False)
class TakenApart:
    """A list or dict among the arguments: its class, and its entries, each the path of a leaf or a class.

    It is the argument of a place or a name; ``argument`` is None for one that stands within another.
    """

    kind: type
    entries: tuple[Path | type, ...]
    argument: int | str | None


def check_taken_apart(
    recorder: Recorder, args: tuple[Any, ...], kwargs: dict[str, Any], in_tree: tree.Tree, labels: Sequence[str]
) -> None:
    """Guards that no argument that was taken apart is a container that the function changes, or compares by ``is``.

    CaptureError where one may be, and where an object from outside would get one that was put together again.
    """
    _check_not_assigned(recorder, [*enumerate(args), *kwargs.items()])
    identities = recorder.identities
    met = identities.containers() if identities.looked else identities.changed
    found = _taken_apart(in_tree, labels) if met or identities.looked else []
    for one in found:
        for known in met:
            if type(known.value) is one.kind:
                _keep_from(recorder, one, known)
    for one, other in itertools.combinations(found, 2) if identities.looked else ():
        if one.kind is other.kind and len(one.entries) == len(other.entries):
            _keep_apart(recorder, one, other)


def _check_not_assigned(recorder: Recorder, arguments: Sequence[tuple[int | str, Any]]) -> None:
    places = {id(one): place for place, one in arguments}
    own = {id(inner) for _, one in arguments for inner in containers_in(one)}
    stand_ins = [stand_in for one in recorder.objects if (stand_in := one()) is not None] if own else []
    for stand_in in stand_ins:
        if state_of(stand_in).path is None:
            continue
        for found in containers_in(tuple(assigned_to(stand_in).values())):
            if id(found) in own:
                if id(found) in places:
                    recorder.rewriting.open_argument(places[id(found)])
                name = type(found).__name__
                refuse(
                    f"the function assigns a {name} among its arguments to an attribute",
                    fix=f"assign a copy of the {name}",
                )


def _keep_from(recorder: Recorder, one: TakenApart, known: Known) -> None:
    """Guards that an argument has other entries than a container from elsewhere."""
    guard = guards.other_entries(known.path, one.entries)
    values = [path.read(recorder.leaves) for path in guard.others]
    if tree.has_other_entries(known.value, guard.expected, values):
        recorder.add(guard)
    else:
        _refuse(recorder, str(known.path), one)


def _keep_apart(recorder: Recorder, one: TakenApart, other: TakenApart) -> None:
    """Guards that two arguments have other arrays."""
    for first, second in zip(one.entries, other.entries, strict=True):
        if not (isinstance(first, Path) and isinstance(second, Path)):
            if first is not second:
                return
            continue
        values = first.read(recorder.leaves), second.read(recorder.leaves)
        if values[0] is not values[1] and all(isinstance(value, np.ndarray) for value in values):
            recorder.add(guards.distinct_objects(first, [second]))
            return
    _refuse(recorder, "another argument", one, other)


def _refuse(recorder: Recorder, other: str, *arguments: TakenApart) -> NoReturn:
    """CaptureError; at the next try the arguments are not taken apart, if they are numbers and text."""
    for one in arguments:
        if one.argument is not None:
            recorder.rewriting.open_argument(one.argument)
    name = arguments[0].kind.__name__
    refuse(
        f"a {name} among the arguments may be {other} itself, which the function changes or compares by `is`",
        fix=f"pass a copy of the {name}",
    )


def _taken_apart(in_tree: tree.Tree, labels: Sequence[str]) -> list[TakenApart]:
    """All lists and dicts among the arguments."""
    paths = (leaf_path(number, f"argument {label}") for number, label in enumerate(labels))
    found: list[TakenApart] = []
    if isinstance(in_tree, tree.Branch):
        args, kwargs = in_tree.children
        assert isinstance(args, tree.Branch) and isinstance(kwargs, tree.Branch)
        for place, part in enumerate(args.children):
            _entry(part, paths, place, found)
        for name, part in zip(kwargs.keys or (), kwargs.children, strict=True):
            _entry(part, paths, name, found)
    return found


def _entry(
    part: tree.Tree, paths: Iterator[Path], argument: int | str | None, found: list[TakenApart]
) -> Path | type:
    """The part as an entry of what is around it; lists and dicts in it are put to those that were found."""
    if part is None:
        return type(None)
    if isinstance(part, tree.Leaf):
        return next(paths)
    entries = tuple(_entry(one, paths, None, found) for one in part.children)
    if part.kind in (list, dict):
        found.append(TakenApart(part.kind, entries, argument))
    return part.kind
