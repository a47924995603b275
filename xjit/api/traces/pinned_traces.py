"""Traces that take values of the run for granted, by these values: a tree for each kind of call.

names[np.argmax(x)]        node   the program of argmax(x)
                           leaf   for 0, for 3: the programs of names[0] and of names[3]

A call that finds its values at no leaf makes a new one. Leaves cost a trace and a compile each: where new values come
and old ones do not come back, and where there are too many of them, NumPy does the calls.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from xjit import jobs
from xjit.api.specialisation import Specialisation
from xjit.api.splits.trials import Trials
from xjit.api.trace import Trace
from xjit.api.traces.tree_entry import TreeEntry, branch_key
from xjit.capture.capture import Captured
from xjit.capture.guarding.pins import Pin, PinPlace, Pins
from xjit.dataclass import dataclass, field
from xjit.errors import CaptureError
from xjit.ir.boundary import take_back
from xjit.runtime.miss import MISS
from xjit.watch import Watch

MOST_LEAVES = 64
MOST_TREES = 64
MOST_PINS = 4
"""Values that one trace takes for granted: each costs a compile."""
_FREE_LEAVES = 8
"""Leaves that may be made before any of them has come to use again."""

Key = Hashable


@dataclass(eq=False, slots=True)
class _Tree:
    """Leaves and inner nodes by the pins ahead of them; so many calls have come back to a leaf."""

    leaves: dict[Pins, Specialisation] = field(default_factory=dict)
    nodes: dict[Pins, tuple[PinPlace, CaptureError, Specialisation]] = field(default_factory=dict)
    came_back: int = 0

    @property
    def may_grow(self) -> bool:
        """Return whether another leaf is worth its compile."""
        return len(self.leaves) < min(MOST_LEAVES, _FREE_LEAVES + self.came_back)


class PinnedTraces:
    """The trees of one function. ``built`` makes the program of a trace that nobody keeps."""

    def __init__(self, built: Callable[[Key, Trace], Specialisation]) -> None:
        self._built = built
        self._trees: dict[Key, _Tree] = {}

    def captured(self, key: Key, leaves: Sequence[Any], watch: Watch, once: Callable[..., Captured]) -> Captured:
        """The trace by ``once(pins=..., until=...)``, with values taken for granted where it is refused otherwise."""
        tree, pins = self._trees.get(key, _Tree()), self._values(key, leaves)
        if pins and not tree.may_grow:
            raise copy.copy(tree.nodes[()][1])
        while True:
            try:
                return once(pins=pins)
            except CaptureError as error:
                pin = None
                if isinstance(error.pin, PinPlace) and len(pins) < MOST_PINS and tree.may_grow:
                    pin = self._added(tree, pins, (error.pin, error), key, leaves, watch, once)
                if pin is None:
                    raise
                pins = (*pins, pin)

    def _added(
        self,
        tree: _Tree,
        pins: Pins,
        refused: tuple[PinPlace, CaptureError],
        key: Key,
        leaves: Sequence[Any],
        watch: Watch,
        once: Callable[..., Captured],
    ) -> Pin | None:
        """Adds a node for the value without which a trace is refused; return its value in this call."""
        try:
            captured = once(pins=pins, until=refused[0])
        except CaptureError:
            return None
        values = captured.guards.fetch(leaves)
        if values is None:
            return None
        made = jobs.attempt(lambda: self._built(key, Trace(captured, leaves, values, watch)), watch.look)
        if isinstance(made, jobs.Failure):
            return None
        node = refused[0], _alone(refused[1]), made
        tree.nodes[pins] = node
        self._keep(key, tree)
        return _value(*node, leaves)

    def _keep(self, key: Key, tree: _Tree) -> None:
        """Keeps a tree, and no more of them than there may be."""
        self._trees[key] = tree
        while len(self._trees) > MOST_TREES:
            self._trees.pop(next(iter(self._trees)), None)

    def _values(self, key: Key, leaves: Sequence[Any]) -> Pins:
        """The values of a call, as far as there are nodes for them."""
        tree = self._trees.get(key)
        pins: Pins = ()
        while tree is not None and pins in tree.nodes:
            pin = _value(*tree.nodes[pins], leaves)
            if pin is None:
                break
            pins = (*pins, pin)
        return pins

    def remember(self, key: Key, found: Specialisation) -> None:
        """Notes a leaf, if a trace is one."""
        if found.captured.pins and key in self._trees:
            self._trees[key].leaves[found.captured.pins] = found

    def entry(self, key: Key) -> TreeEntry | None:
        """Return the shortcut to all leaves for a kind of calls; None where there are none, or is but one."""
        tree = self._trees.get(key)
        if tree is None or len(tree.leaves) < 2:
            return None
        found = _entry(tree, ())
        return found if isinstance(found, TreeEntry) else None

    def serves(self, key: Key) -> Callable[..., Any]:
        """A function that answers MISS for arguments for which the shortcut to all leaves would."""
        return self._trees[key].nodes[()][2].serves()

    def leaf(self, key: Key, leaves: Sequence[Any]) -> Specialisation | None:
        """Return the leaf for the values of a call; None where there is none yet."""
        tree = self._trees.get(key)
        found = None if tree is None else tree.leaves.get(self._values(key, leaves))
        if tree is not None and found is not None:
            tree.came_back += 1
        return found

    def forget(self, key: Key) -> bool:
        """Forgets the tree for a kind of calls; return whether it had leaves."""
        tree = self._trees.pop(key, None)
        return tree is not None and bool(tree.leaves)


def _entry(tree: _Tree, pins: Pins) -> Callable[..., Any] | None:
    """The shortcut to a leaf, or to all leaves behind a node; None where there is none."""
    if pins not in tree.nodes:
        leaf = tree.leaves.get(pins)
        own = None if leaf is None else leaf.entry
        return own.program if isinstance(own, Trials) else own
    node, depth = tree.nodes[pins][2], len(pins)
    values = {found[depth]: None for found in tree.leaves if found[:depth] == pins and len(found) > depth}
    branches = {branch_key(pin.value): _entry(tree, (*pins, pin)) for pin in values}
    known = {value: entry for value, entry in branches.items() if entry is not None}
    return None if node.entry is None else TreeEntry(node.entry, known)


def _alone(error: CaptureError) -> CaptureError:
    """The error without what it follows from, and without the frames, which would hold arrays."""
    found = copy.copy(error)
    found.__traceback__ = found.__cause__ = found.__context__ = None
    return found


def _value(place: PinPlace, why: CaptureError, node: Specialisation, leaves: Sequence[Any]) -> Pin | None:
    """The value that a node has for a call; None where its program does not tell."""
    try:
        found = node.run(leaves)
    except Exception as error:  # of the user's program, which NumPy raises in the right place
        take_back(error)
        return None
    if found is MISS or np.size(found) != 1:
        return None
    return Pin.of(place, found.reshape(())[()] if isinstance(found, np.ndarray) else found, why)
