"""Calls that NumPy answers: how a function that cannot be compiled goes back to being itself.

To find out that a call was refused takes its arguments apart and costs tens of microseconds. So once calls with
arguments of the same kinds were refused often enough, while none of them could be compiled, an entry takes their
place among the shortcuts of compiled calls. It looks at the kinds alone. Of ``f(x, model, scale=s)``::

    def enter(*args):
        if len(args) != 3: return missed
        a0, a1, a2, = args
        if type(a0) is not k1 or a0.dtype is not k2 or a0.ndim != 2 or type(a1) is not k3 or ...: return missed
        left = pause.left
        if not left: return missed
        strict = setting(k4)
        if strict is not None and strict not in k5: return missed
        pause.left = left - 1
        return function(a0, a1, scale=a2)

What was refused may not be refused for good: dicts with other keys, arrays of another size. So an entry serves for
as many calls as were refused before it, and then the call is looked at again.
"""

from __future__ import annotations

import enum
import keyword
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import config
from xjit.capture.guarding.guards import GuardText
from xjit.dataclass import dataclass, field
from xjit.runtime.miss import MISS

Entry: TypeAlias = "Callable[..., Any]"

# Values of these types are what they are: a call with another one is of another kind.
_BY_IDENTITY = (bool, type(None), type, enum.Enum, types.FunctionType)
# Calls of one kind that are looked at before the first pause.
FIRST_LOOKS = 8
# Calls after which at the latest another one is looked at: to trace in vain costs as much as thousands of calls.
LONGEST_PAUSE = 16384
# Kinds of calls that are told apart; a function that is called with more is looked at each time.
MOST_KINDS = 64


@dataclass(slots=True, eq=False)
class Pause:
    """Calls that still pass without a look, and all that have passed."""

    left: int = 0
    granted: int = 0

    @property
    def passed(self) -> int:
        """The calls that NumPy has answered without a look."""
        return self.granted - self.left


@dataclass(slots=True, eq=False)
class Refused:
    """The calls of one kind: how often they were looked at, and the entry for those that are not."""

    looks: int = 0
    compiled: bool = False
    pause: Pause = field(default_factory=Pause)
    entry: Entry | None = None


class PlainCalls:
    """The kinds of calls of one function that were refused, or compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._kinds: dict[Hashable, Refused] = {}

    @property
    def passed(self) -> int:
        """The calls that NumPy has answered without a look."""
        return sum(one.pause.passed for one in self._kinds.values())

    def compiled(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Notes that a call was compiled: others of its kind are looked at each time from now on."""
        found = self._of(args, kwargs)
        if found is not None:
            found.compiled, found.pause.left, found.pause.granted = True, 0, found.pause.passed

    def refused(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Entry | None:
        """Notes that a call was refused after a look; the entry for others of its kind, if there is to be one."""
        found = self._of(args, kwargs)
        if found is None or found.compiled:
            return None
        if found.pause.left:  # entries of other calls have pushed it out, or another thread was faster
            return found.entry
        found.looks += 1
        if found.looks < FIRST_LOOKS:
            return None
        more = min(max(found.pause.passed, FIRST_LOOKS), LONGEST_PAUSE)
        found.pause.left, found.pause.granted = more, found.pause.granted + more
        if found.entry is None:
            found.entry = entry_of(self.function, args, kwargs, found.pause)
        return found.entry

    def _of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Refused | None:
        key = (len(args), *kwargs, *map(_kind, (*args, *kwargs.values())))
        if key not in self._kinds and len(self._kinds) >= MOST_KINDS:
            return None
        return self._kinds.setdefault(key, Refused())


def _kind(value: Any) -> Hashable:
    if type(value) is np.ndarray:
        return (value.dtype, value.ndim)
    told_by_value = isinstance(value, _BY_IDENTITY) or type(value) is str
    return (type(value), value if told_by_value else None)


def _other(name: str, value: Any, text: GuardText) -> str:
    """The condition that an argument is of another kind than this one."""
    if isinstance(value, _BY_IDENTITY):
        return f"{name} is not {text.constant(value)}"
    condition = f"type({name}) is not {text.constant(type(value))}"
    if type(value) is np.ndarray:
        condition += f" or {name}.dtype is not {text.constant(value.dtype)} or {name}.ndim != {value.ndim}"
    return f"{condition} or {name} != {text.constant(value)}" if type(value) is str else condition


def _named(name: str, value: str) -> str:
    """An argument given by name; text that is no name in Python may be one of ``**names``."""
    plain = name.isidentifier() and not keyword.iskeyword(name)
    return f"{name}={value}" if plain else f"**{{{name!r}: {value}}}"


def entry_of(function: Entry, args: Sequence[Any], kwargs: Mapping[str, Any], pause: Pause) -> Entry:
    """From arguments of the kinds of these to the function's result, or MISS; arguments that have names come last."""
    setting, name, off = config.environment_entry("XJIT_STRICT")
    text = GuardText({"missed": MISS, "function": function, "pause": pause, "setting": setting})
    values = (*args, *kwargs.values())
    conditions = [_other(f"a{number}", value, text) for number, value in enumerate(values)]
    names = [*(f"a{number}" for number in range(len(args)))]
    names += [_named(name, f"a{number}") for number, name in enumerate(kwargs, len(args))]
    lines = [f"if len(args) != {len(values)}: return missed"]
    if values:
        lines += ["".join(f"a{number}, " for number in range(len(values))) + "= args"]
        lines += [f"if {' or '.join(conditions)}: return missed"]
    lines += [
        "left = pause.left",
        "if not left: return missed",
        f"strict = setting({text.constant(name)})",
        f"if strict is not None and strict not in {text.constant(off)}: return missed",
        "pause.left = left - 1",
        f"return function({', '.join(names)})",
    ]
    return text.compiled("def enter(*args):\n" + "".join(f"    {line}\n" for line in lines))
