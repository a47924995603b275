"""The least and the largest elements of parts of a line, found in front of a loop that goes along the line often."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from xjit.codegen.rewrites.analysis.bounds_of_choices import Bound, bounds_on_elements
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.intervals import most
from xjit.codegen.rewrites.analysis.scalars import identity
from xjit.codegen.rewrites.analysis.surroundings import integers_before, known_before
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, field, replace
from xjit.ir.loops.build import both
from xjit.ir.loops.intexpr import IntExpr, constant, substitute, variable
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Kernel,
    Load,
    Loop,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.walk import names


def constant_bounds(kernel: Kernel, turns: Loop, inside: Loop, loop: Loop) -> list[Bound]:
    """The bounds on elements of a loop that are the same in all of the loop ``inside``, on elements that are the same
    in all turns around that. Raises RefusedError where there are none.
    """
    read = {one.buffer.name for one in kernel.arguments if one.access is Access.READ}
    own = (names(turns.body) | {turns.variable}) - {loop.variable}
    found = []
    for one in bounds_on_elements(loop):
        places = {name for at in one.load.index for name in at.names()}
        if one.load.buffer in read and not places & own and not one.scalars & names(inside.body):
            found.append(one)
    if not found:
        raise RefusedError(f"no condition on elements is the same in all of the loop over {inside.variable}")
    if own & (inside.start.names() | inside.stop.names()):
        raise RefusedError(
            f"the loop over {inside.variable} has other bounds in each iteration over {turns.variable}"
        )
    return found


def with_room(kernel: Kernel, path: Sequence[Statement], loop: Loop, elements: int) -> Kernel:
    """The kernel in which a loop at the end of a path is known to go along so many elements at most.

    Where words decide, callers promise it. Raises RefusedError where anything else does.
    """
    if known_before(kernel, path).at_most(loop.stop, loop.start + elements):
        return kernel
    length = most(substitute(loop.stop - loop.start, integers_before(kernel, path)))
    if length is None or length.value is not None:
        raise RefusedError(f"the loop over {loop.variable} may have more than {elements} iterations")
    return replace(kernel, facts=(*kernel.facts, elements - length))


@dataclass(eq=False)
class ElementBounds:
    """The bounds of so many parts at most of what conditions are about, elements that ``variable`` goes along."""

    bounds: Sequence[Bound]
    variable: str
    parts: int
    taken: Names
    buffers: Mapping[Load, tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        loads = dict.fromkeys(one.load for one in self.bounds)
        self.buffers = {one: (self.taken.fresh("least"), self.taken.fresh("largest")) for one in loads}

    @property
    def allocs(self) -> Iterator[Alloc]:
        """The scratch."""
        for load, pair in self.buffers.items():
            for name in pair:
                yield Alloc(Buffer.packed(name, load.dtype, constant(self.parts)))

    def of_part(self, at: IntExpr, start: IntExpr, stop: IntExpr) -> Iterator[Statement]:
        """Yield what finds the bounds of one part."""
        for load, buffers in self.buffers.items():
            place = variable(self.taken.fresh("at"))
            element = Load(
                load.buffer, tuple(substitute(one, {self.variable: place}) for one in load.index), load.dtype
            )
            step, ends = list[Statement](), list[Statement]()
            for reducer, buffer in zip(("min", "max"), buffers, strict=True):
                name, start_of = self.taken.fresh(f"{buffer}_now"), identity(reducer, load.dtype)
                assert start_of is not None, "extremes have identities"
                yield Carry(name, start_of)
                step.append(Accumulate(name, reducer, element))
                ends.append(Store(buffer, (at,), Var(name, load.dtype)))
            yield Loop(str(place), start, stop, tuple(step))
            yield from ends

    def may_hold(self, at: IntExpr) -> Value:
        """The value that is true unless the bounds of a part say that a condition holds for none of its elements."""
        found = list[Value]()
        for one in self.bounds:
            least, largest = (Load(name, (at,), one.load.dtype) for name in self.buffers[one.load])
            found += one.may_hold(least, largest)
        return functools.reduce(both, found)
