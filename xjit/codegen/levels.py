"""The passes over a row: after which of them each unit is done, and what the next one may expect to be there."""

from __future__ import annotations

from xjit.codegen.accesses import RegionAccesses
from xjit.codegen.schedule import Schedule
from xjit.fusion.plan import Pull, Region
from xjit.fusion.reads import sources
from xjit.fusion.units import owner
from xjit.ir.index import lookups_of, relabel
from xjit.ir.node import Node


def is_row(region: Region, plan: Schedule, number: int) -> bool:
    """Whether a unit stores one element per row."""
    unit, axes = region.units[number], region.axes[number]
    if unit.is_reduction or unit.is_scan:
        return False
    touched = {axes[axis] for axis in range(len(unit.dims)) if unit.dims[axis] != 1}
    return not touched & {axis for loop in plan.reduced for axis in loop.axes}


def levels_of(accesses: RegionAccesses, plan: Schedule) -> list[int]:
    """The pass after which, or in which, each unit is done.

    What a reduction gives is there after its pass, what a scan gives already within.
    """
    region, levels = accesses.region, list[int]()
    row: dict[Node, int] = {}
    full: dict[Node, int] = {}
    for number, unit in enumerate(region.units):
        made = [owner(pull.node) for pull in accesses.found[number].reads]
        if is_row(region, plan, number):
            own = max((row.get(node, 0) for node in made), default=0)
        else:
            own = max((full.get(node, 1) for node in made), default=1)
        levels.append(own)
        if unit.is_reduction or unit.is_scan:
            row[unit.target] = own
            full[unit.target] = own if unit.is_scan else own + 1
    return levels


def stores_once(region: Region, plan: Schedule, levels: list[int]) -> bool:
    """Whether no pass but the first stores whole rows."""
    later = (n for n, level in enumerate(levels) if level > 1)
    return all(region.units[n].is_reduction or is_row(region, plan, n) for n in later)


def read_ahead(accesses: RegionAccesses, plan: Schedule, levels: list[int], level: int) -> list[Pull]:
    """What the pass of a level reads that was computed from earlier results, the same for a whole row or column.

    In a deviation ``x - s / n`` from a mean, where ``s`` is a sum of the pass before, this is the quotient.
    """
    region, found = accesses.region, dict[Pull, None]()
    made = {unit.target for unit in region.units if unit.is_reduction}
    for number, unit in enumerate(region.units):
        if levels[number] != level or is_row(region, plan, number):
            continue
        ready: set[Pull] = set()

        def is_ready(pull: Pull, ready: set[Pull] = ready) -> bool:
            return (owner(pull.node) in made or pull in ready) and _is_still(pull, region)

        for pull in accesses.walks[number]:
            used = [source for source in sources(pull, region.dims, region.nested) if is_ready(source)]
            if used and _is_still(pull, region):
                ready.add(pull)
            else:
                found.update(dict.fromkeys(used))
        values = (Pull(pull.node, relabel(pull.index, region.axes[number])) for pull in unit.values)
        found.update(dict.fromkeys(filter(is_ready, values)))
    return list(found)


def read_later(accesses: RegionAccesses, plan: Schedule, levels: list[int], level: int) -> list[Pull]:
    """The results of a level that are read as they are, by later passes than the next and by what stores rows."""
    region, found = accesses.region, dict[Pull, None]()
    made = {unit.target for number, unit in enumerate(region.units) if unit.is_reduction and levels[number] == level}
    for number in range(len(region.units)):
        if levels[number] <= level + (not is_row(region, plan, number)):
            continue
        for pull in accesses.found[number].reads:
            if owner(pull.node) in made:
                found[Pull(pull.node, relabel(pull.index, region.axes[number]))] = None
    return list(found)


def _is_still(pull: Pull, region: Region) -> bool:
    """Whether a value does not change along the reduced axes, but from chunk to chunk."""
    numbers = region.chunk_numbers
    by_number = all(Pull(one.source, one.axes) in numbers for one in lookups_of(pull.index))
    return by_number and all(map.axis is None or map.axis in region.kept for map in pull.index)
