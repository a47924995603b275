"""Move what stays the same in all iterations of a loop in front of it."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.scalars import changed, scalars_of
from xjit.codegen.rewrites.analysis.surroundings import known_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Buffer, Kernel, Let, LetInt, Load, Loop, Statement
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import buffers, integers, names, parts


@dataclass(frozen=True, slots=True)
class Hoist:
    """Move the names of values and of integers that no iteration of a loop changes in front of it.

    before      for j in 0 .. m:
                  last = n
                  v = sqrt(x[last])
                  out[j] = (y[j] * v)
    after       last = n                                Hoist("j")
                v = sqrt(x[last])
                for j in 0 .. m:
                  out[j] = (y[j] * v)

    An element is read there even if the loop has no iteration: only such move that are provably in their buffers.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where no name in the loop stays the same."""
        path, loop = found(kernel, self.loop)
        known = known_before(kernel, path)
        stays = _Staying(loop, buffers(kernel))
        moved: list[Statement] = []
        for one in loop.body:
            if stays.holds(one, known):
                moved.append(one)
                stays.own.discard(_name(one))
                known = known.named(one.name, one.expr) if isinstance(one, LetInt) else known
        if not moved:
            raise RefusedError(f"no name in the loop over {self.loop} stays the same in all iterations")
        rest = tuple(one for one in loop.body if not any(one is other for other in moved))
        return with_statements(kernel, loop, (*moved, replace(loop, body=rest)))


class _Staying:
    """The statements whose values a loop does not change; ``own`` are the names that it gives, without those that
    are moved.
    """

    def __init__(self, loop: Loop, known: dict[str, Buffer]) -> None:
        self.own = names((loop,))
        self.changed, self.written = changed(loop.body), written(loop.body)
        self.buffers = known

    def holds(self, one: Statement, known: Ranges) -> bool:
        """Return whether a statement names the same in every iteration, and may do so if there is none."""
        if not isinstance(one, Let | LetInt) or any(expr.names() & self.own for expr in integers(one)):
            return False
        if isinstance(one, LetInt):
            return True
        if scalars_of(one.value) & (self.own | self.changed):
            return False
        return all(self._is_there(part, known) for part in parts(one.value) if isinstance(part, Load))

    def _is_there(self, load: Load, known: Ranges) -> bool:
        """Return whether an element is inside of its buffer, which was there before the loop and is not written in
        it.
        """
        if load.buffer in self.written or load.buffer in self.own:
            return False
        extents = self.buffers[load.buffer].extents
        return all(
            known.at_most(at * 0, at) and known.below(at, extent)
            for at, extent in zip(load.index, extents, strict=True)
        )


def _name(one: Statement) -> str:
    assert isinstance(one, Let | LetInt)
    return one.name
