"""Name values that a loop computes several times once."""

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
from xjit.ir.loops.nodes import Block, Find, Kernel, Let, Load, Loop, Prim, Statement, Value, Var, While
from xjit.ir.loops.walk import Change, blocks, values, with_blocks
from xjit.types import INT64

# The number of a value: equal ones have the same as long as nothing changes that they read.
Number: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Share:
    """Name values that a loop computes several times once: common subexpressions.

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

    An element is read anew behind what may write to its buffer, a value behind what changes a scalar in it.  Of two
    names for one value the first one stays.  Loops inside use what is named in front of them.
    """

    loop: str
    name: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where nothing is computed twice."""
        _, loop = found(kernel, self.loop)
        numbering = _Numbering()
        numbering.count((loop,), ())
        numbering.changes.clear()
        naming = _Naming(self.name, Names(kernel), numbering)
        after = naming.with_blocks(loop, {})
        if after == loop:
            raise RefusedError(f"the loop over {self.loop} computes nothing twice")
        return with_statements(kernel, loop, naming.with_first_names((after,)))


@dataclass(slots=True)
class _Numbering:
    """Numbers of values, statement after statement.

    ``named`` are those of names.  ``uses`` counts, for each block by its identity, uses by different values in it and
    in the blocks inside; ``changing`` is what each statement, by its identity, writes and changes.
    """

    numbers: dict[object, Number] = field(default_factory=dict)
    named: dict[str, Number] = field(default_factory=dict)
    changes: Counter[str] = field(default_factory=Counter)
    uses: dict[int, Counter[Number]] = field(default_factory=dict)
    changing: dict[int, set[str]] = field(default_factory=dict)

    def of(self, value: Value) -> Number:
        """The number of a value at this place."""
        match value:
            case Var(name=name) if name in self.named:
                return self.named[name]
            case Load(buffer=name) | Var(name=name):
                key: object = (value, self.changes[name])
            case Prim():
                key = (value.name, value.variant, value.dtype, *map(self.of, value.operands))
            case _:
                key = value
        return self.numbers.setdefault(key, len(self.numbers))

    def passes(self, statement: Statement) -> None:
        """Forget the values that a statement changes: they are others behind it."""
        if isinstance(statement, Let):
            return
        found = self.changing.get(id(statement))
        if found is None:
            found = self.changing[id(statement)] = written((statement,)) | changed((statement,))
        self.changes.update(found)

    def enters(self, statement: Statement) -> None:
        """Forget the values that a loop changes: they are others in the next round."""
        if isinstance(statement, Loop | While):
            self.passes(statement)

    def count(self, block: Block, around: tuple[Counter[Number], ...]) -> None:
        """Count the uses of all values of a block, in it and in those around."""
        counters = (*around, self.uses.setdefault(id(block), Counter()))
        for statement in block:
            for value in roots(statement):
                for counter in counters:
                    self._use(value, counter)
            if isinstance(statement, Let):
                self.named[statement.name] = self.of(statement.value)
            self.enters(statement)
            for inner in blocks(statement):
                self.count(inner, counters)
            self.passes(statement)

    def _use(self, value: Value, counter: Counter[Number]) -> None:
        number = self.of(value)
        counter[number] += 1
        if isinstance(value, Prim) and counter[number] == 1:
            for operand in always(value):
                self._use(operand, counter)


@dataclass(slots=True)
class _Naming:
    """Names for values that are used several times; ``same`` are names that others take the place of."""

    prefix: str
    taken: Names
    numbering: _Numbering
    same: dict[str, Value] = field(default_factory=dict)
    count: int = 0

    def with_blocks(self, statement: Statement, given: dict[Number, Var]) -> Statement:
        """The statement with blocks in which values have names; those ``given`` before are known there."""
        self.numbering.enters(statement)
        return with_blocks(statement, tuple(tuple(self._block(one, dict(given))) for one in blocks(statement)))

    def with_first_names(self, block: Block) -> Block:
        """The block without the names that others take the place of."""
        first = Change(value=lambda value: self.same.get(value.name, value) if isinstance(value, Var) else value)
        return first.block(block) if self.same else block

    def _block(self, block: Block, given: dict[Number, Var]) -> Iterator[Statement]:
        """Yield the statements, each behind the names that it is the first to use."""
        scope = _Scope(self, self.numbering.uses[id(block)], given)
        for statement in block:
            found = roots(statement)
            new = tuple(scope.named(value, isinstance(statement, Let)) for value in found)
            yield from scope.lets
            scope.lets.clear()
            if not (isinstance(statement, Let) and scope.knows(statement)):
                yield self.with_blocks(with_values(statement, new) if found else statement, given)
            self.numbering.passes(statement)

    def fresh(self) -> str:
        """A new name."""
        name = f"{self.prefix}{self.count}"
        self.count += 1
        return self.taken.fresh(name)


@dataclass(slots=True)
class _Scope:
    """A block: the uses in it, the names ``given`` so far, and those that its next statement needs."""

    naming: _Naming
    uses: Counter[Number]
    given: dict[Number, Var]
    lets: list[Statement] = field(default_factory=list)

    def knows(self, let: Let) -> bool:
        """Return whether a name is one more for a value; integers, which indices name too, keep theirs."""
        number = self.naming.numbering.of(let.value)
        known = self.given.setdefault(number, Var(let.name, let.value.dtype))
        if known.name == let.name or known.dtype == INT64:
            return False
        self.naming.same[let.name] = known
        return True

    def named(self, value: Value, has_name: bool = False) -> Value:
        """The value in terms of names."""
        if not isinstance(value, Prim | Load | Var):
            return value
        number = self.naming.numbering.of(value)
        if number in self.given:
            return self.given[number]
        whole = value
        if isinstance(value, Prim):
            first = always(value)
            rest = value.operands[len(first) :]
            whole = replace(value, operands=(*(self.named(one) for one in first), *rest))
        if has_name or self.uses[number] < 2 or isinstance(value, Var):
            return whole
        self.given[number] = found = Var(self.naming.fresh(), value.dtype)
        self.lets.append(Let(found.name, whole))
        return found


def always(value: Prim) -> tuple[Value, ...]:
    """The operands that are computed whatever their values are: not what is loaded where a condition holds."""
    return value.operands[:1] if value.name == "load_where" else value.operands


def roots(statement: Statement) -> tuple[Value, ...]:
    """The values of a statement that are computed once, when it is reached."""
    return () if isinstance(statement, While | Find) else values(statement)
