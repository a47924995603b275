"""Groups that a unit may share a kernel with although it reads nothing of theirs, found without asking all groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.plan import Unit
from xjit.ir.node import Node

if TYPE_CHECKING:
    from xjit.fusion.groups import Group

Domain: TypeAlias = "tuple[tuple[int, ...], int]"


@dataclass(eq=False)
class Siblings:
    """The groups of kernels by what may make them share one: the same domain, and

    * the same arrays read,
    * reductions so small that one kernel less counts more than anything, or
    * elements side by side in the same array.
    """

    readers: dict[tuple[Domain, Node], dict[Group, None]] = field(default_factory=dict)
    reducing: dict[Domain, dict[Group, None]] = field(default_factory=dict)
    makers: dict[Node, dict[Group, None]] = field(default_factory=dict)

    def add(self, group: Group, unit: Unit, reads: Iterable[Node]) -> None:
        """Note that a unit is part of a group."""
        domain = group.dims, group.rank
        for node in reads:
            self.readers.setdefault((domain, node), {})[group] = None
        if unit.is_reduction:
            self.reducing.setdefault(domain, {})[group] = None
        self.makers.setdefault(unit.target, {})[group] = None

    def of(self, unit: Unit, reads: Iterable[Node]) -> Iterator[Group]:
        """Yield the groups that a unit may join, some of them more than once, in no order."""
        domain = unit.dims, unit.rank
        for node in reads:
            yield from self.readers.get((domain, node), ())
        if unit.is_reduction and math.prod(unit.dims) <= cost.SMALL_REDUCTION:
            yield from self.reducing.get(domain, ())
        if unit.origin:
            makers = (group for group in self.makers.get(unit.target, ()) if (group.dims, group.rank) == domain)
            yield from (group for group in makers if _are_neighbours(group, unit))


def _are_neighbours(group: Group, unit: Unit) -> bool:
    """Whether the unit makes elements beside those of the group: single positions along the fastest axis."""
    others = (other for other in group.units if other.target is unit.target and other.origin)
    return any(
        abs(unit.start - other.start) * unit.target.aval.dtype.itemsize < cost.VECTOR_BYTES
        and unit.steps == other.steps
        for other in others
    )
