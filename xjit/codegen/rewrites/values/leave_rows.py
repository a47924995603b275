"""Leave a loop over rows as soon as few of them go on, and run these to the end one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.build import both, less, number
from xjit.ir.loops.intexpr import IntExpr, as_int, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Block,
    Carry,
    Fold,
    FromInt,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    Prim,
    Store,
    Value,
    Var,
    While,
)
from xjit.ir.loops.walk import loads, renamed, replaced_all, statements, stores
from xjit.types import BOOL, INT32, DType


@dataclass(frozen=True, slots=True)
class LeaveRows:
    """End the turns of a while loop when no more than so many rows of its loops have a mask that holds.

    before      carry t: s64 = 0
                while (t < 9):
                  for i in 0 .. n:
                    go = on[i]
                    old = x[i]
                    x[i] = select(go, (old / 2.0), old)
                    on[i] = (go & (old > 1.0))
                  t = (t + 1)
    after       carry t: s64 = 0                        LeaveRows("on", 2)
                carry left: s32 = s32(3)
                while ((t < 9) & (s32(2) < left)):
                  for i in 0 .. n:
                    go = on[i]
                    old = x[i]
                    x[i] = select(go, (old / 2.0), old)
                    on[i] = (go & (old > 1.0))
                  t = (t + 1)
                  left = 0
                  for row in 0 .. n:
                    left = add(left, select(on[row], 1, 0))
                t_kept = t
                for row_2 in 0 .. n:
                  t = t_kept
                  while ((t < 9) & on[row_2]):
                    for i_one in row_2 .. row_2 + 1:
                      go_one = on[i_one]
                      old_one = x[i_one]
                      x[i_one] = select(go_one, (old_one / 2.0), old_one)
                      on[i_one] = (go_one & (old_one > 1.0))
                    t = (t + 1)
                t = t_kept
                while (t < 9):
                  t = (t + 1)

    A row whose mask does not hold keeps what it has, so that no turn is missed. Those that take longest are gone
    through one by one: the others are not waited for. What all rows share is computed for all turns.
    """

    mask: str
    few: IntExpr | int

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where a turn may change something of a row whose mask does not hold."""
        turns = self._turns(kernel)
        rows = [one for one in turns.body if isinstance(one, Loop)]
        rest = tuple(one for one in turns.body if not isinstance(one, Loop))
        self._see_that_rows_rest(rows)
        self._see_that_all_share(rest, rows)
        taken, first = Names(kernel), rows[0]
        left, few = taken.fresh("left"), FromInt(as_int(self.few), INT32)
        begin = Carry(left, FromInt(as_int(self.few) + 1, INT32))
        several = both(turns.condition, less(few, Var(left, INT32)))
        counted = self._counted(left, first, taken.fresh("row"))
        together = replace(turns, condition=several, body=(*turns.body, Fold((left,), (number(0, INT32),)), counted))
        shared = _shared(rest)
        kept = {name: taken.fresh(f"{name}_kept") for name in shared}
        keep = (Let(kept[name], Var(name, dtype)) for name, dtype in shared.items())
        again = Fold(tuple(shared), tuple(Var(kept[name], dtype) for name, dtype in shared.items()))
        singly = self._one_by_one(turns, again, taken)
        end = renamed(rest, taken.copies(rest, "end"))
        after: Block = (*keep, singly, again, While(turns.condition, end))
        return with_statements(kernel, turns, (begin, together, *after))

    def _turns(self, kernel: Kernel) -> While:
        """The while loop around the rows."""
        loops = [one for one in statements(kernel.body) if isinstance(one, While)]
        found = [one for one in loops if any(isinstance(loop, Loop) and self._is_masked(loop) for loop in one.body)]
        if len(found) != 1:
            raise RefusedError(f"{len(found)} while loops have loops that store into {self.mask}")
        return found[0]

    def _is_masked(self, loop: Loop) -> bool:
        return any(isinstance(one, Store) and one.buffer == self.mask for one in loop.body)

    def _see_that_rows_rest(self, rows: Sequence[Loop]) -> None:
        """Raises RefusedError unless all that loops store is what was there where the mask does not hold."""
        for loop in rows:
            if (loop.start, loop.stop, loop.step) != (rows[0].start, rows[0].stop, 1):
                raise RefusedError(f"the loop over {loop.variable} is not one over the rows of {rows[0].variable}")
            known = {one.name: one.value for one in loop.body if isinstance(one, Let)}
            for one in loop.body:
                if isinstance(one, Store):
                    if not self._rests(one, known, variable(loop.variable)):
                        raise RefusedError(f"{one.buffer} may change where {self.mask} does not hold")
                elif not isinstance(one, Let):
                    what = type(one).__name__
                    raise RefusedError(f"a {what} in the loop over {loop.variable} is done for all rows")

    def _see_that_all_share(self, rest: Block, rows: Sequence[Loop]) -> None:
        """Raises RefusedError unless what is outside of the loops has nothing to do with what they store."""
        if any(not isinstance(one, Let | LetInt | Fold) for one in rest):
            raise RefusedError("a turn does more than to go along rows and to compute what they share")
        for name in sorted(written(tuple(rows))):
            if any(load.buffer == name for load in loads(rest)):
                raise RefusedError(f"rows share an element of {name}, which they change")
            places = [
                [at == variable(loop.variable) for at in index] for loop in rows for index in _indices(loop, name)
            ]
            if not any(map(all, zip(*places, strict=True))):
                raise RefusedError(f"a row may have elements of {name} that others have")

    def _rests(self, store: Store, known: Mapping[str, Value], here: IntExpr) -> bool:
        """Return whether an element stays as it is where the mask does not hold."""
        match _resolved(store.value, known):
            case Prim("select", (mask, _, old)):
                same = _resolved(old, known)
                kept = isinstance(same, Load) and (same.buffer, same.index) == (store.buffer, store.index)
                return kept and self._holds_in(mask, known, here)
            case Prim("and", pair) if store.buffer == self.mask and store.index == (here,):
                return any(self._holds_in(one, known, here) for one in pair)
        return False

    def _holds_in(self, value: Value, known: Mapping[str, Value], here: IntExpr) -> bool:
        """Return whether a value is the mask of a row."""
        found = _resolved(value, known)
        return isinstance(found, Load) and (found.buffer, found.index) == (self.mask, (here,))

    def _holds(self, row: str) -> Load:
        return Load(self.mask, (variable(row),), BOOL)

    def _counted(self, left: str, first: Loop, row: str) -> Loop:
        """The loop that counts the rows whose mask holds."""
        one = Prim("select", (self._holds(row), number(1, INT32), number(0, INT32)), INT32)
        return replace(first, variable=row, body=(Accumulate(left, "add", one),))

    def _one_by_one(self, turns: While, again: Fold, taken: Names) -> Loop:
        """The loop that goes through all turns that are left of one row after the other."""
        rows = [one for one in turns.body if isinstance(one, Loop)]
        row = taken.fresh("row")
        place = variable(row)
        single = {id(one): (replace(one, start=place, stop=place + 1),) for one in rows}
        body = replaced_all(turns.body, single)
        body = renamed(body, taken.copies(body, "one"))
        return replace(rows[0], variable=row, body=(again, While(both(turns.condition, self._holds(row)), body)))


def _indices(loop: Loop, name: str) -> list[tuple[IntExpr, ...]]:
    """The places at which a loop touches a buffer."""
    read = [load.index for load in loads(loop.body) if load.buffer == name]
    return read + [store.index for store in stores(loop.body) if store.buffer == name]


def _resolved(value: Value, known: Mapping[str, Value]) -> Value:
    while isinstance(value, Var) and value.name in known:
        value = known[value.name]
    return value


def _shared(rest: Block) -> dict[str, DType]:
    """The scalars that turns hand on."""
    folds = (one for one in rest if isinstance(one, Fold))
    return {name: value.dtype for one in folds for name, value in zip(one.names, one.values, strict=True)}
