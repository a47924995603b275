"""Tables of the traces of one function: how a call finds those of its kind."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias

from xjit.api.specialisation import Specialisation
from xjit.api.splits.trials import Trials

Key = Hashable
# How a call is found: by the structure and the signatures of its arguments; and quickly, if there is no container.
Keys: TypeAlias = "tuple[Any, Key | None]"
Entries: TypeAlias = "tuple[Callable[..., Any], ...]"

# Shortcuts that a call tries one after the other before it looks anything up; a miss costs 20 ns and more.
MAXIMUM_ENTRIES = 6
# Traces that one function keeps, of 30 KiB or so each; the one unused for longest goes first. Pieces of data come in
# hundreds of lengths, and to trace takes a thousand times as long as to look up a trace.
MAXIMUM_TRACES = 512


class KnownTraces:
    """The traces of one function, by the kind of a call. Jobs change the tables, calls read them without a lock.

    ``entries`` are the shortcuts to some of them, by the names of the arguments that are given by name.
    """

    def __init__(self, started: Entries) -> None:
        self.entries: Mapping[tuple[str, ...], Entries] = {(): started} if started else {}
        self._by_key: OrderedDict[Key, list[Specialisation]] = OrderedDict()
        self._joined: dict[Key, Callable[..., Any]] = {}
        self._flat: dict[Key, list[Specialisation]] = {}  # calls without containers, by a key that is made quickly

    def of(self, key: Key) -> list[Specialisation]:
        """The traces for calls of a kind, the one to try first ahead."""
        return self._by_key.get(key, [])

    def of_flat(self, key: Key) -> list[Specialisation]:
        """The same by the quick key."""
        return self._flat.get(key, [])

    def newest(self, keys: Keys) -> Specialisation | None:
        """The trace that was made last for calls of this kind."""
        return next(iter(self._by_key.get(keys[0], ())), None)

    def remember(self, keys: Keys, found: Specialisation, general: bool) -> None:
        """Lets calls find a trace; a ``general`` one after those for one number, which are quicker."""
        key, flat = keys
        traces = self._by_key.setdefault(key, [])
        traces.insert(len(traces) if general else 0, found)
        self._by_key.move_to_end(key)
        if flat is not None:
            self._flat[flat] = traces
        if found.entry is not None and found.entry not in self.entries.get(found.names, ()):
            self._add_entry(found.names, found.entry, general)
        while sum(map(len, self._by_key.values())) > MAXIMUM_TRACES:
            oldest, traces = next(iter(self._by_key.items()))
            traces.pop()
            if not traces:
                self._drop(oldest, traces)

    def _add_entry(self, names: tuple[str, ...], entry: Callable[..., Any], general: bool) -> None:
        ahead = self.entries.get(names, ())[: MAXIMUM_ENTRIES - 1]
        self.entries = {**self.entries, names: (*ahead, entry) if general else (entry, *ahead)}

    def add_plain(self, names: tuple[str, ...], entry: Callable[..., Any]) -> None:
        """Lets calls find the way to the plain function, behind those of compiled calls."""
        known = self.entries.get(names, ())[: 2 * MAXIMUM_ENTRIES - 1]
        self.entries = {**self.entries, names: (*known, entry)}

    def put_first(self, key: Key, found: Specialisation) -> None:
        """Has calls of a kind try one of its traces ahead of the others."""
        traces = self._by_key.get(key, [])
        traces.sort(key=lambda one: one is not found)
        known = self.entries.get(found.names, ())
        if found.entry is not None:
            rest = (one for one in known if one is not found.entry)
            self.entries = {**self.entries, found.names: (found.entry, *rest)[: max(len(known), 1)]}

    def join(self, key: Key, names: tuple[str, ...], entry: Callable[..., Any]) -> None:
        """Has calls of a kind take a shortcut in the place of those to each of its traces."""
        self._joined[key], before = entry, self._joined.get(key)
        own = [before, *(one.entry for one in self.of(key))]
        self.entries = {**self.entries, names: (entry, *_without(self.entries.get(names, ()), own))}

    def forget(self, key: Key) -> None:
        """Forgets the traces for calls of a kind."""
        traces = self._by_key.get(key, [])
        own = [self._joined.pop(key, None), *(one.entry for one in traces)]
        self.entries = {names: _without(known, own) for names, known in self.entries.items()}
        self._drop(key, traces)

    def _drop(self, key: Key, traces: list[Specialisation]) -> None:
        self._by_key.pop(key, None)
        self._flat = {flat: known for flat, known in self._flat.items() if known is not traces}

    def clear(self) -> None:
        """Forgets all traces."""
        self.entries = {}
        self._by_key.clear()
        self._joined.clear()
        self._flat.clear()

    @property
    def trials(self) -> tuple[str, ...]:
        """The outcomes of the trials of split programs."""
        apart = (traces for key, traces in self._by_key.items() if key not in self._joined)
        own = (one.entry for traces in apart for one in traces)
        found = dict.fromkeys((*own, *(one for entries in self.entries.values() for one in entries)))
        return tuple(entry.words for entry in found if isinstance(entry, Trials))


def _without(entries: Entries, own: Iterable[Any]) -> Entries:
    return tuple(one for one in entries if not any(one is other for other in own))
