"""Guards: the assumptions of a trace, compiled into one fast check; a failing guard says in words what changed."""

from __future__ import annotations

import functools
import itertools
import keyword
import operator
import struct
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.texts_of_values import layout_of, text_of
from xjit.dataclass import dataclass
from xjit.ir.handlers import from_handler
from xjit.lazy import lazy
from xjit.tree import distinct, has_other_entries
from xjit.types import Box

Leaves: TypeAlias = "Sequence[Any]"
Fetch: TypeAlias = "Callable[[Leaves], tuple[Any, ...] | None]"

IDENTITY = "{v} is {k}"
SAME_VALUE = "({v} is {k} or same({v}, {k}))"
SAME_TYPE = "type({v}) is {k}"
_SAME_ITEMS = "same(tuple({v}), {k})"
NO_ITEM = "{k} not in {v}"
_AMONG_TYPES = "type({v}) in {k}"
_SAME_OBJECT = "{v} is {w}"
_TWO_OBJECTS = "{v} is not {w}"
_SEVERAL_OBJECTS = "len(set(map(id, ({v}, {w})))) == {k}"
_SAME_CODE = "{v}.__code__ is {k}"
LAYOUT = (
    "type({v}) is ndarray and {v}.dtype == {k}[0] and {v}.shape == {k}[1] and {v}.strides == {k}[2] "
    "and {v}.flags.aligned"
)

_NUMPY_CLASSES = tuple(np.dtype(code).type for code in "bBhHiIlLqQ")

DYNAMIC_INTEGERS: Final = range(-(2**63), 2**63)
"""Python integers that int64 holds may change without a new trace."""

# Numbers of one sequence that may become inputs of a graph; more of them stay constants.
MOST_VARYING_ITEMS = 16


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition. ``condition`` is Python text over ``{v}``, the value at ``path``, ``{w}``, the values at
    ``others``, and ``{k}``, ``expected``; ``words`` is the message, with ``{path}``, ``{old}`` and ``{new}`` in it.
    """

    path: Path
    condition: str
    expected: Any
    words: str
    others: tuple[Path, ...] = ()

    @property
    def checks_kind(self) -> bool:
        """Return whether nothing but one value, numbers or objects of one type, or arrays of one layout, pass."""
        return self.condition in (LAYOUT, IDENTITY, SAME_VALUE, SAME_TYPE, _AMONG_TYPES, _SAME_OBJECT)

    @property
    def tells_apart(self) -> bool:
        """Return whether all that has to be so is that some objects are not one."""
        return self.condition in (_TWO_OBJECTS, _SEVERAL_OBJECTS)

    def changed_numbers(self, leaves: Leaves) -> list[Path]:
        """The place of the guard, or those of its items, if a number of the same type but another value is there."""
        if self.condition not in (SAME_VALUE, _SAME_ITEMS):
            return []
        try:
            value = self.path.read(leaves)
        except Exception as error:
            if from_handler(error):
                raise
            return []
        if self.condition == SAME_VALUE:
            return [self.path] if _is_another_number(value, self.expected) else []
        if not isinstance(value, list | tuple):
            return []
        pairs = enumerate(zip(value, self.expected, strict=False))
        found = [self.path.item(place) for place, (new, old) in pairs if _is_another_number(new, old)]
        return found if len(found) <= MOST_VARYING_ITEMS else []

    @property
    def is_outcome(self) -> bool:
        """Return whether a comparison with a constant has to come out the same."""
        return self.condition in _OUTCOMES

    def message(self, leaves: Leaves) -> str:
        """The guard's failure in words, with the value that stands there now."""
        try:
            new = text_of(self.path.read(leaves))
        except Exception as error:
            if from_handler(error):
                raise
            return f"{self.path} can no longer be read: {type(error).__name__}: {error}"
        return self.words.format(path=self.path, old=text_of(self.expected), new=new)


def _literal(path: Path) -> str:
    return str(path).replace("{", "{{").replace("}", "}}")


def identity(path: Path, value: Any) -> Guard:
    """The very same object stands there."""
    return Guard(path, IDENTITY, value, "{path} changed from {old} to {new}")


def same_value(path: Path, value: Any) -> Guard:
    """A value of the same type and the same bits stands there."""
    return Guard(path, SAME_VALUE, value, "{path} changed from {old} to {new}")


def same_type(path: Path, cls: type) -> Guard:
    """The object there is an instance of exactly this class."""
    return Guard(path, SAME_TYPE, cls, "{path} is no longer of type {old}; it is {new}")


def same_number_type(path: Path, cls: type) -> Guard:
    """A number of this class stands there, or of another class of NumPy's for the same element type."""
    if not issubclass(cls, np.generic):
        return same_type(path, cls)
    equal = tuple(one for one in _NUMPY_CLASSES if np.dtype(one) == np.dtype(cls)) or (cls,)
    return Guard(path, _AMONG_TYPES, equal, "{path} is no longer of one of the types {old}; it is {new}")


def is_number(value: Any) -> bool:
    """Return whether a value may be an input of a graph: a Python number that an element type holds, or a NumPy
    scalar.

    >>> is_number(0.5), is_number(True), is_number(2**80)
    (True, False, False)
    """
    kind = type(value)
    if kind is int:
        return value in DYNAMIC_INTEGERS
    if not isinstance(value, np.generic):
        return kind is float or kind is complex
    from xjit.capture.guarding.signature import signature

    return isinstance(signature(value), tuple)


GENERATORS: Final = types.MappingProxyType(
    {"Generator": "numpy.random._generator", "RandomState": "numpy.random.mtrand"}
)
"""The classes of generators of random numbers by their names, and the modules that they lie in."""


def is_generator(kind: type) -> bool:
    """Return whether objects of a class draw random numbers; NumPy loads these classes when they are first used.

    >>> is_generator(np.random.Generator), is_generator(float)
    (True, False)
    """
    return GENERATORS.get(kind.__qualname__) == kind.__module__


_LABELLED = frozenset({("pandas", "Series"), ("pandas", "DataFrame"), ("pandas", "Index"), ("xarray", "DataArray")})


def is_labelled(kind: type) -> bool:
    """Return whether objects of a class are arrays with labels, of pandas or xarray."""
    return (kind.__module__.partition(".")[0], kind.__qualname__) in _LABELLED


def layout_of_labelled(value: Any) -> tuple[Any, ...]:
    """The element types and the shape of an array with labels."""
    types = tuple(value.dtypes) if type(value).__qualname__ == "DataFrame" else (value.dtype,)
    columns = tuple(value.columns) if type(value).__qualname__ == "DataFrame" else ()
    return (types, value.shape, columns)


def same_labelled(path: Path, value: Any) -> Guard:
    """An array with labels of the same class, element types and shape stands there."""
    words = "{path} is no longer an array with labels of the same types and shape; it is {new}"
    return Guard(
        path, "type({v}) is {k}[0] and labelled({v}) == {k}[1]", (type(value), layout_of_labelled(value)), words
    )


def is_taken_as_array(kind: type) -> bool:
    """Return whether programs take values of a type as arrays of rank 0: NumPy's scalars, complex numbers, and
    objects, such as generators of random numbers.
    """
    return kind not in _AS_THEY_ARE


_AS_THEY_ARE = frozenset({np.ndarray, int, float, bool})


def _is_another_number(value: Any, expected: Any) -> bool:
    return type(value) is type(expected) and is_number(value) and is_number(expected) and not same(value, expected)


def same_kind(path: Path, number: Any) -> Guard:
    """A number of the same type stands there; of integers one that int64 holds."""
    if type(number) is int:
        words = "{path} is no longer an integer of 64 bits; it is {new}"
        return Guard(path, "type({v}) is int and {v} in {k}", DYNAMIC_INTEGERS, words)
    return same_number_type(path, type(number))


def same_layout(path: Path, array: np.ndarray[Any, Any]) -> Guard:
    """A plain array of the same element type, shape and strides stands there."""
    return Guard(path, LAYOUT, layout_of(array), "{path} changed from {old} to {new}")


def same_contents(path: Path, contents: bytes) -> Guard:
    """The array there, whose layout is another guard, still holds these elements, which Python has used."""
    return Guard(path, "{v}.tobytes() == {k}", contents, "the elements of {path} changed")


def same_length(path: Path, length: int) -> Guard:
    """The container there still has so many entries."""
    return Guard(path, "len({v}) == {k}", length, "the length of {path} changed from {old}; it is {new}")


def same_keys(path: Path, keys: tuple[Any, ...]) -> Guard:
    """The dict there still has these keys in this order."""
    return Guard(path, "same((*{v},), {k})", keys, "the keys of {path} changed from {old}; it is {new}")


def same_items(path: Path, items: tuple[Any, ...]) -> Guard:
    """The sequence there still holds these plain values."""
    return Guard(path, _SAME_ITEMS, items, "{path} changed from {old} to {new}")


def same_members(path: Path, members: frozenset[Any]) -> Guard:
    """The set there still holds the plain values with these keys."""
    return Guard(path, "set(map(distinct, {v})) == {k}", members, "{path} changed; it is {new}")


def has_item(path: Path, key: Any) -> Guard:
    """The container there has such an entry."""
    return Guard(path, "{k} in {v}", key, _literal(path.item(key)) + " is gone")


def no_item(path: Path, key: Any) -> Guard:
    """The container there has no such entry."""
    return Guard(path, NO_ITEM, key, _literal(path.item(key)) + " was not there before")


def no_attribute(path: Path, name: str) -> Guard:
    """The object there has no such attribute."""
    return Guard(path, "not hasattr({v}, {k})", name, f"{path.attribute(name)} was not there before")


def same_code(path: Path, code: Any) -> Guard:
    """The function there still runs this code."""
    return Guard(path, _SAME_CODE, code, "the code of {path} changed")


def same_function(path: Path, function: Any) -> Guard:
    """The bound method there still is this function."""
    return Guard(path, "{v}.__func__ is {k}", function, "{path} changed from {old} to {new}")


def definition(path: Path, name: str, raw: Any) -> Guard:
    """The class there, or the first of its bases that defines the name, still defines it like this."""
    words = f"{_literal(path.attribute(name))} was replaced"
    if isinstance(raw, types.FunctionType | property):
        return Guard(path.attribute(name), "{v} is {k}", raw, words)
    return Guard(path, "defined({v}, *{k})", (name, raw), words)


def same_object(path: Path, other: Path) -> Guard:
    """Two places hold one object, of which the other is checked."""
    return Guard(path, _SAME_OBJECT, None, f"{{path}} and {_literal(other)} are no longer one object", (other,))


def distinct_objects(path: Path, others: Sequence[Path]) -> Guard:
    """Each of these places holds an object of its own."""
    condition = _TWO_OBJECTS if len(others) == 1 else _SEVERAL_OBJECTS
    words = f"two of {', '.join(map(_literal, (path, *others)))} became one object"
    return Guard(path, condition, 1 + len(others), words, tuple(others))


def other_entries(path: Path, entries: Sequence[Path | type]) -> Guard:
    """The list or dict there is none of these entries: objects at other places, or something of a class."""
    others = tuple(one for one in entries if isinstance(one, Path))
    kinds = tuple(None if isinstance(one, Path) else one for one in entries)
    condition = "has_other_entries({v}, {k}, ({w},))" if others else "has_other_entries({v}, {k}, ())"
    return Guard(path, condition, kinds, "{path} may be a list or dict among the arguments", others)


def outcome(path: Path, comparison: str, constant: Any, result: bool) -> Guard:
    """A comparison with a constant that the function branched on comes out the same."""
    words = f"{{path}} {comparison} {{old}} is no longer {result}: it is {{new}}"
    return Guard(path, _outcome(comparison, result), constant, words)


def _outcome(comparison: str, result: bool) -> str:
    return f"({{v}} {comparison} {{k}}) is {result}"


_OUTCOMES = frozenset(_outcome(sign, result) for sign in ("<", "<=", ">", ">=") for result in (True, False))


def not_among(path: Path, values: tuple[Any, ...]) -> Guard:
    """The value is none of a few special ones."""
    return Guard(path, "{v} not in {k}", values, "{path} became {new}, which needs code of its own")


@dataclass(frozen=True, eq=False)
class Guards:
    """All guards of one trace, in the order in which the reads happened, and the inputs of its graph.

    ``fetch(leaves)`` checks and, if all guards hold, yields the graph's inputs in order, else None.
    """

    guards: tuple[Guard, ...]
    inputs: tuple[Path, ...]
    leaf_count: int

    @lazy
    def fetch(self) -> Fetch:
        """Checks everything; the inputs of the graph or None."""
        return _compiled(self.guards, self.inputs)

    def left_to_check(self) -> list[Guard]:
        """The guards but those that the program checks itself: the layout of inputs, and ``of_program``."""
        own = set(self.inputs)
        layouts = (guard for guard in self.guards if guard.condition == LAYOUT and guard.path in own)
        checked = {*map(id, layouts), *map(id, self._apart()), *map(id, self._codes())}
        return [guard for guard in self.guards if id(guard) not in checked]

    def of_program(self) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[Any, Any], ...]]:
        """Pairs of inputs that have to be two objects, and functions with the code that they have to run."""
        places = {path: place for place, path in enumerate(self.inputs)}
        groups = ([places[path] for path in (guard.path, *guard.others)] for guard in self._apart())
        pairs = (pair for group in groups for pair in itertools.combinations(group, 2))
        return tuple(pairs), tuple((guard.path.root.origin, guard.expected) for guard in self._codes())

    def _apart(self) -> list[Guard]:
        own = set(self.inputs)
        return [one for one in self.guards if one.tells_apart and own.issuperset((one.path, *one.others))]

    def _codes(self) -> list[Guard]:
        return [one for one in self.guards if one.condition == _SAME_CODE and not one.path.steps]

    @property
    def trivial(self) -> bool:
        """Return whether a call may skip the check and pass the leaves as they are."""
        return not self.left_to_check() and [path.leaf for path in self.inputs] == list(range(self.leaf_count))

    def holds(self, leaves: Leaves) -> bool:
        """Return whether everything that the trace took for granted is still so."""
        return self.fetch(leaves) is not None

    def changed_numbers(self, leaves: Leaves) -> frozenset[Path]:
        """The places at which a number stands that is another one than the trace took for granted."""
        return frozenset(path for guard in self.guards for path in guard.changed_numbers(leaves))

    def other_outcomes(self, leaves: Leaves) -> frozenset[Path]:
        """The places of numbers which compare in another way with a constant than the trace took for granted."""
        compared = (guard for guard in self.guards if guard.is_outcome)
        return frozenset(guard.path for guard in compared if _compiled((guard,), ())(leaves) is None)

    def reason(self, leaves: Leaves) -> str:
        """The first guard that fails, in words; empty if all hold."""
        if self.holds(leaves):
            return ""
        failed = (guard for guard in self.guards if _compiled((guard,), ())(leaves) is None)
        return next((guard.message(leaves) for guard in failed), "something changed during the check")


UNREADABLE = "    except Exception as error:\n        if from_handler(error): raise\n"
"""Handler of reads that fail, which misses; what a signal handler raised meanwhile is the caller's."""


class GuardText:
    """Collects the lines of the check; each path is read once, by a local name. ``leaf`` is the text of a leaf."""

    def __init__(self, names: Mapping[str, Any] | None = None, leaf: str = "leaves[{}]") -> None:
        self.lines: list[str] = []
        self.leaf = leaf
        self.names: dict[Path, str] = {}
        self.namespace: dict[str, Any] = {
            "same": same,
            "distinct": distinct,
            "defined": defined,
            "ndarray": np.ndarray,
            "labelled": layout_of_labelled,
            "has_other_entries": has_other_entries,
            "from_handler": from_handler,
            **(names or {}),
        }

    def check(self, guards: Iterable[Guard], missed: str) -> None:
        """Lines that return ``missed`` if a guard fails."""
        for guard in guards:
            names = {"v": self.local(guard.path), "k": self.constant(guard.expected)}
            if guard.others:
                names["w"] = ", ".join(map(self.local, guard.others))
            self.lines.append(f"if not ({guard.condition.format(**names)}): return {missed}")

    def value(self, path: Path) -> str:
        """The value at a path."""
        return self.local(path) if path.steps else self._source(path)

    def compiled(self, source: str) -> Callable[..., Any]:
        """The only function of a text."""
        before = set(self.namespace)
        exec(_code(source), self.namespace)
        (name,) = set(self.namespace) - before - {"__builtins__"}
        function: Callable[..., Any] = self.namespace[name]
        return function

    def constant(self, value: Any) -> str:
        """The name of an object in the text."""
        name = f"k{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def local(self, path: Path) -> str:
        """The name of the value at a path, read once."""
        if path not in self.names:
            text = self._source(path)
            self.names[path] = text if text.isidentifier() else f"v{len(self.names)}"
            self.lines += [f"{self.names[path]} = {text}"] if text != self.names[path] else []
        return self.names[path]

    def _source(self, path: Path) -> str:
        if not path.steps:
            root = path.root
            return self.leaf.format(root.origin) if root.kind == "leaf" else self.constant(root.origin)
        before, step = self.local(Path(path.root, path.steps[:-1])), path.steps[-1]
        if step.kind == "attribute":
            plain = step.key.isidentifier() and not keyword.iskeyword(step.key)
            return f"{before}.{step.key}" if plain else f"getattr({before}, {step.key!r})"
        if step.kind == "type":
            return f"type({before})"
        if step.kind == "boxed":
            return f"{self.constant(Box)}({before})"
        plain = type(step.key) in (int, str)
        return f"{before}[{step.key!r}]" if plain else f"{before}[{self.constant(step.key)}]"


@functools.lru_cache(maxsize=1024)
def _code(source: str) -> types.CodeType:
    """The code of a text; traces for other shapes have the same one."""
    return compile(source, "<xjit guards>", "exec")


def _compiled(guards: tuple[Guard, ...], inputs: tuple[Path, ...]) -> Fetch:
    """A function of the leaves, for example

    def fetch(leaves):
        try:
            v0 = k1
            v1 = v0['SCALE']
            if not (v1 is k2 or same(v1, k2)): return None
            return (leaves[0],)
        except Exception as error:
            if from_handler(error): raise
            return None
    """
    writer = GuardText()
    writer.check(guards, "None")
    values = "".join(f"{writer.value(path)}, " for path in inputs)
    body = "".join(f"        {line}\n" for line in (*writer.lines, f"return ({values})"))
    return writer.compiled(f"def fetch(leaves):\n    try:\n{body}{UNREADABLE}        return None\n")


def defined(cls: type, name: str, raw: Any) -> bool:
    """Return whether a class gets this very definition, not bound, under a name."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name] is raw
    return False


def same(value: Any, expected: Any) -> bool:
    """Equality of plain values that tells 1, 1.0 and True apart, and 0.0 and -0.0; a NaN equals itself.

    >>> same(1, True), same(0.0, -0.0), same((1, "a"), (1, "a"))
    (False, False, True)
    """
    if type(value) is not type(expected):
        return False
    if isinstance(expected, tuple):
        if len(value) != len(expected):
            return False
        return all(map(operator.is_, value, expected)) or all(map(same, value, expected))
    if isinstance(expected, np.generic):
        return bool(value.dtype == expected.dtype) and value.tobytes() == expected.tobytes()
    if isinstance(expected, float):
        return struct.pack("d", value) == struct.pack("d", expected)
    if isinstance(expected, complex):
        return struct.pack("dd", value.real, value.imag) == struct.pack("dd", expected.real, expected.imag)
    return bool(value == expected) and distinct(value) == distinct(expected)
