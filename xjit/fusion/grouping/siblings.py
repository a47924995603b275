"""Groups that a statement may share a kernel with although it reads nothing of theirs, found without asking all
groups.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from xjit.dataclass import dataclass, field
from xjit.fusion.grouping.open_groups import OpenGroup
from xjit.fusion.statements import Check, Reduce, Statement, Store
from xjit.ir.node import Node
from xjit.machine import Machine

Domain: TypeAlias = "tuple[tuple[int, ...], int]"
Groups: TypeAlias = "dict[OpenGroup, None]"


@dataclass(eq=False)
class Siblings:
    """The groups of kernels by what may make them share one: the same domain, and

    * the same arrays read,
    * reductions so small that one kernel less counts more than anything, or
    * elements side by side in the same array.

    Of many the last ones are looked at: a thousand sweeps of a solver may read one array of coefficients.
    """

    machine: Machine
    readers: dict[Node, Groups] = field(default_factory=dict)
    alike: dict[tuple[Domain, Node], Groups] = field(default_factory=dict)
    reducing: dict[Domain, Groups] = field(default_factory=dict)
    makers: dict[tuple[Domain, Node], Groups] = field(default_factory=dict)

    def add(self, group: OpenGroup, statement: Statement, reads: Iterable[Node]) -> None:
        """Note that a statement is part of a group."""
        domain = group.dims, group.rank
        for node in reads:
            self.readers.setdefault(node, {})[group] = None
            self.alike.setdefault((domain, node), {})[group] = None
        if isinstance(statement, Reduce):
            self.reducing.setdefault(domain, {})[group] = None
        self.makers.setdefault((domain, statement.target), {})[group] = None

    def of(self, statement: Statement, reads: Iterable[Node]) -> Iterator[OpenGroup]:
        """Yield the groups that a statement may join, some of them more than once, in no order."""
        domain = statement.dims, statement.rank
        for node in reads:
            found = self.readers.get(node) if isinstance(statement, Check) else self.alike.get((domain, node))
            yield from self._last(found or {})
        if isinstance(statement, Reduce) and math.prod(statement.dims) <= self.machine.small_reduction:
            yield from self._last(self.reducing.get(domain, {}))
        if isinstance(statement, Store) and statement.domain.origin:
            makers = self._last(self.makers.get((domain, statement.target), {}))
            yield from (group for group in makers if _are_neighbours(group, statement, self.machine.vector_bytes))

    def _last(self, groups: Groups) -> Iterator[OpenGroup]:
        return itertools.islice(reversed(groups), self.machine.most_siblings)


def _are_neighbours(group: OpenGroup, statement: Store, vector_bytes: int) -> bool:
    """Return whether the statement makes elements beside those of the group: single positions along the fastest
    axis.
    """
    stores = (group.statements[number] for number in reversed(group.makers[statement.target]))
    near = itertools.islice(stores, vector_bytes)
    others = (other.output for other in near if isinstance(other, Store) and other.domain.origin)
    return any(
        abs(statement.output.start - other.start) * statement.target.aval.dtype.itemsize < vector_bytes
        and statement.output.strides == other.strides
        for other in others
    )
