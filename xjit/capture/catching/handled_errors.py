"""Errors that handlers of the function get from the program: truth values of the graph, in place of its end.

    try: x = np.linalg.inv(a)         %2, %3 = tried_inv %1         the inverse, and whether there is one
    except LinAlgError: x = b         conditional(%3, ...)          the code behind the expression, or the handler's

An expression in the body of a ``try`` is evaluated to its end, whether it has failed or not; so it may change nothing
behind an operation that may fail, nor fail in another way.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from xjit.capture.catching.exception_tables import handler_at
from xjit.dataclass import dataclass, field
from xjit.ir.node import Node


@dataclass(eq=False)
class Evaluation:
    """An expression in the body of a ``try`` while it is evaluated in a trace.

    The ``innermost`` handlers are those of this ``try``. ``mark`` remembers what there is, and returns what refuses
    changes since. The ``failed`` are truth values that say that an operation has not failed, each with the number of
    the clause that is for its error; all of them belong to one ``owner``.
    """

    trace: Any
    innermost: Handlers
    mark: Callable[[], Callable[[], None]]
    is_over: bool = False
    owner: Handlers | None = None
    failed: list[tuple[Node, int]] = field(default_factory=list)
    check: Callable[[], None] | None = None


class Handlers:
    """The handlers of a ``try`` whose body is traced, with those of the one around it.

    Where it is not known what else is around it, it is not ``outermost``. While code of a handler is traced the body
    ``has_left`` it.
    """

    __slots__ = ("_classes", "_key", "evaluation", "handed", "has_left", "last", "outer", "outermost")

    def __init__(self, frame: FrameType, outer: Handlers | bool | None, classes: Callable[[], Any]) -> None:
        self._key = _key(frame)
        self._classes = classes
        self.outer = outer if isinstance(outer, Handlers) else None
        self.outermost: bool = outer is None or (isinstance(outer, Handlers) and outer.outermost)
        self.has_left = self.handed = False
        self.evaluation: Evaluation | None = None
        self.last: list[tuple[Node, int]] = []

    def is_of(self, frame: FrameType) -> bool:
        """Return whether these are the innermost handlers around the current instruction of a frame."""
        return self._key == _key(frame)

    def is_like(self, other: Handlers) -> bool:
        """Return whether these are the handlers of the same statement in the same call."""
        return self._key == other._key

    def clause_of(self, error: type[BaseException]) -> int | None:
        """Return the number of the clause for errors of just this type, 0 for none; None where that is not known."""
        if self.has_left:
            return 0
        for number, wanted in enumerate(self._classes(), 1):
            found = _matches(wanted, error)
            if found is not False:
                return number if found else None
        return 0

    def takes(self, trace: Any) -> bool:
        """Return whether what fails in a trace now is seen behind the expression that is evaluated."""
        found = self.evaluation
        return found is not None and not found.is_over and found.trace is trace and found.owner in (None, self)

    def take(self, holds: Node, clause: int) -> None:
        """Take the truth value that says that an operation has not failed."""
        found = self.evaluation
        assert found is not None
        if found.check is None:
            found.owner, found.check = self, found.mark()
        found.failed.append((holds, clause))
        self.handed = True
        inner: Handlers | None = found.innermost
        while inner is not None and inner is not self:
            inner.handed, inner = True, inner.outer


def _key(frame: FrameType) -> tuple[int, int, int | None]:
    """Return what tells the ``try`` around the current instruction of a frame from all others that run."""
    return id(frame), id(frame.f_code), handler_at(frame)


def _matches(wanted: Any, error: type[BaseException]) -> bool | None:
    """Return whether a class that a clause names is one of an error; None where that is not known.

    What raises an ``Exception``, as calls in Python do, raises any class of it.
    """
    if isinstance(wanted, tuple):
        found = [_matches(one, error) for one in wanted]
        return None if None in found else any(found)
    if not isinstance(wanted, type) or (error is Exception and wanted is not error and issubclass(wanted, error)):
        return None
    return issubclass(error, wanted)


def begun(known: list[Handlers], made: Handlers) -> Handlers:
    """Add the handlers of a body that begins, in place of those of the same body in an earlier turn."""
    known[:] = [one for one in known if not one.is_like(made)]
    known.append(made)
    return made


def under_way(known: list[Handlers]) -> list[Evaluation]:
    """Return the expressions in bodies of ``try`` that are evaluated now."""
    return [one.evaluation for one in known if one.evaluation is not None and not one.evaluation.is_over]


def innermost(known: list[Handlers], frame: FrameType) -> Handlers | None:
    """Return the innermost of the known handlers around the current instruction of a frame."""
    return next((one for one in reversed(known) if one.is_of(frame)), None)


def clause_in(found: Handlers, error: type[BaseException]) -> tuple[Handlers | None, int | None]:
    """Return which of these handlers, and of those around them, are for an error, and the number of the clause.

    Without any the clause is 0, and None where that is not known.
    """
    one: Handlers | None = found
    while one is not None:
        clause = one.clause_of(error)
        if clause != 0:
            return one, clause
        one = one.outer
    return None, 0 if found.outermost else None
