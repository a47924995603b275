"""Runs a function once on traced values and hands back its graph, inputs, outputs and guards."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guards
from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.buffer import Buffer, BufferView
from xjit.capture.memory.origins import code_of
from xjit.capture.outline import Output
from xjit.capture.recording.named_tuples import original_tree, traced_tree
from xjit.capture.recording.recorder import Recorder
from xjit.capture.recording.rewritten import Rewriting
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers import limited_calls
from xjit.capture.tracers.chosen_elements import ChosenElements
from xjit.capture.tracers.demands import tested, tested_unread
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import dataclass
from xjit.errors import CaptureError, XjitError
from xjit.ir.context import TracedValue
from xjit.ir.current import tracing
from xjit.ir.node import Graph, Node
from xjit.ir.source_location import NOWHERE, Where
from xjit.numpy.limited.arrays import LimitedArray, root_of
from xjit.ops.define.core import lift
from xjit.ops.effects.barrier import optimization_barrier
from xjit.ops.effects.python_call import Site, itself, repeats_node
from xjit.types import is_writable
from xjit.watch import UNWATCHED, Watch


@dataclass(frozen=True, slots=True)
class Input:
    """Source of one graph parameter at a call.

    ``leaf`` is the number of the argument leaf, None for a hidden input (a global, an attribute, an entry of a
    dict): ``path.read(leaves)`` reads that again. ``str(path)`` names it.
    """

    path: Path

    @property
    def leaf(self) -> int | None:
        """The number of the argument leaf, None for a hidden input."""
        return self.path.leaf


@dataclass(frozen=True, slots=True)
class Captured:
    """One trace. ``guards.fetch(leaves)`` yields the values of ``inputs`` in order, or None if a guard fails.

    Every argument leaf is an input or has guards that check all that its signature says. The ``written`` are pairs:
    the number of an output of the graph that is no result, and of the input into whose array it is stored. They come
    behind the results. With ``catches`` the function would catch an error of the program's: NumPy does the call then.
    """

    graph: Graph
    inputs: tuple[Input, ...]
    guards: Guards
    out_tree: tree.Tree
    outputs: tuple[Output, ...]
    notes: tuple[str, ...] = ()
    written: tuple[tuple[int, int], ...] = ()
    catches: bool = False

    @property
    def results(self) -> int:
        """Return how many outputs of the graph are results."""
        return len(self.graph.outputs) - len(self.written)

    @property
    def views(self) -> tuple[bool, ...]:
        """Return whether NumPy returns each of the graph's outputs as a view."""
        shown = {output.index for output in self.outputs if output.source == "graph" and output.view}
        return tuple(number in shown for number in range(len(self.graph.outputs)))

    @property
    def memories(self) -> list[int]:
        """The number of the memory that each of the graph's outputs would lie in; -1 where nobody tells it apart."""
        found = {output.index: output.memory for output in self.outputs if output.source == "graph"}
        return [found.get(number, -1) for number in range(len(self.graph.outputs))]


def capture(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    in_tree: tree.Tree,
    *,
    name: str | None = None,
    varying: frozenset[Path] = frozenset(),
    floating_errors: bool = False,
    splitting: bool = False,
    unforeseen: Mapping[Site, bool] = MappingProxyType({}),
    watch: Watch = UNWATCHED,
) -> Captured:
    """Traces ``function(*args, **kwargs)``, where ``unflatten(in_tree, leaves)`` is ``(args, kwargs)``.

    Leaves have to be of a kind that ``signature`` knows, arrays normalised. Defaults may be left out: they are
    read from the function, and guarded. ``varying`` are places outside of the arguments, numbers at which are to be
    inputs. With ``floating_errors`` the program may raise FloatingPointError, with ``splitting`` it calls in Python
    what cannot be captured, as far as that is possible; of calls at the sites ``unforeseen`` no types are expected,
    or none are made. Raises CaptureError for what cannot be captured; exceptions of the user's code pass unchanged.
    The ``watch`` says when to end.
    """
    rewriting, merging = Rewriting(), False
    while True:
        trace = CaptureTrace(name or str(getattr(function, "__qualname__", "function")), wrap=TracedArray)
        trace.floating_errors, trace.splitting, trace.watch = floating_errors, splitting, watch
        recorder = trace.recorder = Recorder(
            trace, leaves, _definition(function), varying, merging, rewriting, unforeseen
        )
        trace.lift_array = recorder.lift
        try:
            found = _traced(function, recorder, in_tree)
        except Exception as error:
            if rewriting.renewed():
                continue
            if isinstance(error, XjitError):
                error.others = tuple(recorder.notes)
            if isinstance(error, UnboundLocalError) and rewriting.is_used:
                names = ", ".join(dict.fromkeys(recorder.unbound)) or "a variable"
                reason = f"{names} has a value only where the run decides so, and is read where it may have none"
                raise CaptureError(f"xjit: {reason}", fix="assign it on both branches") from error
            if merging or not isinstance(error, XjitError | ValueError) or not recorder.identities.twins:
                raise
        else:
            shared = recorder.identities.looked or found.written
            if merging or not (recorder.identities.twins and shared):
                return found
        merging = True  # perhaps one array looked like two


def _traced(function: Callable[..., Any], recorder: Recorder, in_tree: tree.Tree) -> Captured:
    """The trace of one run."""
    trace, leaves = recorder.trace, recorder.leaves
    trace.began = sys._getframe().f_code
    labels = leaf_labels(function, in_tree)
    with tracing(trace):
        traced = [recorder.argument(*one) for one in zip(range(len(leaves)), leaves, labels, strict=True)]
        in_tree = traced_tree(recorder, in_tree)
        args, kwargs = tree.unflatten(in_tree, traced)
        result = recorder.entry(function)(*args, **kwargs)
        _check_arguments_unchanged((args, kwargs), in_tree, traced)
        recorder.check_unchanged()
        recorder.check_kept()
        recorder.guard_identities()
        if trace.refusals:
            raise trace.refusals[0]
        return _Results(trace, recorder, traced).captured(result, len(leaves))


def _definition(function: Any) -> Where:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return NOWHERE if code is None else Where(code.co_filename, code.co_firstlineno, code.co_name)


def leaf_labels(function: Callable[..., Any], in_tree: tree.Tree) -> list[str]:
    """Return a label of each argument leaf: ``x``, ``params['w'][0]``."""
    if not isinstance(in_tree, tree.Branch):
        return []
    args, kwargs = in_tree.children
    names = iter(_positional_names(function))
    labels: list[str] = []
    for child in getattr(args, "children", ()):
        labels += tree.labels(child, next(names))
    for key, child in zip(getattr(kwargs, "keys", ()), getattr(kwargs, "children", ()), strict=True):
        labels += tree.labels(child, key)
    return labels


def _positional_names(function: Callable[..., Any]) -> Iterator[str]:
    code = getattr(inspect.unwrap(function), "__code__", _no_names.__code__)
    yield from code.co_varnames[: code.co_argcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    star = rest[0] if code.co_flags & inspect.CO_VARARGS else "args"
    position = 0
    while True:
        yield f"{star}[{position}]"
        position += 1


def _no_names(*args: Any) -> None:
    """Stands for functions that have no names for their arguments."""


def _check_arguments_unchanged(arguments: Any, in_tree: tree.Tree, traced: list[Any]) -> None:
    """CaptureError if the function changed a container that it was given: the caller's would stay as it was."""
    leaves, structure = tree.flatten(arguments)
    if structure != in_tree or any(a is not b for a, b in zip(leaves, traced, strict=True)):
        refuse("the function changes a list or dict that was passed as an argument", fix="return a new one")


def _check_place_known(value: TracedValue) -> None:
    """CaptureError for views of arrays from outside whose place in memory only the run will tell."""
    if not value.is_view or not isinstance(value, BufferView) or value.buffer.path is None:
        return
    if any(len(step.inputs) > 1 for step in value.steps):
        refuse(
            "the function returns a view of an array from outside at a position that only the run will tell",
            value,
            fix="return a copy: x[i].copy()",
        )


def _trace_shared_constants(values: Sequence[Any], trace: CaptureTrace) -> None:
    """Makes arrays of constants traced ones where several results show one, so that these stay views of it."""
    roots = [value.root for value in {id(value): value for value in values if is_constant(value)}.values()]
    for root in roots:
        if is_constant(root) and sum(one is root for one in roots) > 1:
            root.buffer.advance(trace, optimization_barrier(root).node)


def _check_memory_known(values: Sequence[Any]) -> None:
    """CaptureError where only the run will tell if a result is memory of another one, or of an array from outside.

    Where a number tells which array from outside a result is, that array is returned.
    """
    found = {value.buffer: value for value in values if isinstance(value, BufferView) and not value.scalar}
    for buffer, value in found.items():
        if buffer.path is not None:
            continue
        outside = any(one.path is not None for one in buffer.kin)
        if any(one.path is None and one in found for one in buffer.kin) or (outside and code_of(value) is None):
            refuse(
                "the function returns an array that may be one with another, as only the run will tell",
                value,
                fix="return a copy: x.copy()",
            )


class _Results:
    """Sorts the leaves of a result into outputs of the graph, static values and arguments."""

    def __init__(self, trace: CaptureTrace, recorder: Recorder, traced: list[Any]) -> None:
        self.trace = trace
        self.recorder = recorder
        self.traced = traced
        self.nodes: list[Node] = []
        self.indices: dict[int, int] = {}
        self.memories: dict[Buffer, int] = {}
        self.limited: dict[int, tuple[LimitedArray, Any]] = {}

    def captured(self, result: Any, leaf_count: int) -> Captured:
        leaves, out_tree = tree.flatten(result, in_parts=False)
        _trace_shared_constants(leaves, self.trace)
        self.nodes += tested(self.trace)
        outputs = tuple(map(self.output, leaves))
        _check_memory_known(leaves)
        written = self.written()
        self.nodes += tested_unread(self.trace, self.nodes)
        graph, paths = _without_unused(self.trace.finish(tuple(self.nodes)), self.recorder, frozenset(written))
        guards = Guards(tuple(self.recorder.guards), paths, leaf_count)
        stored = tuple((index, paths.index(path)) for path, index in written.items())
        catches = self.catches(graph, bool(stored))
        inputs, structure = tuple(map(Input, paths)), original_tree(out_tree)
        return Captured(graph, inputs, guards, structure, outputs, written=stored, catches=catches)

    def catches(self, graph: Graph, stores: bool) -> bool:
        """Return whether the function would catch an error of the program's.

        CaptureError if NumPy could not do the call in its place, or the program would not raise the error.
        """
        caught = self.recorder.caught
        again = all(map(repeats_node, graph.effects)) and not stores
        for node, name in caught:
            if not again or node not in graph.nodes:
                refuse(
                    f"the function catches an error that only the run will tell: {name}",
                    TracedValue(node, self.trace),
                    fix="look at the values beforehand, or catch the error outside of the function",
                )
        return bool(caught)

    def written(self) -> dict[Path, int]:
        """The outputs of the graph that are stored into arrays from outside, by the places of these."""
        found: dict[Path, int] = {}
        for buffer, node in self.trace.versions.items():
            if buffer.path is not None and node is not buffer.first:
                found[buffer.path] = len(self.nodes)
                self.nodes.append(node)
        return found

    def output(self, leaf: Any) -> Output:
        path = self.recorder.path_of(leaf)
        if path is not None:
            return Output("argument", path=path)
        if isinstance(leaf, ChosenElements):
            leaf = leaf.packed()
        if isinstance(leaf, LimitedArray):
            leaf = self._trimmed(leaf)
        if type(leaf) is np.ndarray or is_constant(leaf):
            frozen = not is_writable(leaf) if type(leaf) is np.ndarray else bool(leaf.frozen)
            return Output("graph", self._place(leaf, lift(self.trace, leaf)), frozen=frozen)
        if isinstance(leaf, TracedValue):
            _check_place_known(leaf)
            index = self._place(leaf, leaf.node)
            memory = self._memory(leaf)
            doubt, code = doubt_of(leaf), self._code(leaf)
            return Output(
                "graph",
                index,
                scalar=leaf.scalar,
                view=leaf.is_view,
                frozen=leaf.frozen,
                python=leaf.weak if doubt is None else doubt[1],
                memory=memory,
                doubt=-1 if doubt is None else self._place(doubt[0], doubt[0].node),
                code=-1 if code is None else self._place(code, code.node),
                arrays=self.recorder.numbered() if code is not None else (),
            )
        if is_plain(leaf) or isinstance(leaf, np.generic | np.ufunc | type | types.BuiltinFunctionType):
            return Output("static", value=leaf)
        if type(leaf) is DeferredObject:
            return Output("graph", self._place(leaf, leaf.node), python=itself)
        refuse(
            f"the function returns an object of type {type(leaf).__qualname__}",
            fix="return arrays, numbers and text, in tuples, lists and dicts",
        )

    def _trimmed(self, array: LimitedArray) -> Any:
        """An array of a size that only the run knows, as a result; one that is returned twice stays one."""
        root = root_of(array)
        before = self.limited.setdefault(id(root), (array, limited_calls.returned(array)))
        if before[0] is not array:
            refuse("the function returns two views of an array whose size only the run knows", fix="return copies")
        return before[1]

    def _code(self, value: TracedValue) -> TracedValue | None:
        """The number of the array from outside that a result is, where only the run tells it."""
        if value.scalar or value.weak is not None:
            return None
        code = code_of(value)
        return code if isinstance(code, TracedValue) else None

    def _memory(self, value: TracedValue) -> int:
        """The number of the memory that a value lies in, if that is the function's own and its views are known."""
        if not isinstance(value, BufferView) or (value.is_view and not value.is_linked):
            return -1
        if value.buffer.path is not None:
            return -1
        return self.memories.setdefault(value.buffer, len(self.memories))

    def _place(self, value: Any, node: Node) -> int:
        """The output number of a value; one object that is returned twice stays one object."""
        if id(value) not in self.indices:
            self.indices[id(value)] = len(self.nodes)
            self.nodes.append(node)
        return self.indices[id(value)]


def _without_unused(graph: Graph, recorder: Recorder, written: frozenset[Path]) -> tuple[Graph, tuple[Path, ...]]:
    """Drops inputs that no operation uses; guards keep the layout or the type that the trace assumed of them."""
    used = {source for node in graph.nodes for source in node.inputs} | set(graph.outputs)
    pairs = list(zip(graph.parameters, recorder.inputs, strict=True))
    for node, path in pairs:
        if node not in used and path.leaf is not None and path not in written:
            recorder.guard_leaf(path)
    kept = [(node, path) for node, path in pairs if node in used or path in written]
    parameters = tuple(node for node, _ in kept)
    return dataclasses.replace(graph, parameters=parameters), tuple(path for _, path in kept)
