"""Parts that a call in Python is made of, in the trace and in a process that has kept its program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit.dataclass import dataclass
from xjit.errors import XjitError
from xjit.ir.python_terms import Expression
from xjit.ops.effects.expected_results import Results, copied
from xjit.ops.effects.python_call import PythonCall, Site
from xjit.ops.effects.step_functions import Storing


@dataclass(frozen=True, slots=True, eq=False)
class CallParts:
    """An ``expression`` over operands, and the form of its ``results``, None of one object.

    Arrays are ``copied`` out of the results where a library may keep them. The last operands are so many pairs that
    are ``stored`` where the call raises an error.
    """

    expression: Expression
    results: Results | None = None
    copied: bool = False
    stored: int = 0

    def call(
        self,
        site: Site,
        *,
        repeats: bool,
        first: bool = False,
        guarded: bool = False,
        sure: bool = False,
        opened: bool = False,
        note: XjitError | None = None,
        function: Callable[..., Any] | None = None,
    ) -> PythonCall:
        """The call. Its ``function`` is that of the expression, given where it is known already."""
        called = self.expression.function() if function is None else function
        arrays = None if self.results is None else self.results.arrays
        return PythonCall(
            Storing(called, self.stored) if self.stored else called,
            site,
            repeats=repeats,
            first=first,
            guarded=guarded,
            sure=sure,
            opened=opened,
            types=None if self.results is None else self.results.types,
            arrays=arrays if arrays is None or not self.copied else copied(arrays),
            note=note,
            parts=self,
        )
