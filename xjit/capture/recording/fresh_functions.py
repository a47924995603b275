"""Functions among the arguments that callers make anew for each call, known by what they run and read.

solve(x, lambda t: t * rate)    the same trace at each call: one code, over the same globals and an equal ``rate``
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guard
from xjit.capture.guarding.signature import is_inner
from xjit.capture.recording.global_reads import effect_of, rebuild
from xjit.capture.recording.traceable import is_traceable

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder


def is_fresh(recorder: Recorder, value: Any, path: Path) -> bool:
    """Return whether a function may be another one of the same code at the next call, which the trace fits as well.

    It is an argument, or in the closure of one, an inner function or a lambda, and all that it reads can be guarded.
    """
    if type(value) is not types.FunctionType or path.root.kind != "leaf" or any(map(_is_of_object, path.steps)):
        return False
    if id(value) in recorder.functions or not is_traceable(value) or vars(value) or value.__kwdefaults__:
        return False
    is_bound = "__class__" not in value.__code__.co_freevars and not any(map(_is_empty, value.__closure__ or ()))
    return is_inner(value) and is_bound and not effect_of(value.__code__)


def _is_of_object(step: Any) -> bool:
    return step.kind != "item" and step.key not in ("__closure__", "cell_contents")


def _is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def rebuild_fresh(recorder: Recorder, function: types.FunctionType, path: Path) -> Any:
    """The function over recording globals, for which any other of the same code that reads the same may stand."""
    recorder.add(guards.same_type(path, types.FunctionType))
    for name in ("__code__", "__globals__", "__kwdefaults__"):
        words = f"{{path}} changed: {path} is another function"
        recorder.add(Guard(path.attribute(name), guards.IDENTITY, getattr(function, name), words))
    recorder.add(guards.same_length(path.attribute("__dict__"), 0))
    recorder.identities.fresh.append((path, function))
    return rebuild(recorder, function, path)


def identities_of_fresh(recorder: Recorder) -> Iterator[Guard]:
    """The guards that functions are the very same ones, where the traced function could tell them from others.

    Two functions of different code never are one.
    """
    known = [function for function, _ in recorder.functions.values()]
    for path, function in recorder.identities.fresh:
        alike = (one for one in known if one is not function and one.__code__ is function.__code__)
        if recorder.identities.looked or any(True for _ in alike):
            yield guards.identity(path, function)


def record_partial(recorder: Recorder, value: functools.partial[Any], path: Path) -> Any:
    """The partial function, with its function and the arguments recorded."""
    recorder.add(guards.identity(path, value))
    function = recorder.read(value.func, path.attribute("func"))
    args = [recorder.read(item, path.attribute("args").item(k)) for k, item in enumerate(value.args)]
    keywords = {
        key: recorder.read(item, path.attribute("keywords").item(key)) for key, item in value.keywords.items()
    }
    return functools.partial(function, *args, **keywords)
