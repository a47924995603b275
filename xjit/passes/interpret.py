"""The interpreter: any graph by NumPy, one node after the other. Fallback, debugging aid and test executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.node import Graph
from xjit.ops.define.core import own
from xjit.ops.define.evaluate import evaluate_graph


def interpret(graph: Graph, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a graph for one array in the place of each of its parameters, in memory of their own.

    Effects run in their order, each once. TypeError if a reference contradicts the inferred type of its node.
    """
    with np.errstate(all="ignore"):
        return tuple(own(output, arrays) for output in evaluate_graph(graph, arrays))
