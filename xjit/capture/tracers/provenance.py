"""The trace of a user's function, and how errors tell where a value came from."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NoReturn
from weakref import WeakSet

import numpy as np

from xjit.capture.catching import exception_tables
from xjit.capture.catching.handled_errors import Handlers, clause_in, innermost, under_way
from xjit.dataclass import dataclass, field
from xjit.errors import MAX_ORIGIN_LINES, CaptureError, XjitError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.inner_graphs import may_fail
from xjit.ir.node import Node
from xjit.ir.opdef import Kind, OpDef
from xjit.ir.source_location import Where, is_own_code, user_position
from xjit.ops.elements.compare import eq
from xjit.ops.whole_arrays.shape import reshape, slice
from xjit.types import ArrayType, TupleType, in_words
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
    ``restoring`` are the frames in ``with`` blocks that only put something back, and ``error_states`` what those of
    np.errstate say. The ``watch`` says when tracing has
    to end. ``versions`` are those that the trace has made of the buffers of arrays; with ``hands_on`` the versions of
    buffers from outside of it are handed on to the trace around it; ``overwritten`` are buffers whose memory loops
    write that carry what was in it, for which there are no versions. ``behind_effects`` are turns of a loop whose
    turns have effects that happen once, ``open_ended`` those of a loop that its condition alone ends.
    ``conditional`` are the nodes that the run may find to fail, ``fallible`` those that may fail as a whole,
    ``expected`` the truths without which NumPy does the call, ``fitting`` those of them that say that arrays have
    room, ``tried`` the operations whose errors go to handlers. ``trials`` keep what is written at once, to take it
    back. The ``pins`` are values that the function's trace takes for granted, ``pinned`` the expected truths that
    say so; ``stopped`` is raised once the trace has come to the value that is asked for. ``shown`` are nodes whose
    memory an object of the run may show, with the buffers that they are versions of.
    """

    labels: dict[Node, str] = field(default_factory=dict)
    refusals: list[XjitError] = field(default_factory=list)
    recorder: Any = None
    began: CodeType | None = None
    floating_errors: bool = False
    splitting: bool = False
    restoring: list[FrameType] = field(default_factory=list)
    error_states: list[dict[str, Any]] = field(default_factory=list)
    watch: Watch = UNWATCHED
    versions: dict[Any, Node] = field(default_factory=dict)
    overwritten: set[Any] = field(default_factory=set)
    hands_on: bool = False
    behind_effects: bool = False
    open_ended: bool = False
    conditional: list[Node] = field(default_factory=list)
    fallible: list[Node] = field(default_factory=list)
    expected: list[Node] = field(default_factory=list)
    fitting: set[Node] = field(default_factory=set)
    pinned: set[Node] = field(default_factory=set)
    pins: Any = None
    stopped: Any = None
    tried: set[Node] = field(default_factory=set)
    trials: WeakSet[Any] = field(default_factory=WeakSet)
    shown: dict[Node, Any] = field(default_factory=dict)

    def add(self, op: OpDef, inputs: tuple[Node, ...], params: dict[str, Any], where: Where | None = None) -> Node:
        """As in any trace; CaptureError for an operation whose error the user's code would catch when it runs.

        CompileLimitError when the time for tracing is up. Nothing is added to a trace that has been stopped.
        """
        if self.stopped is not None:
            raise self.stopped
        node = super().add(op, inputs, params, where)
        tried = self._tried(node)
        if tried is not None:
            return tried
        if node.op.failure is not None or node.op.raises:
            self.check_not_failed()
        if node.op.failure is not None:
            self.conditional.append(node)
        elif node.sequence < 0 and may_fail(node):
            self.fallible.append(node)
        self._count(node)
        self._look()
        return node

    def expects(self, holds: Any) -> bool:
        """Lets NumPy do the call unless a condition holds in a turn of a loop; return whether that is done."""
        from xjit.capture.tracers.demands import expect_in_loop

        return expect_in_loop(self, holds)

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

    def check_not_failed(self) -> None:
        """CaptureError behind an operation whose error the function catches, in the same expression."""
        if self.recorder is not None and any(one.failed for one in under_way(self.recorder.rewriting.bodies)):
            refuse("an error of the run follows one that the function catches", fix="use one statement for each")

    def _tried(self, node: Node) -> Node | None:
        """The node in place of one whose error goes to the function's handlers; None where it is no other one."""
        if not self._may_catch():
            return None
        errors = [*node.op.raises, *([type(node.op.failure(node.kwargs))] if node.op.failure else [])]
        if not node.op.silent and node.op.kind not in (Kind.LEAF, Kind.INDEXING):
            errors += _OF_ARITHMETIC
        caught, taken = self._taken(node, errors) if errors else (None, None)
        if caught is None:
            return None if taken is None else self._handed(node, *taken)
        if self.splitting and caught not in _OF_ARITHMETIC:
            self.recorder.caught.append((node, _public_name(caught)))
        else:
            refuse(
                f"the function catches an error that only the run will tell: {_public_name(caught)}",
                *(TracedValue(source, self) for source in node.inputs),
                fix="look at the values beforehand, or catch the error outside of the function",
            )

        return None

    def _taken(
        self, node: Node, errors: Sequence[type[Exception]]
    ) -> tuple[type[Exception] | None, tuple[Handlers, int] | None]:
        """An error that the user's code would catch, and the handlers that take the others, with a clause."""
        taken: tuple[Handlers, int] | None = None
        over = set[type[Exception]]()
        for error, frame in self._caught(errors):
            if error in over:
                continue
            found = None if self.recorder is None else innermost(self.recorder.rewriting.bodies, frame)
            handlers, clause = (None, None) if found is None else clause_in(found, _public(error))
            if handlers is not None and clause and self._takes(node, handlers) and taken is None:
                taken = handlers, clause
                over.add(error)
            elif clause != 0:
                self._ask_for_handlers(node, error, frame)
                return error, None
        return None, taken

    def _takes(self, node: Node, handlers: Handlers) -> bool:
        """Return whether handlers take the error of a node, as the first ones of the expressions under way."""
        if current() is not self or node.op.tried is None or not handlers.takes(self):
            return False
        return not any(
            one.failed for one in under_way(self.recorder.rewriting.bodies) if one is not handlers.evaluation
        )

    def _handed(self, node: Node, handlers: Handlers, clause: int) -> Node:
        """The operation whose error goes to handlers, or its result if there is one."""
        if node.op.marked is not None and node.aval.rank <= 2:
            elements = super().add(node.op.marked, node.inputs, node.kwargs, node.where)
            return self._unmarked(elements, node, handlers, clause)
        assert node.op.tried is not None
        found = super().add(node.op.tried, node.inputs, node.kwargs, node.where)
        assert isinstance(found.type, TupleType)
        self.tried.add(found)
        handlers.take(self.project(found, self.results(found)), clause)
        return found if isinstance(node.type, TupleType) else self.project(found, 0)

    def _unmarked(self, elements: Node, node: Node, handlers: Handlers, clause: int) -> Node:
        """The result of a node, of its elements and a mark behind them that says whether it has failed."""
        value, count = TracedValue(elements, self), elements.aval.size - 1
        mark = reshape(slice(value, (count,), (count + 1,)), ())
        handlers.take(self.adopt(eq(mark, np.zeros((), node.aval.dtype)).node), clause)
        return self.adopt(reshape(slice(value, (0,), (count,)), node.aval.shape).node)

    def results(self, node: Node) -> int:
        """As in any trace; whether an operation has results at all is none of them."""
        return super().results(node) - (node in self.tried)

    def _ask_for_handlers(self, node: Node, error: type[Exception], frame: FrameType) -> None:
        """CaptureError if the function would better be traced again, with its handlers rewritten."""
        known = node.op.tried is not None and self.recorder is not None and error not in _OF_ARITHMETIC
        if known and self.recorder.rewriting.ask_for_handlers(frame):
            refuse(f"a handler is to be rewritten: {_public_name(error)}")

    def _may_catch(self) -> bool:
        """Return whether any of the user's code that is running, or of a library that it calls, has handlers."""
        frame: FrameType | None = sys._getframe(3)
        while frame is not None and (code := frame.f_code) is not self.began:
            if code.co_exceptiontable and not is_own_code(code):
                return True
            frame = frame.f_back
        return False

    def is_caught(self, error: type[Exception]) -> bool:
        """Return whether the user's code, or a library that it calls, would catch an error where it stands."""
        return next(self._caught([error]), None) is not None

    def _caught(self, errors: Sequence[type[Exception]]) -> Iterator[tuple[type[Exception], FrameType]]:
        """The errors that the user's code, or a library that it calls, would catch where it stands, with frames."""
        frame: FrameType | None = sys._getframe(3)
        while frame is not None and frame.f_code is not self.began:
            if frame.f_code.co_exceptiontable and not is_own_code(frame.f_code):
                restoring = sum(one is frame for one in self.restoring)
                for error in errors:
                    named_only = error in _OF_ARITHMETIC and not self.floating_errors
                    if exception_tables.catches(frame, error, named_only, restoring):
                        yield error, frame
            frame = frame.f_back

    def label(self, value: TracedValue) -> str:
        """Return the name of a value in messages."""
        return self.labels.get(value.node) or f"the result of {_maker(value.node)}"


def _maker(node: Node) -> str:
    """Name of what makes a value, in the user's words: one of NumPy's functions, or a line."""
    if isinstance(getattr(np, node.op.name, None), np.ufunc):
        return f"np.{node.op.name}"
    return f"line {node.where.line}" if node.where.line else "an operation"


def _public_name(error: type[Exception]) -> str:
    """The name of the built-in or NumPy's class."""
    return _public(error).__name__


def _public(error: type[Exception]) -> type[Exception]:
    """The built-in or NumPy's class."""
    return next(one for one in error.__mro__ if not one.__module__.startswith("xjit."))


def enclosing_capture() -> CaptureTrace | None:
    """The trace of the user's function that is running, computations inside it included."""
    trace = current()
    while trace is not None and not isinstance(trace, CaptureTrace):
        trace = trace.parent
    return trace


def has_ended(value: Any) -> bool:
    """Return whether a value is of a turn or an arm that is no longer traced."""
    trace = current()
    return isinstance(value, TracedValue) and (trace is None or not trace.reaches(value.node))


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
    words = origin_as_recorded if error.message.startswith("ops.") else origin_lines
    error.located(position(), words(nodes, {} if trace is None else trace.labels))
    if trace is not None:
        trace.refusals.append(error)
        hindrance = "" if trace.recorder is None else trace.recorder.rewriting.take_hindrance()
        if hindrance and isinstance(error, CaptureError):
            error.fix = f"{hindrance}; its loops and branches would compile otherwise"
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
    frame = _traced_frame()
    while frame is not None and (type(frame.f_globals) is dict or is_own_code(frame.f_code)):
        frame = frame.f_back  # forms of functions of the standard library are traced, too
    if frame is None:
        return user_position()
    return Where(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def instruction() -> tuple[int, int]:
    """The line and the instruction of the innermost code that is traced."""
    frame = _traced_frame()
    return (0, 0) if frame is None else (frame.f_lineno, frame.f_lasti)


def _traced_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and type(frame.f_globals) is dict:  # rebuilt functions run over a subclass of it
        frame = frame.f_back
    return frame


def origin_lines(nodes: Iterable[Node], labels: Mapping[Node, str]) -> tuple[str, ...]:
    """At most five lines: the user's lines nearest to these nodes, with the types of what they make, and an argument.

    ``labels`` names parameters in words.
    """
    return _origin(nodes, labels, _line_of, in_words)


def origin_as_recorded(nodes: Iterable[Node], labels: Mapping[Node, str]) -> tuple[str, ...]:
    """The same in the words of ``xjit.ops``: the operations nearest to these nodes."""
    return _origin(nodes, labels, lambda node: f"{node.op.name} -> {node.type}, {node.where}", str)


def _line_of(node: Node) -> str:
    """The user's line that made a node, in short."""
    text = " ".join(linecache.getline(node.where.file, node.where.line).split()) or "a value"
    type = f" -> {in_words(node.type)}" if isinstance(node.type, ArrayType) else ""
    return f"{text:.60}{'...' * (len(text) > 60)}{type}, {node.where}"


def _origin(
    nodes: Iterable[Node],
    labels: Mapping[Node, str],
    line_of: Callable[[Node], str],
    words_of: Callable[[ArrayType], str],
) -> tuple[str, ...]:
    """Lines on where nodes come from.

    The last line is kept for an argument, if any contributed, because that is what the caller can change. Of what one
    of the user's lines makes the value nearest to the nodes is told.
    """
    lines: dict[Where, str] = {}
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
            lines.setdefault(node.where, line_of(node))
        elif node in labels:
            leaf = leaf or f"{labels[node]}: {words_of(node.aval)}"
    found = tuple(lines.values())
    return (*found[: MAX_ORIGIN_LINES - 1], leaf) if leaf else found[:MAX_ORIGIN_LINES]
