"""Callbacks: functions that the traced function makes and hands to a library, made anew at each call of the program.

def error(p): return ((p[0] * t - y) ** 2).mean()         operands of the step: t, y
optimize.minimize(error, guess)                           step: minimize(callback over t and y, guess)
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from xjit.capture.recording.global_reads import RecordingGlobals, effect_of
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.splits.templates import Template
from xjit.capture.tracers.provenance import refuse

_FIX = "pass what it needs as arguments, or call this code outside of the function"
_CONSUMERS = frozenset({"scipy", "numpy", "builtins"})
_KEEPERS = frozenset({"frompyfunc", "vectorize"})


def consumes(function: Any) -> bool:
    """Return whether a function of a library calls its callbacks before it returns, and keeps none of them.

    >>> import scipy.optimize, scipy.integrate
    >>> consumes(scipy.optimize.minimize), consumes(scipy.integrate.RK45), consumes([].append)
    (True, False, False)
    """
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    is_function = isinstance(function, types.FunctionType | types.BuiltinFunctionType)
    owner = getattr(function, "__self__", None)
    own = owner is None or isinstance(owner, types.ModuleType)
    return is_function and own and module.partition(".")[0] in _CONSUMERS and name not in _KEEPERS


def is_made(value: Any) -> bool:
    """Return whether a value is a function of traced code, which may read values of the run."""
    return type(value) is types.FunctionType and isinstance(value.__globals__, RecordingGlobals)


def template_of(function: types.FunctionType, plain_code: Callable[[types.CodeType], Any]) -> Template | None:
    """The template of a function that was made while tracing; None of others.

    CaptureError where it assigns variables outside of it, which the trace would not see.
    """
    namespace = function.__globals__
    if not isinstance(namespace, RecordingGlobals):
        return None
    code = plain_code(function.__code__)
    if code is None or not set(code.co_freevars) <= set(function.__code__.co_freevars):
        return None
    effect = effect_of(code)
    if effect:
        refuse(f"{function.__qualname__}, which is passed to code that is not traced, {effect}", fix=_FIX)
    return Template(code, namespace.namespace, function.__name__, function.__doc__)


def values_of(function: types.FunctionType, template: Template) -> list[Any]:
    """The values of the free variables as the trace has them.

    CaptureError for lists and dicts: the trace would not see what the callback changes in them.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found = [_value(cells[name], name) for name in template.code.co_freevars]
    for name, value in zip(template.code.co_freevars, found, strict=True):
        if value is function or issubclass(type(value), list | dict | set):
            what = "itself" if value is function else f"{name}, a {type(value).__name__}"
            refuse(f"{function.__qualname__}, which is passed to code that is not traced, reads {what}", fix=_FIX)
    return found


def _value(cell: Any, name: str) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND
