"""The order that groups need: a graph that grows, and is asked for paths on the way."""

from __future__ import annotations

from typing import Self

from xjit.dataclass import dataclass, field


@dataclass(eq=False)
class Dependent:
    """Something that runs after those ``before`` it. Its ``depth`` is more than that of all of them."""

    before: set[Self] = field(default_factory=set)
    after: set[Self] = field(default_factory=set)
    depth: int = 0

    def need(self, others: set[Self]) -> None:
        """Notes what has to run first; no path leads from there to here."""
        fresh = others - self.before - {self}
        self.before |= fresh
        for other in fresh:
            other.after.add(self)
        self._deepen(max((other.depth for other in fresh), default=-1) + 1)

    def leave(self, other: Self) -> None:
        """Forgets one that had to run first; this one stays as deep as it was."""
        self.before.discard(other)
        other.after.discard(self)

    def _deepen(self, depth: int) -> None:
        waiting = [(self, depth)]
        while waiting:
            one, least = waiting.pop()
            if one.depth < least:
                one.depth = least
                waiting += [(other, least + 1) for other in one.after]

    def needs(self, goal: Self) -> bool:
        """Return whether a path leads to something that has to run first, directly or through others.

        Looked for from both ends in turn, and between their depths only: where one end has a short way to go, the
        answer is there at once.
        """
        if self.depth <= goal.depth:
            return False
        above, below = {self}, {goal}
        up, down = [self], [goal]
        while up and down:
            for other in up.pop().before:
                if other in below:
                    return True
                if other.depth > goal.depth and other not in above:
                    above.add(other)
                    up.append(other)
            for other in down.pop().after:
                if other in above:
                    return True
                if other.depth < self.depth and other not in below:
                    below.add(other)
                    down.append(other)
        return False

    def absorb(self, other: Self) -> None:
        """Takes the place of another one; no path leads from either to the other but an immediate one."""
        for first in other.before:
            first.after.discard(other)
        for last in other.after:
            last.before.discard(other)
            if last is not self:
                last.need({self})
        self.before.discard(other)
        self.after.discard(other)
        self.need(other.before - {self})
        self._deepen(other.depth)
