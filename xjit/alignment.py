"""Alignment of the memory that programs share among their temporaries, and of memory that is used again."""

from __future__ import annotations

# At multiples of the longest vector and of a line of the cache.
ALIGNMENT = 64

SMALLEST_BYTES = 256 * 1024
"""Smaller blocks are not held to be used again: the system allocator is good at those."""

SMALL_PART = 8
"""Times as many rows as are left of a result that its memory has room for, so that these are copied."""

HANDLER_NAME = "xjit"
"""The name that NumPy has for the memory handler."""


def padded(size: int) -> int:
    """The bytes that a temporary of this size takes, so that the next one may follow; no two share their place.

    >>> padded(0), padded(64), padded(65)
    (64, 64, 128)
    """
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
