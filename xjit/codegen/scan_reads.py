"""What the units of a region read of its scans: at which distance, and behind how many scans, one after the other.

In ``c[:, 20:] - c[:, :-20]`` of ``c = np.cumsum(x, axis=1)`` one unit is the scan, and the other reads it at the step
at hand and 20 steps before.
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.accesses import RegionAccesses
from xjit.dataclass import dataclass
from xjit.fusion import cost
from xjit.fusion.groups import made_at
from xjit.fusion.plan import Pull, Region
from xjit.fusion.reads import below
from xjit.fusion.units import owner
from xjit.ir.opdef import AxisMap


@dataclass(eq=False)
class ScanReads:
    """The scans of a region, and who reads them.

    ``reads`` are what each unit reads of scans, in the axes of the region. ``scanned`` gives the unit of what a scan
    makes along its axis. ``depth`` is how many scans follow on each other until a unit has what it needs: -1 if it
    needs none.
    """

    accesses: RegionAccesses

    def __post_init__(self) -> None:
        self._table = cost.CostTable(self.accesses.leaves)
        self._targets = frozenset(unit.target for unit in self.region.units if unit.is_scan)
        self.reads = [
            [pull for pull in one.reads if owner(pull.node) in self._targets] for one in self.accesses.found
        ]
        self.scanned = {self.row(self.made(n)): n for n, unit in enumerate(self.region.units) if unit.is_scan}
        self.depth = self._depths()

    @property
    def region(self) -> Region:
        """The region whose scans these are."""
        return self.accesses.region

    def _depths(self) -> list[int]:
        depth: list[int] = []
        for number, unit in enumerate(self.region.units):
            before = max((depth[self.scanned[self.row(pull)]] for pull in self.reads[number]), default=-1)
            depth.append(before + unit.is_scan)
        return depth

    def made(self, number: int) -> Pull:
        """The value that a scan makes, where it makes it."""
        unit = self.region.units[number]
        index = made_at(unit, self.region.axes[number])
        assert index is not None
        return Pull(unit.target, index)

    def operand(self, number: int) -> Pull:
        """The value that a scan takes."""
        return self.accesses.values[number][0]

    def row(self, pull: Pull) -> Pull:
        """What a scan makes along the axis, as one value; anything else as it is."""
        if pull.node not in self._targets:
            return pull
        along = self.region.reduced[0]
        return Pull(pull.node, (*pull.index[:along], AxisMap(None), *pull.index[along + 1 :]))

    def distance(self, pull: Pull) -> int:
        """How many steps before the one at hand a scan has made the value."""
        number = self.scanned.get(self.row(pull))
        if number is None:
            return 0
        along = self.region.reduced[0]
        return self.made(number).index[along].offset - pull.index[along].offset

    def is_costly(self, number: int) -> bool:
        """Whether what a unit takes costs more than a store and a load."""
        return any(self._table.total(pull.node) >= cost.WORTH_A_ROW for pull in self.region.units[number].values[:1])

    @property
    def are_worth_blocks(self) -> bool:
        """Whether something runs behind, or what scans need or what needs them is worth vector code."""
        region = self.region
        if not region.reduced or region.nested or region.chunk is not None:
            return False
        costly = (n for n, unit in enumerate(region.units) if unit.is_scan or self.depth[n] >= 0)
        return bool(self.scanned) and (region.has_lags or any(map(self.is_costly, costly)))

    def read_later(self, levels: Sequence[int]) -> dict[Pull, int]:
        """What scans make that later passes than their own read, with their own."""
        found: dict[Pull, int] = {}
        for number, reads in enumerate(self.reads):
            for pull in reads:
                own = levels[self.scanned[self.row(pull)]]
                if own < levels[number]:
                    found[pull] = own
        return found

    def are_needed_for(self, pull: Pull) -> bool:
        """Whether the value is made of what a scan makes."""
        return any(owner(one.node) in self._targets for one in below([pull], self.accesses.operands))
