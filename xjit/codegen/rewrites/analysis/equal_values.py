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

    ``loads`` and ``scalars`` are what those asked for so far read.
    """

    numbers: dict[object, int] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)
    scalars: set[str] = field(default_factory=set)

    def of(self, named: Named, statement: Statement) -> object | None:
        """The key of a named value inside of a statement; None where it depends on more than its place."""
        lets = {one.name: one.value for one in statements((statement,)) if isinstance(one, Let)}
        axes = {str(at): variable(f"axis {number}") for number, at in enumerate(named.index)}
        try:
            return _Meaning(self, lets, integers_of(statement), axes, names((statement,))).key(named.let.value)
        except InnerError:
            return None


@dataclass(eq=False)
class _Meaning:
    """The meaning of one value: names of a statement's own are replaced by what they stand for."""

    meanings: Meanings
    lets: Mapping[str, Value]
    integers: Mapping[str, IntExpr]
    axes: Mapping[str, IntExpr]
    inner: set[str]

    def key(self, value: Value) -> object:
        match value:
            case Var(name=name):
                if name in self.lets:
                    return self.key(self.lets[name])
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
                return value.name, variant, value.dtype, tuple(map(self.key, value.operands))
            case Const():
                return value

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
        key = self.key(self.lets[name])
        return variable(f"scalar {self.meanings.numbers.setdefault(key, len(self.meanings.numbers))}")
