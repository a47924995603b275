"""Lessons of calls about a function that no trace could tell: later traces are made with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xjit.dataclass import dataclass, field, replace
from xjit.ir.boundary import LITTLE_ROOM, WRONG_SITE

MORE = 16
"""Times as much room that arrays of open length get once there was too little."""
MOST = MORE**4


@dataclass(frozen=True, slots=True)
class Learned:
    """The sites of calls in Python that were not as they were taken for, and how many ``times`` as long as guessed
    arrays may become whose length only the run knows.
    """

    unforeseen: Mapping[Any, bool] = field(default_factory=dict)
    times: int = 1

    @property
    def options(self) -> dict[str, Any]:
        """Keywords of a trace that is made with it."""
        return {"unforeseen": self.unforeseen, "times": self.times}

    def after(self, error: BaseException) -> Learned:
        """The same with the lesson of a call that has ended with an error."""
        if getattr(error, LITTLE_ROOM, False) is True:
            return replace(self, times=min(self.times * MORE, MOST))
        site, results = getattr(error, WRONG_SITE)
        return replace(self, unforeseen={**self.unforeseen, site: results})
