"""Programs that store results into their arguments, made of functions that say what is stored."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import compile
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.capture.tracers.traced_array import TracedArray
from xjit.inspect.explain import Explanation, explain
from xjit.ir.current import tracing
from xjit.ir.node import Graph
from xjit.ops.define.core import lift
from xjit.runtime.steps.program import Program
from xjit.runtime.tally import KernelTally
from xjit.target import cpu
from xjit.types import type_of

Stored = dict[int, Any]
Function = Callable[..., tuple[tuple[Any, ...], Stored]]
"""Returns its results, and by the numbers of arguments what is stored into these."""


def traced(function: Function, arguments: Sequence[Any]) -> tuple[Graph, tuple[tuple[int, int], ...]]:
    """The graph of a function, and which of its outputs are stored into which arguments."""
    trace = CaptureTrace("stored", wrap=TracedArray)
    trace.began = sys._getframe().f_code
    with tracing(trace):
        values = [TracedArray(trace.parameter(type_of(np.asarray(one))), trace) for one in arguments]
        results, stored = function(*values)
        graph = trace.finish(tuple(lift(trace, one) for one in (*results, *stored.values())))
    return graph, tuple((len(results) + number, place) for number, place in enumerate(stored))


def lowered(function: Function, arguments: Sequence[Any], views: Sequence[bool] = ()) -> compile.Lowered:
    """The plan of such a function; ``views`` says which of its results are views."""
    graph, written = traced(function, arguments)
    shown = (*views, *[False] * (len(graph.outputs) - len(views)))
    return compile.lower_graph(graph, arguments, shown, target=cpu(), written=written)


def program(function: Function, arguments: Sequence[Any], views: Sequence[bool] = ()) -> Program:
    """The program of such a function for arguments like these."""
    return compile.build_program(lowered(function, arguments, views), KernelTally())


def explained(function: Function, arguments: Sequence[Any]) -> Explanation:
    """The explanation of such a program."""
    return explain(lowered(function, arguments))
