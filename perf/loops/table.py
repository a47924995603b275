"""Which loops belong to which program."""

from __future__ import annotations

from collections.abc import Mapping

from perf.loops import elementwise, grids, learning, physics, rows, statistics
from perf.program import Function

LOOPS: Mapping[str, Function] = {
    **elementwise.LOOPS,
    **statistics.LOOPS,
    **rows.LOOPS,
    **grids.LOOPS,
    **physics.LOOPS,
    **learning.LOOPS,
}
