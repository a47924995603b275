"""Listening to the compiler: a record for each graph that it lowers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tools.replay.records import Record
from xjit import compile
from xjit.codegen.text.source import without_comments
from xjit.inspect.explain import explain
from xjit.ir.node import Graph
from xjit.ir.printer import graph_text
from xjit.programs.input_layouts import input_specs

# Where a line of a program stands says nothing about what it becomes.
_PLACE = re.compile(r"[ ]*(?:<[^<>\n]*>|[^\s()]+\.py):\d+")


@contextmanager
def recording(tell: Callable[[Record], None], program: Callable[[], str]) -> Iterator[None]:
    """Tell of every graph that is lowered meanwhile; ``program`` names what is running."""
    lower = compile.lower_graph

    def lower_and_tell(graph: Graph, values: Sequence[Any], *args: Any, **options: Any) -> compile.Lowered:
        lowered = lower(graph, values, *args, **options)
        tell(record_of(lowered, key_of(graph, values, args, options), program()))
        return lowered

    compile.lower_graph = lower_and_tell
    try:
        yield
    finally:
        compile.lower_graph = lower


def key_of(graph: Graph, values: Sequence[Any], args: Sequence[Any], options: dict[str, Any]) -> str:
    """Return a digest of all that lowering is given but target and watch, which older revisions do not have, and
    nothing, which they need not know of.
    """
    projections = [node.kwargs["index"] for node in graph.nodes if "index" in node.kwargs]
    layouts = [str(spec) for spec in input_specs(graph, values)]
    told = sorted((name, value) for name, value in options.items() if name not in ("target", "watch") and value != ())
    parts = (_PLACE.sub("", graph_text(graph)), projections, layouts, args, told)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def record_of(lowered: compile.Lowered, key: str, program: str) -> Record:
    """Return what became of one graph."""
    found = explain(lowered)
    return Record(
        key,
        program,
        tuple(_PLACE.sub("", step) for step in found.steps),
        tuple(_PLACE.sub("", reason) for reason in found.reasons),
        tuple(without_comments(source) for _, source in lowered.kernels),
    )
