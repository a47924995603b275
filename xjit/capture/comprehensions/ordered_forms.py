"""Heaps and sorted lists in Python: what functions of ``heapq`` and ``bisect`` do, to be traced like the user's code.

Entries come in the order of ``less``. The same comparisons in the same order leave the same list as Python's.
Each function is whole, as calls of functions of this package are not followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Less: TypeAlias = Callable[[Any, Any], Any]


def heappush(heap: Any, item: Any, less: Less) -> None:
    """Append an item, and move it up as long as it comes before what is above it."""
    heap.append(item)
    place = len(heap) - 1
    while place > 0:
        above = (place - 1) >> 1
        if not less(item, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def heappop(heap: Any, less: Less) -> Any:
    """Take the first item away; the last one fills the gap that the smaller ones below leave on their way up."""
    item, first, count = heap[-1], heap[0], len(heap) - 1
    place, below = 0, 1
    while below < count:
        if below + 1 < count and not less(heap[below], heap[below + 1]):
            below = below + 1
        heap[place] = heap[below]
        place, below = below, 2 * below + 1
    while place > 0:
        above = (place - 1) >> 1
        if not less(item, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item
    heap.pop()
    return first


def heapreplace(heap: Any, item: Any, less: Less) -> Any:
    """Take the first item away, and put another one in."""
    count = len(heap)
    first = heap[0]
    place, below = 0, 1
    while below < count:
        if below + 1 < count and not less(heap[below], heap[below + 1]):
            below = below + 1
        heap[place] = heap[below]
        place, below = below, 2 * below + 1
    while place > 0:
        above = (place - 1) >> 1
        if not less(item, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item
    return first


def heapify(heap: Any, less: Less) -> None:
    """Put a list in the order of a heap, from its last half on."""
    count = len(heap)
    for number in range(count // 2):
        start = count // 2 - 1 - number
        item = heap[start]
        place, below = start, 2 * start + 1
        while below < count:
            if below + 1 < count and not less(heap[below], heap[below + 1]):
                below = below + 1
            heap[place] = heap[below]
            place, below = below, 2 * below + 1
        while place > start:
            above = (place - 1) >> 1
            if not less(item, heap[above]):
                break
            heap[place] = heap[above]
            place = above
        heap[place] = item


def bisect_left(found: Any, item: Any, less: Less) -> Any:
    """Return the first place whose entry does not come before an item."""
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        if less(found[middle], item):
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(found: Any, item: Any, less: Less) -> Any:
    """Return the first place whose entry comes behind an item."""
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        if less(item, found[middle]):
            high = middle
        else:
            low = middle + 1
    return low


def insort_left(found: Any, item: Any, less: Less) -> None:
    """Insert an item in front of its equals."""
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        if less(found[middle], item):
            low = middle + 1
        else:
            high = middle
    found.insert(low, item)


def insort_right(found: Any, item: Any, less: Less) -> None:
    """Insert an item behind its equals."""
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        if less(item, found[middle]):
            high = middle
        else:
            low = middle + 1
    found.insert(low, item)
