"""Keep scratch where a result will be."""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.rewrites.analysis.coverage import coverage, own_elements
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, place_in, with_block, written
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, substitute, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, Load, Statement, Store
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import blocks, buffers, loads, names, parts, path_to, statements, stores, values


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
        row = self._row(block, alloc.buffer, known_before(kernel, path))
        if any(expr.names() & names(block) - set(row.axes) for expr in row.index):
            raise RefusedError(f"the row of {self.output} changes while {self.buffer} is used")
        self._see_that_it_is_not_read(block, row)
        kept = tuple(one for one in block if one is not alloc)
        return with_block(kernel, block, reindexed(kept, self.buffer, row.at, self.output))

    def _row(self, block: Block, scratch: Buffer, known: Ranges) -> _Row:
        """The row of the result, which the last statement writes that needs the scratch."""
        users = [one for one in block if self._uses(one)]
        makers = [one for one in block if self.output in written((one,))]
        if len(makers) != 1 or users[-1:] != makers:
            raise RefusedError(f"{self.output} is not written by the last statement that needs {self.buffer}")
        found = [one for one in stores(tuple(makers)) if one.buffer == self.output]
        covered = coverage(tuple(makers), found, known)
        if covered is None:
            raise RefusedError(f"{self.output} is not written by one store in a nest of loops")
        if [*covered.bounds] != [(constant(0), extent) for extent in scratch.extents]:
            raise RefusedError(f"{self.output} is not written whole, each element once")
        rows = {_Row.of(store.index, index) for store, index in covered.places if isinstance(store, Store)}
        if len(rows) != 1 or not own_elements((row := rows.pop()).index, tuple(map(variable, row.axes))):
            raise RefusedError(f"{self.output} is not written whole, each element once")
        for store, index in covered.places:
            self._see_that_elements_are_own(makers[0], store, index)
        return row

    def _uses(self, one: Statement) -> bool:
        return self.buffer in written((one,)) or any(load.buffer == self.buffer for load in loads((one,)))

    def _see_that_elements_are_own(self, last: Statement, store: Statement, index: tuple[IntExpr, ...]) -> None:
        """Refuses where a store is not the last that needs its element of the scratch."""
        body = next(block for block in _blocks((last,)) if any(one is store for one in block))
        own = {load.index for load in loads(body) if load.buffer == self.buffer}
        behind = body[place_in(body, store) + 1 :]
        if own - {index} or self.buffer in written((last,)) or any(map(self._uses, behind)):
            raise RefusedError(f"an element of {self.output} is written before {self.buffer} is read there")
        outside = sum(load.buffer == self.buffer for load in loads((last,)))
        inside = sum(
            load.buffer == self.buffer
            for one in _blocks((last,))
            if any(isinstance(other, Store) and other.buffer == self.output for other in one)
            for load in loads(one)
        )
        if outside != inside:
            raise RefusedError(f"an element of {self.output} is written before {self.buffer} is read there")

    def _see_that_it_is_not_read(self, block: Block, row: _Row) -> None:
        """Refuses where an element of the result is read when the scratch may be there already."""
        filled = False
        for one in block:
            if not filled and self.buffer not in written((one,)):
                continue
            filled = True
            for body in _blocks((one,)):
                if not self._reads_first(body, row):
                    raise RefusedError(f"{self.output} is read")

    def _reads_first(self, body: Block, row: _Row) -> bool:
        """Return whether a block reads elements of the result only in front of a store that fills their place."""
        waiting: set[tuple[IntExpr, ...]] = set()
        for one in reversed(body):
            if isinstance(one, Store) and one.buffer == self.buffer:
                waiting.add(row.at(one.index))
            own = (part for value in values(one) for part in parts(value) if isinstance(part, Load))
            if any(load.buffer == self.output and load.index not in waiting for load in own):
                return False
        return True


@dataclass(frozen=True, slots=True)
class _Row:
    """Elements of a result, by the variables that count those of the scratch."""

    index: tuple[IntExpr, ...]
    axes: tuple[str, ...]

    @classmethod
    def of(cls, index: tuple[IntExpr, ...], variables: tuple[IntExpr, ...]) -> _Row:
        """The row that a store fills."""
        axes = {str(one): variable(f"axis {number}") for number, one in enumerate(variables)}
        return cls(tuple(substitute(expr, axes) for expr in index), tuple(map(str, axes.values())))

    def at(self, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
        """The element of the result in whose place one of the scratch is."""
        axes = dict(zip(self.axes, index, strict=True))
        return tuple(substitute(expr, axes) for expr in self.index)


def _blocks(block: Block) -> Iterator[Block]:
    """Yield a block and those inside of it."""
    yield block
    for one in statements(block):
        yield from blocks(one)
