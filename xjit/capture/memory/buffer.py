"""Buffers: the memory of arrays, of which each write makes a new version that all views see.

    x = np.zeros(4)      buffer b, version 1
    y = x[1:]            a view of b
    x[2] = 5.0           version 2 of b, made of version 1
    y                    the slice of version 2

A version is a node of the graph. A trace inside of another one has versions of its own, which the enclosing trace
does not see: what makes the trace, a loop or a branch, hands them on.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from typing import Any

from xjit.capture.guarding.access_path import Path
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.context import PARAMETER, Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node

_HELD = [object()]
ONE_REFERENCE = sys.getrefcount(_HELD[0])
"""The references to an object that one container holds, as seen while its content is asked for."""


class Buffer:
    """The memory of one array.

    label    what the user calls it, if it existed before the call
    path     the place that its array was read from, in the same case
    home     the trace that it was made in
    first    the version that it begins as
    frozen   NumPy refuses to write to it
    written  a trace has made another version
    blind    values that may show it in a way that cannot be followed: while they live nobody may write to it
    shared   it may be memory of another buffer, which such a value shows
    kin      buffers that may be this memory, or not, as only the run tells: nobody writes to it while one is seen
    views    the live values that lie in it
    """

    __slots__ = (
        "__weakref__",
        "blind",
        "first",
        "frozen",
        "home",
        "kin",
        "label",
        "path",
        "shared",
        "views",
        "written",
    )

    def __init__(self, first: Node, home: Trace, path: Path | None = None, *, frozen: bool = False) -> None:
        self.first = first
        self.home = home
        self.path = path
        self.label = None if path is None else str(path)
        self.frozen = frozen
        self.written = self.shared = False
        self.blind: list[weakref.ref[Any]] = []
        self.kin: set[Buffer] = set()
        self.views: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def version(self, trace: Trace | None) -> Node:
        """The version that code under a trace reads: its own, or that of the nearest trace around it."""
        while trace is not None:
            if isinstance(trace, CaptureTrace):
                found = trace.versions.get(self)
                if found is not None:
                    return found
            trace = trace.parent
        return self.first

    def advance(self, trace: CaptureTrace, node: Node) -> None:
        """Makes a node the version that a trace reads from now on; what was known of the elements is forgotten."""
        trace.versions[self] = node
        self.written = True
        if self.first in self.home.strides:
            trace.strides[node] = self.home.strides[self.first]
        if self.first in self.home.unordered:
            trace.unordered.add(node)
        for view in list(self.views.values()):
            view.forget()

    @property
    def is_seen(self) -> bool:
        """Return whether a name may show the memory: the caller has it, or a live value of the current trace, or of
        one around it, lies in it.
        """
        return self.is_of(current()) and (self.path is not None or self._has_names())

    def _has_names(self) -> bool:
        """Return whether anything holds a value that lies in it, besides what is remembered of variables."""
        live = list(self.views.values())
        counts = [sys.getrefcount(live[number]) - ONE_REFERENCE for number in range(len(live))]
        trace: Any = self.home
        remembered = [one for values in trace.recorder.remembered for one in values]
        return any(count > sum(one is view for one in remembered) for view, count in zip(live, counts, strict=True))

    @property
    def is_carried(self) -> bool:
        """Return whether a turn of a loop begins with it, which may be memory from outside then."""
        first = self.first.inputs[0] if self.first in self.home.turned else self.first
        return self.path is None and first.op is PARAMETER

    def is_of(self, trace: Trace | None) -> bool:
        """Return whether it was made in a trace, or in one around that."""
        while trace is not None and trace is not self.home:
            trace = trace.parent
        return trace is not None

    @property
    def is_shown(self) -> bool:
        """Return whether it shares its memory with a value in a way that cannot be followed."""
        return self.shared or any(one() is not None for one in self.blind)

    @property
    def family(self) -> frozenset[Buffer]:
        """The buffer and its kin."""
        return frozenset((self, *self.kin))

    def shares(self, other: Buffer) -> bool:
        """Return whether this is the memory of another buffer, or may be."""
        return other is self or other in self.kin

    def may_be(self, others: Iterable[Buffer]) -> None:
        """Notes that only the run tells if this is the memory of one of other buffers."""
        for one in others:
            if one is not self:
                self.kin.add(one)
                one.kin.add(self)

    def __repr__(self) -> str:
        return f"<buffer of {self.label or 'a local array'}>"


class BufferView(TracedValue):
    """A traced value that lies in a buffer, as a whole or as a view.

    ``steps`` are the operations from a version of the buffer to this value, the outermost first: the first operand of
    each is what comes before it. They are applied anew to each version that the value is read from.
    """

    __slots__ = ("_buffer", "_node", "_seen", "_steps")

    _buffer: Buffer | None
    _node: Node
    _seen: Node
    _steps: tuple[Node, ...]

    def __init__(
        self, node: Node, trace: Trace, *, weak: type | None = None, scalar: bool = False, is_view: bool = False
    ) -> None:
        object.__setattr__(self, "_buffer", None)
        super().__init__(node, trace, weak=weak, scalar=scalar, is_view=is_view)

    @property
    def node(self) -> Node:
        """The value in the version of its buffer that the current trace reads."""
        return self._node if self._buffer is None else self._current(self._buffer)

    @node.setter
    def node(self, node: Node) -> None:
        object.__setattr__(self, "_node", node)

    @property
    def last_node(self) -> Node:
        """The node that the value was read as last, if it ever was."""
        return self.node if self._node is None else self._node

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions, which are the same in every version."""
        return self.last_node.aval.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions, which is the same in every version."""
        return self.last_node.aval.rank

    @property
    def is_linked(self) -> bool:
        """Return whether the value was put into a buffer."""
        return self._buffer is not None

    @property
    def buffer(self) -> Buffer:
        """The memory of this value, of its own unless the value was put into another one."""
        if self._buffer is None:
            self.lie_in(Buffer(self._node, self.owner), ())
        assert self._buffer is not None
        return self._buffer

    @property
    def steps(self) -> tuple[Node, ...]:
        """The operations from a version of the buffer to this value."""
        return self._steps if self.buffer else ()

    def lie_in(self, buffer: Buffer, steps: tuple[Node, ...]) -> None:
        """Puts the value into a buffer."""
        put = object.__setattr__
        put(self, "_buffer", buffer)
        put(self, "_steps", steps)
        put(self, "_seen", steps[0].inputs[0] if steps else self._node)
        buffer.views[id(self)] = self

    def is_made_in(self, trace: Trace) -> bool:
        """Return whether code under a trace can read the value: all that its view takes is known there."""
        return all(trace.reaches(node) for step in self.steps for node in step.inputs[1:])

    def forget(self) -> None:
        """Forgets what was known of the elements."""

    def tell(self, result: Any) -> None:
        """Notes that what is known of a result is so as long as the elements are these."""

    def _current(self, buffer: Buffer) -> Node:
        """The node in the version at hand; one that was made in a trace that has ended is made again."""
        trace = reader_of(current(), buffer.home)
        version = buffer.version(trace)
        if version is not self._seen or not trace.reaches(self._node):
            object.__setattr__(self, "_node", replayed(self._steps, version, trace))
            object.__setattr__(self, "_seen", version)
        return self._node


def reader_of(trace: Trace | None, home: Trace) -> Trace:
    """The trace that reads a buffer: its home, where somebody looks at it from outside of that."""
    inner = trace
    while inner is not None and inner is not home:
        inner = inner.parent
    return home if inner is None or trace is None else trace


def replayed(steps: tuple[Node, ...], version: Node, trace: Trace | None) -> Node:
    """The value that the same operations make of another version."""
    assert trace is not None or not steps
    for step in steps:
        assert trace is not None
        version = trace.add(step.op, (version, *step.inputs[1:]), step.kwargs)
    return version
