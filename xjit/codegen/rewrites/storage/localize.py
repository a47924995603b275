"""Give every iteration of a loop scratch of its own, with what it touches alone."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import Touch, apart, known_inside, touches
from xjit.codegen.rewrites.analysis.directions import later
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, with_block
from xjit.codegen.rewrites.analysis.windows import window
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Alloc, Kernel, Loop, Scope
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import path_to, replaced


@dataclass(frozen=True, slots=True)
class Localize:
    """Allocate scratch in every iteration of a loop, where none touches elements of another.

    before      alloc t: f64[n] for each iteration
                for i in 0 .. n:
                  t[i] = (x[i] * x[i])
                  out[i] = t[i]
    after       for i in 0 .. n:                        Localize("t", "i")
                  alloc t: f64[1] for each iteration
                  t[0] = (x[i] * x[i])
                  out[i] = t[0]

    Threads may then run the iterations.
    """

    buffer: str
    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses scratch that several iterations, or others than this loop, touch."""
        path, loop = found(kernel, self.loop)
        home = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        alloc = home[-1] if home else None
        if not isinstance(alloc, Alloc):
            raise RefusedError(f"{self.buffer} is no scratch of the kernel")
        block = block_of(kernel, home)
        if alloc.scope is not Scope.ITERATION or not any(one is loop for one in block):
            # Rounds of a loop between the two may hand elements on.
            raise RefusedError(f"{self.buffer} is not allocated for one run of the loop over {self.loop}")
        see_that_it_is_loaded_and_stored(self.buffer, block)
        inside = [touch for touch in touches(loop.body) if touch.buffer == self.buffer]
        outside = [touch for touch in touches(block) if touch.buffer == self.buffer]
        if not inside or len(inside) != len(outside):
            raise RefusedError(f"{self.buffer} is not touched in the loop over {self.loop} alone")
        known = known_before(kernel, path)
        self._see_that_iterations_are_apart(known, loop, inside)
        own = window(self.buffer, alloc.buffer, inside, known_inside(known, loop, {}))
        local = replace(loop, body=(own.alloc, *own.instead(loop.body)))
        rest = tuple(one for one in block if one is not alloc)
        return with_block(kernel, block, replaced(rest, loop, (local,)))

    def _see_that_iterations_are_apart(self, known: Ranges, loop: Loop, touched: list[Touch]) -> None:
        every = [replace(touch, around=(loop, *touch.around)) for touch in touched]
        for one in every:
            for other in every:
                if (one.written or other.written) and not apart(known, one, other, [later(loop)]):
                    place = ", ".join(map(str, one.index))
                    raise RefusedError(f"two iterations over {self.loop} may touch {self.buffer}[{place}]")
