"""Threefry-2x32 with 20 rounds: two words of 32 bits for each number of a block, by additions, rotations and xor."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ops.elements.bits import shift_left, shift_right_logical
from xjit.ops.elements.elementwise import add, or_, xor
from xjit.ops.random.random_words import high_word, low_word

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_GROUPS = 5


def threefry_words(key: Any, counter: Any) -> tuple[Any, Any]:
    """The two words of each block: ``key`` is one U64, ``counter`` the U64 numbers of the blocks.

    >>> [hex(int(word[0])) for word in threefry_words(np.uint64(0), np.uint64([0]))]
    ['0x6b200159', '0x99ba4efe']
    """
    first, second = low_word(key), high_word(key)
    keys = first, second, xor(xor(first, second), _PARITY)
    x, y = add(low_word(counter), keys[0]), add(high_word(counter), keys[1])
    for group in range(_GROUPS):
        for rotation in _ROTATIONS[group % 2]:
            x = add(x, y)
            y = xor(_rotated(y, rotation), x)
        x = add(x, keys[(group + 1) % 3])
        y = add(y, add(keys[(group + 2) % 3], np.uint32(group + 1)))
    return x, y


def _rotated(word: Any, count: int) -> Any:
    return or_(shift_left(word, np.uint32(count)), shift_right_logical(word, np.uint32(32 - count)))
