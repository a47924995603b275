"""Leave out groups of lanes in which a condition holds for no element, as bounds of the elements say."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import start_of
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.reductions.element_bounds import ElementBounds, constant_bounds, with_room
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, minimum, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Buffer,
    Carry,
    Const,
    Fold,
    If,
    Kernel,
    LetInt,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.walk import renamed, replaced_all
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, FLOAT64


@dataclass(frozen=True, slots=True)
class SkipGroups:
    """Leave out groups of lanes in which a condition holds for no element; sums of lanes wait in scratch.

    before      for t in 0 .. m:
                  q = w[t]
                  for b in 0 .. 1024 by 512:
                    carry s: f64 = 0.0
                    for i in b .. b + 512:
                      s = add(s, select((x[i] < q), y[i], 0.0)) in 32 lanes
                    r[t, (b // 512)] = s
    after       alloc least: f64[32] for each iteration      SkipGroups("i", "t", 32, "g")
                alloc largest: f64[32] for each iteration
                alloc narrow: pred[2] for each iteration
                for group in 0 .. 32:
                  carry least_now: f64 = inf
                  carry largest_now: f64 = -inf
                  for at in 32*group .. 32*group + 32:
                    least_now = min(least_now, x[at])
                    largest_now = max(largest_now, x[at])
                  least[group] = least_now
                  largest[group] = largest_now
                for block in 0 .. 2:
                  carry width: f64 = 0.0
                  carry low: f64 = inf
                  carry high: f64 = -inf
                  for group_2 in 16*block .. min(16*block + 16, 32):
                    width = (width + (largest[group_2] - least[group_2]))
                    low = min(low, least[group_2])
                    high = max(high, largest[group_2])
                  narrow[block] = (width < ((high - low) * 8.0))
                for t in 0 .. m:
                  q = w[t]
                  for b in 0 .. 1024 by 512:
                    carry s: f64 = 0.0
                    if narrow[(b // 512)]:
                      alloc s_lanes: f64[32] for each iteration
                      for lane in 0 .. 32:
                        s_lanes[lane] = 0.0
                      for g in 0 .. 16:
                        if not((q <= least[(b // 32) + g])):
                          first = b + 32*g
                          for i_in in first .. first + 32:
                            s_lanes[-first + i_in] = (s_lanes[-first + i_in] + select((x[i_in] < q), y[i_in], 0.0))
                      for lane_2 in 0 .. 32:
                        s = add(s, s_lanes[lane_2]) in 32 lanes
                    else:
                      for i in b .. b + 512:
                        s = add(s, select((x[i] < q), y[i], 0.0)) in 32 lanes
                    r[t, (b // 512)] = s

    A sum is that of the same lanes in the same order: what is left out would add zeros. Blocks whose groups are about
    as wide as they are go through the loop as it was.
    """

    loop: str
    turns: str
    groups: int
    group: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that do more than to add what conditions choose in lanes, or whose elements change."""
        path, loop = found(kernel, self.loop)
        _, turns = found(kernel, self.turns)
        loops = [one for one in path if isinstance(one, Loop)]
        if len(loops) < 3 or loops[-3] is not turns or not turns.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is in no loop over blocks in that over {self.turns}")
        block = loops[-2]
        lanes = {one.lanes for one in loop.body if isinstance(one, Accumulate) and one.lanes}
        if block.step != numerics.BLOCK or len(lanes) != 1 or loop.start != variable(block.variable):
            raise RefusedError(f"the loop over {self.loop} does not begin with a block, or adds in no lanes")
        taken = Names(kernel)
        taken.fresh(self.group)
        bounds = ElementBounds(constant_bounds(kernel, turns, block, loop), loop.variable, self.groups, taken)
        groups = _Groups(block, loop, bounds, min(lanes), self.group, taken)
        body = replaced_all(turns.body, {id(loop): (groups.instead(),)})
        kernel = with_room(kernel, path[: path.index(block) + 1], block, self.groups * min(lanes))
        return with_statements(kernel, turns, (*groups.ahead(), replace(turns, body=body)))


@dataclass(eq=False)
class _Groups:
    """The groups of so many lanes of a loop inside of one over blocks."""

    block: Loop
    loop: Loop
    bounds: ElementBounds
    lanes: int
    group: str
    taken: Names

    def __post_init__(self) -> None:
        self.narrow = self.taken.fresh("narrow")
        self.each = numerics.BLOCK // self.lanes
        self.count = (self.block.stop - self.block.start) // self.lanes

    def ahead(self) -> Iterator[Statement]:
        """Yield the loops that find the bounds of groups, and blocks whose groups are much narrower than they are."""
        yield from self.bounds.allocs
        yield Alloc(Buffer.packed(self.narrow, BOOL, constant(-(-self.bounds.parts // self.each))))
        group = variable(self.taken.fresh("group"))
        first = self.block.start + group * self.lanes
        yield Loop(str(group), constant(0), self.count, tuple(self.bounds.of_part(group, first, first + self.lanes)))
        at = variable(self.taken.fresh("block"))
        body, narrow = list[Statement](), list[Value]()
        for load, (least, largest) in self.bounds.buffers.items():
            inner = variable(self.taken.fresh("group"))
            low, high = (_wide(Load(name, (inner,), load.dtype)) for name in (least, largest))
            names = {name: self.taken.fresh(name) for name in ("width", "low", "high")}
            width, lowest, highest = (Var(name, FLOAT64) for name in names.values())
            body += [Carry(names["width"], _float(0.0))]
            body += [Carry(names["low"], _float(float("inf"))), Carry(names["high"], _float(float("-inf")))]
            step = (
                Fold((names["width"],), (_added(width, Prim("sub", (high, low), FLOAT64)),)),
                Accumulate(names["low"], "min", low),
                Accumulate(names["high"], "max", high),
            )
            body.append(Loop(str(inner), at * self.each, minimum((at + 1) * self.each, self.count), step))
            whole = Prim("sub", (highest, lowest), FLOAT64)
            narrow.append(Prim("lt", (width, Prim("mul", (whole, _float(self.each / 2)), FLOAT64)), BOOL))
        body.append(Store(self.narrow, (at,), functools.reduce(_either, narrow)))
        blocks = (self.block.stop - self.block.start + (numerics.BLOCK - 1)) // numerics.BLOCK
        yield Loop(str(at), constant(0), blocks, tuple(body))

    def instead(self) -> Statement:
        """The loop as it was, or one over groups where that leaves many out."""
        start = self.block.start
        at = (variable(self.block.variable) - start) // numerics.BLOCK
        return If(Load(self.narrow, (at,), BOOL), tuple(self._in_groups()), (self.loop,))

    def _in_groups(self) -> Iterator[Statement]:
        """Yield the loop over groups, of which some are left out."""
        sums = [one for one in self.loop.body if isinstance(one, Accumulate) and one.lanes]
        waiting = {one.name: self.taken.fresh(f"{one.name}_lanes") for one in sums}
        for one in sums:
            lane = variable(self.taken.fresh("lane"))
            yield Alloc(Buffer.packed(waiting[one.name], one.value.dtype, constant(self.lanes)))
            yield Loop(
                str(lane), constant(0), constant(self.lanes), (Store(waiting[one.name], (lane,), start_of(one)),)
            )
        first, group = self.taken.fresh("first"), variable(self.group)
        body = tuple(self._in_scratch(waiting, variable(first)))
        inner = replace(self.loop, start=variable(first), stop=variable(first) + self.lanes, body=body)
        own: Block = renamed((inner,), self.taken.copies((inner,), "in"))
        begin = LetInt(first, self.loop.start + group * self.lanes)
        before = (self.loop.start - self.block.start) // self.lanes
        may_hold = self.bounds.may_hold(before + group)
        yield Loop(
            self.group, constant(0), (self.loop.stop - self.loop.start) // self.lanes, (If(may_hold, (begin, *own)),)
        )
        for one in sums:
            lane = variable(self.taken.fresh("lane"))
            value = Load(waiting[one.name], (lane,), one.value.dtype)
            yield Loop(str(lane), constant(0), constant(self.lanes), (replace(one, value=value),))

    def _in_scratch(self, waiting: Mapping[str, str], first: IntExpr) -> Iterator[Statement]:
        """Yield the body of the loop with sums of lanes in scratch."""
        for one in self.loop.body:
            if isinstance(one, Accumulate) and one.name in waiting:
                place, dtype = (variable(self.loop.variable) - first,), one.value.dtype
                value = Prim(one.reducer, (Load(waiting[one.name], place, dtype), one.value), dtype)
                yield Store(waiting[one.name], place, value)
            else:
                yield one


def _either(one: Value, other: Value) -> Value:
    return Prim("or", (one, other), BOOL)


def _added(one: Value, other: Value) -> Value:
    return Prim("add", (one, other), FLOAT64)


def _float(value: float) -> Const:
    return Const(Literal.of(value, FLOAT64))


def _wide(value: Load) -> Value:
    return value if value.dtype == FLOAT64 else Prim("cast", (value,), FLOAT64)
