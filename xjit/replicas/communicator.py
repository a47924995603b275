"""Interface of communicators: what a group of replicas needs, however it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from xjit.errors import CommunicatorError

Array: TypeAlias = "np.ndarray[Any, Any]"


class Communicator(Protocol):
    """One replica's end of a group. All replicas call the same operations in the same order."""

    @property
    def rank(self) -> int:
        """This replica's number, from 0."""

    @property
    def size(self) -> int:
        """Number of replicas."""

    def exchange(self, sent: Sequence[Array]) -> list[Array]:
        """Sends one array to each replica and returns what each sent to this one, itself included."""

    def barrier(self) -> None:
        """Waits until every replica is here."""


class SingleReplica:
    """The communicator of a program that runs alone.

    >>> SingleReplica().exchange([np.arange(2)])
    [array([0, 1])]
    """

    rank = 0
    size = 1

    def exchange(self, sent: Sequence[Array]) -> list[Array]:
        """Return what was sent to itself. Raises CommunicatorError unless exactly one array is sent."""
        if len(sent) != 1:
            raise CommunicatorError(f"exchange: one array for each of 1 replicas is required; got {len(sent)}")
        return [sent[0].copy()]

    def barrier(self) -> None:
        """Nobody to wait for."""
