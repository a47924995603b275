"""The numbers of one function that change from call to call: inputs of its programs, unless they can be none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit.api.failures import foreign
from xjit.api.splits.host_steps import count_refused
from xjit.capture.capture import Captured
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guards
from xjit.errors import is_lasting

_NONE: frozenset[Path] = frozenset()
_OFTEN = 2
"""Comparisons of one number that came out in another way than a trace took for granted, until it is an input."""


class ChangingNumbers:
    """The places of numbers that were seen to change.

    seen     some number has changed
    varying  where numbers are inputs: open numbers, where Python needs them
    """

    def __init__(self) -> None:
        self.seen = False
        self.varying = _NONE
        self._latest = _NONE  # those of them that were seen last
        self._fixed = _NONE  # numbers that can be constants only
        self._compared: dict[Path, int] = {}  # how often a comparison came out in another way

    def note(self, guards: Guards, leaves: Sequence[Any]) -> None:
        """Numbers that have changed are inputs from now on.

        So are those that compare in other ways again and again, such as the bound of a counter.
        """
        changed = guards.changed_numbers(leaves) | self._in_other_ways(guards.other_outcomes(leaves))
        self.seen |= bool(changed)
        self._latest = changed - self._fixed
        self.varying |= self._latest

    def _in_other_ways(self, compared: frozenset[Path]) -> frozenset[Path]:
        for path in compared:
            self._compared[path] = self._compared.get(path, 0) + 1
        return frozenset(path for path in compared if self._compared[path] >= _OFTEN)

    def captured(self, trace: Callable[..., Captured]) -> Captured:
        """The trace with these inputs; where there is none, with fewer of them: the others stay constants.

        So do those that changed last where a trace with them refuses more, and calls Python for it.
        """
        varying = self.varying
        while True:
            try:
                found = trace(varying=varying)
            except Exception as error:
                if not varying or not is_lasting(error) or foreign(error):
                    raise
                varying -= self._latest & varying or varying
            else:
                if (refused := count_refused(found)) and self._latest & varying:
                    other = self._with_constants(trace, varying - self._latest)
                    if other is not None and count_refused(other) < refused:
                        found, varying = other, varying - self._latest
                self._fixed, self.varying = self._fixed | (self.varying - varying), varying
                return found

    def _with_constants(self, trace: Callable[..., Captured], varying: frozenset[Path]) -> Captured | None:
        try:
            return trace(varying=varying)
        except Exception as error:
            if not is_lasting(error) or foreign(error):
                raise
            return None

    def shared_by(self, captured: Captured) -> bool:
        """Return whether a trace serves all integers at some place among the arguments."""
        return any(path in self.varying and path.leaf is not None for path in captured.guards.inputs)
