"""One trace of a function with its program: runs on the leaves of a call if its guards hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xjit import config, tree
from xjit.capture.capture import Captured, Output
from xjit.compile import Lowered
from xjit.errors import TargetError
from xjit.ir.node import Graph
from xjit.ops.evaluate import evaluate_graph
from xjit.runtime.program import Program
from xjit.runtime.records import MISS
from xjit.types import dtype_class


@dataclass(eq=False)
class Specialisation:
    """A trace, its lowered form, and its program. ``program`` is None under errors="numpy"."""

    captured: Captured
    lowered: Lowered
    program: Program | None
    in_tree: tree.Tree

    def run(self, leaves: Sequence[Any]) -> Any:
        """The function's result for these leaves, or MISS if a guard fails."""
        values = self.captured.guards.fetch(leaves)
        if values is None:
            return MISS
        results = self.program.run(values) if self.program is not None else self._interpret(values)
        if self.program is not None and config.flag("XJIT_VERIFY"):
            check(self.captured.graph, results, self._interpret(values))
        finished = [finish(output, results, leaves) for output in self.captured.outputs]
        return tree.unflatten(self.captured.out_tree, finished)

    def _interpret(self, values: Sequence[Any]) -> list[Any]:
        return list(evaluate_graph(self.captured.graph, [np.asarray(value) for value in values]))

    def entry(self) -> Callable[..., Any] | None:
        """A shortcut from positional arguments to the result, which yields MISS unless everything matches.

        There is one when every argument is a leaf that the program checks itself.
        """
        captured, program = self.captured, self.program
        if program is None or program.direct is None or not self._arguments_are_checked():
            return None
        if config.flag("XJIT_VERIFY"):
            return None
        if len(captured.outputs) != 1 or not isinstance(captured.out_tree, tree.Leaf):
            return None
        output = captured.outputs[0]
        if output.source != "graph" or output.python is not None:
            return None
        if captured.guards.trivial and not output.scalar:
            return program.direct
        return _guarded(program.direct, captured.guards.fetch, captured.guards.leaf_count, output.scalar)

    def _arguments_are_checked(self) -> bool:
        if not isinstance(self.in_tree, tree.Branch):
            return False
        positional, named = self.in_tree.children
        flat = isinstance(positional, tree.Branch) and all(isinstance(c, tree.Leaf) for c in positional.children)
        checked = {one.leaf for one in self.captured.inputs}
        unnamed = not (isinstance(named, tree.Branch) and named.children)
        return flat and unnamed and checked >= set(range(self.captured.guards.leaf_count))


def check(graph: Graph, results: Sequence[Any], expected: Sequence[Any]) -> None:
    """Raises TargetError where a compiled result differs from NumPy's by more than rounding allows."""
    for node, got, wanted in zip(graph.outputs, results, expected, strict=True):
        exact = dtype_class(node.aval.dtype) in "PI"
        precision = 1e-13 if node.aval.dtype.itemsize >= 8 else 1e-5 if node.aval.dtype.itemsize == 4 else 1e-2
        scale = np.abs(np.asarray(wanted)[np.isfinite(wanted)]).max(initial=0.0) if not exact else 0.0
        same = np.allclose(got, wanted, 0 if exact else precision, precision * scale, equal_nan=True)
        if not same:
            raise TargetError(
                f"xjit: the compiled result of {node.op.name} differs from NumPy's",
                where=node.where,
                fix="please report this, with the text of f.graph(...) and f.source(...)",
            )


def _guarded(
    direct: Callable[..., Any], fetch: Callable[[Any], tuple[Any, ...] | None], count: int, scalar: bool
) -> Callable[..., Any]:
    def entry(*args: Any) -> Any:
        if len(args) != count:
            return MISS
        values = fetch(args)
        if values is None:
            return MISS
        result = direct(*values)
        return result if result is MISS or not scalar else result[()]

    return entry


def finish(output: Output, results: Sequence[Any], leaves: Sequence[Any]) -> Any:
    """One leaf of the function's result."""
    if output.source == "static":
        return output.value
    if output.source == "argument":
        assert output.path is not None
        return output.path.read(leaves)
    array = results[output.index]
    if output.python is not None:
        return output.python(np.asarray(array)[()].item())
    return np.asarray(array)[()] if output.scalar else array
