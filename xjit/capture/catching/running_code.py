"""Instructions that frames are at: how code uses a value that asks."""

from __future__ import annotations

import dis
from types import FrameType

_SUBSCRIPTS = frozenset(dis.opmap[name] for name in ("BINARY_SUBSCR", "STORE_SUBSCR") if name in dis.opmap)
_LOOKUPS = frozenset(dis.opmap[name] for name in ("BINARY_SUBSCR", "CONTAINS_OP") if name in dis.opmap)


def is_subscript(frame: FrameType) -> bool:
    """Return whether the code of a frame is at an entry of a list or a tuple."""
    return frame.f_code.co_code[frame.f_lasti] in _SUBSCRIPTS


def is_lookup(frame: FrameType) -> bool:
    """Return whether the code of a frame looks a key up, and does not store it."""
    return frame.f_code.co_code[frame.f_lasti] in _LOOKUPS


def is_traced(frame: FrameType) -> bool:
    """Return whether the code of a frame is one of the user's that is traced: it runs over recording globals."""
    return type(frame.f_globals) is not dict
