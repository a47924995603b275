"""One trace of a function with its program: runs on the leaves of a call if its guards hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
from xjit.types import ArrayType, dtype_class


@dataclass(eq=False)
class Specialisation:
    """A trace, its lowered form, and its program. ``program`` is None under errors="numpy".

    ``host_steps`` says what there is to say about steps of the program that NumPy runs, by the reason.
    """

    captured: Captured
    lowered: Lowered
    program: Program | None
    in_tree: tree.Tree
    host_steps: Mapping[str, TargetError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.entry = self._shortcut()

    def run(self, leaves: Sequence[Any]) -> Any:
        """The function's result for these leaves, or MISS if a guard fails."""
        values = self.captured.guards.fetch(leaves)
        if values is None:
            return MISS
        results = self._owned(self._interpret(values), values) if self.program is None else self.program.run(values)
        if self.program is not None and config.flag("XJIT_VERIFY"):
            with np.errstate(all="ignore"):
                check(self.captured.graph, results, self._interpret(values))
        finished = [finish(output, results, leaves) for output in self.captured.outputs]
        return tree.unflatten(self.captured.out_tree, finished)

    def _interpret(self, values: Sequence[Any]) -> list[Any]:
        return list(evaluate_graph(self.captured.graph, [np.asarray(value) for value in values]))

    def _owned(self, results: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """The results as programs return them: in NumPy's memory order, writable, and apart from the arguments."""
        owned: list[Any] = []
        for node, result, view in zip(self.captured.graph.outputs, results, self.lowered.views, strict=True):
            owned.append(result[...] if view else own(node.aval, result, (*values, *owned)))
        return owned

    def _shortcut(self) -> Callable[..., Any] | None:
        """From positional arguments straight to the result, or MISS unless everything matches.

        There is such a function when every argument is a leaf that the program or a guard checks.
        """
        captured, program = self.captured, self.program
        if program is None or not self._arguments_are_checked():
            return None
        if config.flag("XJIT_VERIFY") or any(output.source == "argument" for output in captured.outputs):
            return None
        scalar = isinstance(captured.out_tree, tree.Leaf) and captured.outputs[0].scalar
        if not self._is_what_programs_return():
            return captured.guards.entry(self._finishing(program.direct), MISS)
        if captured.guards.trivial and not scalar:
            return program.direct
        return captured.guards.entry(program.direct, MISS, scalar=scalar)

    def _is_what_programs_return(self) -> bool:
        """Whether the result is the program's only output, or the tuple of all of them, as they are."""
        outputs, out_tree = self.captured.outputs, self.captured.out_tree
        plain = all(one.source == "graph" and one.python is None and not one.frozen for one in outputs)
        if not plain or [one.index for one in outputs] != list(range(len(outputs))):
            return False
        if isinstance(out_tree, tree.Leaf):
            return True
        if any(one.scalar for one in outputs):
            return False
        if not isinstance(out_tree, tree.Branch) or out_tree.kind is not tuple or len(outputs) < 2:
            return False
        return all(isinstance(child, tree.Leaf) for child in out_tree.children)

    def _finishing(self, direct: Callable[..., Any]) -> Callable[..., Any]:
        """The program with its results in the form in which the function hands them out, which is no argument."""
        outputs, out_tree = self.captured.outputs, self.captured.out_tree
        single = len(self.captured.graph.outputs) == 1

        def run(*values: Any) -> Any:
            made = direct(*values)
            if made is MISS:
                return MISS
            results = (made,) if single else made
            return tree.unflatten(out_tree, [finish(output, results, ()) for output in outputs])

        return run

    def _arguments_are_checked(self) -> bool:
        if not isinstance(self.in_tree, tree.Branch):
            return False
        positional, named = self.in_tree.children
        flat = isinstance(positional, tree.Branch) and all(isinstance(c, tree.Leaf) for c in positional.children)
        checked = {one.leaf for one in self.captured.inputs}
        checked |= {guard.path.leaf for guard in self.captured.guards.guards if guard.checks_kind}
        unnamed = not (isinstance(named, tree.Branch) and named.children)
        return flat and unnamed and checked >= set(range(self.captured.guards.leaf_count))


def own(type: ArrayType, result: Any, others: Sequence[Any]) -> Any:
    """The result itself where it is none of the others and no part of another array, else a copy; in the memory
    order of its type.
    """
    rest = (axis for axis in range(type.rank) if axis not in type.order)
    strides = ArrayType(type.dtype, type.dims, (*type.order, *rest)).strides
    laid_out = not result.size or result.strides == strides
    if laid_out and result.flags.owndata and result.flags.writeable and not any(result is other for other in others):
        return result
    copy = np.ndarray(result.shape, result.dtype, strides=strides)
    copy[...] = result
    return copy


def check(graph: Graph, results: Sequence[Any], expected: Sequence[Any]) -> None:
    """Raises TargetError where a compiled result differs from NumPy's by more than rounding allows."""
    for node, got, wanted in zip(graph.outputs, results, expected, strict=True):
        exact = dtype_class(node.aval.dtype) in "PI"
        bytes_each = node.aval.dtype.itemsize // (2 if dtype_class(node.aval.dtype) == "C" else 1)
        precision = 1e-13 if bytes_each >= 8 else 1e-5 if bytes_each == 4 else 1e-2
        scale = np.abs(np.asarray(wanted)[np.isfinite(wanted)]).max(initial=0.0) if not exact else 0.0
        same = np.allclose(got, wanted, 0 if exact else precision, precision * scale, equal_nan=True)
        if not same:
            raise TargetError(
                f"xjit: the compiled result of {node.op.name} differs from NumPy's",
                where=node.where,
                fix="please report this, with the text of f.graph(...) and f.source(...)",
            )


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
    if output.scalar:
        return np.asarray(array)[()]
    if output.frozen:
        array.flags.writeable = False
    return array
