"""Compute buffers inside of the loop that reads them: as much of them as one iteration needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import known_inside, touches
from xjit.codegen.rewrites.analysis.needs import Footprint, Needed, Span, hull, needed, reaches
from xjit.codegen.rewrites.analysis.scalars import changed, read
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, place_in, with_block, written
from xjit.codegen.rewrites.analysis.windows import Window, window_of
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import maximum, minimum, variable
from xjit.ir.loops.nodes import Alloc, Block, Check, Invoke, Kernel, Loop, LoopKind, Scope, Statement, Store
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import blocks, defined, loads, path_to, replaced, statements, stores, with_blocks


@dataclass(frozen=True, slots=True)
class ComputeAt:
    """Compute scratch inside of a loop that reads it: the part that an iteration needs, with its halo.

    before      alloc t: f64[n] for each iteration
                for i in 0 .. n:
                  t[i] = (x[i] * x[i])
                for b in 1 .. n - 1 by 512:
                  for k in b .. min(b + 512, n - 1):
                    out[k] = (t[k - 1] + t[k + 1])
    after       for b in 1 .. n - 1 by 512:             ComputeAt(("t",), "b")
                  alloc t: f64[514] for each iteration
                  for i in b - 1 .. min(b + 512, n - 1) + 1:
                    t[-b + i + 1] = (x[i] * x[i])
                  for k in b .. min(b + 512, n - 1):
                    out[k] = (t[-b + k] + t[-b + k + 2])

    What several iterations need is computed in each of them. Buffers that are made of each other, or by one nest of
    loops, go together; an axis of which every iteration needs the same stays whole. Several nests may make a
    buffer: each runs over what of its part is needed. Scratch that a nest has inside of it moves with it, and is made
    as before.
    """

    buffers: tuple[str, ...]
    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where others read the scratch, and where it is not known what is needed, or may have changed."""
        path, consumer = found(kernel, self.loop)
        block, allocs = self._home(kernel)
        outermost = next((one for one in path if any(one is other for other in block)), None)
        if outermost is None:
            raise RefusedError(f"the loop over {self.loop} is not in the block of {', '.join(self.buffers)}")
        makers = self._makers(block, outermost)
        self._see_that_all_is_read_inside(block, consumer, makers)
        self._see_that_they_may_come_later(block, outermost, makers)
        known = known_inside(known_before(kernel, path), consumer, {})
        scope = frozenset(name for one in path for name in defined(one))
        placing = _Placing(allocs, known, scope, list(reaches(touches(consumer.body), allocs, scope)))
        body: Block = consumer.body
        for maker in reversed(makers):
            body = (placing.placed(maker), *body)
        windows = placing.windows()
        for own in windows:
            body = own.instead(body)
        placed = replace(consumer, body=(*(own.alloc for own in windows), *body))
        gone = [*makers, *allocs.values()]
        rest = tuple(one for one in block if not any(one is other for other in gone))
        return with_block(kernel, block, replaced(rest, consumer, (placed,)))

    def _home(self, kernel: Kernel) -> tuple[Block, dict[str, Alloc]]:
        """The block in which the buffers are allocated."""
        home: Block = ()
        allocs: dict[str, Alloc] = {}
        for name in self.buffers:
            block, alloc = _home(kernel, name)
            if allocs and block is not home:
                raise RefusedError(f"{name} is not in the block of {self.buffers[0]}")
            home, allocs[name] = block, alloc
        return home, allocs

    def _makers(self, block: Block, outermost: Statement) -> list[Loop]:
        """The nests of loops that make the buffers, in order."""
        for name in self.buffers:
            see_that_it_is_loaded_and_stored(name, block)
        makers: list[Loop] = []
        for one in block:
            own = sorted(written((one,)) & set(self.buffers))
            if not own:
                continue
            if one is outermost or not isinstance(one, Loop) or place_in(block, one) > place_in(block, outermost):
                raise RefusedError(f"{own[0]} is not made by nests of loops in front of that over {self.loop}")
            self._see_that_it_makes_buffers_alone(one, own)
            makers.append(one)
        return makers

    def _see_that_it_makes_buffers_alone(self, maker: Loop, own: Sequence[str]) -> None:
        names = ", ".join(own)
        more = any(isinstance(one, Invoke | Check) for one in statements((maker,)))
        made = {one.buffer for one in stores((maker,))} - _allocated((maker,))
        if more or changed((maker,)) or not made <= set(self.buffers):
            raise RefusedError(f"the loops that make {names} do more than that")
        for load in loads((maker,)):
            if load.buffer in own:
                raise RefusedError(f"{load.buffer} is made of its own elements")

    def _see_that_all_is_read_inside(self, block: Block, consumer: Loop, makers: Sequence[Loop]) -> None:
        inside = [load.buffer for load in loads((*consumer.body, *makers))]
        everywhere = [load.buffer for load in loads(block)]
        for name in self.buffers:
            if inside.count(name) == 0 or inside.count(name) != everywhere.count(name):
                raise RefusedError(f"{name} is not read in the loop over {self.loop} alone")

    def _see_that_they_may_come_later(self, block: Block, outermost: Statement, makers: Sequence[Loop]) -> None:
        """Refuses where statements behind a nest change what it reads."""
        behind: set[str] = set()
        for one in reversed(block[: place_in(block, outermost) + 1]):
            if not any(one is maker for maker in makers):
                behind |= written((one,)) | changed((one,))
                continue
            for name in sorted(({load.buffer for load in loads((one,))} | read((one,))) & behind):
                own = ", ".join(sorted(written((one,))))
                raise RefusedError(f"{name}, which {own} is made of, changes before it is read")


def _home(kernel: Kernel, name: str) -> tuple[Block, Alloc]:
    """The block in which a buffer is allocated, and where."""
    path = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == name)
    match path:
        case (*_, Alloc(scope=Scope.ITERATION) as alloc):
            return block_of(kernel, path), alloc
    raise RefusedError(f"{name} is no scratch of an iteration")


@dataclass(frozen=True, slots=True)
class _Placing:
    """Nests in front of the body of a loop, the last one first; ``touched`` grows by what each of them touches.

    ``scope`` are the names that are known there.
    """

    allocs: Mapping[str, Alloc]
    known: Ranges
    scope: frozenset[str]
    touched: list[Footprint]

    def placed(self, maker: Loop) -> Loop:
        """The nest over what is needed of what it makes."""
        spans = self._spans(maker)
        self.touched.extend(reaches(touches((_over(maker, spans),)), self.allocs, self.scope))
        clipped = {name: self._clipped(span, loop) for name, (loop, span) in spans.items()}
        return _over(maker, {name: (spans[name][0], span) for name, span in clipped.items()})

    def windows(self) -> list[Window]:
        """The part of each buffer that the body needs, or makes."""
        found = []
        for name, alloc in self.allocs.items():
            axes = self._needed(name, [touch for touch in self.touched if touch.buffer == name])
            found.append(window_of(name, alloc.buffer, axes, self.known))
        return found

    def _needed(self, name: str, touched: Sequence[Footprint]) -> tuple[Needed, ...]:
        return needed(self.allocs[name].buffer, touched, self.scope)

    def _spans(self, maker: Loop) -> dict[str, tuple[Loop, Span]]:
        """The bounds of the loops of a nest that need not run as a whole."""
        every: dict[str, tuple[Loop, list[Span | None]]] = {}
        inside = list[Loop]()
        for store, loops in _stores(maker):
            if store.buffer not in self.allocs:
                inside += [loop for loop in loops if store.buffer not in _allocated((loop,))]
                continue
            reads = [touch for touch in self.touched if touch.buffer == store.buffer and not touch.written]
            own = _spans_of(store, loops, self._needed(store.buffer, reads))
            for loop in loops:
                every.setdefault(loop.variable, (loop, []))[1].append(own.get(loop.variable))
        whole = {loop.variable for loop in inside}
        found: dict[str, tuple[Loop, Span]] = {}
        for name, (loop, several) in every.items():
            known = [one for one in several if one is not None]
            if len(known) == len(several):
                _see_that_it_may_be_shorter(loop, whole)
                found[name] = loop, hull(known, self.scope)
        return found

    def _clipped(self, span: Span, loop: Loop) -> Span:
        """The span as far as the loop goes."""
        known = Ranges(self.known.bounds)
        low = span.low if known.at_most(loop.start, span.low) else maximum(span.low, loop.start)
        stop = span.stop if known.at_most(span.stop, loop.stop) else minimum(span.stop, loop.stop)
        return Span(low, stop)


def _allocated(block: Block) -> set[str]:
    """The buffers that are allocated in a block."""
    return {one.buffer.name for one in statements(block) if isinstance(one, Alloc)}


def _see_that_it_may_be_shorter(loop: Loop, whole: Collection[str]) -> None:
    """Refuse a loop over a variable that has to run as a ``whole``: it makes scratch of the nest around it."""
    if loop.variable in whole:
        raise RefusedError(f"the loop over {loop.variable} makes scratch of the loops around it")
    if loop.kind is not LoopKind.SERIAL or loop.step != 1:
        raise RefusedError(f"the loop over {loop.variable} is {loop.kind.value} by {loop.step}, not for by 1")
    for name in sorted(changed((loop,))):
        raise RefusedError(f"every iteration over {loop.variable} changes {name}")


def _stores(statement: Statement, around: tuple[Loop, ...] = ()) -> Iterator[tuple[Store, tuple[Loop, ...]]]:
    """Yield the stores of a nest, each with the loops around it."""
    if isinstance(statement, Store):
        yield statement, around
    inside = (*around, statement) if isinstance(statement, Loop) else around
    for block in blocks(statement):
        for one in block:
            yield from _stores(one, inside)


def _spans_of(store: Store, loops: Sequence[Loop], axes: Sequence[Needed]) -> dict[str, Span]:
    """The bounds of the loops around a store, for what is needed along the axes of its buffer."""
    own = {loop.variable for loop in loops}
    found: dict[str, Span] = {}
    for at, axis in zip(store.index, axes, strict=True):
        if axis is None:
            continue
        name = next(iter(at.names() & own), "")
        offset = at - variable(name)
        if offset.names() or name in found:
            raise RefusedError(f"the loops that make {store.buffer} are not those of its axes")
        found[name] = Span(axis.low - offset, axis.stop - offset)
    return found


def _over(statement: Loop, spans: Mapping[str, tuple[Loop, Span]]) -> Loop:
    """The nest with loops that run from and to somewhere else."""

    def shortened(one: Statement) -> Statement:
        one = with_blocks(one, tuple(tuple(map(shortened, block)) for block in blocks(one)))
        if isinstance(one, Loop) and one.variable in spans:
            span = spans[one.variable][1]
            return replace(one, start=span.low, stop=span.stop)
        return one

    found = shortened(statement)
    assert isinstance(found, Loop)
    return found
