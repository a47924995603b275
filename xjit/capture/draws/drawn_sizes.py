"""Sizes of draws: integers among their arguments that the type of the result depends on are those of the trace."""

from __future__ import annotations

from typing import Any

from xjit.capture.splits.examples import is_sized
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_scalar import TracedScalar


def with_sizes(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a draw; integers among them as those of this trace, if the type of the result needs them."""
    if not is_sized(method, args, kwargs):
        return args, kwargs
    found: tuple[Any, dict[str, Any]] = _known_integers((args, kwargs))
    return found


def _known_integers(value: Any) -> Any:
    if type(value) is TracedScalar and value.weak is int:
        return value.constant()
    if isinstance(value, TracedArray) and value.scalar and hasattr(value, "known") and value.dtype.kind in "iu":
        return value.known()
    if type(value) in (tuple, list):
        return type(value)(map(_known_integers, value))
    return {key: _known_integers(one) for key, one in value.items()} if type(value) is dict else value
