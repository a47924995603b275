"""The names of lists and dicts, which loops and branches hand on by their entries: as new ones.

while x[0] > 0:          the list has two names behind a turn, and would be two lists: refused
    last = values
if x[0] > 0:             last may be the list `values` or another one: neither may change any more
    last = values
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xjit.capture.recording.container_entries import Entries, containers_in, contents
from xjit.capture.tracers.provenance import refuse
from xjit.dataclass import dataclass

_REASON = "a list or a dict has several names, one of them where only the run decides"
_KEPT = "code outside of the function may keep a list or a dict that has another name or changes behind the call"
_FIX = "copy it, or use an array"


@dataclass(frozen=True, slots=True, eq=False)
class Copied:
    """A container of which another one may be a copy that should be the same one: it may not change any more."""

    entries: Entries
    values: tuple[Any, ...]
    reason: str = _REASON

    @staticmethod
    def of(container: Any, reason: str = _REASON) -> Copied:
        """The container as it is now."""
        return Copied(Entries.of(container), contents(container), reason)

    def check(self) -> None:
        """CaptureError if it has changed."""
        if not self.entries.is_as(self.values):
            refuse(self.reason, fix=_FIX)


def within(values: Iterable[Any]) -> Iterator[Any]:
    """The lists and dicts within values, as often as they stand there."""
    for value in values:
        yield from containers_in(value)


def are_fresh(containers: Sequence[Any], old: Iterable[Any]) -> bool:
    """Return whether containers are no old ones, and each stands in one place."""
    own = list(map(id, containers))
    return len(set(own)) == len(own) and not set(own) & set(map(id, old))


def check_turn(values: Iterable[Any], old: Iterable[Any]) -> None:
    """CaptureError if variables have containers behind a turn that were there before the loop, or shared ones."""
    if not are_fresh(list(within(values)), old):
        refuse(_REASON, fix=_FIX)


def note_copies(recorder: Any, sources: Iterable[Any], results: Iterable[Any], old: Iterable[Any]) -> None:
    """Notes containers that results are made of, and those that are made, where these may have another name."""
    found = list(within(sources))
    if found and not are_fresh(found, old):
        recorder.copied += map(Copied.of, (*found, *within(results)))


def note_kept(recorder: Any, container: Any) -> None:
    """Notes a container that code outside gets as a new one; CaptureError for one that it has got before."""
    if any(one.entries.container is container and one.reason is _KEPT for one in recorder.copied):
        refuse(_KEPT, fix=_FIX)
    recorder.copied.append(Copied.of(container, _KEPT))


def check_copies(recorder: Any) -> None:
    """CaptureError if a container has changed of which there may be a copy that should be the same one."""
    for one in recorder.copied:
        one.check()
