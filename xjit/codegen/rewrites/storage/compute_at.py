"""Compute a buffer inside of the loop that reads it: as much of it as one iteration needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import known_inside, touches
from xjit.codegen.rewrites.analysis.scalars import changed, read
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, place_in, with_block, written
from xjit.codegen.rewrites.analysis.windows import Window, window
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, maximum, minimum, variable
from xjit.ir.loops.nodes import Alloc, Block, Check, Invoke, Kernel, Loop, LoopKind, Scope, Statement, Store
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import loads, path_to, replaced, statements, stores


@dataclass(frozen=True, slots=True)
class ComputeAt:
    """Compute scratch inside of a loop that reads it: the part that an iteration needs, with its halo.

    before      alloc t: f64[n] for each iteration
                for i in 0 .. n:
                  t[i] = (x[i] * x[i])
                for b in 1 .. n - 1 by 512:
                  for k in b .. min(b + 512, n - 1):
                    out[k] = (t[k - 1] + t[k + 1])
    after       for b in 1 .. n - 1 by 512:             ComputeAt("t", "b")
                  alloc t: f64[514] for each iteration
                  for i in b - 1 .. min(b + 512, n - 1) + 1:
                    t[-b + i + 1] = (x[i] * x[i])
                  for k in b .. min(b + 512, n - 1):
                    out[k] = (t[-b + k] + t[-b + k + 2])

    What several iterations need is computed in each of them.
    """

    buffer: str
    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where more than one nest makes the scratch, others read it, or what it is made of may change."""
        path, consumer = found(kernel, self.loop)
        block, alloc = self._home(kernel)
        outermost = next((one for one in path if any(one is other for other in block)), None)
        if outermost is None:
            raise RefusedError(f"the loop over {self.loop} is not in the block of {self.buffer}")
        nest = self._nest(block)
        behind = block[place_in(block, nest.loops[0]) + 1 : place_in(block, outermost) + 1]
        self._see_that_all_is_read_inside(block, consumer)
        nest.see_that_it_may_come_later(behind)
        known = known_inside(known_before(kernel, path), consumer, {})
        touched = [touch for touch in touches(consumer.body) if touch.buffer == self.buffer]
        own = window(self.buffer, alloc.buffer, touched, known)
        placed = replace(consumer, body=(own.alloc, nest.placed(own, known), *own.instead(consumer.body)))
        rest = tuple(one for one in block if one is not nest.loops[0] and one is not alloc)
        return with_block(kernel, block, replaced(rest, consumer, (placed,)))

    def _home(self, kernel: Kernel) -> tuple[Block, Alloc]:
        path = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        match path:
            case (*_, Alloc(scope=Scope.ITERATION) as alloc):
                return block_of(kernel, path), alloc
        raise RefusedError(f"{self.buffer} is no scratch of an iteration")

    def _nest(self, block: Block) -> _Nest:
        """The loops that make the buffer."""
        see_that_it_is_loaded_and_stored(self.buffer, block)
        makers = [one for one in block if self.buffer in written((one,))]
        if len(makers) != 1 or not isinstance(makers[0], Loop):
            raise RefusedError(f"{self.buffer} is not made by one nest of loops in its block")
        loops = [makers[0]]
        while len(loops[-1].body) == 1 and isinstance(loops[-1].body[0], Loop):
            loops.append(loops[-1].body[0])
        nest = _Nest(self.buffer, tuple(loops))
        nest.see_that_it_makes_one_buffer()
        return nest

    def _see_that_all_is_read_inside(self, block: Block, consumer: Loop) -> None:
        inside = sum(load.buffer == self.buffer for load in loads(consumer.body))
        if inside == 0 or inside != sum(load.buffer == self.buffer for load in loads(block)):
            raise RefusedError(f"{self.buffer} is not read in the loop over {self.loop} alone")


@dataclass(frozen=True, slots=True)
class _Nest:
    """Loops that make every element of a buffer once, one in the next."""

    buffer: str
    loops: tuple[Loop, ...]

    @property
    def store(self) -> Store:
        """What makes an element."""
        return next(one for one in self.loops[-1].body if isinstance(one, Store) and one.buffer == self.buffer)

    def see_that_it_makes_one_buffer(self) -> None:
        """Refuses where the loops do something else too, or run over something else than the axes."""
        body = self.loops[-1].body
        found = [one for one in body if isinstance(one, Store) and one.buffer == self.buffer]
        more = any(isinstance(one, Invoke | Check) for one in statements(body))
        if len(found) != 1 or len(list(stores(body))) != 1 or more or changed(self.loops):
            raise RefusedError(f"the loops that make {self.buffer} do more than that")
        if any(load.buffer == self.buffer for load in loads(body)):
            raise RefusedError(f"{self.buffer} is made of its own elements")
        for loop in self.loops:
            if loop.kind is not LoopKind.SERIAL or loop.step != 1:
                raise RefusedError(f"the loop over {loop.variable} is {loop.kind.value} by {loop.step}, not for by 1")
        if not len(dict(self._offsets())) == len(self.loops) == len(self.store.index):
            raise RefusedError(f"the loops that make {self.buffer} are not those of its axes")

    def _offsets(self) -> Iterator[tuple[str, tuple[int, IntExpr]]]:
        """Yield the variable of each axis of the buffer, with the axis and what is added to the variable."""
        names = {loop.variable for loop in self.loops}
        for axis, at in enumerate(self.store.index):
            own = at.names() & names
            for name in own:
                offset = at - variable(name)
                if offset.value is not None:
                    yield name, (axis, offset)

    def see_that_it_may_come_later(self, behind: Block) -> None:
        """Refuses where statements behind the nest change what it reads."""
        needed = {load.buffer for load in loads(self.loops)} | read(self.loops)
        for name in sorted(needed & (written(behind) | changed(behind))):
            raise RefusedError(f"{name}, which {self.buffer} is made of, changes before it is read")

    def placed(self, own: Window, known: Ranges) -> Loop:
        """The nest over what a window has."""
        body: Block = self.loops[-1].body
        index = own.inside(self.store.index)
        body = replaced(body, self.store, (replace(self.store, index=index),))
        offsets = dict(self._offsets())
        inner: Statement | None = None
        for loop in reversed(self.loops):
            axis, offset = offsets[loop.variable]
            low, stop = own.needed[axis].low - offset, own.needed[axis].high + 1 - offset
            low = low if known.at_most(loop.start, low) else maximum(low, loop.start)
            stop = stop if known.at_most(stop, loop.stop) else minimum(stop, loop.stop)
            inner = replace(loop, start=low, stop=stop, body=body)
            body = (inner,)
        assert isinstance(inner, Loop)
        return inner
