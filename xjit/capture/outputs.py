"""The result of a call and the values that it assigns behind its program: each leaf with its source."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.buffer import Buffer, BufferView
from xjit.capture.memory.origins import code_of, whole_of
from xjit.capture.moving_views import moves, numbered_in, way_to
from xjit.capture.outline import Assignment, Chosen, Output
from xjit.capture.recording.made_objects import Made, MadeObject
from xjit.capture.recording.recorder import Recorder
from xjit.capture.recording.traced_ufuncs import TracedUfunc
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.memory_of_objects import is_shown_by_other
from xjit.capture.splits.python_steps import copied
from xjit.capture.tracers import limited_calls
from xjit.capture.tracers.chosen_elements import ChosenElements
from xjit.capture.tracers.demands import tested
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_scalar import TracedScalar
from xjit.dataclass import dataclass, replace
from xjit.ir.context import TracedValue
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.numpy.limited.arrays import LimitedArray, root_of
from xjit.ops.define.core import lift
from xjit.ops.define.memory_order import PACK
from xjit.ops.effects.barrier import optimization_barrier
from xjit.ops.effects.python_call import is_taken_back, itself
from xjit.showing import MovingView
from xjit.types import is_writable


@dataclass(frozen=True, slots=True)
class Form:
    """The structure of all that a call returns and assigns, the source of each leaf, and what the call makes."""

    structure: tree.Tree
    outputs: tuple[Output, ...]
    makes: tuple[type, ...]
    assignments: tuple[Assignment, ...]


def _trace_shared_constants(values: Sequence[Any], trace: CaptureTrace) -> None:
    """Makes arrays of constants traced ones where several results show one, so that these stay views of it."""
    roots = [value.root for value in {id(value): value for value in values if is_constant(value)}.values()]
    for root in roots:
        if is_constant(root) and sum(one is root for one in roots) > 1:
            root.buffer.advance(trace, optimization_barrier(root).node)


def _keep_memory_of_views(values: Sequence[Any], trace: CaptureTrace) -> None:
    """Makes memory of its own of what views of it show, where operations show other memory there: numbers repeated,
    and elements in other dimensions.
    """
    views = [value for value in values if isinstance(value, BufferView) and not is_constant(value) and value.is_view]
    own = (
        one for one in views if one.is_linked and one.buffer.path is None and (one.steps or math.prod(one.shape) <= 1)
    )
    for buffer in {value.buffer: None for value in own}:
        node = shown = buffer.version(trace)
        while shown.op is PACK:
            (shown,) = shown.inputs
        if shown.op.kind is Kind.INDEXING and node not in trace.turned:
            whole: Any = optimization_barrier(TracedValue(node, trace))
            buffer.advance(trace, whole.node)


def _keep_memory_of_objects(values: Sequence[Any], trace: CaptureTrace) -> None:
    """Makes memory of its own of arrays whose equal ones objects of the run may show."""
    for value in values if trace.shown else ():
        own = isinstance(value, BufferView) and not value.scalar and value.buffer.path is None
        if own and is_shown_by_other(value.buffer, trace):
            whole = trace.wrap(value.buffer.version(trace), trace)
            value.buffer.advance(trace, copied(whole).node)


def _memory_of(value: Any) -> Any:
    """The array whose memory a result of the run's size shows; any other result as it is."""
    return whole_of(root_of(value)) if isinstance(value, LimitedArray) else value


def _check_memory_known(values: Sequence[Any]) -> None:
    """CaptureError where only the run will tell if a result is memory of another one, or of an array from outside.

    Where a number tells which array from outside a result is, that array is returned.
    """
    wholes = [value for value in map(_memory_of, values) if isinstance(value, BufferView) and not value.scalar]
    found = {value.buffer: value for value in wholes}
    for buffer, value in found.items():
        if buffer.path is not None:
            continue
        outside = any(one.path is not None for one in buffer.kin)
        told = numbered_in(buffer) is not None or code_of(value) is not None
        if any(one.path is None and one in found for one in buffer.kin) or (outside and not told):
            refuse(
                "the function returns an array that may be one with another, as only the run will tell",
                value,
                fix="return a copy: x.copy()",
            )


def _check_objects_known(values: Sequence[Any]) -> None:
    """CaptureError where only the run will tell if a view is another result itself, or an array from outside."""
    found = {id(value): value for value in values if isinstance(value, BufferView) and not value.scalar}
    for value in found.values():
        others = (one for one in found.values() if one is not value)
        if getattr(value, "code", 0) is not None or not value.is_view:
            continue
        if value.buffer.path is not None or any(one.buffer is value.buffer for one in others):
            refuse(
                "the function returns a view that may be another result or an argument, as only the run will tell",
                value,
                fix="return a copy: x.copy()",
            )


def _with_keys_of_python(structure: tree.Tree) -> tree.Tree:
    """The structure of results, whose dicts have keys of Python's where tracing saw numbers among the arguments."""
    if not isinstance(structure, tree.Branch):
        return structure
    children = tuple(map(_with_keys_of_python, structure.children))
    if structure.keys is None:
        return replace(structure, children=children)
    keys = tuple(map(_key_of_python, structure.keys))
    return replace(structure, keys=keys, children=children, marks=tuple(map(tree.distinct, keys)))


def _key_of_python(key: Any) -> Any:
    if isinstance(key, tuple):
        items = tuple(map(_key_of_python, key))
        same = all(map(operator.is_, items, key))
        return key if same else type(key)(*items) if tree.is_namedtuple(key) else items
    if isinstance(key, frozenset):
        return frozenset(map(_key_of_python, key))
    if type(key) is TracedScalar:
        return key.constant()
    return key.as_key() if type(key) is TracedArray else key


class Results:
    """Sorts the leaves of a result into outputs of the graph, static values and arguments.

    The ``tests`` are outputs in front of the ``nodes``, which nobody reads: what comes first raises its error first.
    """

    def __init__(self, trace: CaptureTrace, recorder: Recorder) -> None:
        self.trace = trace
        self.recorder = recorder
        self.nodes: list[Node] = []
        self.tests: list[Node] = []
        self.indices: dict[int, int] = {}
        self.memories: dict[Buffer, int] = {}
        self.limited: dict[int, tuple[LimitedArray, Any]] = {}
        self.leaves: Sequence[Any] = ()
        self.moving: dict[int, Output | None] = {}

    @property
    def all(self) -> tuple[Node, ...]:
        """The outputs so far."""
        return (*self.tests, *self.nodes)

    def form(self, result: Any) -> Form:
        """The form of what the call returns and assigns."""
        made = Made(self.recorder, result)
        leaves, structure = tree.flatten(made.values, in_parts=False)
        _trace_shared_constants(leaves, self.trace)
        _keep_memory_of_views(leaves, self.trace)
        _keep_memory_of_objects(leaves, self.trace)
        self.tests += tested(self.trace)
        self.leaves = leaves
        outputs = tuple(map(self.output, leaves))
        _check_memory_known(leaves)
        _check_objects_known(leaves)
        return Form(_with_keys_of_python(structure), outputs, made.classes, made.assignments)

    def catches(self, graph: Graph, stores: bool) -> bool:
        """Return whether the function would catch an error of the program's.

        CaptureError if NumPy could not do the call in its place, or the program would not raise the error.
        """
        caught = self.recorder.caught
        again = all(map(is_taken_back, graph.effects)) and not stores
        for node, name in caught:
            if not again or node not in graph.nodes:
                refuse(
                    f"the function catches an error that only the run will tell: {name}",
                    TracedValue(node, self.trace),
                    fix="look at the values beforehand, or catch the error outside of the function",
                )
        return bool(caught)

    def written(self) -> dict[Path, int]:
        """The outputs of the graph that are stored into arrays from outside, by the places of these.

        Arrays without elements hold nothing to store.
        """
        found: dict[Path, int] = {}
        for buffer, node in self.trace.versions.items():
            if buffer.path is not None and node is not buffer.first and node.aval.size:
                found[buffer.path] = len(self.tests) + len(self.nodes)
                self.nodes.append(node)
        return found

    def output(self, leaf: Any) -> Output:
        """The source of one leaf."""
        if type(leaf) is MadeObject:
            return Output("made", leaf.number)
        path = self.recorder.path_of(leaf)
        if path is not None:
            return Output("argument", path=path)
        if isinstance(leaf, ChosenElements):
            leaf = leaf.packed()
        if moves(leaf) and (found := self._moving(leaf)) is not None:
            return found
        if isinstance(leaf, LimitedArray):
            leaf = self._trimmed(leaf)
        if type(leaf) is np.ndarray or is_constant(leaf):
            frozen = not is_writable(leaf) if type(leaf) is np.ndarray else bool(leaf.frozen)
            return Output("graph", self._place(leaf, lift(self.trace, leaf)), frozen=frozen)
        if isinstance(leaf, TracedValue):
            index = self._place(leaf, leaf.node)
            memory = self._memory(leaf)
            doubt, code = doubt_of(leaf), self._code(leaf)
            return Output(
                "graph",
                index,
                scalar=leaf.scalar,
                view=leaf.is_view or self._is_turned(leaf),
                frozen=leaf.frozen,
                python=leaf.weak if doubt is None else doubt[1],
                memory=memory,
                doubt=-1 if doubt is None else self._place(doubt[0], doubt[0].node),
                code=-1 if code is None else self._place(code, code.node),
                arrays=self.recorder.numbered() if code is not None else (),
            )
        if type(leaf) is TracedUfunc:
            leaf = leaf.stands_for
        if is_plain(leaf) or isinstance(leaf, np.generic | np.ufunc | type | types.BuiltinFunctionType):
            return Output("static", value=leaf)
        if type(leaf) is ChosenConstant:
            number, table = leaf.entry
            if not isinstance(number, TracedValue):
                return Output("static", value=table.value(number))
            return Output("graph", self._place(leaf, number.node), python=Chosen(table.values))
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

    def _moving(self, view: Any) -> Output | None:
        """A view of which only the run tells place or size; None where a copy is as good."""
        if id(view) not in self.moving:
            self.moving[id(view)] = self._moving_view(view)
        return self.moving[id(view)]

    def _moving_view(self, view: Any) -> Output | None:
        numbered = numbered_in(view.buffer) if isinstance(view, BufferView) else None
        if (
            isinstance(view, BufferView)
            and numbered is None
            and view.buffer.path is None
            and not self._is_shared(view)
        ):
            return None
        base, steps = way_to(view, self.trace, lambda number: self._place(number, number))
        buffer = base.buffer if isinstance(base, BufferView) else None
        path = None if buffer is None else buffer.path
        if steps is None:
            refuse(
                "the function returns a view at a place that only the run will tell",
                base if isinstance(base, TracedValue) else None,
                fix="return a copy: x[i].copy()",
            )
        moving = MovingView(len(self.moving), steps)
        shown = view if isinstance(view, BufferView) else base
        frozen = isinstance(shown, BufferView) and bool(shown.frozen)
        if path is not None:
            return Output("moving", path=path, frozen=frozen, moving=moving)
        memory = -1 if buffer is None else self.memories.setdefault(buffer, len(self.memories))
        code = self._code_in(base)
        return Output(
            "moving",
            self._base(base),
            frozen=frozen,
            memory=memory,
            moving=moving,
            code=-1 if code is None else self._place(code, code.node),
            arrays=() if code is None else self.recorder.numbered(),
        )

    def _code_in(self, base: Any) -> TracedValue | None:
        """The number of the array from outside that an array which views show is, where only the run tells it."""
        if isinstance(base, BufferView):
            numbered = numbered_in(base.buffer)
            return None if numbered is None else numbered.code
        return self._code(self._trimmed(base)) if isinstance(base, LimitedArray) else None

    def _is_turned(self, value: Any) -> bool:
        """Return whether an array shows what a loop carries with its axes turned, and other results show it, too."""
        own = isinstance(value, BufferView) and value.buffer.path is None
        return own and value.node in self.trace.turned and self._is_shared(value)

    def _is_shared(self, view: BufferView) -> bool:
        """Return whether another result lies in the memory of a view."""
        others = (root_of(one) for one in self.leaves if one is not view)
        return any(isinstance(one, BufferView) and one.buffer is view.buffer for one in others)

    def _base(self, base: Any) -> int:
        """The output number of an array that views show: that of the result that it is, if it is one."""
        if isinstance(base, LimitedArray):
            trimmed = self._trimmed(base)
            return self._place(trimmed, trimmed.node)
        wholes = (one for one in self.leaves if isinstance(one, BufferView) and one.buffer is base.buffer)
        whole = next((one for one in wholes if not one.is_view and not one.scalar), base.buffer)
        return self._place(whole, base.buffer.version(self.trace))

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
