"""Decorated functions in pickles: wherever a plain function goes by its name or with its code, they go the same way.

Functions of the main script and of notebooks cannot be imported in another process. Picklers that know so
(cloudpickle, joblib's, dask's, Spark's) write the code of such functions instead of their names, but do this for
plain functions only. Two plain functions therefore stand for a decorated one, found under names that lead through
it: ``function._mark`` is empty, ``function._twin`` has the code. Every pickler treats them by its own rules::

    by name   found(main.f._mark), state (main.f._twin, ...)    main.f itself, which stays as it is
    by code   found(<nothing>), state (<its code>, ...)         a new decorated function, then what it consists of

That it is there before its code lets the code refer to it.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from xjit.api.function import JitFunction
    from xjit.api.options import Options

State: TypeAlias = "tuple[Any, str, Options]"

# Older protocols write a name in parts as attributes of the function itself, which is what is being written.
_PARTED_NAMES = 4


def reduced(function: JitFunction[..., Any], protocol: int) -> Any:
    """Return the value of ``__reduce_ex__`` of a decorated function."""
    original = function.__wrapped__
    if named(function) is not function:
        return type(function), (original, function.options)
    if protocol < _PARTED_NAMES or type(original) is not types.FunctionType:
        return function.__qualname__
    state: State = function._twin, original.__qualname__, function.options
    return found, (type(function), function._mark), state


def found(kind: type[JitFunction[..., Any]], mark: Any) -> JitFunction[..., Any]:
    """The decorated function that a mark belongs to; a new one without a state if the mark came as code."""
    if named(mark) is not mark:
        return kind.__new__(kind)
    owner: JitFunction[..., Any] = named(mark, mark.__qualname__.rpartition(".")[0])
    return owner


def stand_ins(function: Any) -> tuple[Any, Any]:
    """The mark and the twin of a decorated function."""
    original = function.__wrapped__
    mark: Any = types.FunctionType(_nothing.__code__, {"__name__": function.__module__})
    cells, defaults = original.__closure__, original.__defaults__
    twin: Any = types.FunctionType(original.__code__, original.__globals__, original.__name__, defaults, cells)
    functools.update_wrapper(twin, original)
    del twin.__wrapped__
    twin.__kwdefaults__ = original.__kwdefaults__
    mark.__qualname__, twin.__qualname__ = f"{function.__qualname__}._mark", f"{function.__qualname__}._twin"
    return mark, twin


def _nothing() -> None:
    """Does nothing."""


def named(function: Any, name: str = "") -> Any:
    """Return the object that the qualified name of a function, or another in its module, leads to; None if it leads
    nowhere.
    """
    value: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in (name or getattr(function, "__qualname__", "<none>")).split("."):
        value = getattr(value, part, None)
    return value
