"""Keep scratch where a result will be."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.surroundings import block_of, place_in, with_block, written
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, Let, LetInt, Loop, Statement, Store
from xjit.ir.loops.walk import buffers, loads, names, path_to, stores


@dataclass(frozen=True, slots=True)
class StageInOutput:
    """Keep scratch in the row of a result that is written last, element by element.

    before      for i in 0 .. n:
                  alloc e: f64[m] for each iteration
                  carry s: f64 = 0.0
                  for j in 0 .. m:
                    e[j] = exp(x[i, j])
                    s = add(s, e[j])
                  for k in 0 .. m:
                    out[i, k] = (e[k] / s)
    after       for i in 0 .. n:                        StageInOutput("e", "out")
                  carry s: f64 = 0.0
                  for j in 0 .. m:
                    out[i, j] = exp(x[i, j])
                    s = add(s, out[i, j])
                  for k in 0 .. m:
                    out[i, k] = (out[i, k] / s)
    """

    buffer: str
    output: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the result is not written last, whole, and each element from its own."""
        path = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        if not path:
            raise RefusedError(f"{self.buffer} is no scratch of the kernel")
        alloc, block = path[-1], block_of(kernel, path)
        assert isinstance(alloc, Alloc)
        output = buffers(kernel).get(self.output)
        if output is None or output.dtype != alloc.buffer.dtype:
            raise RefusedError(f"{self.output} is no buffer of the element type of {self.buffer}")
        see_that_it_is_loaded_and_stored(self.buffer, block)
        see_that_it_is_loaded_and_stored(self.output, block)
        store = self._last_store(block, alloc.buffer)
        place = store.index[: len(store.index) - len(alloc.buffer.extents)]
        given = names(block)
        if any(expr.names() & given for expr in place):
            raise RefusedError(f"the row of {self.output} changes while {self.buffer} is used")
        kept = tuple(one for one in block if one is not alloc)
        staged = reindexed(kept, self.buffer, lambda index: (*place, *index), self.output)
        return with_block(kernel, block, staged)

    def _last_store(self, block: Block, scratch: Buffer) -> Store:
        """The store of the result, after which nobody needs the scratch."""
        if any(load.buffer == self.output for load in loads(block)):
            raise RefusedError(f"{self.output} is read")
        users = [one for one in block if self._uses(one)]
        makers = [one for one in block if self.output in written((one,))]
        if len(makers) != 1 or users[-1:] != makers:
            raise RefusedError(f"{self.output} is not written by the last statement that needs {self.buffer}")
        nest: list[Loop] = []
        body: Block = (users[-1],)
        while len(body) == 1 and isinstance(body[0], Loop):
            nest.append(body[0])
            body = body[0].body
        found = [one for one in stores(body) if one.buffer == self.output]
        if len(found) != 1 or not all(isinstance(one, Let | LetInt | Store) for one in body):
            raise RefusedError(f"{self.output} is not written by one store in a nest of loops")
        self._see_that_it_covers(found[0], scratch, nest)
        self._see_that_elements_are_own(body, found[0], len(scratch.extents))
        return found[0]

    def _uses(self, one: Statement) -> bool:
        return self.buffer in written((one,)) or any(load.buffer == self.buffer for load in loads((one,)))

    def _see_that_it_covers(self, store: Store, scratch: Buffer, nest: Sequence[Loop]) -> None:
        """Refuses where a store does not write each element of the scratch's place once."""
        axes = store.index[-len(scratch.extents) :]
        ranges: dict[IntExpr, tuple[object, ...]] = {
            variable(one.variable): (one.start.value, one.stop, one.step) for one in nest
        }
        expected = [(0, extent, 1) for extent in scratch.extents]
        if [ranges.get(at) for at in axes] != expected or len(nest) != len(axes):
            raise RefusedError(f"{self.output} is not written whole, each element once")

    def _see_that_elements_are_own(self, body: Block, store: Store, rank: int) -> None:
        own = {load.index for load in loads(body) if load.buffer == self.buffer}
        behind = body[place_in(body, store) + 1 :]
        if own - {store.index[-rank:]} or self.buffer in written(body) or any(map(self._uses, behind)):
            raise RefusedError(f"an element of {self.output} is written before {self.buffer} is read there")
