"""Objects from outside that are objects of the run: the program reads them, and steps in Python work with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.splits.deferred import DeferredObject
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
    name = str(path).removeprefix("argument ").removeprefix("global ")
    fix = f"pass its numbers: {name}.to_numpy()" + (", of a column each" if hasattr(value, "columns") else "")
    refuse(f"{path} is a {type(value).__qualname__}, whose own code works with it", fix=fix)


def generator_of_run(recorder: Recorder, generator: Any, path: Path) -> Any:
    """A generator of random numbers, from which the program draws, or a step in Python."""
    return DeferredObject(recorder.parameter(path, OBJECT_TYPE), recorder.trace, str(path), type(generator))
