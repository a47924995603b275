"""Buffers: the memory of arrays, of which each write makes a new version that all views see.

    x = np.zeros(4)      buffer b, version 1
    y = x[1:]            a view of b
    x[2] = 5.0           version 2 of b, made of version 1
    y                    the slice of version 2

A version is a node of the graph. A trace inside of another one has versions of its own, which the enclosing trace
does not see: what makes the trace, a loop or a branch, hands them on.
"""

from __future__ import annotations

import weakref
from typing import Any

from xjit.capture.guarding.access_path import Path
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node


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
    pinned   another array may or may not share it, as only the run tells: nobody writes to either
    views    the live values that lie in it
    """

    __slots__ = (
        "__weakref__",
        "blind",
        "first",
        "frozen",
        "home",
        "label",
        "path",
        "pinned",
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
        self.pinned = False
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
        for view in list(self.views.values()):
            view.forget()

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
        if self._buffer is None or not self._buffer.written:
            return self._node
        return self._current(self._buffer)

    @node.setter
    def node(self, node: Node) -> None:
        object.__setattr__(self, "_node", node)

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

    def forget(self) -> None:
        """Forgets what was known of the elements."""

    def _current(self, buffer: Buffer) -> Node:
        trace = _around(current(), buffer.home)
        version = buffer.version(trace)
        if version is not self._seen:
            object.__setattr__(self, "_node", replayed(self._steps, version, trace))
            object.__setattr__(self, "_seen", version)
        return self._node


def _around(trace: Trace | None, home: Trace) -> Trace:
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
