"""Objects from outside that are objects of the run: the program reads them, and steps in Python work with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.opaque import Opaque
from xjit.capture.tracers.provenance import refuse
from xjit.ops.effects.python_call import OBJECT_TYPE

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder


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
    """A generator of random numbers, from which steps in Python draw."""
    if recorder.trace.splitting:
        return DeferredObject(recorder.parameter(path, OBJECT_TYPE), recorder.trace, str(path), type(generator))
    reason = f"{path} draws from random state, and a trace would freeze the draw"
    return Opaque(generator, reason, "draw outside of the function, and pass the numbers in")
