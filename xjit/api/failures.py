"""Failures of a compile: their cause, and whose fault it is."""

from __future__ import annotations

import os
import tempfile
import traceback
import warnings
from types import FrameType
from typing import Any

from xjit import config
from xjit.capture.catching.running_code import is_traced
from xjit.errors import CaptureError, FallbackWarning, MissingCompilerError, TargetError, XjitError, is_lasting
from xjit.inspect.costs import OF_NUMPY
from xjit.ir.handlers import from_handler, is_foreign
from xjit.ir.source_location import Where, stack_level
from xjit.runtime.notices import shared_notices


def public(error: XjitError) -> XjitError:
    """The error as users see it: without the frames inside this package, unless they are asked for."""
    return error if config.flag("XJIT_FULL_TRACE") else error.with_traceback(None)


def foreign(error: BaseException) -> BaseException | None:
    """Return the exception to raise if an error came from outside: from a signal handler or another thread."""
    return from_handler(error) or (error if is_foreign(error) and is_internal(error) else None)


def is_internal(error: BaseException) -> bool:
    """Return whether an exception was raised inside this package or the compilers below it, not by the user's
    code.
    """
    frames = traceback.extract_tb(error.__traceback__)
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    inside = (package, os.sep + "numba" + os.sep, os.sep + "llvmlite" + os.sep)
    return bool(frames) and any(part in frames[-1].filename for part in inside)


def reported(function: Any, error: BaseException) -> XjitError:
    """A failure of the compiler itself, with the traceback kept in a file unless it may not happen again; a refusal
    of code that cannot take values of a trace.
    """
    outside = _not_traced(error)
    if outside is not None:
        return outside
    if not is_lasting(error):
        found = TargetError(
            f"xjit: the compiler could not do its work: {type(error).__name__}: {error}",
            fix="it is tried again; functions that recurse deeply may be called earlier, or in a thread",
        )
        found.__cause__ = error
        return found
    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile("w", prefix="xjit-report-", suffix=".txt", delete=False) as file:
        file.write(f"{getattr(function, '__qualname__', function)}\n{text}")
    found = TargetError(
        f"xjit: the compiler failed: {type(error).__name__}: {error}", fix=f"please report the file {file.name}"
    )
    found.__cause__ = error
    return found


def _not_traced(error: BaseException) -> XjitError | None:
    """The refusal for an error of code in C, or of a library, that the user's function calls with traced values."""
    if not is_lasting(error):
        return None
    lines = list(traceback.walk_tb(error.__traceback__))
    own = [(frame, number) for frame, number in lines if is_traced(frame)]
    if not own or (is_internal(error) and not _is_asked_for_by_c(lines[-1][0], own[-1][0])):
        return None
    frame, number = own[-1]
    found = CaptureError(
        f"code that is not traced cannot take a value that only the run knows: {type(error).__name__}: {error}",
        where=Where(frame.f_code.co_filename, number, frame.f_code.co_name),
        fix="convert it by float(x) or np.asarray(x), or do this outside of the function",
    )
    found.__cause__ = error
    return found


def _is_asked_for_by_c(last: FrameType, own: FrameType) -> bool:
    """Return whether a frame is of a method of a traced value that code in C calls, in a line of the user's."""
    return last.f_back is own and last.f_code.co_name in ("__index__", "__len__", "__iter__", "__int__", "__float__")


def raise_unless_refused(error: BaseException, strict: bool) -> None:
    """Raise what is no matter of the compiler, and everything under strict."""
    other = foreign(error)
    if other is not None:
        raise other
    if isinstance(error, XjitError) and (strict or not isinstance(error, CaptureError | TargetError)):
        raise public(error) from None
    if not isinstance(error, XjitError) and (strict or not is_internal(error)):
        raise error


def left_to_numpy(name: str, refused: XjitError) -> str:
    """The warning about a call that NumPy runs as a whole."""
    refused.cost = OF_NUMPY
    return f"{name} runs through NumPy: {refused}"


def tell(name: str, refused: XjitError) -> None:
    """One warning for a function that NumPy runs, or for all of them if none can be compiled."""
    if isinstance(refused, MissingCompilerError):
        text = f"all functions run through NumPy: {refused}"
        shared_notices().warn("compiler", text, FallbackWarning)
    else:
        warnings.warn(left_to_numpy(name, refused), FallbackWarning, stacklevel=stack_level())
