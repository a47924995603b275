"""The error family: each class is also the built-in type that NumPy would have raised.

A message has four parts, at most eight lines together, so that a traceback of one call has at most twelve: what was
expected and what came, the user's line, where the offending value came from, and the fix.

>>> raise ShapeError("ops.add: rhs: sizes differ in dimension 0; got f32[2] and f32[3]", fix="slice one operand")
Traceback (most recent call last):
...
xjit.errors.ShapeError: ops.add: rhs: sizes differ in dimension 0; got f32[2] and f32[3]
  fix: slice one operand
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ORIGIN_LINES = 5
MAX_OTHERS = 4


class Position(Protocol):
    """Source position, as errors need it."""

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def function(self) -> str: ...


class XjitError(Exception):
    """Base of all errors that xjit raises itself.

    ``message`` says what was expected and what came, ``where`` is the user's line, ``origin`` lists at most five
    lines on how the value came about, ``others`` are what else stands in the way, ``cost`` is that of what a warning
    tells, ``fix`` says what to do about it.
    As readers look at the last line first, it is never one of the origin: ``remedy``, what can be said of all errors
    of a class, takes the place of a missing fix.
    """

    remedy: ClassVar[str] = "change this line, or compute it outside of the compiled function"

    def __init__(
        self,
        message: str,
        *,
        where: Position | None = None,
        origin: Sequence[str] = (),
        fix: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.origin = tuple(origin)[:MAX_ORIGIN_LINES]
        self.fix = fix
        self.cost = ""
        self.others: tuple[XjitError, ...] = ()

    def __str__(self) -> str:
        lines = [self.message]
        if self.where is not None:
            lines.append(f"  at {self.where.file}:{self.where.line}, in {self.where.function}")
        lines += [f"  from {line}" for line in self.origin]
        lines += [f"  also {other.brief}" for other in self.others[:MAX_OTHERS]]
        if len(self.others) > MAX_OTHERS:
            lines.append(f"  and {len(self.others) - MAX_OTHERS} more, which f.explain(...) lists")
        if self.cost:
            lines.append(f"  cost: {self.cost}")
        if self.fix or len(lines) > 1:
            lines.append(f"  fix: {self.fix or self.remedy}")
        return "\n".join(lines)

    @property
    def brief(self) -> str:
        """The message and the line, in one line."""
        place = "" if self.where is None else f" ({os.path.basename(self.where.file)}:{self.where.line})"
        return f"{self.message}{place}"

    def located(self, where: Position, origin: Sequence[str] = ()) -> XjitError:
        """Fills in the position and the origin, unless an inner boundary has done so already."""
        if self.where is None:
            self.where = where
        if not self.origin:
            self.origin = tuple(origin)[:MAX_ORIGIN_LINES]
        return self


def is_lasting(error: BaseException) -> bool:
    """Return whether the same would be raised again: not for want of memory, stack, threads or files.

    What an error was raised from counts: compilers wrap what they run into. A module that is imported at the time is
    not yet there.
    """
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, MemoryError | RecursionError | OSError | EOFError) or _is_too_early(cause):
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def _is_too_early(error: BaseException) -> bool:
    module = sys.modules.get(error.name or "") if isinstance(error, ImportError) else None
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


class ShapeError(XjitError, ValueError):
    """Shapes do not fit together, or a size is impossible."""

    remedy = "reshape, slice or pad one of the arrays so that their shapes fit"


class DTypeError(XjitError, TypeError):
    """An element type is not supported by the operation, or the types differ."""

    remedy = "convert an operand with astype, or pass another dtype"


class ArgumentError(XjitError, ValueError):
    """A static argument (an axis, a permutation, an option) is out of its range."""

    remedy = "pass another value for this argument, or an array that it is right for"


class CaptureError(XjitError, TypeError):
    """The function does something with a traced value that cannot be captured.

    ``opens`` are the arguments, by place or name, that are lists and dicts which the function changes. ``pin`` is the
    place of a value of the run without which it is not raised; None where no value is to be pinned.
    """

    opens: frozenset[int | str] = frozenset()
    pin: object = None


class DataDependentError(CaptureError):
    """The shape or the type of a result depends on elements, which only the run knows: nothing to compile for."""


class TargetError(XjitError, RuntimeError):
    """The chosen target cannot run this program, or the compiler failed on it."""

    remedy = "please report this, with the text of f.graph(...) and f.source(...)"


class MissingCompilerError(TargetError):
    """Numba or llvmlite is not installed, or does not work here: no function can be compiled."""


class CommunicatorError(XjitError, RuntimeError):
    """Replicas disagree, or the communicator was used wrongly."""

    remedy = "let all replicas make the same calls with the same shapes"


class IndexOutOfBoundsError(XjitError, IndexError):
    """An index lies outside its dimension, as NumPy's IndexError."""

    remedy = "use positions that lie within the array"


class IntegerError(XjitError, OverflowError):
    """A Python integer meets an array whose element type does not hold it, as NumPy's OverflowError."""

    remedy = "make it a NumPy integer, np.int64(n), or give the array a wider type with astype"


class NumberError(XjitError, OverflowError, ValueError):
    """A number is stored where its type does not hold it: NumPy's OverflowError, or its ValueError for NaN."""

    remedy = "look at the number before it is stored, or convert an array with astype"


class FallbackWarning(UserWarning):
    """A call, or part of it, ran through NumPy because it could not be compiled."""


class RetraceWarning(UserWarning):
    """A function was traced again and again for one cause."""


class CacheWarning(UserWarning):
    """The disk cache cannot be used; the answer is right all the same."""
