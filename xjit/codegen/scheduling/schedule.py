"""Loop order: which axes become loops, which fall together, which one threads share.

Decided from the distances in memory that every access moves along every axis; the extents themselves stay run-time
values, so one kernel serves all shapes of its class.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from xjit.codegen.language.scalar_types import KINDS
from xjit.dataclass import dataclass, field
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import Scan
from xjit.machine import Machine
from xjit.numerics import SumOrder


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop over adjacent domain axes that fall together (slowest first)."""

    variable: str
    axes: tuple[int, ...]
    extent: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """``kept`` loops enclose ``reduced`` ones; ``shared`` is the kept loop whose range threads split.

    ``columns``: the last kept loop runs innermost in blocks with an accumulator per element, because the reduced axes
    are not the fast ones. ``chunked``: the reduced loop that is cut into chunks with a result each, of which the axis
    that is cut is the slowest.
    ``nested`` are the loops of reductions inside of other loops, one for each of their axes. The ``short`` one of the
    kept loops is to be written out, so that its extent is a number of the text. ``single`` are loops around all
    others of axes of one element, of which tiles may need none. ``rows`` are loops, by their variables, each over
    rows that lie behind each other in memory wherever they are, with the loop over one of them. The extents of
    ``counted`` ones, the innermost first, are numbers of the text as well.
    """

    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    shared: int | None
    columns: bool
    chunked: int | None
    nested: tuple[Loop, ...] = ()
    short: Loop | None = None
    single: tuple[Loop, ...] = ()
    rows: Mapping[str, str] = field(default_factory=dict)
    counted: tuple[Loop, ...] = ()

    def with_counted(self, most: int) -> Schedule:
        """The same loops, the innermost reduced ones with extents in the text: so many steps in all at most."""
        found: list[Loop] = []
        for loop in reversed(self.reduced):
            most //= loop.extent
            if not most:
                break
            found.append(loop)
        return replace(self, counted=tuple(found))

    def with_short(self, short: Loop, machine: Machine) -> Schedule:
        """The same loops of which one is written out, so that threads share another one."""
        others = tuple(loop for loop in self.kept if loop is not short)
        shared = _shared(others, machine)
        number = None if shared is None else self.kept.index(others[shared])
        return replace(self, short=short, shared=number)

    @property
    def inner(self) -> tuple[Loop, ...]:
        """The kept loops as they are when the short one is written out."""
        return tuple(loop for loop in self.kept if loop is not self.short)

    def with_limits(self, axes: Collection[int]) -> Schedule:
        """The same loops; threads share none that ends where only the run says."""
        ends = self.shared is not None and not set(self.kept[self.shared].axes).isdisjoint(axes)
        return replace(self, shared=None) if ends else self

    def loop_of(self, axis: int) -> Loop | None:
        """The loop that an axis belongs to; None for axes of one element."""
        return next((loop for loop in (*self.kept, *self.reduced, *self.nested) if axis in loop.axes), None)


def schedule(
    group: FusionGroup,
    moves: Sequence[tuple[int, ...]],
    fixed: frozenset[int],
    exact: bool,
    primary: tuple[int, ...],
    machine: Machine,
    apart: frozenset[int] = frozenset(),
    sums: SumOrder | None = None,
) -> Schedule:
    """The loops of a group.

    ``moves`` are the distances per axis of all accesses, ``fixed`` the axes whose position itself is a value,
    ``exact`` says that reduced axes must be walked in row-major order, ``primary`` are the distances that decide
    the order; the axes ``apart`` have loops of their own, also those of one element. ``sums`` is the order of sums
    that round, whatever the distances are.
    """
    dims = group.dims
    kept, reduced = _sorted_axes(group, exact, primary, sums)
    first = frozenset(group.chunk[:1] if group.chunk is not None else ())
    first |= frozenset(sums.line[:1] if sums is not None else ())
    kept_loops = _collapse(kept, dims, moves, fixed | apart, first, "i")
    reduced_loops = _collapse(reduced, dims, moves, fixed, first, "j")
    columns = not exact and _is_column_wise(kept, reduced, primary, sums)
    chunked = None
    if group.chunk is not None:
        chunked = next(n for n, loop in enumerate(reduced_loops) if group.chunk[0] in loop.axes)
    shared = _shared(kept_loops, machine) if chunked is None else None
    within = tuple(Loop(f"d{axis}", (axis,), dims[axis]) for axis in range(group.rank, len(dims)) if dims[axis] != 1)
    ones = tuple(Loop(f"once{axis}", (axis,), 1) for axis in sorted(apart) if dims[axis] == 1)
    rows = {
        outer.variable: inner.variable
        for outer, inner in itertools.pairwise(kept_loops)
        if outer.axes[0] in apart
        and _join(outer.axes[-1], inner.axes[0], dims, moves, fixed | first | apart.intersection(inner.axes))
    }
    return Schedule(kept_loops, reduced_loops, shared, columns, chunked, within, None, ones, rows)


def backward_axes(
    group: FusionGroup,
    moves: Sequence[tuple[int, ...]],
    fixed: frozenset[int],
    exact: bool,
    primary: tuple[int, ...],
    sums: SumOrder | None,
) -> frozenset[int]:
    """The axes that every access walks backward, and which may be walked forward instead; operands as in `schedule`.

    The order within reduced axes stays where it is seen: in exact folds, in sums that round, in scans.
    """
    kept, reduced = _sorted_axes(group, exact, primary, sums)
    ordered = exact or sums is not None or any(isinstance(statement, Scan) for statement in group.statements)
    free = set(kept if ordered else (*kept, *reduced)) - fixed - set(group.chunk[:1] if group.chunk else ())
    return frozenset(
        axis for axis in free if all(one[axis] <= 0 for one in moves) and any(one[axis] for one in moves)
    )


def _sorted_axes(
    group: FusionGroup, exact: bool, primary: tuple[int, ...], sums: SumOrder | None
) -> tuple[list[int], list[int]]:
    """Kept and reduced axes of more than one element, or of one that may not be there, each the slowest in memory
    first.
    """
    kept = [axis for axis in group.kept if group.dims[axis] != 1 or axis in group.limits]
    reduced = [axis for axis in group.reduced if group.dims[axis] != 1 or axis in group.limits]
    kept.sort(key=lambda axis: -abs(primary[axis]))
    if sums is not None and set(sums.axes) == set(reduced):
        return kept, list(sums.axes)
    if not exact:
        reduced.sort(key=lambda axis: -abs(primary[axis]))
    return kept, reduced


def _collapse(
    axes: list[int],
    dims: tuple[int, ...],
    moves: Sequence[tuple[int, ...]],
    fixed: frozenset[int],
    first: frozenset[int],
    letter: str,
) -> tuple[Loop, ...]:
    runs: list[list[int]] = []
    for axis in axes:
        if runs and axis not in first and _join(runs[-1][-1], axis, dims, moves, fixed):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    names = (f"{letter}{n}" for n in itertools.count() if f"{letter}{n}" not in KINDS)
    return tuple(
        Loop(name, tuple(run), math.prod(dims[axis] for axis in run)) for run, name in zip(runs, names, strict=False)
    )


def _join(
    outer: int, inner: int, dims: tuple[int, ...], moves: Sequence[tuple[int, ...]], fixed: frozenset[int]
) -> bool:
    """Return whether two axes that lie behind each other in memory wherever they are may be one loop."""
    return fixed.isdisjoint((outer, inner)) and all(one[outer] == one[inner] * dims[inner] for one in moves)


def _is_column_wise(kept: list[int], reduced: list[int], primary: tuple[int, ...], sums: SumOrder | None) -> bool:
    if not kept or not reduced:
        return False
    if sums is not None:
        return not sums.along_rows
    fastest, column = abs(primary[reduced[-1]]), abs(primary[kept[-1]])
    return 0 < column < fastest


def _shared(loops: tuple[Loop, ...], machine: Machine) -> int | None:
    if not loops:
        return None
    for number, loop in enumerate(loops):
        if loop.extent >= machine.shared_extent:
            return number
    return max(range(len(loops)), key=lambda number: loops[number].extent)
