"""Reads of scans by the statements of a group: at which distance, and behind how many scans, one after the
other.

In ``c[:, 20:] - c[:, :-20]`` of ``c = np.cumsum(x, axis=1)`` one statement is the scan, and the other reads it at the
step at hand and 20 steps before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.dataclass import dataclass
from xjit.fusion import cost
from xjit.fusion.plan import FusionGroup
from xjit.fusion.regions.materialized import owner
from xjit.fusion.statements import IndexedValue, Scan
from xjit.ir.opdef import AxisMap


@dataclass(frozen=True, slots=True)
class Stage:
    """The statements of one loop of a pass with scans: scans, or what needs no scan but earlier ones.

    ``span`` is what the statements run over, (first, last) along the axis; None: all of it.
    """

    scans: bool
    statements: tuple[int, ...]
    span: tuple[int, int] | None


@dataclass(eq=False)
class ScanReads:
    """The scans of a group, and who reads them.

    ``reads`` are what each statement reads of scans, in the axes of the group. ``scanned`` gives the statement of
    what a scan makes along its axis. ``depth`` is how many scans follow on each other until a statement has what it
    needs: -1 if it needs none.
    """

    accesses: GroupAccesses

    def __post_init__(self) -> None:
        self._table = cost.CostTable(self.accesses.leaves, self.accesses.machine)
        self._targets = frozenset(
            statement.target for statement in self.group.statements if isinstance(statement, Scan)
        )
        self.reads = [
            [indexed for indexed in one.reads if owner(indexed.node) in self._targets] for one in self.accesses.found
        ]
        self.scanned = {
            self.row(self.made(n)): n
            for n, statement in enumerate(self.group.statements)
            if isinstance(statement, Scan)
        }
        self.depth = self._depths()

    @property
    def group(self) -> FusionGroup:
        """The group whose scans these are."""
        return self.accesses.group

    def _depths(self) -> list[int]:
        depth: list[int] = []
        for number, statement in enumerate(self.group.statements):
            before = max((depth[self.scanned[self.row(indexed)]] for indexed in self.reads[number]), default=-1)
            depth.append(before + isinstance(statement, Scan))
        return depth

    def made(self, number: int) -> IndexedValue:
        """The value that a scan makes, where it makes it."""
        statement = self.group.statements[number]
        index = statement.made_at(self.group.axes[number])
        assert index is not None
        return IndexedValue(statement.target, index)

    def operand(self, number: int) -> IndexedValue:
        """The value that a scan takes."""
        return self.accesses.values[number][0]

    def row(self, indexed: IndexedValue) -> IndexedValue:
        """The values of a scan along the axis, as one; anything else as it is."""
        if indexed.node not in self._targets:
            return indexed
        along = self.group.reduced[0]
        return IndexedValue(indexed.node, (*indexed.index[:along], AxisMap(None), *indexed.index[along + 1 :]))

    def distance(self, indexed: IndexedValue) -> int:
        """The number of steps before the open one at which a scan has made the value."""
        number = self.scanned.get(self.row(indexed))
        if number is None:
            return 0
        along = self.group.reduced[0]
        return self.made(number).index[along].offset - indexed.index[along].offset

    def is_costly(self, number: int) -> bool:
        """Return whether what a statement takes costs more than a store and a load."""
        return any(
            self._table.total(indexed.node) >= self.accesses.machine.row_cost
            for indexed in self.group.statements[number].values[:1]
        )

    @property
    def are_worth_blocks(self) -> bool:
        """Return whether something runs behind, or what scans need or what needs them is worth vector code."""
        group = self.group
        if not group.reduced or group.nested or group.chunk is not None:
            return False
        costly = (
            n for n, statement in enumerate(group.statements) if isinstance(statement, Scan) or self.depth[n] >= 0
        )
        return bool(self.scanned) and (group.has_skew or any(map(self.is_costly, costly)))

    def stages(self, chosen: Sequence[int]) -> Iterator[Stage]:
        """Yield the loops of a pass: what needs so many scans, then the scans that follow, and so on."""
        for depth in range(-1, max(self.depth[number] for number in chosen) + 1):
            for scans in (False, True):
                at = [n for n in chosen if self.is_scan(n) == scans and self.depth[n] == depth + scans]
                for span in dict.fromkeys(map(self.span, at)):
                    yield Stage(scans, tuple(n for n in at if self.span(n) == span), span)

    def is_scan(self, number: int) -> bool:
        """Return whether a statement is a scan."""
        return isinstance(self.group.statements[number], Scan)

    def span(self, number: int) -> tuple[int, int] | None:
        """Return where a statement begins and ends along the axis; None where it runs over all of it."""
        statement = self.group.statements[number]
        skew = statement.domain.skew
        return None if skew is None else (skew, skew + statement.dims[self.group.reduced[0]])

    def handed_on(self, chosen: Sequence[int]) -> list[IndexedValue]:
        """The rows of scans among some statements that others of them read."""
        made = {self.row(self.made(number)) for number in chosen if self.is_scan(number)}
        read = (self.row(indexed) for number in chosen for indexed in self.reads[number])
        return [row for row in dict.fromkeys(read) if row in made]

    def read_later(self, levels: Sequence[int]) -> dict[IndexedValue, int]:
        """The values of scans that later passes than their own read, each with its own pass."""
        found: dict[IndexedValue, int] = {}
        for number, reads in enumerate(self.reads):
            for indexed in reads:
                own = levels[self.scanned[self.row(indexed)]]
                if own < levels[number]:
                    found[indexed] = own
        return found
