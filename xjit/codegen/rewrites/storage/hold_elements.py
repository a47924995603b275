"""Hold the elements that a while loop changes at one place in registers as long as it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr
from xjit.ir.loops.nodes import Block, Carry, Find, Fold, Kernel, Load, Loop, Statement, Store, Value, Var, While
from xjit.ir.loops.walk import Change, loads, names, replaced_all, statements, stores, substituted
from xjit.types import DType


@dataclass(frozen=True, slots=True)
class HoldElements:
    """Make carried scalars of elements that the while loop of an iteration loads and stores at one place alone.

    before      for row in 0 .. n:
                  while on[row]:
                    for i in row .. row + 1:
                      old = x[i]
                      x[i] = (old / 2.0)
                      on[i] = (old > 1.0)
    after       for row in 0 .. n:                      HoldElements("row")
                  carry x_held: f64 = x[row]
                  carry on_held: pred = on[row]
                  while on_held:
                    old = x_held
                    x_held = (old / 2.0)
                    on_held = (old > 1.0)
                  x[row] = x_held
                  on[row] = on_held

    The next turn needs what this one has stored: by way of memory it would wait longer. Buffers have memory of their
    own, as the names of them tell.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops without order, and those that change no element at one place alone."""
        _, loop = found(kernel, self.loop)
        if not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value}")
        loops = [one for one in loop.body if isinstance(one, While)]
        if len(loops) != 1:
            raise RefusedError(f"{len(loops)} while loops stand in the loop over {self.loop}")
        turns = replace(loops[0], body=_without_single_loops(loops[0].body))
        places = _places(turns)
        if not places:
            raise RefusedError(f"the while loop in the loop over {self.loop} changes no element at one place alone")
        taken = Names(kernel)
        held = _Held(places, {name: taken.fresh(f"{name}_held") for name in places})
        body = tuple(part for one in loop.body for part in (held.around(turns) if one is loops[0] else (one,)))
        return with_statements(kernel, loop, (replace(loop, body=body),))


@dataclass(frozen=True, slots=True)
class _Held:
    """The elements that are held: the place of each in its buffer, and the scalar."""

    places: Mapping[str, Load]
    names: Mapping[str, str]

    def around(self, turns: While) -> Block:
        """The loop over scalars, which are loaded in front of it and stored behind it."""
        begin = (Carry(self.names[name], load) for name, load in self.places.items())
        folds: dict[int, Block] = {
            id(store): (Fold((self.names[store.buffer],), (store.value,)),)
            for store in stores(turns.body)
            if store.buffer in self.places
        }
        inside = replace(turns, body=replaced_all(turns.body, folds))
        end = (Store(name, load.index, self._read(load)) for name, load in self.places.items())
        return (*begin, *Change(value=self._read).block((inside,)), *end)

    def _read(self, value: Value) -> Value:
        if isinstance(value, Load) and value.buffer in self.places:
            return Var(self.names[value.buffer], value.dtype)
        return value


def _without_single_loops(block: Block) -> Block:
    """The block with the bodies of loops of one iteration in place of these."""
    return tuple(part for one in block for part in _written_out(one))


def _written_out(one: Statement) -> Block:
    if isinstance(one, Loop) and one.kind.is_ordered and (one.stop - one.start).value == 1:
        return _without_single_loops(substituted(one.body, {one.variable: one.start}))
    return (one,)


def _places(turns: While) -> dict[str, Load]:
    """The element of each buffer that a loop stores into which it alone touches, at a place that stays the same."""
    own = names(turns.body) | changed((turns,))
    touched: dict[str, set[tuple[IntExpr, ...]]] = {}
    kinds: dict[str, DType] = {}
    for store in stores(turns.body):
        touched.setdefault(store.buffer, set()).add(store.index)
        kinds[store.buffer] = store.value.dtype
    for load in loads((turns,)):
        if load.buffer in touched:
            touched[load.buffer].add(load.index)
    found = dict[str, Load]()
    for name, places in touched.items():
        (first, *others) = places
        if not others and name not in own and not any(at.names() & own for at in first) and _is_plain(name, turns):
            found[name] = Load(name, first, kinds[name])
    return found


def _is_plain(name: str, turns: While) -> bool:
    """Return whether a buffer is loaded and stored only, in order."""
    if any(isinstance(one, Find) or _has_no_order(one) for one in statements(turns.body)):
        return False
    try:
        see_that_it_is_loaded_and_stored(name, turns.body)
    except RefusedError:
        return False
    return True


def _has_no_order(one: Statement) -> bool:
    return isinstance(one, Loop) and not one.kind.is_ordered
