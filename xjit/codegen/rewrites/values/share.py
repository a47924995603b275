"""Name values that a block computes several times once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from xjit.codegen.rewrites.analysis.exchange import with_values
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass, field
from xjit.ir.loops.nodes import Block, Kernel, Let, Load, Prim, Statement, Value, Var, While
from xjit.ir.loops.walk import values

# The number of a value: equal ones have the same as long as nothing changes that they read.
Number: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Share:
    """Name values that the body of a loop computes several times once: common subexpressions.

    before      for i in 0 .. n:
                  out[i] = ((x[i] * x[i]) + y[i])
                  y[i] = ((x[i] * x[i]) - y[i])
                  z[i] = y[i]
    after       for i in 0 .. n:                        Share("i", "v")
                  v0 = x[i]
                  v1 = (v0 * v0)
                  v2 = y[i]
                  out[i] = (v1 + v2)
                  y[i] = (v1 - v2)
                  z[i] = y[i]

    An element is read anew behind what may write to its buffer, a value behind what changes a scalar in it.
    """

    loop: str
    name: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the body computes nothing twice."""
        _, loop = found(kernel, self.loop)
        numbering = _Numbering()
        numbering.count(loop.body)
        body = tuple(_Naming(self.name, Names(kernel), numbering).block(loop.body))
        if body == loop.body:
            raise RefusedError(f"the body of the loop over {self.loop} computes nothing twice")
        return with_statements(kernel, loop, (replace(loop, body=body),))


@dataclass(slots=True)
class _Numbering:
    """Numbers of values in a block, statement after statement; ``uses`` counts those by different values."""

    numbers: dict[object, Number] = field(default_factory=dict)
    changes: Counter[str] = field(default_factory=Counter)
    uses: Counter[Number] = field(default_factory=Counter)

    def of(self, value: Value) -> Number:
        """The number of a value at this place."""
        match value:
            case Load(buffer=name) | Var(name=name):
                key: object = (value, self.changes[name])
            case Prim():
                key = (value.name, value.variant, value.dtype, *map(self.of, value.operands))
            case _:
                key = value
        return self.numbers.setdefault(key, len(self.numbers))

    def passes(self, statement: Statement) -> None:
        """What a statement changes has other values behind it."""
        self.changes.update(written((statement,)) | changed((statement,)))

    def count(self, block: Block) -> None:
        """Count the uses of all values of a block; begins anew then."""
        for statement in block:
            for value in roots(statement):
                self._use(value)
            self.passes(statement)
        self.changes.clear()

    def _use(self, value: Value) -> None:
        number = self.of(value)
        self.uses[number] += 1
        if isinstance(value, Prim) and self.uses[number] == 1:
            for operand in value.operands:
                self._use(operand)


@dataclass(slots=True)
class _Naming:
    """Names for values that are used several times."""

    prefix: str
    taken: Names
    numbering: _Numbering
    given: dict[Number, Var] = field(default_factory=dict)
    count: int = 0

    def block(self, block: Block) -> Iterator[Statement]:
        """Yield the statements, each behind the names that it is the first to use."""
        for statement in block:
            lets: list[Statement] = []
            found = roots(statement)
            new = tuple(self._named(value, lets, isinstance(statement, Let)) for value in found)
            yield from lets
            yield with_values(statement, new) if found else statement
            if isinstance(statement, Let):
                number = self.numbering.of(statement.value)
                self.given.setdefault(number, Var(statement.name, statement.value.dtype))
            self.numbering.passes(statement)

    def _named(self, value: Value, lets: list[Statement], has_name: bool = False) -> Value:
        """The value in terms of names; ``lets`` takes what is named first here."""
        number = self.numbering.of(value)
        if number in self.given:
            return self.given[number]
        whole = value
        if isinstance(value, Prim):
            whole = replace(value, operands=tuple(self._named(one, lets) for one in value.operands))
        if has_name or self.numbering.uses[number] < 2 or not isinstance(value, Prim | Load):
            return whole
        self.given[number] = found = Var(self._fresh(), value.dtype)
        lets.append(Let(found.name, whole))
        return found

    def _fresh(self) -> str:
        name = f"{self.prefix}{self.count}"
        self.count += 1
        return self.taken.fresh(name)


def roots(statement: Statement) -> tuple[Value, ...]:
    """The values of a statement that are computed once, when it is reached."""
    return () if isinstance(statement, While) else values(statement)
