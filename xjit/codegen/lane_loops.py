"""The loops over one block of elements that are added lane by lane: whole groups of lanes, fewer lanes, the rest.

    w0 = b0 + ((e0 - b0) & -32)
    for j0 in range(b0, w0):
        t0 = radd(t0, x)
    w1 = w0 + ((e0 - w0) & -8)
    for j0 in range(w0, w1):
        u0 = radd8(u0, x)
    t0 = t0 + u0
    for j0 in range(w1, e0):
        t0 = t0 + x

What takes long to compute, and what LLVM does not compute as vectors of so many lanes, is computed once, in a loop of
its own, and waits in scratch:

    for j0 in range(b0, e0):
        st(m0, j0 - b0, exp_f32(x))
    for k0 in range(b0, w0):
        t0 = radd(t0, ldw(m0, k0 - b0))
    ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xjit import numerics
from xjit.codegen.reductions import Accumulator, Recognised
from xjit.codegen.scopes import Nest
from xjit.codegen.scratch import Scratch
from xjit.codegen.variants import is_vector_function
from xjit.fusion.cost import element_cost
from xjit.fusion.plan import Pull
from xjit.ir.expr import Expr, Prim
from xjit.ir.loops import Load, Multiple, Offset, Term
from xjit.types import NARROW_FLOATS

Bounds = tuple[str, str]
# What is written three times, in additions; beyond, a store and a load per element cost less.
LIGHT = 10.0


def in_lanes(folds: Iterable[Accumulator]) -> list[Recognised]:
    """Those accumulators that add lane by lane."""
    return [fold for fold in folds if isinstance(fold, Recognised) and fold.in_lanes]


def is_light(pulls: Sequence[Pull]) -> bool:
    """Whether values are cheap to compute and become vectors of any length."""
    if sum(element_cost(pull.node) for pull in pulls) > LIGHT:
        return False
    return all(pull.node.aval.dtype not in NARROW_FLOATS and not _calls(pull.node.element) for pull in pulls)


def _calls(expr: Expr | None) -> bool:
    """Whether an expression calls a function."""
    stack = [] if expr is None else [expr]
    while stack:
        top = stack.pop()
        if isinstance(top, Prim):
            if top.name == "fmod" or (top.args and is_vector_function(top.name, top.args[0].dtype)):
                return True
            stack.extend(top.args)
    return False


@dataclass(eq=False)
class LaneLoops:
    """Writes the loops over a block. ``scratch`` is where values may wait."""

    nest: Nest
    scratch: Scratch

    def write(
        self, folds: Sequence[Recognised], bounds: Bounds, loop: Callable[[Bounds], None], variable: str, light: bool
    ) -> None:
        """All loops; ``loop`` writes one between bounds, in which every accumulator takes the element at hand."""
        if light:
            self._grouped(folds, bounds, loop)
            return
        self.fill(folds, Offset(_terms(variable, bounds[0])))
        loop(bounds)
        self.add_up(folds, bounds)

    def fill(self, folds: Sequence[Recognised], offset: Offset) -> None:
        """Lets accumulators put what they take into scratch, at an offset."""
        for fold in folds:
            name = self.scratch.take(str(numerics.BLOCK), fold.dtype)
            fold.strip = Load(name, offset, fold.dtype, True)

    def add_up(self, folds: Sequence[Recognised], bounds: Bounds) -> None:
        """Adds up what lies in scratch for the elements between bounds."""
        waiting = [(fold, fold.strip) for fold in folds if fold.strip is not None]
        for fold in folds:
            fold.strip = None

        def loop(part: Bounds) -> None:
            variable = self.nest.fresh("k")
            inner = self.nest.open(variable)
            for fold, strip in waiting:
                fold.add(Load(strip.buffer, Offset(_terms(variable, bounds[0])), strip.dtype, True), inner)
            self.nest.close(*part)

        self._grouped(folds, bounds, loop)

    def _grouped(self, folds: Sequence[Recognised], bounds: Bounds, loop: Callable[[Bounds], None]) -> None:
        start, stop = bounds
        for lanes in (numerics.LANES, numerics.FEW_LANES):
            end = self._whole(start, stop, lanes)
            for fold in folds:
                fold.lanes = lanes
            if start != end:
                loop((start, end))
            start = end
        for fold in folds:
            fold.join(self.nest.inner)
        if start != stop:
            loop((start, stop))

    def _whole(self, start: str, stop: str, lanes: int) -> str:
        """Where whole groups of lanes end: a name, or a number where both bounds are numbers."""
        if start.isdigit() and stop.isdigit():
            return str(int(start) + (int(stop) - int(start)) // lanes * lanes)
        end = self.nest.fresh("w")
        self.nest.inner.statements.append(Multiple(end, start, stop, lanes))
        return end


def _terms(variable: str, start: str) -> tuple[Term, ...]:
    """The distance of a position from the start of its block."""
    return (Term(variable, 1),) if start == "0" else (Term(variable, 1), Term(start, -1))
