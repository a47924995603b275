"""Loops over functions that have rare, expensive arguments (huge angles): a strip at a time, so that the usual strip
stays vector code. A strip runs as if nothing in it were rare, notes when something was, and is then run again.

    for p0 in range(0, n0, 512):
        q0 = min(p0 + 512, n0)
        rare0 = b1(0)
        sum0_kept = sum0
        for i0 in range(p0, q0):
            rare0 = rare0 | sin_f64_is_far(x)
            sum0 = radd(sum0, sin_f64_near(x))
        if rare0:
            sum0 = sum0_kept
            for i0 in range(p0, q0):
                sum0 = radd(sum0, sin_f64_rare(x))

A strip that reads what it has overwritten cannot run twice: there the function itself is called. What the second loop
calls more than once is not inlined there: hardly ever run, it is to be compiled soon.

A loop over many functions calls them all, a register of elements at a time, and is written once: the functions
themselves look for rare arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xjit.codegen.lowering.elements import Elements
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.lowering.scopes import Nest
from xjit.codegen.lowering.variants import calls_many, calls_varied
from xjit.codegen.rewrites.values.specialize_rare import SpecializeRare
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass
from xjit.fusion.statements import IndexedValue
from xjit.ir.index_map import axes_of
from xjit.ir.loops.nodes import LoopKind


@dataclass(eq=False)
class Strips:
    """Writes innermost loops."""

    nest: Nest
    elements: Elements

    def loop(
        self,
        loop: Loop,
        bounds: Bounds,
        indexed_values: Iterable[IndexedValue],
        body: Callable[[], None],
        *,
        kind: LoopKind = LoopKind.SERIAL,
        short: bool = False,
    ) -> None:
        """One loop around what ``body`` writes; ``indexed_values`` are the values in it.

        ``short`` says that the bounds are no further apart than a strip, or will be.
        """
        computed = dict.fromkeys(indexed_values)
        nodes = [one.node for one in computed if axes_of(one.index) & set(loop.axes)]
        self.elements.calls = calls_many(nodes, self.nest.machine)
        if self.elements.calls or not any(self.is_rare(one, loop) for one in computed):
            self._loop(loop, bounds, body, kind)
        elif short:
            self._strip(loop, bounds, body, kind)
        else:
            size = self.nest.machine.strip_elements
            self._strip(loop, self.nest.open_blocks(size, bounds[1], ("p", "q")), body)
            self.nest.close(*bounds, kind, step=size)
        self.elements.calls = False

    def is_rare(self, indexed: IndexedValue, loop: Loop) -> bool:
        """Whether the value calls a function with rare arguments at every step of the loop."""
        return bool(axes_of(indexed.index) & set(loop.axes)) and calls_varied(indexed.node)

    def _strip(self, loop: Loop, bounds: Bounds, body: Callable[[], None], kind: LoopKind = LoopKind.SERIAL) -> None:
        self._loop(loop, bounds, body, kind)
        self.nest.rewrite(lambda name: SpecializeRare(name, self.nest.fresh("rare")))

    def _loop(self, loop: Loop, bounds: Bounds, body: Callable[[], None], kind: LoopKind = LoopKind.SERIAL) -> None:
        self.nest.open(loop.variable, loop.axes)
        body()
        self.nest.close(*bounds, kind)
