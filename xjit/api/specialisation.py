"""One trace of a function with its program: runs on the leaves of a call if its guards hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import config, tree
from xjit.api.assigning import assign, before_assigning, changes_objects, does_more, make, targets
from xjit.api.entries.shortcut import finished_leaves, names_of, shortcut
from xjit.api.trace import Trace
from xjit.api.verification import check
from xjit.capture.capture import Captured
from xjit.dataclass import dataclass, replace
from xjit.errors import XjitError
from xjit.ir.node import Graph
from xjit.ops.define.evaluate import evaluate_graph
from xjit.ops.effects.python_call import repeats_node
from xjit.runtime.calls.records import can_be_written
from xjit.runtime.miss import MISS
from xjit.runtime.steps.program import Program
from xjit.types import ArrayType, as_array, is_writable


@dataclass(eq=False)
class Specialisation:
    """A trace and its program, which is None under errors="numpy".

    ``kinds`` are the types of its inputs, in order. ``notes`` are the warnings about steps of the program that run in
    Python: the reason of each, and its text.
    """

    captured: Captured
    program: Program | None
    in_tree: tree.Tree
    kinds: Sequence[type]
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments that are given by name, in their order."""
        return names_of(self.in_tree)

    def __post_init__(self) -> None:
        self.entry: Callable[..., Any] | None = None
        if self.program is not None and not config.flag("XJIT_VERIFY"):
            self.entry = shortcut(self.captured, self.program.direct, self.in_tree, self.kinds)

    def serves(self) -> Callable[..., Any]:
        """A function that answers MISS for arguments for which the entry would."""
        assert self.program is not None
        found = shortcut(self.captured, self.program.check(), self.in_tree, self.kinds, alone=True)
        assert found is not None
        return found

    def answer(self, arguments: Sequence[Any], leaves: Sequence[Any]) -> Any:
        """The function's result, or MISS if a guard fails, the shorter way; ``leaves`` are those of the arguments."""
        return self.run(leaves) if self.entry is None else self.entry(*arguments)

    def run(self, leaves: Sequence[Any]) -> Any:
        """The function's result for these leaves, or MISS if a guard fails."""
        values = self.captured.guards.fetch(leaves)
        if values is None or not self._may_write(values):
            return MISS
        made = [make(cls) for cls in self.captured.makes]
        objects = targets(self.captured.assignments, leaves, made)
        results = self._results(values)
        finished = finished_leaves(self.captured.outputs, results, leaves, made)
        found = tree.unflatten(self.captured.out_tree, finished)
        if not does_more(self.captured):
            return found
        result, *assigned = found
        assign(self.captured.assignments, objects, assigned)
        return result

    def _results(self, values: Sequence[Any]) -> Sequence[Any]:
        try:
            return self._by_numpy(values) if self.program is None else self._by_program(self.program, values)
        except Exception as error:
            if changes_objects(self.captured) and self.captured.begins_anew:
                before_assigning(error)
            raise

    @property
    def changes_something(self) -> bool:
        """Return whether another run would be noticed, or arrays and objects from outside are changed."""
        changes = bool(self.captured.written) or changes_objects(self.captured)
        return changes or not _may_run_again(self.captured.graph)

    def is_kept_from(self, leaves: Sequence[Any]) -> bool:
        """Return whether the program would serve these leaves, were they writable arrays that share no memory."""
        values = self.captured.guards.fetch(leaves) if self.captured.written else None
        return values is not None and not self._may_write(values)

    def may_be_written(self, leaves: Sequence[Any]) -> bool:
        """Return whether all arrays that the program writes to are writable."""
        values = self.captured.guards.fetch(leaves)
        return values is None or all(is_writable(values[place]) for _, place in self.captured.written)

    def _may_write(self, values: Sequence[Any]) -> bool:
        return can_be_written(values, [place for _, place in self.captured.written])

    def _by_program(self, program: Program, values: Sequence[Any]) -> Sequence[Any]:
        if not (config.flag("XJIT_VERIFY") and _may_run_again(self.captured.graph)):
            return program.run(values)
        try:
            with np.errstate(all="ignore"):
                expected = [np.array(one) for one in self._interpret(values)]
        except XjitError:
            program.run(values)  # tells of the same, after what comes before it is done
            raise
        before = [value.copy(order="K") if isinstance(value, np.ndarray) else value for value in values]
        results = program.run(values)
        stored = [values[place] for _, place in self.captured.written]
        kept = [*self.captured.places, *(number for number, _ in self.captured.written)]
        graph = replace(self.captured.graph, outputs=tuple(self.captured.graph.outputs[number] for number in kept))
        check(graph, [*results, *stored], [expected[number] for number in kept], before)
        return results

    def _by_numpy(self, values: Sequence[Any]) -> Sequence[Any]:
        results = self._owned(self._interpret(values), values)
        for number, place in self.captured.written:
            values[place][...] = results[number]
        return [results[place] for place in self.captured.places]

    def _interpret(self, values: Sequence[Any]) -> list[Any]:
        return list(evaluate_graph(self.captured.graph, [as_array(value) for value in values]))

    def _owned(self, results: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """The results as programs return them: in NumPy's memory order, writable, and apart from the arguments."""
        owned: list[Any] = []
        for node, result, view in zip(self.captured.graph.outputs, results, self.captured.views, strict=True):
            owned.append(result[...] if view else own(node.aval, result, (*values, *owned)))
        return owned


def interpreted(key: Any, trace: Trace) -> Specialisation:
    """The runner of a trace that NumPy interprets: nothing is compiled."""
    return Specialisation(trace.captured, None, key[0], tuple(map(type, trace.values)))


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


def _may_run_again(graph: Graph) -> bool:
    """Return whether nothing would notice another run."""
    return all(map(repeats_node, graph.effects))
