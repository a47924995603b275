"""Which temporaries share memory: those that are never alive at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xjit.ir.node import Node


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """``sizes`` of the pieces of memory in bytes, and the number of the one that every temporary lies in."""

    sizes: tuple[int, ...]
    slots: dict[Node, int]


def share_memory(temporaries: Iterable[Node], uses: Sequence[Iterable[Node]]) -> MemoryPlan:
    """Puts temporaries into as little memory as a greedy search finds. ``uses`` are the values of every step.

    In order of their first use, each takes the smallest piece of memory that is large enough and free by then, else
    the largest free one, which grows, else a new one.
    """
    first: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for step, nodes in enumerate(uses):
        for node in nodes:
            first.setdefault(node, step)
            last[node] = step
    sizes: list[int] = []
    free_from: list[int] = []
    slots: dict[Node, int] = {}
    for node in sorted((node for node in temporaries if node in first), key=first.__getitem__):
        size = node.aval.nbytes
        free = [slot for slot, step in enumerate(free_from) if step <= first[node]]
        fitting = [slot for slot in free if sizes[slot] >= size]
        if fitting:
            slot = min(fitting, key=sizes.__getitem__)
        elif free:
            slot = max(free, key=sizes.__getitem__)
            sizes[slot] = size
        else:
            slot = len(sizes)
            sizes.append(size)
            free_from.append(0)
        slots[node] = slot
        free_from[slot] = last[node] + 1
    return MemoryPlan(tuple(sizes), slots)
