"""Loops of unknown length in the turns of a loop: a call of the kernel may end in the middle of a turn.

    while more:                    while more and turn < hi:
      n = a[i]                       if at < 1: n = a[i]
      while n != 1: n = f(n)         while n != 1 and turn < hi: n = f(n); turn = turn + 1
      r[i] = n                       if n != 1: at = 1
                                     else: r[i] = n; at = 0; turn = turn + 1

``at`` says in which of its loops the turn was left. The next call goes on there: what is before the loop is done.
What the parts of a turn hand on in registers waits in memory between two calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xjit.codegen.lowering.control.places import Places, own_node
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.dataclass import dataclass, field
from xjit.fusion.plan import LoopKernelStep
from xjit.ir.loops.build import both, less, number, plus, position
from xjit.ir.loops.nodes import LAUNCHED, Block, Fold, If, Statement, Store, Var, While
from xjit.ir.loops.walk import loads
from xjit.ir.node import Node
from xjit.types import INT64


@dataclass(eq=False)
class Pauses:
    """The turns that a call still has, counted in ``turn``, and the ``steps`` that are loops in which it may end.

    ``at`` is the number of the loop in which the last call ended, from 1 on.
    """

    places: Places
    turn: str
    steps: Sequence[LoopKernelStep]
    at: Node = field(default_factory=lambda: own_node(INT64))
    loops: list[tuple[While, Node]] = field(default_factory=list)

    def begin(self) -> Iterator[Store]:
        """No turn was left yet."""
        if self.steps:
            self.places.see_outside(self.at)
            yield self.places.stored(self.at, number(0))

    def repeated(self, more: Node, body: Block, *, pausing: bool = True) -> While:
        """The turns of a loop that a call still has."""
        counted = Fold((self.turn,), (plus(Var(self.turn, INT64), number(1)),))
        allowed = less(Var(self.turn, INT64), position(LAUNCHED[1]))
        turns = While(both(self.places.loaded(more), allowed), (*body, counted))
        if pausing:
            self.loops.append((turns, more))
        return turns

    def left(self, body: Block) -> Block:
        """A turn that may be left in its loops."""
        *parts, rest = self._parts(body)
        if not parts:
            return body
        after: Block = (*rest, self.places.stored(self.at, number(0)))
        for place, (part, (loop, more)) in reversed(list(enumerate(zip(parts, self.loops, strict=True), 1))):
            new = If(less(self.places.loaded(self.at), number(place)), part, ())
            stop = self.places.stored(self.at, number(place))
            after = (*((new,) if part else ()), loop, If(self.places.loaded(more), (stop,), after))
        return after

    def kept(self, body: Block, known: Collection[Node]) -> list[tuple[Node, Node]]:
        """The registers that parts of a turn hand on, each with memory in which it waits; others are ``known``."""
        homes = {name: self.places.home(node)[0] for (node, _, _), name in self.places.pointers.names.items()}
        users: dict[Node, set[int]] = {}
        pieces = [*self._parts(body), *((loop,) for loop, _ in self.loops)]
        for place, part in enumerate(pieces if self.loops else []):
            for name in sorted(written(part) | {load.buffer for load in loads(part)}):
                users.setdefault(homes.get(name, self.at), set()).add(place)
        shared = [node for node, places in users.items() if len(places) > 1 and self.places.is_register(node)]
        own = [node for node in dict.fromkeys((*shared, *(more for _, more in self.loops))) if node not in known]
        pairs = [(node, own_node(node.aval.dtype)) for node in own]
        self.places.see_outside(*(memory for _, memory in pairs))
        return pairs

    def _parts(self, body: Block) -> list[Block]:
        """The statements before, between and behind the loops."""
        loops = {id(loop) for loop, _ in self.loops}
        parts: list[list[Statement]] = [[]]
        for one in body:
            if id(one) in loops:
                parts.append([])
            else:
                parts[-1].append(one)
        return list(map(tuple, parts))
