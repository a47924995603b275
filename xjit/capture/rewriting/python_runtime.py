"""The runtime that does what Python does: a rewritten function over it behaves as the original."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from xjit.capture.rewriting.runtime_protocol import Collection, ControlRuntime, LoopParts, Site, Thunk

_OTHERS: dict[str, Callable[[Iterable[Any]], Any]] = {"set": set, "dict": dict}


def _contains(left: Any, right: Any) -> bool:
    return left in right


def _lacks(left: Any, right: Any) -> bool:
    return left not in right


_AUGMENTED: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "Add": operator.iadd,
        "Sub": operator.isub,
        "Mult": operator.imul,
        "MatMult": operator.imatmul,
        "Div": operator.itruediv,
        "FloorDiv": operator.ifloordiv,
        "Mod": operator.imod,
        "Pow": operator.ipow,
        "LShift": operator.ilshift,
        "RShift": operator.irshift,
        "BitAnd": operator.iand,
        "BitOr": operator.ior,
        "BitXor": operator.ixor,
    }
)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "in": _contains,
    "not_in": _lacks,
    "is": operator.is_,
    "is_not": operator.is_not,
}


_TEXT: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "s": str, "r": repr, "a": ascii}


def joined_text(parts: tuple[Any, ...]) -> str:
    """The text of a formatted string.

    >>> joined_text(("a ", ("b", "r", ">5")))
    "a   'b'"
    """
    return "".join(part if type(part) is str else format(_TEXT[part[1]](part[0]), part[2]) for part in parts)


def formatted_text(way: str, text: str, values: Any, named: Any = None) -> Any:
    """The text with values put in.

    >>> formatted_text("%", "%d%%", 5), formatted_text("format", "{} {a}", (1,), {"a": 2})
    ('5%', '1 2')
    >>> formatted_text("join", ", ", ["a", "b"])
    'a, b'
    """
    if way == "join":
        return text.join(values)
    return text % values if way == "%" else text.format(*values, **named)


class PythonRuntime(ControlRuntime):
    """Python's own meaning of control flow, for all values."""

    def if_(self, test: Any, then: Thunk | None, otherwise: Thunk | None, site: Site) -> None:
        """Run one block."""
        block = then if test else otherwise
        if block is not None:
            block()

    def while_(self, test: Thunk, body: Thunk, going: Thunk | None, site: Site) -> None:
        """Run the body as long as the test holds."""
        while test():
            body()
            if going is not None and not going():
                break

    def for_(self, items: Any, assign: Callable[[Any], None], body: Thunk, going: Thunk | None, site: Site) -> None:
        """Run the body for each item."""
        for item in items:
            assign(item)
            del item
            body()
            if going is not None and not going():
                break

    def handlers(self, outer: Any, classes: Thunk) -> Any:
        """Return nothing: Python's handlers catch what is raised."""
        return None

    def protected(self, handlers: Any, evaluate: Thunk) -> Any:
        """Return the value."""
        return evaluate()

    def raised(self, handlers: Any) -> Any:
        """Return False."""
        return False

    def clause(self, handlers: Any) -> Any:
        """Return 0."""
        return 0

    def handed(self, handlers: Any) -> bool:
        """Return False."""
        return False

    def entered(self, handlers: Any) -> None:
        """Do nothing."""

    def left(self, handlers: Any) -> None:
        """Do nothing."""

    def if_exp(self, test: Any, then: Thunk, otherwise: Thunk) -> Any:
        """Evaluate one arm."""
        return then() if test else otherwise()

    def and_(self, first: Any, *others: Thunk) -> Any:
        """Return the deciding operand."""
        for other in others:
            if not first:
                break
            first = other()
        return first

    def or_(self, first: Any, *others: Thunk) -> Any:
        """Return the deciding operand."""
        for other in others:
            if first:
                break
            first = other()
        return first

    def both(self, first: Any, *others: Thunk) -> Any:
        """Return the truth of a conjunction."""
        truth = bool(first)
        for other in others:
            if not truth:
                break
            truth = bool(other())
        return truth

    def either(self, first: Any, *others: Thunk) -> Any:
        """Return the truth of a disjunction."""
        truth = bool(first)
        for other in others:
            if truth:
                break
            truth = bool(other())
        return truth

    def not_(self, value: Any) -> Any:
        """Negate a truth."""
        return not value

    def compare(self, operators: tuple[str, ...], first: Any, second: Any, *others: Thunk) -> Any:
        """Return the deciding comparison."""
        result = OPERATORS[operators[0]](first, second)
        for name, other in zip(operators[1:], others, strict=True):
            if not result:
                break
            first, second = second, other()
            result = OPERATORS[name](first, second)
        return result

    def convert(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call the type."""
        return function(value)

    def text(self, parts: tuple[Any, ...]) -> Any:
        """Format the values."""
        return joined_text(parts)

    def format(self, way: str, text: str, values: Any, named: Any = None) -> Any:
        """Put the values in."""
        return formatted_text(way, text, values, named)

    def read(self, value: Any, whole: bool = True) -> Any:
        """Return the value."""
        return value

    def missed(self, name: str) -> None:
        """Nothing is to be done."""

    def known(self, flag: Any, value: Any) -> Any:
        """Return the value."""
        return value

    def matched(self, value: Any) -> Any:
        """Return the value."""
        return value

    def item(self, items: Any, index: Any) -> Any:
        """Return the entry."""
        return items[index]

    def store(self, value: Any, items: Any, index: Any) -> None:
        """Make the value the entry."""
        items[index] = value

    def stores(self, values: Any, *places: Thunk) -> None:
        """Make the values the entries."""
        found = tuple(values)
        if len(found) != len(places):
            wanted = len(places)
            few = f"not enough values to unpack (expected {wanted}, got {len(found)})"
            raise ValueError(few if len(found) < wanted else f"too many values to unpack (expected {wanted})")
        for value, place in zip(found, places, strict=True):
            self.store(value, *place())

    def change(self, operator: str, items: Any, index: Any, value: Thunk) -> None:
        """Change the entry in place, as far as it can be."""
        self.store(_AUGMENTED[operator](self.item(items, index), value()), items, index)

    def defined(self, function: FunctionType) -> Any:
        """Return the function itself."""
        return function

    def unzip(self, function: Callable[..., Any], rows: Any) -> Any:
        """Return the result of the call."""
        return function(*rows)

    def new_list(self, made: Any, place: tuple[int, int]) -> Any:
        """Return the list itself."""
        return made

    def renewed(self, before: Thunk, made: Any, place: tuple[int, int]) -> Any:
        """Return the list itself; what was before has no other name."""
        return made

    def taken(self, before: Thunk, found: Any) -> Any:
        """Return the list itself, which nobody reads by its other name."""
        return found

    def repeated(self, left: Any, right: Any, place: tuple[int, int]) -> Any:
        """Return the product of a list and a number, or of a number and a list."""
        return left * right

    def new_dict(self, made: Any, place: tuple[int, int]) -> Any:
        """Return the dict or the set itself."""
        return made

    def counter(self, function: Any, items: Any) -> Any:
        """Call the function."""
        return function(items)

    def generator(self, generate: FunctionType, own: tuple[str, ...]) -> Any:
        """Collect what is yielded: Python would wait between two items."""
        found: list[Any] = []
        generate(found.append)
        return iter(found)

    def assert_(self, test: Any, message: Thunk | None) -> None:
        """Raise AssertionError."""
        if not test:
            raise AssertionError if message is None else AssertionError(message())

    def comprehend(
        self,
        kind: Collection,
        items: Any,
        unpack: Callable[[Any], tuple[Any, ...]] | None,
        conditions: tuple[Callable[..., Any], ...],
        element: Callable[..., Any],
    ) -> Any:
        """Collect the elements."""
        found: list[Any] = []
        for item in items:
            values = (item,) if unpack is None else unpack(item)
            if _all_hold(conditions, values):
                found.append(element(*values))
        return found if kind == "list" else _OTHERS[kind](found)

    def nested(self, items: Any, *loops: LoopParts) -> Any:
        """Go through the values."""
        return _nested(items, loops, ())

    def consume(
        self,
        function: Callable[[Any], Any],
        items: Any,
        unpack: Callable[[Any], tuple[Any, ...]] | None,
        conditions: tuple[Callable[..., Any], ...],
        element: Callable[..., Any],
    ) -> Any:
        """Hand the generator of the elements to the function."""
        return function(_elements(iter(items), unpack, conditions, element))

    def first(
        self,
        function: Callable[..., Any],
        items: Any,
        unpack: Callable[[Any], tuple[Any, ...]] | None,
        conditions: tuple[Callable[..., Any], ...],
        element: Callable[..., Any],
        *default: Any,
    ) -> Any:
        """Hand the generator of the elements to the function, with the default."""
        return function(_elements(iter(items), unpack, conditions, element), *default)

    def find(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the method."""
        return function(*args)

    def asked(self, found: Any, key: Thunk) -> tuple[Any, ...]:
        """Return no key: the statement finds out."""
        return ()

    def key(self, asked: tuple[Any, ...], key: Thunk) -> Any:
        """Return the key."""
        return asked[0] if asked else key()

    def lacks(self, found: Any, asked: Thunk) -> Any:
        """Return False."""
        return False


def _elements(
    items: Iterator[Any],
    unpack: Callable[[Any], tuple[Any, ...]] | None,
    conditions: tuple[Callable[..., Any], ...],
    element: Callable[..., Any],
) -> Iterator[Any]:
    for item in items:
        values = (item,) if unpack is None else unpack(item)
        if _all_hold(conditions, values):
            yield element(*values)


def _nested(items: Any, loops: tuple[LoopParts, ...], before: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    (_, unpack, conditions), *inner = loops
    for item in items:
        values = (*before, *((item,) if unpack is None else unpack(item)))
        if _all_hold(conditions, values):
            if inner and inner[0][0] is not None:
                yield from _nested(inner[0][0](*values), tuple(inner), values)
            else:
                yield values


def _all_hold(conditions: tuple[Callable[..., Any], ...], values: tuple[Any, ...]) -> bool:
    holds = True
    for condition in conditions:
        holds = holds and bool(condition(*values))
    return holds
