"""The steps of the programs that functions become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.helpers.capturing import captured
from xjit import compile
from xjit.runtime.spec import Step
from xjit.target import cpu


def steps(function: Callable[..., Any], *operands: Any) -> tuple[Step, ...]:
    """The steps of a function's program."""
    found, leaves = captured(function, *operands)
    values = found.guards.fetch(leaves)
    assert values is not None
    views = [False] * len(found.graph.outputs)
    return compile.program_spec(compile.lower_graph(found.graph, values, views, target=cpu())).body.steps
