"""Let every iteration of a loop reduce into a part of its own, and combine the parts behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed, identity, read
from xjit.codegen.rewrites.analysis.surroundings import extent, known_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Buffer,
    Carry,
    Const,
    Fold,
    Kernel,
    LetInt,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    Var,
)
from xjit.ir.loops.walk import buffers, loads, renamed, statements, stores
from xjit.types import DType


@dataclass(frozen=True, slots=True)
class PrivatizeReduction:
    """Let every iteration of a loop reduce into a scalar or a row of its own: partial sums of chunks, or of threads.

    before      for b in 0 .. n by 4:
                  for i in b .. min(b + 4, n):
                    t = add(t, x[i])
    after       alloc part: f32[((n + 3) // 4)] for each iteration PrivatizeReduction("t", "b", "part")
                for part_at in 0 .. ((n + 3) // 4):
                  b = 4*part_at
                  carry t_part: f32 = -0.0
                  for i in b .. min(b + 4, n):
                    t_part = add(t_part, x[i])
                  part[part_at] = t_part
                for part_of in 0 .. ((n + 3) // 4):
                  t = add(t, part[part_of])

    Sums of floats are rounded in another order.
    """

    target: str
    loop: str
    name: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the loop does more with the target than to reduce into it, or the reducer is not known."""
        path, loop = found(kernel, self.loop)
        if not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} already")
        count = (extent(known_before(kernel, path), loop) + (loop.step - 1)) // loop.step
        taken = Names(kernel)
        parts: _Scalar | _Rows
        if self.target in changed(loop.body):
            parts = _Scalar.of(self.target, self.name, loop.body)
        elif self.target in written(loop.body):
            parts = _Rows.of(buffers(kernel)[self.target], self.name, loop.body)
        else:
            raise RefusedError(f"the loop over {self.loop} does not reduce into {self.target}")
        return with_statements(kernel, loop, tuple(self._parted(loop, count, parts, taken)))

    def _parted(self, loop: Loop, count: IntExpr, parts: _Scalar | _Rows, taken: Names) -> Iterator[Statement]:
        at, of = variable(taken.fresh(f"{self.name}_at")), variable(taken.fresh(f"{self.name}_of"))
        yield Alloc(Buffer.packed(self.name, parts.start.dtype, count, *parts.extents))
        begin = LetInt(self.loop, loop.start + at * loop.step)
        body = (begin, *parts.own(loop.body, at, taken))
        yield replace(loop, variable=str(at), start=constant(0), stop=count, step=1, body=body)
        yield Loop(str(of), constant(0), count, parts.combined(of, taken))


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A scalar that is accumulated."""

    target: str
    name: str
    reducer: str
    start: Const

    @classmethod
    def of(cls, target: str, name: str, block: Block) -> _Scalar:
        """The scalar, if all that a block does with it is to accumulate."""
        steps = [one for one in statements(block) if isinstance(one, Accumulate) and one.name == target]
        folded = any(isinstance(one, Fold) and target in one.names for one in statements(block))
        if folded or target in read(block):
            raise RefusedError(f"{target} is read, or changed in order")
        return cls(target, name, *_reducer(target, {(one.reducer, one.value.dtype) for one in steps}))

    @property
    def extents(self) -> tuple[IntExpr, ...]:
        """A part is one element."""
        return ()

    def own(self, block: Block, at: IntExpr, taken: Names) -> Block:
        """The block with a scalar of its own, that is kept in the end."""
        own = taken.fresh(f"{self.target}_{self.name}")
        last = Store(self.name, (at,), Var(own, self.start.dtype))
        return Carry(own, self.start), *renamed(block, {self.target: own}), last

    def combined(self, of: IntExpr, taken: Names) -> Block:
        """The statements that combine a part with the whole."""
        return (Accumulate(self.target, self.reducer, Load(self.name, (of,), self.start.dtype)),)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Elements that are each combined with something, and read by nobody else."""

    buffer: Buffer
    name: str
    reducer: str
    start: Const

    @classmethod
    def of(cls, buffer: Buffer, name: str, block: Block) -> _Rows:
        """The elements, if all that a block does with them is to reduce into them."""
        see_that_it_is_loaded_and_stored(buffer.name, block)
        steps = [one for one in stores(block) if one.buffer == buffer.name]
        if len(steps) != sum(load.buffer == buffer.name for load in loads(block)):
            raise RefusedError(f"{buffer.name} is read, or changed in order")
        found = set()
        for one in steps:
            match one.value:
                case Prim(name=reducer, variant="", operands=(Load(buffer=own, index=index), _)) if (
                    own == buffer.name and index == one.index
                ):
                    found.add((reducer, buffer.dtype))
                case _:
                    raise RefusedError(f"{buffer.name} is read, or changed in order")
        return cls(buffer, name, *_reducer(buffer.name, found))

    @property
    def extents(self) -> tuple[IntExpr, ...]:
        """A part has all elements."""
        return self.buffer.extents

    def own(self, block: Block, at: IntExpr, taken: Names) -> Block:
        """The block with elements of its own."""
        axes = self._axes("fill", taken)
        fill = self._over(axes, Store(self.name, (at, *axes), self.start))
        return fill, *reindexed(block, self.buffer.name, lambda index: (at, *index), self.name)

    def combined(self, of: IntExpr, taken: Names) -> Block:
        """The statements that combine the elements of a part with the whole."""
        axes = self._axes("sum", taken)
        pair = Load(self.buffer.name, axes, self.buffer.dtype), Load(self.name, (of, *axes), self.buffer.dtype)
        return (self._over(axes, Store(self.buffer.name, axes, Prim(self.reducer, pair, self.buffer.dtype))),)

    def _axes(self, suffix: str, taken: Names) -> tuple[IntExpr, ...]:
        return tuple(variable(taken.fresh(f"{self.name}_{suffix}")) for _ in self.extents)

    def _over(self, axes: tuple[IntExpr, ...], inner: Statement) -> Statement:
        for at, stop in zip(reversed(axes), reversed(self.extents), strict=True):
            inner = Loop(str(at), constant(0), stop, (inner,))
        return inner


def _reducer(target: str, found: set[tuple[str, DType]]) -> tuple[str, Const]:
    """The one reducer of some steps, and what it leaves as it is."""
    for reducer, dtype in found:
        start = identity(reducer, dtype)
        if len(found) == 1 and start is not None:
            return reducer, start
    names = ", ".join(sorted(reducer for reducer, _ in found))
    raise RefusedError(f"{target} is changed by {names}, not by one reducer that is known to be regrouped")
