"""The numbers of one function that change from call to call: inputs of its programs, unless they can be none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit.api.failures import foreign
from xjit.capture.capture import Captured
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guards
from xjit.errors import is_lasting

_NONE: frozenset[Path] = frozenset()


class ChangingNumbers:
    """The places of numbers that were seen to change.

    seen     some number has changed
    varying  where numbers are inputs
    """

    def __init__(self) -> None:
        self.seen = False
        self.varying = _NONE
        self._latest = _NONE  # those of them that were seen last
        self._fixed = _NONE  # numbers that can be constants only

    def note(self, guards: Guards, leaves: Sequence[Any]) -> None:
        """Numbers that have changed are inputs from now on."""
        changed = guards.changed_numbers(leaves)
        self.seen |= bool(changed)
        self._latest = changed - self._fixed
        self.varying |= self._latest

    def captured(self, trace: Callable[..., Captured]) -> Captured:
        """The trace with these inputs; where there is none, with fewer of them: the others stay constants."""
        varying = self.varying
        while True:
            try:
                found = trace(varying=varying)
            except Exception as error:
                if not varying or not is_lasting(error) or foreign(error):
                    raise
                varying -= self._latest & varying or varying
            else:
                self._fixed, self.varying = self._fixed | (self.varying - varying), varying
                return found

    def shared_by(self, captured: Captured) -> bool:
        """Return whether a trace serves all integers at some place among the arguments."""
        return any(path in self.varying and path.leaf is not None for path in captured.guards.inputs)
