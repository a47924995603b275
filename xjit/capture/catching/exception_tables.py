"""Exception tables of running code: read and followed to tell whether it would catch an error.

A compiled program runs none of the user's handlers, so that a step which may raise must not stand where one could
catch it. What only passes the error on is harmless: the end of a ``with`` block that restores something, and
``finally``, unless it changes or calls something behind an error of a call in Python, which NumPy may not do again.
"""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FrameType, ModuleType
from typing import Any

from xjit.dataclass import dataclass, field

_UNKNOWN = object()
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS"})
_NAMES = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_LOCALS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_CHANGES = frozenset(
    {"STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR", "STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL"}
    | {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}
)


def catches(frame: FrameType, error: type[BaseException], named_only: bool, restoring: int) -> bool:
    """Return whether a handler in a frame could catch an error of this type that its current instruction raises.

    ``named_only`` leaves out handlers of everything. ``restoring`` of the ``with`` blocks around the instruction are
    known to pass errors on.
    """
    start = _decoded(frame.f_code).handler_of(frame.f_lasti)
    if start is None:
        return False
    search = _Search(frame, error)
    search.follow(start)
    if error is Exception and search.changes:
        return True
    return search.named or (not named_only and (search.unnamed or search.withs > restoring))


def handler_at(frame: FrameType) -> int | None:
    """Return the handler of errors of the current instruction of a frame; None for the caller."""
    return _decoded(frame.f_code).handler_of(frame.f_lasti)


@dataclass(frozen=True, slots=True)
class _Decoded:
    """The instructions of a code object by their offsets, and which handler guards which of them."""

    instructions: Mapping[int, dis.Instruction]
    following: Mapping[int, int]
    guarded: Sequence[tuple[int, int, int]]

    def handler_of(self, offset: int) -> int | None:
        """Return the handler of errors of the instruction; None for the caller."""
        return next((target for start, end, target in self.guarded if start <= offset < end), None)


@functools.lru_cache(maxsize=512)
def _decoded(code: CodeType) -> _Decoded:
    found = list(dis.get_instructions(code)) if code.co_exceptiontable else []
    offsets = [one.offset for one in found]
    following = dict(itertools.pairwise(offsets))
    return _Decoded(dict(zip(offsets, found, strict=True)), following, tuple(_guarded(code.co_exceptiontable)))


def _guarded(table: bytes) -> Iterator[tuple[int, int, int]]:
    """First and last offset and handler of each entry: numbers in units of two bytes, six bits to a byte."""
    numbers: list[int] = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if byte & 64:
            continue
        numbers.append(2 * value)
        value = 0
    for start, size, target, _ in zip(*[iter(numbers)] * 4, strict=True):
        yield start, start + size, target


@dataclass(eq=False)
class _Search:
    """Follows the code of handlers for one error, through those that pass it on.

    named    a handler for such errors was found
    unnamed  one of all errors, or code that goes on as if there had been none
    withs    how many ends of ``with`` blocks the error passes
    changes  code on the way of the error assigns to elements or attributes, or calls something
    """

    frame: FrameType
    error: type[BaseException]
    named: bool = False
    unnamed: bool = False
    withs: int = 0
    changes: bool = False
    seen: set[int] = field(default_factory=set)
    stack: list[Any] = field(default_factory=list)

    @property
    def code(self) -> _Decoded:
        """The instructions of the frame."""
        return _decoded(self.frame.f_code)

    def follow(self, offset: int | None) -> None:
        """Follows the code from an instruction on, along every branch that the error may take."""
        while offset is not None and offset not in self.seen:
            self.seen.add(offset)
            offset = self._next(self.code.instructions[offset])

    def _next(self, one: dis.Instruction) -> int | None:
        name, following = one.opname, self.code.following.get(one.offset)
        self.changes |= name in _CHANGES
        if name == "RERAISE":
            self.stack.clear()
            return self.code.handler_of(one.offset)
        if name in _ENDS:
            self.unnamed = True
            return None
        if name == "POP_EXCEPT" and following is not None and self.code.instructions[following].opname != "RERAISE":
            self.unnamed = True
            return None
        if name in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH"):
            return self._unmatched(one)
        if name == "WITH_EXCEPT_START":
            return self._passed_on(one)
        if one.opcode in _JUMPS:
            if name.startswith("JUMP") and "IF" not in name:
                return int(one.argval)
            self.follow(int(one.argval))
            return following
        self._load(one)
        return following

    def _unmatched(self, one: dis.Instruction) -> int | None:
        """Return the instruction behind a handler that is not for the error."""
        wanted = self.stack.pop() if self.stack else _UNKNOWN
        if one.opname == "CHECK_EG_MATCH" or _may_match(wanted, self.error):
            broad = wanted in (_UNKNOWN, Exception, BaseException)
            self.named, self.unnamed = self.named or not broad, self.unnamed or broad
        self.stack.clear()
        return self._branch(one.offset, taken=True)

    def _passed_on(self, one: dis.Instruction) -> int | None:
        self.withs += 1
        return self._branch(one.offset, taken=False)

    def _branch(self, offset: int, taken: bool) -> int | None:
        """One way of the next conditional jump."""
        place: int | None = offset
        while place is not None and self.code.instructions[place].opcode not in _JUMPS:
            place = self.code.following.get(place)
        if place is None:
            return None
        return int(self.code.instructions[place].argval) if taken else self.code.following.get(place)

    def _load(self, one: dis.Instruction) -> None:
        """Keeps track of the class that a handler names."""
        name, key = one.opname, one.argval
        if name in _NAMES:
            self.stack.append(_global(self.frame, key))
        elif name in _LOCALS:
            self.stack.append(self.frame.f_locals.get(key, _UNKNOWN))
        elif name in _ATTRIBUTES and self.stack:
            self.stack.append(_attribute(self.stack.pop(), key))
        elif name == "BUILD_TUPLE" and 0 < key <= len(self.stack):
            self.stack[-key:] = [tuple(self.stack[-key:])]
        elif name not in ("PUSH_EXC_INFO", "NOP", "CACHE", "EXTENDED_ARG"):
            self.stack.clear()


def _global(frame: FrameType, name: str) -> Any:
    namespace = getattr(frame.f_globals, "namespace", frame.f_globals)
    return namespace.get(name, vars(builtins).get(name, _UNKNOWN))


def _attribute(value: Any, name: str) -> Any:
    """Return what a module or a class has by a name: nothing else is asked, as its attributes may be code."""
    if not isinstance(value, ModuleType | type):
        try:
            value = object.__getattribute__(value, "_module")
        except AttributeError:
            return _UNKNOWN
    return getattr(value, name, _UNKNOWN)


def _may_match(wanted: Any, error: type[BaseException]) -> bool:
    """Return whether errors of a type, or of one derived from it, are among the wanted ones."""
    if isinstance(wanted, tuple):
        return any(_may_match(one, error) for one in wanted)
    return not isinstance(wanted, type) or issubclass(error, wanted) or issubclass(wanted, error)
