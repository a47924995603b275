"""Objects from outside that are objects of the run: the program reads them, and steps in Python work with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.foreign_values import foreign_value
from xjit.capture.guarding.signature import NORMALISE, signature
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.opaque import Opaque
from xjit.capture.tracers.provenance import refuse
from xjit.ops.effects.python_call import OBJECT_TYPE

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder


def object_of_run(recorder: Recorder, value: Any, path: Path) -> Any:
    """A value from outside of the function's arguments as such an object; None of others."""
    if guards.is_labelled(type(value)):
        return labelled_of_run(recorder, value, path)
    if guards.is_generator(type(value)):
        recorder.add(guards.same_type(path, type(value)))
        return generator_of_run(recorder, value, path)
    return None


def labelled_of_run(recorder: Recorder, value: Any, path: Path) -> Any:
    """An array with labels: what its library makes of it has the types that it makes of a copy."""
    recorder.add(guards.same_labelled(path, value))
    if recorder.trace.splitting:
        node = recorder.parameter(path, OBJECT_TYPE)
        return DeferredObject(node, recorder.trace, str(path), type(value), example=value.copy())
    fix = f"pass its numbers: {path.expression}.to_numpy()" + (
        ", of a column each" if hasattr(value, "columns") else ""
    )
    refuse(f"{path} is a {type(value).__qualname__}, whose own code works with it", fix=fix)


def generator_of_run(recorder: Recorder, generator: Any, path: Path) -> Any:
    """A generator of random numbers, from which the program draws, or a step in Python."""
    return DeferredObject(recorder.parameter(path, OBJECT_TYPE), recorder.trace, str(path), type(generator))


def foreign_array(array: np.ndarray[Any, Any], path: Path) -> Opaque:
    """An array from outside that kernels cannot read."""
    if signature(array) == NORMALISE:
        plain = array.dtype.newbyteorder("=")
        reason = f"{path} is unaligned or in another byte order"
        return Opaque(array, reason, f"use {path.expression}.astype({plain.name!r})")
    about = foreign_value(array)
    return Opaque(array, f"{path}: {about.kind}; {about.taken}", about.instead(path.expression))


def foreign_object(value: Any, path: Path) -> Opaque:
    """An object from outside that nobody watches."""
    about = foreign_value(value)
    return Opaque(value, f"{path}: {about.kind}; nobody sees when it changes", about.instead(path.expression))
