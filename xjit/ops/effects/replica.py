"""The place of a program among others that run it: a program that runs alone is number 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ops.define.core import constant

__all__ = ["partition_id", "replica_id"]


def replica_id() -> Any:
    """The number of this replica, U32; 0 for a program that runs alone.

    >>> replica_id()
    array(0, dtype=uint32)
    """
    return constant(np.array(0, np.uint32))


def partition_id() -> Any:
    """The number of this partition, U32: programs have one each, number 0.

    >>> partition_id()
    array(0, dtype=uint32)
    """
    return constant(np.array(0, np.uint32))
