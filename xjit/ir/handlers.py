"""Signal handlers in stacks and tracebacks.

Python runs them in the main thread between any two instructions, also those of this package. What they raise belongs
to the caller: a time limit, say. It has to be told from an error of the code that was interrupted.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from xjit.errors import XjitError

_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
_OURS = ("xjit", "numpy", "scipy", "numba", "llvmlite")
_STAR = 0x04  # inspect.CO_VARARGS


def from_handler(error: BaseException) -> BaseException | None:
    """Return the exception of a signal handler that an error is or was led to by; None if there is none.

    An error of this package that was made of the handler's exception on the way gives way to that exception.
    """
    for one in _chain(error):
        if _passes_handler(one.__traceback__):
            return one if isinstance(error, XjitError) else error
    return None


def is_foreign(error: BaseException) -> bool:
    """Return whether this package and what it uses cannot have raised it: the class of the error is somebody
    else's.
    """
    root = type(error).__module__.partition(".")[0]
    return root not in _OURS and root not in sys.stdlib_module_names


def interrupts_import() -> bool:
    """Return whether the calling code runs inside of a signal handler that interrupted an import of the same thread.

    The modules of that import are incomplete for as long as the handler runs, and others wait for them.
    """
    inner: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != _IMPORT_SYSTEM:
        inner.append(frame)
        frame = frame.f_back
    return frame is not None and any(itertools.starmap(_is_handler, itertools.pairwise([*inner, frame])))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and what it was made of."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            waiting += [one.__context__, one.__cause__]
            yield one


def _passes_handler(traceback: TracebackType | None) -> bool:
    registered = _registered()
    while traceback is not None and traceback.tb_next is not None:
        inner = traceback.tb_next.tb_frame
        if inner.f_code in registered or _is_handler(inner, traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def _is_handler(frame: FrameType, interrupted: FrameType) -> bool:
    """Return whether a frame was handed the frame that it interrupted, which nothing but handlers are."""
    code = frame.f_code
    count = code.co_argcount
    if not count and not code.co_flags & _STAR:
        return False
    names = [*code.co_varnames[:count]]
    if code.co_flags & _STAR:
        names.append(code.co_varnames[count + code.co_kwonlyargcount])
    values = frame.f_locals
    given = [values.get(name) for name in names]
    return any(one is interrupted for one in _flat(given))


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) is tuple:
            yield from value
        yield value


def _registered() -> set[CodeType]:
    """The code of the handlers that are registered now; some delete the frame that they are handed."""
    import signal

    handlers: list[Any] = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = [getattr(getattr(handler, "__func__", handler), "__code__", None) for handler in handlers]
    return {code for code in codes if code is not None}
