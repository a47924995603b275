"""Elements by keys: what is known of a dict or a set whose keys only the run tells, without the object itself."""

from __future__ import annotations

from typing import Any, NoReturn

from xjit import tree
from xjit.capture.comprehensions.gathered import Gathered
from xjit.capture.dicts.key_codes import can_be_key, has_list
from xjit.capture.guarding.signature import is_plain
from xjit.capture.recording.container_entries import DictType, EntryType, RecordType, entry_type, parts_of
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.provenance import CaptureTrace, is_splitting, refuse
from xjit.ir.context import Trace
from xjit.ir.current import tracing

OF_RUN = "only the run tells the keys of a dict or a set"
NUMBERS_INSTEAD = "use numbers of one type as keys and as values, or an array"
PLAIN = "plain"
"""The type of dicts whose keys are known after all."""
_READING = frozenset({"get", "keys", "values", "items"})
_PAIR = tree.Branch(tuple, None, ())


class KeyedElements(Gathered):
    """The entries of a dict, or the members of a set, as long as the run has no such object.

    ``made_by`` has the function traced anew for another type of the entries of the object that is made in a
    ``place``; it begins as one like ``empty``.
    """

    __slots__ = ("__weakref__", "empty", "made_by", "place", "trace")
    is_keyed = True

    def __init__(self, made_by: Any, place: tuple[int, int], empty: Any, trace: CaptureTrace) -> None:
        self.form, self.parts, self.changed, self.made, self.readers, self.kept = tree.LEAF, (), False, None, 0, False
        self.made_by, self.place, self.empty, self.trace = made_by, place, empty, trace

    @property
    def is_left(self) -> bool:
        """Return whether methods are steps in Python: what the run has may have changed."""
        return self.changed

    @property
    def is_set(self) -> bool:
        """Return whether it is a set."""
        return type(self.empty) is set

    @property
    def factory(self) -> Any:
        """The function that makes the value of a key which is read and not there, if there is one."""
        return getattr(self.empty, "default_factory", None)

    def give_up(self, kind: DictType | str | None = None) -> NoReturn:
        """Has the function traced anew, with entries of another type, or with an object that only the run has."""
        self.made_by.want_of_run_at(self.place, kind)
        refuse(OF_RUN, fix=NUMBERS_INSTEAD)

    def as_array(self) -> None:
        """None: of a dict or a set NumPy makes an array of one object."""

    def joined(self, function: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> None:
        """None: NumPy joins no dicts."""

    def attribute(self, name: str) -> Any:
        """A method that is traced; None of others."""
        if name == ("add" if self.is_set else "setdefault") and self.grows:
            return getattr(self, "insert" if self.is_set else name)
        return getattr(self, name) if name in _READING and not self.is_set else None

    def listed(self) -> Gathered | None:
        """The elements as those of a list; None where they are in another order."""
        return None

    @property
    def class_name(self) -> str:
        """The name by which the object is made."""
        kind = type(self.empty).__name__
        return kind if self.factory is None else f"{kind} of {self.factory.__name__}"


class EmptyElements(KeyedElements):
    """The entries before the first one is inserted, which tells of what type they are; keys may be ``of_text``."""

    __slots__ = ("of_text",)

    def __init__(
        self, made_by: Any, place: tuple[int, int], empty: Any, trace: CaptureTrace, of_text: bool = False
    ) -> None:
        super().__init__(made_by, place, empty, trace)
        self.count, self.of_text = 0, of_text

    @property
    def grows(self) -> bool:
        """Return whether it is still empty."""
        return not self.changed and self.made is None

    def lookup(self, key: Any) -> Any:
        """The value of a key: that which a default dict makes, or a counter."""
        if self.factory is None and type(self.empty) is dict:
            self.give_up(PLAIN)  # Python raises KeyError
        return 0 if self.factory is None else self.factory()

    def contains(self, key: Any) -> bool:
        """Return False."""
        return False

    def lacks(self, key: Any) -> bool:
        """Return True."""
        return True

    def get(self, key: Any, default: Any = None) -> Any:
        """The default."""
        return default

    def keys(self) -> Any:
        """No keys."""
        return {}.keys()

    def values(self) -> Any:
        """No values."""
        return {}.values()

    def items(self) -> Any:
        """No pairs."""
        return {}.items()

    def setdefault(self, key: Any, default: Any = None) -> NoReturn:
        """Tells the type."""
        self.insert(key, default)

    def insert(self, key: Any, value: Any = None) -> NoReturn:
        """Tells the type of entries, those of this key."""
        kind = dict_type(key, value, self.is_set, self.of_text)
        if kind is None and is_known_key(key):
            self.give_up(PLAIN)
        self.give_up(kind)

    def node(self, trace: Trace) -> Any:
        """The object, which is empty."""
        if self.made is None or self.made not in trace.effects:
            with tracing(trace):
                self.made = Gathered(_PAIR, (), 0).collection(self.class_name).source
        return self.made


def is_known_key(key: Any) -> bool:
    """Return whether a key is known while tracing, and is no number."""
    return is_plain(key) and entry_type(key) is None


def dict_type(key: Any, value: Any, is_set: bool, of_text: bool = False) -> DictType | None:
    """The type of entries of such keys and values; None of others than numbers, and text as keys."""
    kind, of_value = entry_type(key, of_text), None if is_set else entry_type(value)
    if kind is None or not is_of_numbers(kind) or not can_be_key(kind) or not (is_set or is_of_numbers(of_value)):
        return None
    return DictType(kind, of_value)


def is_of_numbers(kind: EntryType | RecordType | None) -> bool:
    """Return whether entries of a type are numbers, or tuples of these."""
    return kind is not None and not has_list(kind) and all(one.is_number for one in parts_of(kind))


def keyed_step(empty: Any, **options: Any) -> Any:
    """The object as one that only the run has, made by a step in Python."""
    made: Any = type(empty)
    factory = getattr(empty, "default_factory", None)
    given = (factory,) if factory is not None else (dict(empty),) if type(empty) is dict else ()
    assert is_splitting()
    return step(made, given, {}, label=f"a {made.__name__}", kind=made, **options)
