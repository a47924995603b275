"""The table of functions whose rewritten forms have to behave as they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
TABLE: list[tuple[Function, tuple[Any, ...]]] = []


def case(*inputs: Any) -> Callable[[Function], Function]:
    """Enter a function into the table with inputs for its argument; it also gets ``note``, for effects in order."""

    def enter(function: Function) -> Function:
        TABLE.append((function, inputs))
        return function

    return enter
