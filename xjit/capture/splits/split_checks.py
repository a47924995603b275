"""Checks of a whole split trace: what steps in Python may do beside the graph, and what code may see of it."""

from __future__ import annotations

from typing import Any

from xjit.capture.tracers.provenance import refuse


def check_split(recorder: Any) -> None:
    """CaptureError if a step in Python may keep an array that is written to later, or if code may look at what an
    object is that only the run makes; in the second case the code is asked to be rewritten.
    """
    for buffer, version in recorder.kept:
        if buffer.version(recorder.trace) is not version:
            refuse("an array is written to behind a call outside that may keep it", fix="pass a copy: x.copy()")
    if recorder.unknown_objects and recorder.looking:
        for code in recorder.looking:
            recorder.rewriting.want(code)
        refuse(
            "the function asks by `is`, `match` or __class__ what an object may be that only the run makes",
            fix="use isinstance, or compare values by ==",
        )
