"""Look for the first place of an extreme in the block that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from xjit.codegen.cpu import searches
from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.first_extremes import ZERO, FirstExtreme, first_extreme, is_new, step_of
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import block_of, place_in, with_block
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.codegen.text.scalar_text import kind
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Alloc,
    Block,
    Carry,
    Const,
    Find,
    Fold,
    FromInt,
    Kernel,
    Let,
    Load,
    Loop,
    Prim,
    Statement,
    Value,
    Var,
)
from xjit.ir.loops.walk import Change, buffers, defined, names, path_to, renamed, replaced, stores
from xjit.ir.scalar_expr import Literal
from xjit.ops.whole_arrays.reduce import REDUCERS
from xjit.types import BOOL, INT16, INT32, INT64, DType, dtype_class


@dataclass(frozen=True, slots=True)
class BlockExtreme:
    """Reduce blocks to their extremes, note the first block that has the best one, and search for it there.

    before      carry p: s64 = 0
                for b in 0 .. n by 512:
                  e = min(b + 512, n)
                  for j in b .. e:
                    v = x[j]
                    s, p = max(s, v), select((((max(s, v) != s) & (s == s)) | (s64(j) == 0)), s64(j), p)
                out[0] = p
    after       carry p_first: s64 = 0                  BlockExtreme("j", "p")
                carry p_end: s64 = 0
                for b in 0 .. n by 512:
                  e = min(b + 512, n)
                  carry s_block: f64 = -inf
                  for j in b .. e:
                    v = x[j]
                    s_block = max(s_block, v)
                  s_better = max(s, s_block)
                  p_new = (((s_better != s) & (s == s)) | (s64(b) == 0))
                  s = s_better
                  p_first = select(p_new, s64(b), p_first)
                  p_end = select(p_new, s64(e), p_end)
                p_found = first s from x[0] between p_first and p_end along axis 0
                out[0] = p_found

    What is not in memory is computed once more, by loops over the block.
    """

    loop: str
    scalar: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that do not search for a first place."""
        _, loop = found(kernel, self.loop)
        path = path_to(kernel.body, lambda one: isinstance(one, Carry) and one.name == self.scalar)
        search = next(
            (one for one in map(first_extreme, loop.body) if one is not None and one.place.name == self.scalar), None
        )
        if search is None or not path or search.position != variable(self.loop) or loop.step != 1:
            raise RefusedError(f"the loop over {self.loop} looks for no first place {self.scalar}")
        block = block_of(kernel, path)
        start = place_in(block, path[-1])
        last = next(at for at, one in enumerate(block) if path_to((one,), lambda inner: inner is loop))
        work = _Work(search, loop, Names(kernel))
        given = (Carry(work.first.name, ZERO), Carry(work.end.name, ZERO))
        inside = replaced(block[start + 1 : last + 1], loop, tuple(work.blocks()))
        found_at = tuple(work.find(kernel) or work.search())
        rest = Change(value=lambda value: work.found if value == search.place else value).block(block[last + 1 :])
        return with_block(kernel, block, (*block[:start], *given, *inside, *found_at, *rest))


class _Work:
    """The statements for one search, and the scalars in them."""

    def __init__(self, search: FirstExtreme, loop: Loop, taken: Names) -> None:
        self.own, self.loop, self.taken = search, loop, taken
        self.dtype: DType = search.best.dtype
        best, place = search.best.name, search.place.name
        self.block = Var(taken.fresh(f"{best}_block"), self.dtype)
        self.first, self.end, self.found = (
            Var(taken.fresh(f"{place}_{what}"), INT64) for what in ("first", "end", "found")
        )

    def blocks(self) -> Iterator[Statement]:
        """Yield the loop over a block, which takes its extreme, and what follows."""
        best, reducer = self.own.best, self.own.reducer
        start, stop = (FromInt(bound, INT64) for bound in (self.loop.start, self.loop.stop))
        yield Carry(self.block.name, Const(Literal.of(REDUCERS[reducer].identity(self.dtype), self.dtype)))
        step = Accumulate(self.block.name, reducer, self.own.value)
        yield replace(
            self.loop, body=tuple(step if first_extreme(one) == self.own else one for one in self.loop.body)
        )
        better = self._let(f"{best.name}_better", Prim(reducer, (best, self.block), self.dtype))
        yield better
        after = Var(better.name, self.dtype)
        flag = self._let(f"{self.own.place.name}_new", is_new(best, after, start))
        yield flag
        new = Var(flag.name, BOOL)
        yield Fold((best.name,), (after,))
        for place, bound in ((self.first, start), (self.end, stop)):
            yield Fold((place.name,), (Prim("select", (new, bound, place), INT64),))

    def find(self, kernel: Kernel) -> Block:
        """The search in memory, where nothing but elements side by side is searched."""
        load = self.own.value
        if isinstance(load, Var):
            load = next(
                (one.value for one in self.loop.body if defined(one) == (load.name,) and isinstance(one, Let)), load
            )
        if not isinstance(load, Load) or kind(load.dtype) not in searches.TYPES or load.dtype != self.dtype:
            return ()
        moved = step_of(load, self.loop.variable)
        read = {one.buffer.name for one in kernel.arguments if one.access is Access.READ}
        inside = names(self.loop.body)
        if moved is None or load.buffer not in read or any(at.names() & inside for at in load.index):
            return ()
        axis, at = moved
        if buffers(kernel)[load.buffer].strides[axis].value != 1:
            return ()
        bounds = variable(self.first.name), variable(self.end.name)
        return (Find(self.found.name, at, axis, *bounds, self.own.best),)

    def search(self) -> Iterator[Statement]:
        """Yield loops that compute the elements of the block again, of which only one runs where floats are searched.

        A row with a NaN has that for its extreme; a loop that asks for both takes up to a half longer.
        """
        # Counted from the first position of the block: the fewer bits, the more fit into a vector.
        dtype = INT32 if self.dtype.itemsize >= INT32.itemsize else INT16
        best, near = self.own.best, Var(self.taken.fresh(f"{self.own.place.name}_near"), dtype)
        yield Carry(near.name, Const(Literal.of(np.iinfo(dtype).max, dtype)))
        stop = self.end
        if dtype_class(self.dtype) == "F":
            is_number = Prim("eq", (best, best), BOOL)
            split = self._let(f"{self.own.place.name}_stop", Prim("select", (is_number, self.end, self.first), INT64))
            yield split
            stop = Var(split.name, INT64)
            yield self._searched(near, stop, self.end, "nan", lambda value: Prim("ne", (value, value), BOOL))
        yield self._searched(near, self.first, stop, "hit", lambda value: Prim("eq", (value, best), BOOL))
        yield Let(self.found.name, Prim("add", (self.first, Prim("cast", (near,), INT64)), INT64))

    def _searched(self, near: Var, start: Var, stop: Var, suffix: str, hits: Callable[[Value], Value]) -> Loop:
        """A loop over the block, which keeps the least place of what hits."""
        none = Const(Literal.of(np.iinfo(near.dtype).max, near.dtype))
        at, first = (
            Prim("cast", (one,), near.dtype) for one in (FromInt(variable(self.loop.variable), INT64), self.first)
        )
        place = Prim("select", (hits(self.own.value), Prim("sub", (at, first), near.dtype), none), near.dtype)
        body = (*_needed(self.loop.body, self.own.value), Accumulate(near.name, "min", place))
        copies = self.taken.copies(body, suffix) | {self.loop.variable: self.loop.variable}
        (copy,) = renamed((replace(self.loop, body=body),), copies)
        assert isinstance(copy, Loop)
        return replace(copy, start=variable(start.name), stop=variable(stop.name))

    def _let(self, name: str, value: Value) -> Let:
        return Let(self.taken.fresh(name), value)


def _needed(body: Block, value: Value) -> Block:
    """The statements of a body that a value is made by."""
    own = {one.buffer.name for one in body if isinstance(one, Alloc)}
    wanted = uses((Let("", value),))
    found: list[Statement] = []
    for one in reversed(body):
        made = {*defined(one), *changed((one,)), *({store.buffer for store in stores((one,))} & own)}
        if made & wanted and first_extreme(one) is None:
            found.insert(0, one)
            wanted |= uses((one,))
    return tuple(found)
