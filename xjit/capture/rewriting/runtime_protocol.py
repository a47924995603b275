"""The calls that the control flow of a rewritten function makes.

A rewritten function keeps name, signature, defaults, cells, globals, file and line numbers. Its control flow calls
the methods of one ``ControlRuntime``, and what was a block becomes a nested function without arguments:

    while test: body              runtime.while_(test, body, going, site)
    for target in items: body     runtime.for_(items, assign, body, going, site)      assign(x) does ``target = x``
    if test: then                 runtime.if_(test, then, otherwise, site)
    else: otherwise
    x if test else y              runtime.if_exp(test, then, otherwise)
    p and q, p or q               runtime.and_(p, q), runtime.or_(p, q)               the value counts
    if p and q: ...               runtime.both(p, q), runtime.either(p, q)            only the truth counts
    not p                         runtime.not_(p)
    a < b <= c, a is b            runtime.compare(("lt", "le"), a, b, c), runtime.compare(("is",), a, b)
    x, which may have no value    runtime.known(flag, x)
    x, x[0], which may be None    runtime.read(x), runtime.read(runtime.read(x, False)[0])
    s[k], of lists that are made  runtime.item(s, k)
    s[k] = x, s[k] += x           runtime.store(x, s, k), runtime.change("Add", s, k, lambda: x)
    s[k], s[j] = x                runtime.stores(x, lambda: (s, k), lambda: (s, j))
    int(x), float(x), str(x)      runtime.convert(int, x)
    f"a {x!r:>9}"                 runtime.text(("a ", (x, "r", ">9")))
    "%d" % x, "{}".format(x)      runtime.format("%", "%d", x), runtime.format("format", "{}", (x,), {})
    ", ".join(x)                  runtime.format("join", ", ", x)
    assert test, message          runtime.assert_(test, message)
    [e for t in items if c]       runtime.comprehend("list", items, unpack, conditions, element)
    [e for t in s for u in t]     runtime.comprehend("list", runtime.nested(s, ...), same, (), e)
    yield x                       emit(x), where runtime.generator(generate, names) is what the function returns
    d.get(k)                      runtime.read(runtime.find(d.get, k))
    try: y = d[k]                 key = runtime.asked(d, lambda: k)
    except KeyError: z            runtime.if_(runtime.lacks(d, lambda: key), then, otherwise, site)
    next((e for t in items), x)   runtime.read(runtime.first(next, items, unpack, conditions, element, x))
    sum(e for t in items)         runtime.consume(sum, items, unpack, conditions, element)
    try: x = e                    t = runtime.handlers(None, lambda: (E,)); v = runtime.protected(t, lambda: e)
    except E: y                   runtime.if_(runtime.raised(t), then, otherwise, site)

Names. The nested functions share the variables of the function as cells. ``site.state(test, body)`` collects those
that the construct assigns: ``state.names``, ``state.get()``, ``state.set(values)``. A variable that is not bound is
``UNBOUND`` there. Hidden variables begin with a dot, which no variable of the user does.

Jumps. ``break``, ``continue`` and ``return`` inside of blocks are assignments to hidden flags, and the statements
that they skip stand in an ``if not flag``. A loop that may end early has the name of its flag in ``site.stop``;
``going()`` is ``not flag``, asked after each turn and before the test or the next item; ``going`` is None for any
other loop. A flag is False when its loop starts. ``else`` of a loop is an ``if not flag`` behind it. A function that
returns inside of a block assigns ``VALUE`` and, where a statement behind has to know, sets the flag ``RETURNED``; it
ends by ``return VALUE``. ``VALUE`` has a meaning only after such a return and is unbound before. If one arm always
jumps, the statements behind the ``if`` become the other arm, so that most functions need no flag.

Where a branch or a loop decides over NumPy values, the values of ``state.temporary`` may be forgotten: nobody reads
them at the next turn or behind the construct. Those of ``state.carried`` may be read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any, Literal, TypeAlias

from xjit.capture.rewriting.assigned_cells import assigned_cells
from xjit.dataclass import dataclass, replace

Thunk: TypeAlias = Callable[[], Any]
Kind: TypeAlias = Literal["while", "for", "if"]
Collection: TypeAlias = Literal["list", "set", "dict"]
LoopParts: TypeAlias = (
    "tuple[Callable[..., Any] | None, Callable[[Any], tuple[Any, ...]] | None, tuple[Callable[..., Any], ...]]"
)
"""A loop of a comprehension: functions for its items if it is an inner one, to take one apart, and of conditions."""

VALUE = ".value"
RETURNED = ".returned"


class Unbound:
    """The class of ``UNBOUND``, the value of a variable that has none."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = Unbound()


@dataclass(frozen=True, slots=True)
class Site:
    """One ``while``, ``for`` or ``if`` of a function, as the text tells it.

    line      the line of its first word
    names     the variables that its blocks assign or delete, in the order of the text; those of an enclosing function
              that are declared ``nonlocal`` are among them, globals are not
    carried   the names of which a value may be read at the next turn or behind the construct
    at_start  the names whose value from before the construct may be read by it: at the start of a turn, for loops
    stop      the name of the flag that ends the loop early
    raises    the arms of a branch that always end by an error, True for the first one
    bound     the names that no read of the function finds without a value
    optional  the names that may be None, and whose reads the function asks the runtime for
    instruction  the place in the code that is running, which tells loops apart that are no statements
    """

    kind: Kind
    line: int
    names: tuple[str, ...]
    carried: tuple[str, ...]
    at_start: tuple[str, ...]
    stop: str | None = None
    raises: tuple[bool, ...] = ()
    bound: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    instruction: tuple[int, int] = (0, 0)

    def state(self, *blocks: Callable[..., Any] | None) -> State:
        """Return the variables that the blocks of this construct assign, as they are shared by the blocks.

        Those of functions around that calls may assign are among them; only the run of the function knows these.
        """
        cells: dict[str, CellType] = {}
        for block in blocks:
            if isinstance(block, FunctionType):
                cells.update(zip(block.__code__.co_freevars, block.__closure__ or (), strict=True))
        own = tuple(cells[name] for name in self.names)
        known = set(map(id, own))
        others = [(name, cell) for name, cell in assigned_cells(blocks) if id(cell) not in known]
        if not others:
            return State(self, own)
        names, more = zip(*others, strict=True)
        return State(self._with(names), (*own, *more))

    def _with(self, others: tuple[str, ...]) -> Site:
        names, carried, at_start = ((*own, *others) for own in (self.names, self.carried, self.at_start))
        bound, optional = (tuple(one for one in own if one not in others) for own in (self.bound, self.optional))
        return replace(self, names=names, carried=carried, at_start=at_start, bound=bound, optional=optional)


@dataclass(frozen=True, slots=True)
class State:
    """The variables that a construct assigns, bound to the cells of one call of the function."""

    site: Site
    cells: tuple[CellType, ...]

    @property
    def place(self) -> Site:
        """The mark that tells the construct from others."""
        return self.site

    @property
    def names(self) -> tuple[str, ...]:
        """The assigned names."""
        return self.site.names

    @property
    def carried(self) -> tuple[str, ...]:
        """The names of which a value may be read at the next turn or behind the construct."""
        return self.site.carried

    @property
    def optional(self) -> tuple[str, ...]:
        """The names that may be None."""
        return self.site.optional

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that no read finds without a value."""
        return self.site.bound

    @property
    def temporary(self) -> tuple[str, ...]:
        """The names whose values nobody reads at the next turn or behind the construct."""
        return tuple(name for name in self.names if name not in self.carried)

    def get(self) -> tuple[Any, ...]:
        """Return the values in the order of ``names``, UNBOUND for a variable without one."""
        return tuple(content(cell) for cell in self.cells)

    def set(self, values: Sequence[Any]) -> None:
        """Set all variables; UNBOUND deletes one."""
        for cell, value in zip(self.cells, values, strict=True):
            if value is not UNBOUND:
                cell.cell_contents = value
            elif content(cell) is not UNBOUND:
                del cell.cell_contents


def content(cell: CellType) -> Any:
    """Return the value of a variable, UNBOUND if it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


class ControlRuntime(ABC):
    """The receiver of control flow; ``PythonRuntime`` does what Python does.

    A condition may be any value. Blocks and operands are functions without arguments, to be called once for each time
    that Python would run or evaluate them.
    """

    @abstractmethod
    def if_(self, test: Any, then: Thunk | None, otherwise: Thunk | None, site: Site) -> None:
        """Run one block; None is an empty one."""

    @abstractmethod
    def while_(self, test: Thunk, body: Thunk, going: Thunk | None, site: Site) -> None:
        """Run the body as long as the test holds, and ``going`` holds after each turn."""

    @abstractmethod
    def for_(self, items: Any, assign: Callable[[Any], None], body: Thunk, going: Thunk | None, site: Site) -> None:
        """Assign each item to the target and run the body, as long as ``going`` holds after each turn."""

    @abstractmethod
    def if_exp(self, test: Any, then: Thunk, otherwise: Thunk) -> Any:
        """Return ``then() if test else otherwise()``."""

    @abstractmethod
    def and_(self, first: Any, *others: Thunk) -> Any:
        """Return the first operand that is false, else the last one."""

    @abstractmethod
    def or_(self, first: Any, *others: Thunk) -> Any:
        """Return the first operand that is true, else the last one."""

    @abstractmethod
    def both(self, first: Any, *others: Thunk) -> Any:
        """Return the truth of a conjunction; each operand is tested at most once."""

    @abstractmethod
    def either(self, first: Any, *others: Thunk) -> Any:
        """Return the truth of a disjunction; each operand is tested at most once."""

    @abstractmethod
    def not_(self, value: Any) -> Any:
        """Return ``not value``."""

    @abstractmethod
    def compare(self, operators: tuple[str, ...], first: Any, second: Any, *others: Thunk) -> Any:
        """Return the first single comparison of a chain that is false, else the last one.

        The operators are ``lt le eq ne gt ge in not_in is is_not``, one less than operands; a single one is one of
        the last four.
        """

    @abstractmethod
    def convert(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Return ``function(value)``, where the function has the name of a type of numbers, or makes text."""

    @abstractmethod
    def text(self, parts: tuple[Any, ...]) -> Any:
        """Return the text of a formatted string: parts of text, and values with conversion and format."""

    @abstractmethod
    def format(self, way: str, text: str, values: Any, named: Any = None) -> Any:
        """Return the text with values put in, by the operator ``%`` or the method ``format``, or between them."""

    @abstractmethod
    def defined(self, function: FunctionType) -> Any:
        """Return the function, which is defined inside of the rewritten one; or one that does the same."""

    @abstractmethod
    def read(self, value: Any, whole: bool = True) -> Any:
        """Return the value of a variable that may be None, or of which items may be."""

    @abstractmethod
    def missed(self, name: str) -> None:
        """A variable is read that has no value, for which Python's error is raised."""

    @abstractmethod
    def known(self, flag: Any, value: Any) -> Any:
        """Return the value of a variable, which has none where the flag does not hold."""

    @abstractmethod
    def matched(self, value: Any) -> Any:
        """Return the subject of a ``match`` that has ``case True`` or ``case False``."""

    @abstractmethod
    def unzip(self, function: Callable[..., Any], rows: Any) -> Any:
        """Return ``function(*rows)``, which looks like a call of ``zip``."""

    @abstractmethod
    def item(self, items: Any, index: Any) -> Any:
        """Return an entry of a list."""

    @abstractmethod
    def store(self, value: Any, items: Any, index: Any) -> None:
        """Make the value an entry of a list."""

    @abstractmethod
    def stores(self, values: Any, *places: Thunk) -> None:
        """Make the values entries of lists, one after the other."""

    @abstractmethod
    def change(self, operator: str, items: Any, index: Any, value: Thunk) -> None:
        """Apply an augmented assignment to an entry of a list."""

    @abstractmethod
    def new_list(self, made: Any, place: tuple[int, int]) -> Any:
        """Return the list, which is new; the place is that in the source."""

    @abstractmethod
    def repeated(self, left: Any, right: Any, place: tuple[int, int]) -> Any:
        """Return the product of a list and a number, or of a number and a list."""

    @abstractmethod
    def renewed(self, before: Thunk, made: Any, place: tuple[int, int]) -> Any:
        """Return the list, which is new and takes the place of one that has no other name."""

    @abstractmethod
    def taken(self, before: Thunk, found: Any) -> Any:
        """Return the list, which nobody reads by its other name, in place of one that has no other name."""

    @abstractmethod
    def new_dict(self, made: Any, place: tuple[int, int]) -> Any:
        """Return the dict or the set, which is new; the place is that in the source."""

    @abstractmethod
    def find(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, where the function is a method ``get``, and its default None."""

    @abstractmethod
    def asked(self, found: Any, key: Thunk) -> tuple[Any, ...]:
        """Return a key, alone in a tuple, if it is a question of the run whether a dict has it; else no key."""

    @abstractmethod
    def key(self, asked: tuple[Any, ...], key: Thunk) -> Any:
        """Return the key that was asked for, or if there is none evaluate it."""

    @abstractmethod
    def lacks(self, found: Any, asked: Thunk) -> Any:
        """Return whether a dict lacks the key that was asked for; False where there is none."""

    @abstractmethod
    def counter(self, function: Any, items: Any) -> Any:
        """Return ``function(items)``, where the function has the name of a class of counters."""

    @abstractmethod
    def generator(self, generate: FunctionType, own: tuple[str, ...]) -> Any:
        """Return the generator of what ``generate`` hands to its argument; ``own`` are the names of its variables."""

    @abstractmethod
    def assert_(self, test: Any, message: Thunk | None) -> None:
        """Raise AssertionError, with the message if there is one, unless the test holds."""

    @abstractmethod
    def handlers(self, outer: Any, classes: Thunk) -> Any:
        """Return the handlers of a ``try`` whose body begins, for the classes of its clauses; ``outer`` are those of
        the one around it.
        """

    @abstractmethod
    def protected(self, handlers: Any, evaluate: Thunk) -> Any:
        """Return the value of an expression in the body; where it has failed nobody reads it."""

    @abstractmethod
    def raised(self, handlers: Any) -> Any:
        """Return whether the last expression has failed, with an error that one of these handlers is for."""

    @abstractmethod
    def clause(self, handlers: Any) -> Any:
        """Return the number of the clause that is for the error of the last expression, from 1."""

    @abstractmethod
    def handed(self, handlers: Any) -> bool:
        """Return whether an error in the body so far is one that only the run tells."""

    @abstractmethod
    def entered(self, handlers: Any) -> None:
        """Note that code of the body follows."""

    @abstractmethod
    def left(self, handlers: Any) -> None:
        """Note that code of a handler follows, or of ``else``."""

    @abstractmethod
    def comprehend(
        self,
        kind: Collection,
        items: Any,
        unpack: Callable[[Any], tuple[Any, ...]] | None,
        conditions: tuple[Callable[..., Any], ...],
        element: Callable[..., Any],
    ) -> Any:
        """Return a collection of the elements of those items for which all conditions hold.

        Conditions and ``element`` take the item, or ``*unpack(item)`` if the target is a tuple of names. The element
        of a dict is a pair of key and value.
        """

    @abstractmethod
    def nested(self, items: Any, *loops: LoopParts) -> Any:
        """Return what goes through the values of the names of loops within each other, in tuples.

        The inner ones take the values of the names of those around them, and so do conditions.
        """

    @abstractmethod
    def consume(
        self,
        function: Callable[[Any], Any],
        items: Any,
        unpack: Callable[[Any], tuple[Any, ...]] | None,
        conditions: tuple[Callable[..., Any], ...],
        element: Callable[..., Any],
    ) -> Any:
        """Return the function, which is sum, min, max, any, all or similar, of the generator of such elements."""

    @abstractmethod
    def first(
        self,
        function: Callable[..., Any],
        items: Any,
        unpack: Callable[[Any], tuple[Any, ...]] | None,
        conditions: tuple[Callable[..., Any], ...],
        element: Callable[..., Any],
        *default: Any,
    ) -> Any:
        """Return the function, which has the name ``next``, of the generator of such elements and a default."""
