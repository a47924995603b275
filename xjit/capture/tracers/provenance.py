"""The trace of a user's function, and how errors tell where a value came from."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NoReturn

from xjit.capture.tracers import exception_tables
from xjit.dataclass import dataclass, field
from xjit.errors import MAX_ORIGIN_LINES, CaptureError, XjitError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.inner_graphs import may_fail
from xjit.ir.node import Node
from xjit.ir.opdef import Kind, OpDef
from xjit.ir.source_location import Where, is_own_code, user_position
from xjit.watch import UNWATCHED, Watch

# What NumPy raises or warns of as np.errstate says; code that names them counts on that.
_OF_ARITHMETIC = (FloatingPointError, RuntimeWarning)


MANY_OPERATIONS = 300
"""After each so many operations it is asked whether a loop of the user's makes them."""

COST_OF_UPDATES = 20
"""Operations that a write to some elements counts as: nothing fuses across it."""


@dataclass(eq=False)
class CaptureTrace(Trace):
    """The trace of one run of a user's function.

    ``labels`` names the parameters in words (``argument x``, ``global W``). ``refusals`` holds every error that
    was raised here, so that a ``try`` in the user's function cannot hide one and leave a wrong trace behind.
    ``recorder`` adds the guards. ``began`` is the code that calls the user's function, ``floating_errors`` says
    whether the program may raise FloatingPointError, ``splitting`` whether it may have steps in Python, and
    ``restoring`` are the frames in ``with`` blocks that only put something back. The ``watch`` says when tracing has
    to end. ``versions`` are those that the trace has made of the buffers of arrays; with ``hands_on`` the versions of
    buffers from outside of it are handed on to the trace around it; ``overwritten`` are buffers whose memory loops
    write that carry what was in it, for which there are no versions. ``conditional`` are
    the nodes that the run may find to fail, ``fallible`` those that may fail as a whole, ``expected`` the truths
    without which NumPy does the call, ``fitting`` those of them that say that arrays have room.
    """

    labels: dict[Node, str] = field(default_factory=dict)
    refusals: list[XjitError] = field(default_factory=list)
    recorder: Any = None
    began: CodeType | None = None
    floating_errors: bool = False
    splitting: bool = False
    restoring: list[FrameType] = field(default_factory=list)
    watch: Watch = UNWATCHED
    versions: dict[Any, Node] = field(default_factory=dict)
    overwritten: set[Any] = field(default_factory=set)
    hands_on: bool = False
    conditional: list[Node] = field(default_factory=list)
    fallible: list[Node] = field(default_factory=list)
    expected: list[Node] = field(default_factory=list)
    fitting: set[Node] = field(default_factory=set)

    def add(self, op: OpDef, inputs: tuple[Node, ...], params: dict[str, Any], where: Where | None = None) -> Node:
        """As in any trace; CaptureError for an operation whose error the user's code would catch when it runs.

        CompileLimitError when the time for tracing is up.
        """
        node = super().add(op, inputs, params, where)
        self._check_handlers(node)
        if node.op.failure is not None:
            self.conditional.append(node)
        elif node.sequence < 0 and may_fail(node):
            self.fallible.append(node)
        self._count(node)
        self._look()
        return node

    def _count(self, node: Node) -> None:
        """Counts the operation; CaptureError where loops of the user's have made too many of them, turn by turn."""
        if self.recorder is None:
            return
        before = self.recorder.operations // MANY_OPERATIONS
        self.recorder.operations += 1 if node.op.kind is not Kind.UPDATE else COST_OF_UPDATES
        many = self.recorder.operations // MANY_OPERATIONS > before
        if many and self.recorder.rewriting.ask_for_loops(sys._getframe(2)):
            refuse("a Python loop would be traced turn by turn", fix="use operations on whole arrays")

    def _look(self) -> None:
        """Tells of long tracing, and ends it when its time is up; as the user's code runs, nobody waits for it."""
        self.watch.look()
        try:
            self.watch.step()
        except XjitError as error:
            raise noted(error) from None

    def _check_handlers(self, node: Node) -> None:
        if not self._may_catch():
            return
        errors = [*node.op.raises, *([type(node.op.failure(node.kwargs))] if node.op.failure else [])]
        if not node.op.silent and node.op.kind not in (Kind.LEAF, Kind.INDEXING):
            errors += _OF_ARITHMETIC
        caught = next(self._caught(errors), None) if errors else None
        if caught is not None and self.splitting and caught not in _OF_ARITHMETIC:
            self.recorder.caught.append((node, _public_name(caught)))
        elif caught is not None:
            refuse(
                f"the function catches an error that only the run will tell: {_public_name(caught)}",
                *(TracedValue(source, self) for source in node.inputs),
                fix="look at the values beforehand, or catch the error outside of the function",
            )

    def _may_catch(self) -> bool:
        """Return whether any of the user's code that is running, or of a library that it calls, has handlers."""
        frame: FrameType | None = sys._getframe(3)
        while frame is not None and (code := frame.f_code) is not self.began:
            if code.co_exceptiontable and not is_own_code(code):
                return True
            frame = frame.f_back
        return False

    def _caught(self, errors: Sequence[type[Exception]]) -> Iterator[type[Exception]]:
        """The errors that the user's code, or a library that it calls, would catch where it stands."""
        frame: FrameType | None = sys._getframe(3)
        while frame is not None and frame.f_code is not self.began:
            if frame.f_code.co_exceptiontable and not is_own_code(frame.f_code):
                restoring = sum(one is frame for one in self.restoring)
                for error in errors:
                    named_only = error in _OF_ARITHMETIC and not self.floating_errors
                    if exception_tables.catches(frame, error, named_only, restoring):
                        yield error
            frame = frame.f_back

    def label(self, value: TracedValue) -> str:
        """Return the name of a value in messages."""
        return self.labels.get(value.node) or f"the result of {value.node.op.name}"


def _public_name(error: type[Exception]) -> str:
    """The name of the built-in or NumPy's class."""
    return next(one.__name__ for one in error.__mro__ if not one.__module__.startswith("xjit."))


def enclosing_capture() -> CaptureTrace | None:
    """The trace of the user's function that is running, computations inside it included."""
    trace = current()
    while trace is not None and not isinstance(trace, CaptureTrace):
        trace = trace.parent
    return trace


def is_splitting() -> bool:
    """Return whether the trace that is under way may have steps in Python."""
    trace = enclosing_capture()
    return trace is not None and trace.recorder is not None and trace.recorder.trace.splitting


@contextlib.contextmanager
def without_steps() -> Iterator[None]:
    """Refuse what would be a step in Python."""
    trace = enclosing_capture()
    assert trace is not None
    outermost = trace.recorder.trace
    before, outermost.splitting = outermost.splitting, False
    try:
        yield
    finally:
        outermost.splitting = before


def ask_to_rewrite() -> bool:
    """Asks for the innermost function of the user's to be traced again, with its control flow rewritten.

    Return whether that will happen if the trace is given up.
    """
    trace = enclosing_capture()
    if trace is None or trace.recorder is None:
        return False
    return bool(trace.recorder.rewriting.ask(sys._getframe(1)))


def refuse(message: str, *values: Any, fix: str = "") -> NoReturn:
    """Raises CaptureError at the user's line, saying where the values came from."""
    raise noted(CaptureError(message, fix=fix), *values)


def noted(error: XjitError, *values: Any) -> XjitError:
    """The error with position and origin filled in, remembered by the trace."""
    nodes = [value.last_node for value in values if isinstance(value, TracedValue)]
    trace = enclosing_capture()
    error.located(position(), origin_lines(nodes, {} if trace is None else trace.labels))
    if trace is not None:
        trace.refusals.append(error)
    return error


class located:
    """Fills in the user's line and the origin of the values in errors from below."""

    __slots__ = ("values",)

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = values

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, XjitError) and enclosing_capture() is not None:
            noted(error, *self.values)


def position() -> Where:
    """The innermost line of code that is traced: libraries that it calls are not the user's lines."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if type(frame.f_globals) is not dict:  # rebuilt functions run over a subclass of it
            return Where(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return user_position()


def origin_lines(nodes: Iterable[Node], labels: Mapping[Node, str]) -> tuple[str, ...]:
    """At most five lines: the operations and arguments nearest to these nodes, with the user's lines.

    ``labels`` names parameters in words.

    The last line is kept for an argument, if any contributed, because that is what the caller can change.
    """
    lines: list[str] = []
    leaf = ""
    seen: set[Node] = set()
    queue = deque(nodes)
    while queue and len(seen) < 1000:
        node = queue.popleft()
        if node in seen:
            continue
        seen.add(node)
        queue.extend(node.inputs)
        if node.op.kind is not Kind.LEAF:
            lines.append(f"{node.op.name} -> {node.type}, {node.where}")
        elif node in labels:
            leaf = leaf or f"{labels[node]}: {node.type}"
    return (*lines[: MAX_ORIGIN_LINES - 1], leaf) if leaf else tuple(lines[:MAX_ORIGIN_LINES])
