"""Keep values that a loop computes for the loops behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.coverage import Coverage, coverage, own_elements
from xjit.codegen.rewrites.analysis.equal_values import Meanings, Named, named_values
from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, place_in, with_block, written
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import Atom, IntExpr, constant, maximum, substitute, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, Let, Load, Prim, Statement, Store, Var
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import blocks, names, path_to, stores, with_blocks


@dataclass(frozen=True, slots=True)
class StageValue:
    """Store a value that a loop names in scratch, and load it where later loops compute an equal one.

    before      for i in 0 .. n:
                  carry s: f64 = 0.0
                  for j in 0 .. m:
                    v = exp(x[i, j])
                    s = add(s, v)
                  for k in 0 .. m:
                    w = exp(x[i, k])
                    out[i, k] = (w / s)
    after       for i in 0 .. n:                        StageValue("v", "e")
                  carry s: f64 = 0.0
                  alloc e: f64[m] for each iteration
                  for j in 0 .. m:
                    v = exp(x[i, j])
                    e[j] = v
                    s = add(s, v)
                  for k in 0 .. m:
                    w = e[k]
                    out[i, k] = (w / s)

    Scratch of the name that the kernel has already is taken as it is.
    """

    value: str
    buffer: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where no later loop computes the value, or where not all of what it takes is stored before."""
        path = path_to(kernel.body, lambda one: isinstance(one, Let) and one.name == self.value)
        for length in range(len(path) - 1, 0, -1):
            found = self._staged_behind(kernel, path[:length])
            if found is not None:
                return found
        raise RefusedError(f"no loop computes {self.value} again behind one that stores all of it")

    def _staged_behind(self, kernel: Kernel, path: tuple[Statement, ...]) -> Kernel | None:
        """The kernel with the value stored in the last statement of a path, if others in its block need it."""
        block, first = block_of(kernel, path), path[-1]
        meanings = Meanings()
        made = list(named_values(first))
        wanted = next(one for one in made if one.let.name == self.value)
        key = meanings.of(wanted, first)
        if key is None:
            return None
        makers = [one for one in made if _may_be(one, wanted) and meanings.of(one, first) == key]
        behind = block[place_in(block, first) + 1 :]
        known = known_before(kernel, path)
        stored = coverage((first,), [one.let for one in makers], known)
        if stored is None:
            return None
        found: dict[int, list[Named]] = {}
        taken: dict[int, Coverage] = {}
        for one in behind:
            readers = _equal(one, wanted, key, meanings.numbers)
            own = coverage((one,), [reader.let for reader in readers], known) if readers else None
            if own is not None and _is_inside(own, stored, known):
                found[id(one)], taken[id(one)] = readers, own
        if not found:
            return None
        here = place_in(block, first)
        last = max(place for place, one in enumerate(block) if id(one) in found)
        for place in range(here, last + 1):
            one = block[place]
            if not _stays(meanings, one, wanted.index, taken.get(id(one)), is_last=place == last):
                return None
        return self._staged(kernel, block, first, (stored, makers), found)

    def _staged(
        self,
        kernel: Kernel,
        block: Block,
        first: Statement,
        made: tuple[Coverage, list[Named]],
        found: dict[int, list[Named]],
    ) -> Kernel:
        stored, makers = made
        dtype = makers[0].let.value.dtype
        new: list[Statement] = []
        for one in block:
            if one is first:
                if not self._is_allocated(kernel, dtype):
                    extents = tuple(stop if stop.kind is Atom.WORD else maximum(stop, 0) for _, stop in stored.bounds)
                    new.append(Alloc(Buffer.packed(self.buffer, dtype, *extents)))
                places = {
                    id(maker.let): Store(self.buffer, maker.index, Var(maker.let.name, dtype), maker.let.where)
                    for maker in makers
                }
                new += _each((one,), places, behind=True)
            elif readers := found.get(id(one)):
                loads = {
                    id(reader.let): replace(reader.let, value=Load(self.buffer, reader.index, dtype))
                    for reader in readers
                }
                new += without_unused(tuple(_each((one,), loads, behind=False)))
            else:
                new.append(one)
        return with_block(kernel, block, tuple(new))

    def _is_allocated(self, kernel: Kernel, dtype: object) -> bool:
        path = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        if not path and self.buffer in Names(kernel).taken:
            raise RefusedError(f"{self.buffer} has a meaning already")
        if not path:
            return False
        assert isinstance(path[-1], Alloc)
        if path[-1].buffer.dtype != dtype:
            raise RefusedError(f"{self.buffer} is scratch of another type than {self.value}")
        return True


def _may_be(one: Named, wanted: Named) -> bool:
    """Return whether a value looks like another on its outside."""
    a, b = one.let.value, wanted.let.value
    return type(a) is type(b) and a.dtype == b.dtype and (not isinstance(a, Prim) or a.name == getattr(b, "name", ""))


def _equal(statement: Statement, wanted: Named, key: object, numbers: dict[object, int]) -> list[Named]:
    """The names in a statement for values that are equal at equal places."""
    meanings = Meanings(numbers)
    alike = (one for one in named_values(statement) if one.index and _may_be(one, wanted))
    return [one for one in alike if meanings.of(one, statement) == key]


def _is_inside(taken: Coverage, stored: Coverage, known: Ranges) -> bool:
    """Return whether all elements that are taken are stored."""
    return (
        len(taken.bounds) == len(stored.bounds)
        and all(known.at_most(constant(0), start) for start, _ in stored.bounds)
        and all(
            known.at_most(own[0], one[0]) and known.at_most(one[1], own[1])
            for one, own in zip(taken.bounds, stored.bounds, strict=True)
        )
    )


def _stays(
    meanings: Meanings, one: Statement, index: Sequence[IntExpr], taken: Coverage | None, *, is_last: bool
) -> bool:
    """Return whether a statement leaves the value as it is for itself and for those behind it.

    The last one may write each element of what the value is computed from, at the step that takes the value.
    """
    if meanings.scalars & (changed((one,)) | names((one,))):
        return False
    touched = written((one,))
    for load in meanings.loads:
        if load.buffer not in touched:
            continue
        if not is_last or taken is None:
            return False
        axes = tuple(variable(f"axis {number}") for number in range(len(index)))
        if not own_elements(load.index, axes) or not _writes_only(one, load, taken):
            return False
    return True


def _writes_only(one: Statement, load: Load, taken: Coverage) -> bool:
    """Return whether a statement writes to a buffer only elements of the steps that load them."""
    homes = [found for found in stores((one,)) if found.buffer == load.buffer]
    for _, index in taken.places:
        axes = {str(at): variable(f"axis {number}") for number, at in enumerate(index)}
        if any(_renamed(store, axes) != load.index for store in homes):
            return False
    return True


def _renamed(store: Store, axes: dict[str, IntExpr]) -> tuple[IntExpr, ...]:
    return tuple(substitute(expr, axes) for expr in store.index)


def _each(block: Block, found: Mapping[int, Statement], *, behind: bool) -> Iterator[Statement]:
    """Yield the statements, some with another one behind them or in their place."""
    for one in block:
        if id(one) in found:
            yield from (one, found[id(one)]) if behind else (found[id(one)],)
            continue
        yield with_blocks(one, tuple(tuple(_each(inner, found, behind=behind)) for inner in blocks(one)))


def without_unused(block: Block) -> Block:
    """The block without names of values that nothing in it uses."""
    return _used(block, set())


def _used(block: Block, used: set[str]) -> Block:
    """The statements that are not names without use; ``used`` are the names that later ones use, and takes theirs."""
    kept: list[Statement] = []
    for one in reversed(block):
        if isinstance(one, Let) and one.name not in used:
            continue
        if blocks(one):
            one = with_blocks(one, tuple(_used(inner, set(used)) for inner in blocks(one)))
        used |= uses((one,))
        kept.append(one)
    return tuple(reversed(kept))
