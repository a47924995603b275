"""Groups whose statements lie along the same rows: what is made at different rows gets a nest of its own.

    o[0, j] = x[0, j] for all j             o[0, j] = x[0, j] for all j
    o[n, j] = x[n, j] for all j      ->
    in one loop over j                      o[n, j] = x[n, j] for all j, in a loop of its own

The borders of an array share a loop, as they have one size. Where turns of a loop are done for one tile of rows after
the other, those of the first and of the last row have different times.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup, KernelStep, Step
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import Slices


def by_rows(steps: Iterable[Step], slices: Slices, layouts: Layouts) -> Iterator[Step]:
    """Yield the steps with kernels of such groups."""
    for step in steps:
        if isinstance(step, KernelStep) and step.tiling is None:
            groups = (part for group in step.groups for part in _of_one_row(group, slices, layouts))
            yield dataclasses.replace(step, groups=tuple(groups))
        else:
            yield step


def _of_one_row(group: FusionGroup, slices: Slices, layouts: Layouts) -> Iterator[FusionGroup]:
    """The parts of a group that begin at one row each; all of it where its statements read each other."""
    made = {statement.target for statement in group.statements}
    reads = {owner(one.node) for statement in group.statements for one in slices.of(statement).reads}
    apart: dict[int, list[int]] = {}
    for number, statement in enumerate(group.statements):
        strides = layouts.strides(statement.target)
        slowest = max(range(len(strides)), key=strides.__getitem__, default=-1)
        begin = statement.domain.begin
        apart.setdefault(begin[slowest] if 0 <= slowest < len(begin) else 0, []).append(number)
    if len(apart) == 1 or made & reads:
        yield group
        return
    for numbers in apart.values():
        statements, axes = tuple(group.statements[n] for n in numbers), tuple(group.axes[n] for n in numbers)
        yield dataclasses.replace(group, statements=statements, axes=axes)
