"""The golden programs: what the compiler makes of each is kept word for word in ``tests/golden``."""

from tests.codegen.golden_programs import control, elementwise, memory, reductions, scans
from tests.codegen.golden_programs.record import GOLDENS, Golden

__all__ = ["GOLDENS", "Golden", "control", "elementwise", "memory", "reductions", "scans"]
