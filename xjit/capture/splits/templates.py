"""Templates of callbacks: functions without what they close over, of which each call of a program makes one."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A function without what it closes over: its code as the user has written it, and what else it is made of."""

    code: types.CodeType
    namespace: dict[str, Any]
    name: str
    doc: Any

    def __call__(self, defaults: Any, named: Any, values: Sequence[Any]) -> types.FunctionType:
        """The function over these values of its free variables, UNBOUND for those without one."""
        cells = tuple(types.CellType() if one is UNBOUND else types.CellType(one) for one in values)
        made = types.FunctionType(self.code, self.namespace, self.name, defaults, cells)
        made.__kwdefaults__, made.__doc__ = named, self.doc
        return made
