"""Costs of what keeps a function from being compiled as a whole, in words for warnings and explanations."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.ir.node import Node
from xjit.types import ArrayType

OF_NUMPY = "nothing of such a call is compiled: it takes NumPy's time"
"""Cost of a call that NumPy runs as a whole."""

OF_VALUES = "a trace and a compile for each value, up to 64 of them"
"""Cost of a value that Python needs, and that each program takes for granted."""


def cost_of_calls(nodes: Sequence[Node], within: bool) -> str:
    """Cost of the calls in Python at one place, which may lie ``within`` a loop or a branch."""
    times = "" if len(nodes) == 1 else f"{len(nodes)} times "
    often = "at each turn of the loop, or where the branch is taken" if within else "at each call"
    return f"{times}a few microseconds {often}{_stored(nodes)}"


def cost_of_numpy(node: Node) -> str:
    """Cost of an operation that NumPy runs among kernels."""
    return f"NumPy's time for this step{_stored([node])}"


def _stored(nodes: Sequence[Node]) -> str:
    """The memory that is written for steps to read it, which a kernel would not have to."""
    types = {source: source.type for node in nodes for source in node.inputs}.values()
    arrays = [one for one in types if isinstance(one, ArrayType) and one.rank and one.is_static]
    total = sum(one.nbytes for one in arrays)
    return f"; {total:,} bytes are in memory for it" if total else ""
