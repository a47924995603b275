"""The scratch of a kernel: memory on the stack for what loops keep for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Integer, IntExpr, as_int
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, Scope, Statement
from xjit.ir.loops.walk import blocks, renamed, statements, with_blocks
from xjit.types import DType


@dataclass(eq=False)
class Scratch:
    """The buffers of scratch of one kernel, in the order in which they were taken first.

    Nests that run one behind the other use the same ones: the stack has room for those of one nest, not of thirty.
    """

    nest: LoopBuilder
    allocs: list[Alloc] = field(default_factory=list)
    _free: list[Alloc] = field(default_factory=list)

    def take(self, dtype: DType, *extents: Integer) -> str:
        """The name of a buffer of these extents that nobody else uses."""
        shape = tuple(map(as_int, extents))
        alloc = next((one for one in self._free if (one.buffer.extents, one.buffer.dtype) == (shape, dtype)), None)
        if alloc is not None:
            self._free.remove(alloc)
            return alloc.buffer.name
        return self.add(self.nest.fresh("m"), dtype, shape)

    def add(self, name: str, dtype: DType, shape: tuple[IntExpr, ...], strides: tuple[IntExpr, ...] = ()) -> str:
        """A buffer of this name; without strides the last axis is the fastest."""
        packed = Buffer.packed(name, dtype, *shape)
        buffer = Buffer(name, dtype, shape, strides or packed.strides)
        self.allocs.append(Alloc(buffer, Scope.KERNEL))
        return name

    def give_back(self) -> None:
        """Frees all buffers for the next nest."""
        self._free = list(self.allocs)


def pooled(kernel: Kernel) -> Kernel:
    """The kernel with one scratch for what several nests, one behind the other, allocate in their iterations."""
    owners = [one for one in kernel.body if not isinstance(one, Alloc) and any(_own((one,)))]
    if len(owners) < 2:
        return kernel
    pool: dict[tuple[object, DType], list[Alloc]] = {}
    body: list[Statement] = []
    for one in kernel.body:
        taken: Counter[tuple[object, DType]] = Counter()
        names: dict[str, str] = {}
        for alloc in _own((one,)) if any(one is owner for owner in owners) else ():
            key = alloc.buffer.extents, alloc.buffer.dtype
            free = pool.setdefault(key, [])
            if taken[key] == len(free):
                free.append(Alloc(alloc.buffer, Scope.KERNEL))
            names[alloc.buffer.name] = free[taken[key]].buffer.name
            taken[key] += 1
        body += renamed(_without(names.keys(), (one,)), names) if names else (one,)
    return replace(kernel, body=(*(alloc for free in pool.values() for alloc in free), *body))


def _own(block: Block) -> Iterator[Alloc]:
    """Yield the allocations of iterations, whose extents are numbers."""
    for one in statements(block):
        match one:
            case Alloc(buffer, Scope.ITERATION) if all(extent.value is not None for extent in buffer.extents):
                yield one


def _without(names: Collection[str], block: Block) -> Block:
    """The block without the allocations of some buffers."""
    kept = (one for one in block if not (isinstance(one, Alloc) and one.buffer.name in names))
    return tuple(with_blocks(one, tuple(_without(names, inner) for inner in blocks(one))) for one in kept)
