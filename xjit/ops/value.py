"""The symbolic values inside computations: Python operators with XLA's strict meaning."""

from __future__ import annotations

from typing import Any

from xjit.errors import CaptureError
from xjit.ir.context import TracedValue


class ScalarValue(TracedValue):
    """A traced value whose operators are those of xjit.ops: nothing is promoted, integers divide toward zero."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise CaptureError(
            "a computation branches on a traced value", fix="use ops.select, which takes both values"
        )
