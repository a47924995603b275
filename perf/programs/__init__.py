"""The table of programs, by theme.

Sizes: S about 10³ elements; M with all arrays together inside a 1 MiB second-level cache; L the usual
size of such a program, for those bound by memory 10⁷ elements or more; XL 10⁷ elements where L has fewer
and NumPy does not take seconds.
"""

from __future__ import annotations

from perf.program import (
    SEED,
    Array,
    Arrays,
    Bound,
    Function,
    Program,
    Random,
    Shape,
    Tolerance,
    normals,
    over_module,
)
from perf.programs import elementwise, grids, learning, physics, rows, statistics
from perf.programs.statistics import options

__all__ = [
    "BY_NAME",
    "LARGE_SIZES",
    "PROGRAMS",
    "SEED",
    "Array",
    "Arrays",
    "Bound",
    "Function",
    "Program",
    "Random",
    "Shape",
    "Tolerance",
    "normals",
    "options",
    "over_module",
    "table",
]

PROGRAMS = (
    *elementwise.PROGRAMS,
    *statistics.PROGRAMS,
    *rows.PROGRAMS,
    *grids.PROGRAMS,
    *physics.PROGRAMS,
    *learning.PROGRAMS,
)
BY_NAME = {program.name: program for program in PROGRAMS}
LARGE_SIZES = ("L", "XL")


def table() -> list[tuple[Program, str]]:
    """Return every program with every size, in the order of the report."""
    return [(program, size) for program in PROGRAMS for size in program.sizes]
