"""Write a result over a value that nobody reads any more."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import Touch, apart, known_inside, touches
from xjit.codegen.rewrites.analysis.directions import earlier, later
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant
from xjit.ir.loops.nodes import Access, Argument, Buffer, Kernel, Loop, While
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import loads, statements, stores


@dataclass(frozen=True, slots=True)
class WriteOver:
    """Store the elements of a result in place of those of another array, which the caller needs no longer.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i, j] + y[j])
    after       for i in 0 .. n:                        WriteOver("out", "x")
                  for j in 0 .. m:
                    x[i, j] = (x[i, j] + y[j])

    The two have equal extents and strides; those of the second are taken. It may have further axes, at whose
    beginning all is read here, and those of the result in another order: `axes_over` are the same ones of both.
    """

    result: str
    over: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where an element may be read when another one, or itself, has been written over it."""
        target, source = (self._argument(kernel, name) for name in (self.result, self.over))
        if source.is_written or target.buffer.dtype != source.buffer.dtype:
            raise RefusedError(f"{self.over} is written already, or has elements of another type")
        axes, rank = axes_over(kernel, target.buffer, source.buffer), len(source.buffer.strides)
        if axes is None:
            raise RefusedError(f"{self.result} and {self.over} have not the same axes")
        for name in (self.result, self.over):
            see_that_it_is_loaded_and_stored(name, kernel.body)
        if any(load.buffer == self.over and load.apart for load in loads(kernel.body)):
            raise RefusedError(f"loads of {self.over} take elements that lie apart")
        kernel = replace(kernel, body=reindexed(kernel.body, self.result, lambda index: _spread(index, axes, rank)))
        self._see_that_elements_are_read_before(kernel)
        update = replace(source, access=Access.UPDATE)
        arguments = tuple(update if one is source else one for one in kernel.arguments if one is not target)
        body = reindexed(kernel.body, self.result, lambda index: index, self.over)
        return replace(kernel, arguments=arguments, body=body)

    def _argument(self, kernel: Kernel, name: str) -> Argument:
        found = next((one for one in kernel.arguments if one.buffer.name == name), None)
        if found is None:
            raise RefusedError(f"there is no buffer {name} among the arguments")
        return found

    def _see_that_elements_are_read_before(self, kernel: Kernel) -> None:
        if any(isinstance(one, While) for one in statements(kernel.body)):
            raise RefusedError("it is not known which rounds of a while loop there are")
        touched = list(touches(kernel.body))
        known = known_before(kernel, kernel.body[-1:])
        for number, one in enumerate(touched):
            if one.buffer != self.result or not one.written:
                continue
            for place, other in enumerate(touched):
                if other.buffer == self.over and not _is_read_before(known, one, other, behind=place > number):
                    at = ", ".join(map(str, other.index))
                    raise RefusedError(f"{self.over}[{at}] may be read when it has been written over")


def axes_over(kernel: Kernel, result: Buffer, over: Buffer) -> tuple[int, ...] | None:
    """Return the axes of an array over which a result is written, one for each of the result's.

    They are the same ones if there are as many, else those with the same position in every step. None where no axes
    are found: an element is read at several positions, or the result is not.
    """
    if len(result.strides) == len(over.strides):
        return tuple(range(len(result.strides)))
    read = {load.index for load in loads(kernel.body) if load.buffer == over.name}
    written = {store.index for store in stores(kernel.body) if store.buffer == result.name}
    if len(read) != 1 or len(written) != 1:
        return None
    (at,), (to,) = read, written
    found = tuple(at.index(one) for one in to if one in at)
    moved = [axis for axis, one in enumerate(at) if one != constant(0)]
    return found if len(found) == len(to) and sorted(found) == moved else None


def _spread(index: tuple[IntExpr, ...], axes: tuple[int, ...], rank: int) -> tuple[IntExpr, ...]:
    """Return the index along some axes of so many, and 0 along others."""
    along = dict(zip(axes, index, strict=True))
    return tuple(along.get(axis, constant(0)) for axis in range(rank))


def _is_read_before(known: Ranges, store: Touch, load: Touch, *, behind: bool) -> bool:
    """Return whether no iteration of a load is behind one of a store to the same element.

    ``behind`` says that the load is the later one in the text.
    """
    common = [mine for mine, its in zip(store.around, load.around, strict=False) if mine is its]
    for place, one in enumerate(common):
        if isinstance(one, Loop):
            inside = replace(store, around=store.around[place:]), replace(load, around=load.around[place:])
            orders = (later(one),) if one.kind.is_ordered else (later(one), earlier(one))
            if not all(apart(known, *inside, [order]) for order in orders):
                return False
        known = known_inside(known, one, {})
    # Nests without a loop in common may run at the same time.
    if not behind and any(isinstance(one, Loop) for one in common):
        return True
    inside = (
        replace(store, around=store.around[len(common) :]),
        replace(load, around=load.around[len(common) :]),
    )
    return apart(known, *inside, ())
