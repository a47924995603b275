"""Attempts: calls that are captured if that is possible, and made by a step in Python if not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit.capture.splits.deferred import is_deferred
from xjit.capture.tracers.provenance import enclosing_capture, is_splitting
from xjit.errors import CaptureError, XjitError
from xjit.ir.current import current


def attempted(
    call: Callable[[], Any], function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, final: bool = False
) -> Any:
    """The result of a call that may be captured, else of a step in Python that calls the function.

    A ``final`` call is that of a library, whose own control flow nobody rewrites.
    """
    trace, outer = current(), enclosing_capture()
    if trace is None or outer is None or not is_splitting():
        return call()
    if is_deferred((args, kwargs)):
        return _step(function, args, kwargs, None)
    refusals, effects, caught = len(outer.refusals), len(trace.effects), len(outer.recorder.caught)
    wanted = outer.recorder.rewriting.mark()
    try:
        result = call()
    except CaptureError as error:
        refused: XjitError = error
    else:
        if len(outer.refusals) == refusals:
            return result
        refused = outer.refusals[refusals]
    if not final and outer.recorder.rewriting.mark() != wanted:
        raise refused
    outer.recorder.rewriting.restore(wanted)
    del outer.refusals[refusals:]
    del trace.effects[effects:]
    del outer.recorder.caught[caught:]
    return _step(function, args, kwargs, None if final else refused)


def _step(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], note: XjitError | None) -> Any:
    from xjit.capture.splits import outside

    return outside.library(function, args, kwargs, note)
