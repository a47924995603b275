"""The kind of entry that calls of compiled functions go through."""

from __future__ import annotations

import types
from typing import Any

from xjit.runtime.calls.guarded import GuardedProgram


def is_native(function: Any) -> bool:
    """Return whether a call like the last one goes through native code alone."""
    entry = function._entries[0]
    behind = getattr(getattr(entry, "__self__", None), "program", None)
    program = behind.program if isinstance(behind, GuardedProgram) else entry
    return isinstance(entry, types.BuiltinFunctionType) and isinstance(program, types.BuiltinFunctionType)
