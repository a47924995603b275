"""Values that loops compute at equal places: what a name in one loop means, said without the names of that loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import IntExpr, substitute, variable
from xjit.ir.loops.nodes import Block, Const, FromInt, Let, LetInt, Load, Loop, Prim, Statement, Value, Var
from xjit.ir.loops.walk import blocks, names, statements


@dataclass(frozen=True, slots=True)
class Named:
    """A named value, and the variables of the loops around it that count elements, the outermost first."""

    let: Let
    index: tuple[IntExpr, ...]


def named_values(statement: Statement) -> Iterator[Named]:
    """Yield the named values inside of a statement."""
    return _inside((statement,), (), integers_of(statement))


def integers_of(statement: Statement) -> dict[str, IntExpr]:
    """The named integers inside of a statement."""
    return {one.name: one.expr for one in statements((statement,)) if isinstance(one, LetInt)}


def _inside(block: Block, around: tuple[Loop, ...], integers: Mapping[str, IntExpr]) -> Iterator[Named]:
    index = _counting(around, integers) if any(isinstance(one, Let) for one in block) else ()
    for one in block:
        if isinstance(one, Let):
            yield Named(one, index)
        for inner in blocks(one):
            yield from _inside(inner, (*around, one) if isinstance(one, Loop) else around, integers)


def _counting(loops: tuple[Loop, ...], integers: Mapping[str, IntExpr]) -> tuple[IntExpr, ...]:
    """The variables of loops but for those over blocks, which say where loops further in begin or end."""
    bounds: set[str] = set()
    found: list[IntExpr] = []
    for loop in reversed(loops):
        if loop.variable not in bounds:
            found.insert(0, variable(loop.variable))
        waiting = {*loop.start.names(), *loop.stop.names()} - bounds
        while waiting:
            name = waiting.pop()
            bounds.add(name)
            waiting |= integers[name].names() - bounds if name in integers else set()
    return tuple(found)


class InnerError(Exception):
    """A value has a meaning inside of its loops only."""


@dataclass(eq=False)
class Meanings:
    """Says what values inside of statements mean, in terms of what is known outside; equal keys for equal ones.

    ``loads`` and ``scalars`` are what those asked for so far read. Keys of operations are ``numbers``, so that what
    many values are made of is gone through once, and one key is as quick to compare as another.
    """

    numbers: dict[object, int] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)
    scalars: set[str] = field(default_factory=set)
    _inside: dict[tuple[int, tuple[IntExpr, ...]], tuple[Statement, _Meaning]] = field(default_factory=dict)

    def of(self, named: Named, statement: Statement) -> object | None:
        """The key of a named value inside of a statement; None where it depends on more than its place."""
        found = (id(statement), named.index)
        if found not in self._inside:
            self._inside[found] = statement, self._meaning(statement, named.index)
        try:
            return self._inside[found][1].key(named.let.value)
        except InnerError:
            return None

    def _meaning(self, statement: Statement, index: tuple[IntExpr, ...]) -> _Meaning:
        lets = {one.name: one.value for one in statements((statement,)) if isinstance(one, Let)}
        axes = {str(at): variable(f"axis {number}") for number, at in enumerate(index)}
        return _Meaning(self, lets, integers_of(statement), axes, names((statement,)))

    def number(self, key: object) -> int:
        """The number of a key: the same one for an equal key."""
        return self.numbers.setdefault(key, len(self.numbers))


@dataclass(eq=False)
class _Meaning:
    """The meanings of values at one place: names of a statement's own are replaced by what they stand for.

    Of those that were asked for ``_known`` has the keys, None where a value depends on more than its place.
    """

    meanings: Meanings
    lets: Mapping[str, Value]
    integers: Mapping[str, IntExpr]
    axes: Mapping[str, IntExpr]
    inner: set[str]
    _known: dict[str, object | None] = field(default_factory=dict)

    def key(self, value: Value) -> object:
        match value:
            case Var(name=name):
                if name in self.lets:
                    return self._key_of(name)
                if name in self.inner:
                    raise InnerError(name)
                self.meanings.scalars.add(name)
                return value
            case Load(buffer=name, index=index, dtype=dtype):
                found = tuple(map(self.place, index))
                self.meanings.loads.append(Load(name, found, dtype))
                return name, found
            case FromInt(expr=expr, dtype=dtype):
                return self.place(expr), dtype
            case Prim():
                # A function that is called gives the same bits as one that is inlined.
                variant = "" if value.variant == "called" else value.variant
                return self.meanings.number((value.name, variant, value.dtype, tuple(map(self.key, value.operands))))
            case Const():
                return value

    def _key_of(self, name: str) -> object:
        """The key of a named value, which is found once."""
        if name not in self._known:
            self._known[name] = None
            self._known[name] = self.key(self.lets[name])
        found = self._known[name]
        if found is None:
            raise InnerError(name)
        return found

    def place(self, expr: IntExpr) -> IntExpr:
        """An integer in terms of axes and of what is known outside."""
        while found := expr.names() & self.inner - self.axes.keys():
            expr = substitute(expr, {name: self._named(name) for name in found})
        self.meanings.scalars |= expr.names() - self.axes.keys()
        return substitute(expr, self.axes)

    def _named(self, name: str) -> IntExpr:
        if name in self.integers:
            return self.integers[name]
        if name not in self.lets:
            raise InnerError(name)
        return variable(f"scalar {self.meanings.number(self._key_of(name))}")
