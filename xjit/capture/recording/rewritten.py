"""The functions of one capture that run rewritten, because tracing refused their control flow as it stands."""

from __future__ import annotations

import dis
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeAlias

from xjit import tree
from xjit.capture.guarding.identities import compares_with_truths, looks_at_identity
from xjit.capture.recording.container_entries import EMPTY, OF_TEXT, EntryType, RecordType, containers_in
from xjit.capture.rewriting.left_out import LeftOut
from xjit.capture.rewriting.rewrite import rebuild, returns_in_loops
from xjit.capture.rewriting.source_lookup import NotRewritable
from xjit.capture.tracers.provenance import refuse

_EQUAL = "use the truth value itself, as in `if x > 0`"
Mark: TypeAlias = tuple[frozenset[CodeType], bool]


class Rewriting:
    """The codes that are to run rewritten; it outlives the runs of a capture, each of which may add some.

    So do the places where the functions make lists whose lengths only the run knows. With ``handlers`` those of
    ``try`` are rewritten, too; ``has_handlers`` says that some were run through, ``bodies`` are those
    of the last run. With ``plain_integers`` those among the arguments are Python's own, on which
    some functions insist. Lines that are ``left_out`` do not run. ``has_late_returns`` says that returns of loops
    come behind the loops.
    """

    has_late_returns = _seeks_late_returns = False

    def __init__(self, handlers: bool = True, left_out: LeftOut | None = None) -> None:
        self.handlers = handlers
        self.left_out = left_out
        self.has_handlers = False
        self.plain_integers = False
        self.bodies: list[Any] = []
        self._wanted: set[CodeType] = set()
        self._chosen: set[CodeType] = set()
        self._kept: set[CodeType] = set()
        self._hindrances: dict[CodeType, str] = {}
        self.hindrance = ""
        self._owners: dict[CodeType, CodeType] = {}
        self._places: dict[int, tuple[tuple[int, int], Any]] = {}
        self._rows: dict[int, list[Any]] = {}
        self._dicts: dict[int, tuple[int, int]] = {}
        self._wanted_lists: dict[tuple[int, int], Any] = {}
        self._lists: dict[tuple[int, int], Any] = {}
        self._little: set[tuple[int, int]] = set()
        self._short: set[tuple[int, int]] = set()
        self._room: dict[tuple[int, int], int] = {}
        self._of_known_turns: set[tuple[int, int]] = set()
        self._plain: set[tuple[int, int]] = set()
        self._never_plain: set[tuple[int, int]] = set()
        self._wanted_flags: set[str] = set()
        self._flags: frozenset[str] = frozenset()
        self._renews = self._seeks_makers = False
        self.opened: set[Any] = set()
        self._arguments: list[tuple[int | str, Any, Any]] = []
        self._changed: set[int] = set()
        self.takes_containers = False

    def rebuilt(self, function: FunctionType, runtime: Callable[[], Any]) -> FunctionType:
        """The function that runs in place of one of the user's: itself, or the rewritten one."""
        code = function.__code__
        for inner in _codes(code):
            self._owners.setdefault(inner, code)
        asking = [inner for inner in _codes(code) if compares_with_truths(inner)]
        self._chosen = self._chosen.union(*map(self._around, asking))
        if self.is_used:  # so loops and branches may choose arrays
            looking = (inner for inner in _codes(code) if looks_at_identity(inner, function.__globals__))
            self._chosen = self._chosen.union(*map(self._around, looking))
        if code not in self._chosen or (code in self._kept and not asking):
            return function
        try:
            found = rebuild(
                function, runtime(), handlers=self.handlers, unbound=self._flags, late_returns=self.has_late_returns
            )
        except NotRewritable as error:
            self._keep(code, error)
            if asking:  # nothing tells the code that Python runs whether a truth value of the run is True
                refuse(f"{function.__qualname__} compares with True or False by `is`, and {error}", fix=_EQUAL)
            return function
        for inner in _codes(found.__code__):
            self._owners.setdefault(inner, code)
        return found

    def defined(self, function: FunctionType, runtime: Any) -> FunctionType:
        """The function in place of one that a rewritten one defines: itself, or the rewritten one."""
        plain = self.plain_code(function.__code__)
        if plain is None or plain not in self._chosen or plain in self._kept:
            return function
        try:
            found = rebuild(
                function,
                runtime,
                code=plain,
                handlers=self.handlers,
                unbound=self._flags,
                late_returns=self.has_late_returns,
            )
        except NotRewritable as error:
            self._keep(plain, error)
            return function
        for inner in _codes(found.__code__):
            self._owners.setdefault(inner, self._owners[function.__code__])
        return found

    def _keep(self, code: CodeType, error: NotRewritable) -> None:
        self._kept.add(code)
        self._hindrances[code] = f"{code.co_name} {error}"

    def take_hindrance(self) -> str:
        """Why the function that has asked last is not rewritten, for the error about it; empty where it is."""
        found, self.hindrance = self.hindrance, ""
        return found

    def plain_code(self, code: CodeType) -> CodeType | None:
        """The code of a function of the user's as it stands, of a function within a rewritten one, too."""
        owner = self._owners.get(code)
        if owner is None or code is owner:
            return owner
        same = (one for one in _codes(owner) if one is code or _place(one) == _place(code))
        found = list(same)
        return found[0] if len(found) == 1 else None

    def ask(self, frame: FrameType | None) -> bool:
        """Notes that the innermost function of the user's meets control flow that only a rewritten one can do.

        Return whether it is to be rewritten, and is not yet.
        """
        self.hindrance = ""
        while frame is not None:
            if self._want(frame):
                around = self._around(frame.f_code)
                self.hindrance = next(filter(None, map(self._hindrances.get, around)), "")
                return not self._wanted.isdisjoint(self._around(frame.f_code))
            frame = frame.f_back
        return False

    def ask_for_handlers(self, frame: FrameType) -> bool:
        """Notes that a function would catch an error of the run; return whether it will be rewritten for that."""
        if not self.handlers:
            return False
        found = self._around(frame.f_code) - self._chosen - self._kept
        self._wanted |= found
        return bool(found)

    def ask_for_loops(self, frame: FrameType | None) -> bool:
        """Notes the functions of the user's that are within a loop; return whether there are new ones."""
        found = False
        for one in self._within_loops(frame):
            self._want(one)
            found = bool(self._wanted)
        return found

    def is_in_loop(self, frame: FrameType | None) -> bool:
        """Return whether a function of the user's is within a loop that Python goes through."""
        return any(True for _ in self._within_loops(frame))

    def _within_loops(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The frames of the user's functions from one outwards that are within a loop."""
        while frame is not None:
            if frame.f_code in self._owners and _is_in_loop(frame):
                yield frame
            frame = frame.f_back

    def _want(self, frame: FrameType) -> bool:
        """Wants the function of a frame, and those around it; return whether it is one of the user's."""
        around = self._around(frame.f_code)
        self._wanted |= around - self._chosen
        return bool(around)

    def _around(self, code: CodeType) -> set[CodeType]:
        """The function that has the code, as it stands, and those that define it; none for others than the user's."""
        owner, plain = self._owners.get(code), self.plain_code(code)
        if owner is None:
            return set()
        return {one for one in _codes(owner) if one is owner or (plain is not None and plain in _codes(one))}

    def want(self, code: CodeType) -> None:
        """Notes that a function of the user's would better be rewritten."""
        owner = self._owners.get(code)
        if owner is not None and owner not in self._chosen:
            self._wanted.add(owner)

    def mark(self) -> Mark:
        """The codes that are wanted so far, and whether the next run has others, to come back to."""
        return frozenset(self._wanted), self._renews

    def restore(self, mark: Mark) -> None:
        """Forgets what was wanted since."""
        wanted, self._renews = mark
        self._wanted &= wanted

    def is_of_run(self, made: Any, place: tuple[int, int]) -> bool:
        """Return whether a list, a dict or a set that is made in a place is to be one that only the run has."""
        self._places[id(made)] = place, made
        return place in self._lists

    def elements_of(self, place: tuple[int, int]) -> Any:
        """The type of the numbers that such a list has; None where it has others, or they are not known."""
        return self._lists[place]

    def holds(self, made: Any) -> bool:
        """Return whether a list that the function makes is remembered with its place."""
        return self._places.get(id(made), (None, None))[1] is made

    def note_rows(self, made: Any) -> None:
        """Notes a list that the function makes as the one around the lists in it."""
        if type(made) is list and made and all(type(one) is list for one in made):
            self._rows.update((id(one), made) for one in made)

    def list_around(self, row: Any) -> Any:
        """The list around one that stands in it; that itself where it is in none."""
        around = self._rows.get(id(row))
        return row if around is None or not any(one is row for one in around) else around

    def want_of_run(self, made: Any, kind: Any) -> bool:
        """Notes a list as one that only the run knows; return whether it is known where it was made, and new.

        Where it is not known the functions that make lists are rewritten, such as ``__init__`` of a class.
        """
        place, known = self._places.get(id(made), (None, None))
        if known is not made:
            others = set(self._owners.values()) - self._chosen - self._kept
            makers = {one for one in others if _makes_lists(one)}
            self._wanted |= makers
            self._seeks_makers |= bool(makers)
        is_new = place is not None and known is made and place not in self._lists
        if place is not None and is_new:
            self._wanted_lists[place] = kind
        return is_new

    def wants_growing_lists(self) -> bool:
        """Return whether the function is traced anew with lists that grow; loops of known turns may do without."""
        wanted = [place for place, kind in self._wanted_lists.items() if isinstance(kind, EntryType | RecordType)]
        self._of_known_turns.update(wanted)
        return bool(wanted) or self._seeks_makers

    def wants_other_loops(self) -> bool:
        """Return whether the function is traced anew with lists that grow, or with returns behind their loops."""
        return self.wants_growing_lists() or self._seeks_late_returns

    def is_plain(self, place: tuple[int, int]) -> bool:
        """Return whether a list that is made in a place is to be one of Python's, although loops may make it."""
        return place in self._plain

    def note_known_turns(self, place: tuple[int, int]) -> None:
        """Notes a place where turns of a known number make a list: they may be traced one by one."""
        self._of_known_turns.add(place)

    def want_plain(self, place: tuple[int, int]) -> bool:
        """Notes that a list had better be one of Python's; return whether the function is traced anew for that."""
        is_new = place in self._of_known_turns and place not in self._plain | self._never_plain
        if is_new:
            self._plain.add(place)
            self._renews = True
        return is_new

    def want_all_plain(self) -> None:
        """Notes that all lists of loops of known turns had better be ones of Python's."""
        for place in self._of_known_turns:
            self.want_plain(place)

    def give_up_plain(self) -> bool:
        """Forgets which lists are to be ones of Python's, as that cannot be traced; return whether there are any."""
        given_up = bool(self._plain)
        self._never_plain |= self._plain
        self._plain.clear()
        return given_up

    def is_dict_of_run(self, made: Any, place: tuple[int, int]) -> bool:
        """Return whether a dict or a set that is made in a place is to be one of which only the run tells the keys.

        It is not kept here, so that it may end with all that it holds.
        """
        self._dicts[id(made)] = place
        return place in self._lists

    def want_dicts(self, of_text: bool = False) -> None:
        """Notes the dicts and sets that the function has made: only the run tells some of their keys."""
        for place in self._dicts.values():
            if place not in self._lists:
                self._wanted_lists[place] = OF_TEXT if of_text else EMPTY

    def want_dict(self, made: Any, of_text: bool = False) -> None:
        """Notes a dict or a set, if it is known where it was made."""
        place = self._dicts.get(id(made))
        if place is not None and place not in self._lists:
            self._wanted_lists[place] = OF_TEXT if of_text else EMPTY

    def want_of_run_at(self, place: tuple[int, int], kind: Any) -> None:
        """Notes that a list of the run is to be one of elements of another type."""
        self._wanted_lists[place] = kind

    def is_little(self, place: tuple[int, int]) -> bool:
        """Return whether turns of a loop make the list of a place, each with little room."""
        return place in self._little

    def want_little(self, place: tuple[int, int]) -> bool:
        """Notes that turns make the list of a place; return whether the function is to be traced anew for that."""
        return self._noted(place, self._little)

    def is_short(self, place: tuple[int, int]) -> bool:
        """Return whether the list of a place is one of positions of rows or columns, of which a few are chosen."""
        return place in self._short

    def want_short(self, place: tuple[int, int]) -> bool:
        """Notes a list of such positions; return whether the function is to be traced anew for that."""
        return self._noted(place, self._short)

    def _noted(self, place: tuple[int, int], places: set[tuple[int, int]]) -> bool:
        is_new = place not in places
        places.add(place)
        self._renews |= is_new
        return is_new

    def want_room(self, place: tuple[int, int], count: int) -> None:
        """Notes that the list of a place has so many elements: the function is traced anew with room for them."""
        self._room[place] = count
        self._renews = True

    def room_of(self, place: tuple[int, int]) -> int:
        """Return how many elements the list of a place is known to have; none where that is not known."""
        return self._room.get(place, 0)

    def want_flag(self, name: str) -> None:
        """Notes a variable that only the run gives a value: the function is traced anew with a flag for it."""
        self._wanted_flags.add(name)

    def want_plain_integers(self, error: Exception, leaves: Sequence[Any]) -> bool:
        """Notes that code takes no stand-ins of integers; return whether the function is traced anew for that."""
        is_new = type(error) is TypeError and not self.plain_integers and int in map(type, leaves)
        self.plain_integers |= is_new
        return is_new

    def want_late_returns(self) -> bool:
        """Notes that returns had better come behind their loops; return whether the function is traced anew so."""
        is_new = not self.has_late_returns and any(map(returns_in_loops, self._chosen - self._kept))
        self.has_late_returns |= is_new
        self._renews |= is_new
        self._seeks_late_returns |= is_new
        return is_new

    def keep(self, code: CodeType) -> None:
        """Notes that the function that has some code, rewritten, would better run as it stands."""
        plain = self.plain_code(code) or self._owners.get(code)
        if plain is not None and plain not in self._kept:
            self._kept.add(plain)
            self._renews = True

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Notes the arguments of a run as they are before it."""
        pairs: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        self.takes_containers = any(True for _, one in pairs for _ in containers_in(one))
        self._places.clear()
        self._rows.clear()
        self._dicts.clear()
        self._arguments = [(place, one, tree.flatten(one)) for place, one in pairs if type(one) in (list, dict)]

    def note_change(self, container: Any) -> None:
        """Notes a container that may be an argument as one that the function changes."""
        self._changed.add(id(container))

    def open_argument(self, place: int | str) -> None:
        """Notes an argument that is a container as one that the function may change."""
        self._changed |= {id(one) for known, one, _ in self._arguments if known == place}

    def changed_arguments(self) -> frozenset[int | str]:
        """The arguments of the last run that are containers which the function changes."""
        return frozenset(
            place
            for place, one, before in self._arguments
            if id(one) in self._changed or not _are_same(tree.flatten(one), before)
        )

    def open(self, path: Any) -> None:
        """Notes a container from outside as one that steps in Python change."""
        if path not in self.opened:
            self.opened.add(path)
            self._renews = True

    @property
    def is_used(self) -> bool:
        """Return whether functions run rewritten."""
        return bool(self._chosen)

    def renewed(self) -> bool:
        """Return whether a further run has more functions rewritten."""
        new, lists = self._wanted - self._chosen, self._wanted_lists
        self._chosen |= new
        self._lists, self._wanted_lists = {**self._lists, **lists}, {}
        self._wanted.clear()
        self._seeks_makers = self._seeks_late_returns = False
        renews, self._renews = self._renews or not self._wanted_flags <= self._flags, False
        self._flags |= self._wanted_flags
        return bool(new or lists or renews)


def _are_same(one: tuple[list[Any], tree.Tree], other: tuple[list[Any], tree.Tree]) -> bool:
    (leaves, structure), (others, found) = one, other
    return structure == found and all(map(operator.is_, leaves, others))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code and those of the functions inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@functools.lru_cache(maxsize=1024)
def _makes_lists(code: CodeType) -> bool:
    """Return whether code assigns a new list to an attribute: ``self.history = []``."""
    names = [one.opname for one in dis.get_instructions(code)]
    return "STORE_ATTR" in names and "BUILD_LIST" in names


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


@functools.lru_cache(maxsize=1024)
def _loops(code: CodeType) -> tuple[tuple[int, int], ...]:
    """The first and the last instruction of each loop."""
    jumps = [one for one in dis.get_instructions(code) if one.opcode in _JUMPS]
    return tuple((int(one.argval), one.offset) for one in jumps if int(one.argval) <= one.offset)


_JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs})


def _is_in_loop(frame: FrameType) -> bool:
    return any(first <= frame.f_lasti <= last for first, last in _loops(frame.f_code))
