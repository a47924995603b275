"""Runs of a loop: what is left of its body between loops that come to stand around it.

    for j:                     run 1      carry t
      carry t                  for i:
      for i:            ->       run 2      t = add(t, v * x[i, j])
        v = sqrt(w[i])         run 3      s[j] = t
        t = add(t, v * x[i, j])
      s[j] = t

A scalar that several runs use becomes an element of scratch for each iteration: scalar expansion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, TypeGuard

from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed, counted
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Barrier,
    Block,
    Carry,
    Fold,
    Let,
    LetInt,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.walk import blocks, defined, names, renamed, statements
from xjit.types import DType


@dataclass(slots=True, eq=False)
class Run:
    """Statements that depend on the loop, in order, and the variable of the loop that gets them."""

    statements: list[Statement] = field(default_factory=list)
    variable: str = ""


@dataclass(slots=True, eq=False)
class Inner:
    """A loop that comes to stand around runs."""

    loop: Loop
    parts: list[Part]


Part: TypeAlias = "Run | Inner | Statement"


class Runs:
    """The body of a loop as runs, loops around runs, and statements that stay the same in all iterations."""

    def __init__(self, loop: Loop, into: frozenset[str]) -> None:
        self.loop, self.into = loop, into
        self.varying = self._varying()
        self.parts = self._of(loop.body)

    def all(self) -> Iterator[Run]:
        """Yield all runs, in order."""
        return _runs(self.parts)

    def _varying(self) -> set[str]:
        """The names of what differs by iteration: scalars, integers and buffers."""
        found, size = {self.loop.variable, *counted((self.loop,))}, 0
        while len(found) > size:
            size = len(found)
            self._spread(self.loop.body, found)
        return found

    def _spread(self, block: Block, found: set[str]) -> None:
        for one in block:
            if self._is_around(one):
                self._spread(one.body, found)
            elif uses((one,)) & found:
                found |= {*defined(one), *changed((one,)), *written((one,))}

    def _is_around(self, one: Statement) -> TypeGuard[Loop]:
        return isinstance(one, Loop) and one.variable in self.into

    def _of(self, block: Block) -> list[Part]:
        found: list[Part] = []
        run: Run | None = None
        for one in block:
            if isinstance(one, Barrier):
                raise RefusedError("barriers keep their places")
            if self._is_around(one):
                found.append(self._around(one))
                run = None
            elif not uses((one,)) & self.varying and not set(defined(one)) & self.varying:
                if run is not None and _changes(one) & uses(tuple(run.statements)):
                    run = None
                found.insert(len(found) - (run is not None), one)
            else:
                if run is None:
                    run = Run()
                    found.append(run)
                run.statements.append(one)
        return found

    def _around(self, loop: Loop) -> Inner:
        for name in sorted((loop.start.names() | loop.stop.names()) & self.varying):
            raise RefusedError(f"the bounds of the loop over {loop.variable} depend on {name}")
        if not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {loop.variable} is {loop.kind.value} already")
        return Inner(loop, self._of(loop.body))


def _all_changed(block: Block) -> set[str]:
    """The scalars that change anywhere in a block, those that it gives included."""
    return {name for one in statements(block) for name in changed((one,))}


def _changes(one: Statement) -> set[str]:
    return changed((one,)) | written((one,))


def _runs(found: list[Part]) -> Iterator[Run]:
    for part in found:
        if isinstance(part, Run):
            yield part
        elif isinstance(part, Inner):
            yield from _runs(part.parts)


class Expansion:
    """Values that runs hand on: computed again, or kept in ``buffers``, with an element for each iteration."""

    def __init__(self, runs: Runs, suffix: str, start: IntExpr, taken: Names) -> None:
        self.loop, self.start, self.taken = runs.loop, start, taken
        self.buffers: dict[str, tuple[str, DType]] = {}
        self._suffix = suffix
        self._stored = written(runs.loop.body)
        self._changing = _all_changed(runs.loop.body)
        self._given: dict[str, tuple[Run, Statement]] = {}
        self._order: dict[str, int] = {}
        taken.taken.discard(runs.loop.variable)
        for run in runs.all():
            run.variable = taken.fresh(runs.loop.variable)
            self._given |= {name: (run, one) for one in run.statements for name in defined(one)}
        self._order = {name: place for place, name in enumerate(self._given)}
        for run in runs.all():
            for name in self.in_order(uses(tuple(run.statements))):
                if self._given[name][0] is not run:
                    self._hand_on(name)

    def in_order(self, several: set[str]) -> list[str]:
        """Those of some names that runs give, in the order in which they do."""
        return sorted(several & self._order.keys(), key=self._order.__getitem__)

    def _hand_on(self, name: str) -> None:
        """Decides how a name comes into another run."""
        if name in self.buffers or self._is_computed_again(name):
            return
        match self._given[name][1]:
            case Let(value=value) | Carry(value=value):
                self.buffers[name] = self.taken.fresh(f"{name}_{self._suffix}"), value.dtype
            case _:
                raise RefusedError(f"{name} is needed behind loops in the body of the loop over {self.loop.variable}")

    def _is_computed_again(self, name: str) -> bool:
        """Return whether a name is that of an integer, or of a value that is made of elements that nobody writes."""
        one = self._given[name][1]
        if isinstance(one, LetInt):
            for name in self.in_order(uses((one,))):
                self._hand_on(name)
            return True
        if not isinstance(one, Let):
            return False
        used = uses((one,))
        if used & (self._stored | self._changing):
            return False
        return all(map(self._is_computed_again, self.in_order(used)))

    def of(self, run: Run) -> Iterator[Statement]:
        """The statements of a run, in a loop of its own."""
        return iter(_without_unused(tuple(_Expanded(self, run).statements()), set(self.buffers)))

    def given(self, name: str) -> tuple[Run, Statement]:
        """The run that gives a name, and the statement."""
        return self._given[name]


class _Expanded:
    """The statements of one run while they are written; ``names`` are those that others have by now."""

    def __init__(self, expansion: Expansion, run: Run) -> None:
        self.expansion, self.run = expansion, run
        self.names = {expansion.loop.variable: run.variable}
        self.index = (variable(run.variable) - expansion.start,)

    def statements(self) -> Iterator[Statement]:
        """Yield the run's own statements, each behind what it needs of other runs."""
        for one in self.run.statements:
            inside = names(tuple(inner for block in blocks(one) for inner in block))
            needed = uses(self._read(one)) - inside
            for name in self.expansion.in_order(needed):
                yield from self._bring(name)
            yield from self._own(one)

    def _read(self, one: Statement) -> Block:
        """The statement as far as it reads."""
        match one:
            case Accumulate():
                return (Let("", Prim("", (Var(one.name, one.value.dtype), one.value), one.value.dtype)),)
            case Fold():
                return tuple(Let("", value) for value in one.values)
        return (one,)

    def _bring(self, name: str) -> Iterator[Statement]:
        """Yield what gives the run a name of another run, or the value of now of a scalar that is kept."""
        if name in self.names:
            return
        run, one = self.expansion.given(name)
        if name in self.expansion.buffers and (run is not self.run or isinstance(one, Carry)):
            buffer, dtype = self.expansion.buffers[name]
            self.names[name] = self.expansion.taken.fresh(f"{name}_now")
            yield Let(self.names[name], Load(buffer, self.index, dtype), getattr(one, "where", None))
        elif run is not self.run:
            for used in self.expansion.in_order(uses((one,))):
                yield from self._bring(used)
            self.names[name] = self.expansion.taken.fresh(f"{name}_{self.run.variable}")
            yield from renamed((one,), self.names)

    def _own(self, one: Statement) -> Iterator[Statement]:
        """Yield a statement of the run; changes of scalars that are kept become stores."""
        kept = self.expansion.buffers
        match one:
            case Carry(name=name) if name in kept:
                yield self._store(name, self._value(one.value))
            case Let(name=name) if name in kept:
                yield from renamed((one,), self.names)
                yield self._store(name, Var(name, one.value.dtype), one)
            case Accumulate(name=name) if name in kept:
                if one.lanes:
                    raise RefusedError(f"{name} is accumulated in lanes")
                pair = Var(name, one.value.dtype), one.value
                yield self._store(name, self._value(Prim(one.reducer, pair, one.value.dtype)))
            case Fold(names=several) if kept.keys() & set(several):
                yield from self._folded(one)
            case _ if kept.keys() & changed((one,)):
                yield from self._around(one, sorted(kept.keys() & changed((one,))))
            case _:
                yield from renamed((one,), self.names)

    def _folded(self, one: Fold) -> Iterator[Statement]:
        if any(name not in self.expansion.buffers for name in one.names):
            raise RefusedError(f"{', '.join(one.names)} change together, and not all of them are kept")
        found = [self._value(value) for value in one.values]
        if len(found) > 1:
            fresh = [self.expansion.taken.fresh(f"{name}_next") for name in one.names]
            yield from (Let(name, value) for name, value in zip(fresh, found, strict=True))
            found = [Var(name, value.dtype) for name, value in zip(fresh, found, strict=True)]
        for name, value in zip(one.names, found, strict=True):
            yield self._store(name, value)

    def _around(self, one: Statement, several: list[str]) -> Iterator[Statement]:
        """Yield a statement with blocks between what loads the scalars that it changes and what stores them."""
        own = {name: self.expansion.taken.fresh(f"{name}_{self.run.variable}") for name in several}
        for name in several:
            yield from self._bring(name)
            yield Carry(own[name], Var(self.names[name], self.expansion.buffers[name][1]))
        yield from renamed((one,), self.names | own)
        for name in several:
            yield self._store(name, Var(own[name], self.expansion.buffers[name][1]))

    def _value(self, value: Value) -> Value:
        (given,) = renamed((Let("", value),), self.names)
        assert isinstance(given, Let)
        return given.value

    def _store(self, name: str, value: Value, one: Statement | None = None) -> Store:
        """The store that keeps a scalar; the value that was loaded before is that of now no more."""
        if one is None:
            self.names.pop(name, None)
        return Store(self.expansion.buffers[name][0], self.index, value, getattr(one, "where", None))


def _without_unused(block: Block, kept: set[str]) -> Block:
    """The block without names of values that nothing in it uses."""
    found: list[Statement] = []
    wanted: set[str] = set()
    for one in reversed(block):
        is_name = isinstance(one, Let | LetInt | Alloc)
        if not is_name or set(defined(one)) & wanted:
            found.insert(0, one)
            wanted |= uses((one,))
    return tuple(found)
