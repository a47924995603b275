"""Groups that a statement may share a kernel with although it reads nothing of theirs, found without asking all
groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from xjit.dataclass import dataclass, field
from xjit.fusion.statements import Reduce, Statement, Store
from xjit.ir.node import Node
from xjit.machine import Machine

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

    machine: Machine
    readers: dict[tuple[Domain, Node], dict[Group, None]] = field(default_factory=dict)
    reducing: dict[Domain, dict[Group, None]] = field(default_factory=dict)
    makers: dict[Node, dict[Group, None]] = field(default_factory=dict)

    def add(self, group: Group, statement: Statement, reads: Iterable[Node]) -> None:
        """Note that a statement is part of a group."""
        domain = group.dims, group.rank
        for node in reads:
            self.readers.setdefault((domain, node), {})[group] = None
        if isinstance(statement, Reduce):
            self.reducing.setdefault(domain, {})[group] = None
        self.makers.setdefault(statement.target, {})[group] = None

    def of(self, statement: Statement, reads: Iterable[Node]) -> Iterator[Group]:
        """Yield the groups that a statement may join, some of them more than once, in no order."""
        domain = statement.dims, statement.rank
        for node in reads:
            yield from self.readers.get((domain, node), ())
        if isinstance(statement, Reduce) and math.prod(statement.dims) <= self.machine.small_reduction:
            yield from self.reducing.get(domain, ())
        if isinstance(statement, Store) and statement.domain.origin:
            makers = (group for group in self.makers.get(statement.target, ()) if (group.dims, group.rank) == domain)
            yield from (group for group in makers if _are_neighbours(group, statement))


def _are_neighbours(group: Group, statement: Store) -> bool:
    """Whether the statement makes elements beside those of the group: single positions along the fastest axis."""
    stores = (other for other in group.statements if isinstance(other, Store) and other.domain.origin)
    others = (other.output for other in stores if other.target is statement.target)
    return any(
        abs(statement.output.start - other.start) * statement.target.aval.dtype.itemsize < group.machine.vector_bytes
        and statement.output.strides == other.strides
        for other in others
    )
