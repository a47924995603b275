"""The public boundary: what users see of an exception is their own code, with the line that brought it about.

Python adds a frame to a traceback while an exception leaves it, unless it is raised again by a bare ``raise``. So
whatever users call directly catches everything, takes the frames of this package out, and raises again::

    try:
        ...
    except BaseException as error:
        tidy(error)
        raise

As the frames are gone from ``__traceback__`` itself, pytest, IPython and loggers do not show them either.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from xjit import config
from xjit.errors import XjitError
from xjit.ir.current import current
from xjit.ir.source_location import Where, is_own_code

P = ParamSpec("P")
R = TypeVar("R")

# Generated kernels that run as Python, under XJIT_DEBUG, are what users look at there.
KERNEL_FILE = "<xjit kernel"
# A generated function may name the user's lines of its own: a mapping from its line numbers to positions.
PLACES = "places"


def at_boundary(function: Callable[P, R]) -> Callable[P, R]:
    """The function with exceptions tidied up for users."""

    @functools.wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            tidy(error)
            raise

    return entered


def expose(names: dict[str, Any]) -> None:
    """Puts what users may call of a module's names at the boundary: its functions, and how its classes are made."""
    for name, value in list(names.items()):
        if isinstance(value, types.FunctionType):
            names[name] = at_boundary(value)
        elif isinstance(value, type) and not issubclass(value, BaseException) and "__init__" in vars(value):
            made: Any = value
            type.__setattr__(value, "__init__", at_boundary(made.__init__))


COMES_FIRST = "__xjit_comes_first__"
"""The attribute of errors of calls that have changed nothing so far of what they are to change."""


WRONG_SITE = "__xjit_site__"
"""The attribute of errors of calls in Python that were not as they were taken for: the site, and whether that is true
of the results.
"""


LITTLE_ROOM = "__xjit_little_room__"
"""The attribute of errors of programs that had too little room for an array whose length only the run knows."""


OTHER_VALUE = "__xjit_other_value__"
"""The attribute of errors of programs that take a value of the run for granted which is another one in this call."""


TAKEN_BACK = "__xjit_taken_back__"
"""The attribute of errors of programs with effects that are taken back before NumPy does the call: what does so."""


def take_back(error: BaseException) -> None:
    """Takes back what the program has done that has raised this, in the reverse order."""
    for put_back in reversed(getattr(error, TAKEN_BACK, ())):
        put_back()


def comes_first(error: BaseException) -> bool:
    """Return whether NumPy may do the call that has raised this, from the beginning."""
    return getattr(error, COMES_FIRST, False) is True


def tidy(error: BaseException) -> None:
    """Takes what is of this package alone out of an exception's traceback and out of those it is chained to.

    It stays as it is while a function is being traced, where its origin is looked at, and under XJIT_FULL_TRACE.
    """
    if current() is not None or config.flag("XJIT_FULL_TRACE"):
        return
    seen: set[int] = set()
    chained: BaseException | None = error
    while chained is not None and id(chained) not in seen:
        seen.add(id(chained))
        own = chained.where if isinstance(chained, XjitError) else None
        chained.__traceback__ = _of_users(chained.__traceback__, own)
        if isinstance(chained, XjitError):
            chained.__cause__, chained.__suppress_context__ = None, True
        else:
            chained.__context__ = _not_ours(chained.__context__, seen)
        chained = chained.__context__ if chained.__cause__ is None else chained.__cause__


def _not_ours(error: BaseException | None, seen: set[int]) -> BaseException | None:
    """The first exception of a chain that was not caught by this package, or on the way to what was: a traceback
    starts at the frame that caught the exception, and nobody else has seen these.
    """
    inside: set[types.FrameType] = set()
    while error is not None and id(error) not in seen and error.__traceback__ is not None:
        catcher = error.__traceback__.tb_frame
        if catcher not in inside and not _is_ours(catcher):
            break
        seen.add(id(error))
        inside.update(entry.tb_frame for entry in _entries(error.__traceback__))
        error = error.__context__
    return error


def _of_users(trace: TracebackType | None, own: Any = None) -> TracebackType | None:
    """A traceback of the frames that are not this package's; the user's lines take the place of generated ones.

    An error that knows its ``own`` line is shown there: a step may test what several lines ask for.
    """
    kept: TracebackType | None = None
    for entry in reversed(list(_entries(trace))):
        where = _place(entry)
        if where is not None:
            kept = shown_at(own or where, kept)
        elif not _is_ours(entry.tb_frame):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_ours(frame: types.FrameType) -> bool:
    if is_own_code(frame.f_code):
        return not frame.f_code.co_filename.startswith(KERNEL_FILE)
    made = frame.f_code.co_filename == "<string>"  # methods of data classes
    return made and str(frame.f_globals.get("__name__")).startswith("xjit.")


def _place(entry: TracebackType) -> Where | None:
    if not is_own_code(entry.tb_frame.f_code):
        return None
    places: Mapping[int, Where] = entry.tb_frame.f_globals.get(PLACES) or {}
    return places.get(entry.tb_lineno)


def shown_at(where: Where, inner: TracebackType | None) -> TracebackType | None:
    """A traceback that starts at a line of the user's code, which is not running any more, and goes on inside."""
    try:
        exec(_stand_in(where), {"Shown": _Shown})
    except _Shown:
        entry = sys.exc_info()[2]
        assert entry is not None and entry.tb_next is not None
        frame = entry.tb_next
        return TracebackType(inner, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return inner


class _Shown(Exception):
    """Never leaves this module."""


@functools.lru_cache(maxsize=256)
def _stand_in(where: Where) -> types.CodeType:
    """Code that seems to fail at the user's line; as it knows no columns, no part of the line is underlined."""
    import ast

    text = ast.parse("raise Shown")
    for node in ast.walk(text):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = max(where.line, 1)
            node.col_offset = node.end_col_offset = -1
    code = compile(text, where.file, "exec")
    return code.replace(co_name=where.function, co_qualname=where.function)
