"""Programs behind conditions on arguments and names, checked in native code, whose results have a function's form.

Of ``def f(x, n): return float((x * SCALE).sum()) if n > 2 else None`` for a larger ``n`` the record is
``GuardedProgram(2, (Named(globals, "SCALE", 3.0), Within(1, 3, 2**63 - 1)), (0,), program, (number,), False, True)``.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from xjit.dataclass import dataclass
from xjit.runtime.calls.entry import native_entries
from xjit.runtime.calls.entry_words import numbers_of

INTEGERS: Final = (-(2**63), 2**63 - 1)
"""The first and the last integer of 64 bits."""

NOTHING: Final = object()
"""Stands for no object where a name must have none."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A dict, and no subclass of it, has this very ``value`` under a name; no entry at all for :data:`NOTHING`.

    ``equal`` is the value with a function that finds out whether another object is as good.
    """

    namespace: dict[str, Any]
    name: str
    value: Any
    equal: tuple[Any, Callable[[Any], bool]] | None = None

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return _held(6, self.namespace, id(self.name), self.value, self.equal)


@dataclass(frozen=True, slots=True, eq=False)
class InCell:
    """A cell holds this very ``value``, or one that is as good, as of :class:`Named`."""

    cell: types.CellType
    value: Any
    equal: tuple[Any, Callable[[Any], bool]] | None = None

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return _held(8, self.cell, 0, self.value, self.equal)


def _held(kind: int, holder: object, name: int, value: object, equal: object) -> tuple[int, int, int, int]:
    if equal is not None:
        return (kind + 1, id(holder), name, id(equal))
    return (kind, id(holder), name, 0 if value is NOTHING else id(value))


@dataclass(frozen=True, slots=True)
class Within:
    """An argument is an ``int`` from ``low`` to ``high``, both of 64 bits."""

    argument: int
    low: int
    high: int

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return (1, self.argument, self.low, self.high)


@dataclass(frozen=True, slots=True)
class OtherThan:
    """An argument is an ``int`` of 64 bits, and not this one."""

    argument: int
    value: int

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return (2, self.argument, self.value, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Is:
    """An argument is this very object."""

    argument: int
    value: Any

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return (3, self.argument, id(self.value), 0)


@dataclass(frozen=True, slots=True)
class OfType:
    """An argument is an instance of exactly this class."""

    argument: int
    cls: type

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return (4, self.argument, id(self.cls), 0)


@dataclass(frozen=True, slots=True)
class SameFloat:
    """An argument is a ``float`` of the same bits."""

    argument: int
    value: float

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return (5, self.argument, _bits(self.value), 0)


def _bits(value: float) -> int:
    bits: int = struct.unpack("=q", struct.pack("=d", value))[0]
    return bits


SIGNS: Final = ("<", "<=", ">", ">=", "==", "!=")
"""The comparisons of floats, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Compares:
    """An argument is a ``float`` whose comparison with ``value`` by a ``sign`` has this ``outcome``."""

    argument: int
    sign: str
    value: float
    outcome: bool

    def words(self) -> tuple[int, int, int, int]:
        """The condition for the native code."""
        return (0, self.argument, _bits(self.value), 2 * SIGNS.index(self.sign) + self.outcome)


Requirement: TypeAlias = Named | InCell | Within | OtherThan | Is | OfType | SameFloat | Compares

_MOST_INPUTS = 1024  # 8 KiB of stack
_KINDS: Final = {"array": 0, "scalar": 1, "number": 5, "made": 5, "whole": 6, "static": 7, "argument": 8}
_NUMBERS: Final = {float: (2, np.dtype(np.float64)), int: (3, np.dtype(np.int64)), bool: (4, np.dtype(np.bool_))}


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One leaf of the result.

    kind    ``array``: output ``index`` of the program. ``scalar``: the NumPy scalar in it, which is of rank 0.
            ``number``: the Python number of the class ``number`` in it, or what ``value`` makes of the array if that
            has another element type. ``made``: what ``value`` makes of the array. ``whole``: what ``value`` makes of
            all that the program returns. ``static``: ``value`` itself. ``argument``: argument ``index``
    """

    kind: Literal["array", "scalar", "number", "made", "whole", "static", "argument"]
    index: int = 0
    value: Any = None
    number: type | None = None

    def words(self) -> tuple[int, int, int, int]:
        """The form for the native code."""
        kind, types = _KINDS[self.kind], 0
        if self.kind == "number" and self.number in _NUMBERS:
            kind, dtype = _NUMBERS[self.number]
            types = numbers_of(dtype)
        return (kind, self.index, types, id(self.value))


@dataclass(frozen=True, slots=True, eq=False)
class GuardedProgram:
    """A program for calls with so many ``arguments`` for which all ``conditions`` hold.

    ``inputs`` are the numbers of the arguments that the program takes; it ``returns_tuple`` of outputs or the only
    one, or :data:`~xjit.runtime.miss.MISS`, which is handed on. The result is a tuple of all ``forms``, unless it is
    the only one's, ``single``; without any it is what the program returns.
    """

    arguments: int
    conditions: tuple[Requirement, ...]
    inputs: tuple[int, ...]
    program: Callable[..., Any]
    forms: tuple[Form, ...] = ()
    returns_tuple: bool = False
    single: bool = False

    def entry(self) -> Callable[..., Any] | None:
        """The program as a builtin function, which misses calls that it is not for; None without native code."""
        runtime = native_entries()
        return None if runtime is None or len(self.inputs) > _MOST_INPUTS else runtime.make_guarded(self.pack(), self)

    def pack(self) -> bytes:
        """The record that the native code reads."""
        shape = 0 if not self.forms else 1 if self.single else 2
        words = [self.arguments, len(self.conditions), len(self.inputs), len(self.forms)]
        words += [id(self.program), int(self.returns_tuple), shape]
        words += [word for one in self.conditions for word in one.words()]
        words += self.inputs
        words += [word for one in self.forms for word in one.words()]
        return struct.pack(f"={len(words)}q", *words)
