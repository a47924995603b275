"""Load elements that lie apart out of whole vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from xjit.codegen.cpu.step_loads import TYPES
from xjit.codegen.language.scalar_types import STEPS
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.text.scalar_text import kind
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, substitute
from xjit.ir.loops.nodes import Access, Kernel, Load, Loop, Store, Value
from xjit.ir.loops.walk import Change, loads, names

Strides = Sequence[IntExpr]


@dataclass(frozen=True, slots=True)
class LoadApart:
    """Load elements that lie a short step apart, and of which no others are read, out of whole vectors.

    before      for j in 0 .. n:
                  t = add(t, x[2*j]) in lanes along j
    after       for j in 0 .. n:                        LoadApart("j", 32)
                  t = add(t, x[2*j] by 2) in lanes along j

    Loops that add lane by lane have to be vector code to their last element. A step has at most so many ``bytes``.
    """

    loop: str
    bytes: int

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops without such loads."""
        _, loop = found(kernel, self.loop)
        given = {one.buffer.name: one.buffer.strides for one in kernel.arguments if one.access is Access.READ}
        steps = skipped(loop, given, self.bytes)
        if not steps:
            raise RefusedError(f"the loop over {self.loop} reads nothing a short step apart")

        def apart(value: Value) -> Value:
            return replace(value, apart=steps.get(value, 0)) if isinstance(value, Load) else value

        body = Change(value=apart).block(loop.body)
        return with_statements(kernel, loop, (replace(loop, body=body),))


def skipped(loop: Loop, given: Mapping[str, Strides], most: int) -> dict[Load, int]:
    """The loads in a loop from ``given`` buffers that skip elements which nothing reads, with their steps of at
    most so many bytes.
    """
    inside, found = names(loop.body), dict[Load, int]()
    several = dict.fromkeys(loads(loop.body))
    for load in several:
        step = step_along(load, loop.variable, given)
        apart = step.value if step is not None else None
        if step is None or apart is None or apart not in STEPS or apart * load.dtype.itemsize > most:
            continue
        if kind(load.dtype) not in TYPES:
            continue
        if not (
            any(at.names() & inside for at in load.index) or has_neighbours(load, step, several, loop.variable, given)
        ):
            found[load] = apart
    return found


def step_along(load: Load | Store, loop: str, given: Mapping[str, Strides]) -> IntExpr | None:
    """The distance in elements from one step of a loop to the next; None in other buffers."""
    if load.buffer not in given:
        return None
    return _place(load, given, loop, 1) - _place(load, given, loop, 0)


def has_neighbours(
    load: Load | Store, step: IntExpr, several: Iterable[Load | Store], loop: str, given: Mapping[str, Strides]
) -> bool:
    """Return whether the elements between are read as well, so that whole vectors are."""
    if step.value is None:
        return False
    own = _place(load, given, loop, 0)
    near = {
        (_place(other, given, loop, 0) - own).value
        for other in several
        if other.buffer == load.buffer and step_along(other, loop, given) == step
    }
    return len([one for one in near if one is not None and abs(one) < abs(step.value)]) >= abs(step.value)


def _place(load: Load | Store, given: Mapping[str, Strides], loop: str, at: int) -> IntExpr:
    """The element that a load reads at one step of a loop."""
    place = constant(0)
    for axis, stride in zip(load.index, given[load.buffer], strict=False):
        place = place + substitute(axis, {loop: constant(at)}) * stride
    return place
