"""Where pieces of memory begin that programs share among their temporaries."""

from __future__ import annotations

# At multiples of the longest vector and of a line of the cache.
ALIGNMENT = 64


def padded(size: int) -> int:
    """The bytes that a temporary of this size takes, so that the next one may follow; no two share their place.

    >>> padded(0), padded(64), padded(65)
    (64, 64, 128)
    """
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
