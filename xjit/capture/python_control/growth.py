"""The types and bounds that the variables of a loop come to have, found by turns of it."""

from __future__ import annotations

from typing import Any

from xjit.capture.python_control.leaves import Kind
from xjit.capture.python_control.loop_turns import Carried, carried_of, is_same_value
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_integers import Bounds
from xjit.dataclass import dataclass, field, replace

_MOST_TYPES = 3
_LONGEST = 2**40
"""More turns than a loop of integers takes in a day."""
_FAR = 2**61
"""The most that an integer may grow in all turns of a loop, those of loops within it included."""
_WIDTHS = (1, 8, 16, 32, 52, 62)


@dataclass(slots=True)
class Growth:
    """The development of one variable: its types so far, and by how much its integers grow in a turn.

    ``claims`` are the growths that integers are believed to have, from wherever they start; another turn, from far
    away, has to show it.
    """

    name: str
    start: Any
    turns: int | None
    carried: Carried | None = None
    types: int = 0
    growths: dict[int, Bounds] = field(default_factory=dict)
    claims: dict[int, Bounds] = field(default_factory=dict)

    def like(self, earlier: Growth) -> None:
        """Begins with what an earlier trace of the same loop has come to, which often is right at once."""
        if earlier.carried is None:
            return
        found = earlier.carried
        if self.start is not UNBOUND:
            found = _joined(carried_of(self.name, self.start), found)
        self.carried, self.claims, self.growths = found, dict(earlier.claims), dict(earlier.growths)

    def goes_on(self, after: Any) -> bool:
        """Takes in what a turn made of the variable; return whether another turn has to be tried."""
        if self.carried is None:
            if is_same_value(self.start, after):
                return False
            found = carried_of(self.name, after)
            if self.start is not UNBOUND:
                found = _joined(carried_of(self.name, self.start), found)
            self.carried = found
            return True
        found = carried_of(self.name, after)
        if found.types != self.carried.types:
            self.types += 1
            if self.types >= _MOST_TYPES:
                refuse(f"the type of {self.name} differs from turn to turn of a loop", after)
            self.carried = found
            return True
        wider = self._widened(found)
        changes = wider != self.carried
        self.carried = wider
        return changes

    def _widened(self, found: Carried) -> Carried:
        assert self.carried is not None
        pairs = zip(self.carried.leaves, found.leaves, strict=True)
        return replace(self.carried, leaves=tuple(self._leaf(k, *pair) for k, pair in enumerate(pairs)))

    def _leaf(self, place: int, one: Any, after: Any) -> Any:
        if not isinstance(one, Kind):
            return one
        if after.doubtful and not one.doubtful:
            return replace(one, doubtful=after.doubtful)
        if one.bounds is None or one.wraps:
            return one
        if after.wraps:
            return one.joined(after)
        if _holds(one.bounds, after.bounds):
            return one
        growth = after.bounds[0] - one.bounds[0], after.bounds[1] - one.bounds[1]
        claim = self.claims.get(place)
        if claim is not None and claim[0] <= min(growth[0], 0) and max(growth[1], 0) <= claim[1]:
            return one if self.turns is not None else replace(one, wraps=True)  # that takes years
        began = one.joined(after).bounds
        assert began is not None
        before = self.growths.get(place)
        if before is None:
            self.growths[place] = growth
            return replace(one, bounds=began)
        turns = _LONGEST if self.turns is None else self.turns
        if claim is None and before == growth and turns * max(map(abs, growth)) <= _FAR:
            self.claims[place] = claim = (min(growth[0], 0), max(growth[1], 0))
            return replace(one, bounds=(one.bounds[0] + turns * claim[0], one.bounds[1] + turns * claim[1]))
        self.claims[place] = (1, -1)
        return replace(one, bounds=_power_of_two(began, self.name))


def _joined(start: Carried, after: Carried) -> Carried:
    if start.types != after.types:
        return after
    pairs = zip(start.leaves, after.leaves, strict=True)
    return replace(after, leaves=tuple(a.joined(b) if isinstance(a, Kind) else a for a, b in pairs))


def _holds(bounds: Bounds, inner: Bounds) -> bool:
    return bounds[0] <= inner[0] and inner[1] <= bounds[1]


def _power_of_two(bounds: Bounds, name: str) -> Bounds:
    """The next bounds of a number of bits."""
    for width in _WIDTHS:
        found = (-(2**width) if bounds[0] < 0 else 0, 2**width - 1)
        if _holds(found, bounds):
            return found
    refuse(f"the Python integer {name} may leave 64 bits in a loop", fix="start with a NumPy integer")
