"""Answers about the calls of a function: what runs, in kernels, text and graphs, or what stands in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xjit import compile, jobs
from xjit.api.failures import public
from xjit.dataclass import replace
from xjit.errors import CaptureError, XjitError
from xjit.inspect.explain import Explanation, of_numpy
from xjit.inspect.explain import explain as explained
from xjit.inspect.stages import Stages, reports
from xjit.ir.printer import graph_text
from xjit.target import resolved

if TYPE_CHECKING:
    from xjit.api.dispatcher import Dispatcher
    from xjit.api.trace import Trace

Arguments = tuple[Any, ...]


def explain(dispatcher: Dispatcher, args: Arguments, kwargs: dict[str, Any]) -> Explanation:
    """Explain what a call runs: kernels, bytes, and a reason for every split. Compiles nothing."""
    found = _traced(dispatcher, args, kwargs)
    if isinstance(found, CaptureError):
        return _of_numpy(dispatcher, found)
    made = explained(_lowered(dispatcher, found))
    pins = (f"{pin.words}; {pin.why.fix or pin.why.remedy}" for pin in found.captured.pins)
    return replace(made, reasons=(*made.reasons, *pins), trials=dispatcher.trials)


def source(dispatcher: Dispatcher, args: Arguments, kwargs: dict[str, Any]) -> str:
    """The generated source of all kernels of such a call."""
    found = _traced(dispatcher, args, kwargs)
    if isinstance(found, CaptureError):
        return _as_comment(dispatcher, found)
    return "\n".join(text for part in _lowered(dispatcher, found).all() for _, text in part.kernels)


def graph(dispatcher: Dispatcher, args: Arguments, kwargs: dict[str, Any]) -> str:
    """The traced graph of such a call as text."""
    found = _traced(dispatcher, args, kwargs)
    if isinstance(found, CaptureError):
        return _as_comment(dispatcher, found)
    return graph_text(_lowered(dispatcher, found).graph)


def stages(dispatcher: Dispatcher, args: Arguments, kwargs: dict[str, Any]) -> Stages:
    """The program of such a call after each stage of the compiler."""
    trace = _traced(dispatcher, args, kwargs)
    if isinstance(trace, CaptureError):
        raise public(trace) from None
    target, varying = resolved(dispatcher.options.target), dispatcher.numbers_change
    return jobs.run(lambda: reports(trace.captured.graph, trace.staged(target, varying)), trace.watch.look)


def _traced(dispatcher: Dispatcher, args: Arguments, kwargs: dict[str, Any]) -> Trace | CaptureError:
    """The trace of such a call, or why NumPy runs it; what strict refuses is raised."""
    try:
        return dispatcher.traced_once(args, kwargs)
    except XjitError as error:
        if isinstance(error, CaptureError) and not dispatcher.options.raises:
            return error
        raise public(error) from None


def _lowered(dispatcher: Dispatcher, trace: Trace) -> compile.Lowered:
    target, varying = resolved(dispatcher.options.target), dispatcher.numbers_change
    return jobs.run(lambda: trace.lowered(target, varying), trace.watch.look)


def _of_numpy(dispatcher: Dispatcher, refused: CaptureError) -> Explanation:
    lines = [f"{one.brief}; {one.fix or one.remedy}" for one in (refused, *refused.others)]
    return of_numpy(dispatcher.name, tuple(dict.fromkeys(lines)))


def _as_comment(dispatcher: Dispatcher, refused: CaptureError) -> str:
    return "\n".join(f"# {line}" for line in str(_of_numpy(dispatcher, refused)).splitlines())
