"""Philox-4x32 with 10 rounds: four words of 32 bits for each number of a block, by products of 64 bits and xor."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ops.elements.bits import shift_right_logical
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import add, and_, mul, xor
from xjit.ops.random.random_words import HALF, U32

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_ROUNDS = 10


def philox_words(key: Any, low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
    """The four words of each block: ``key`` is one U64, ``low`` and ``high`` the U64 halves of the blocks' numbers.

    Words stay in 64 bits between the rounds, as their products need these.

    >>> [hex(int(word[0])) for word in philox_words(np.uint64(0), np.uint64([0]), np.uint64([0]))]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    words = [_low(low), _high(low), _low(high), _high(high)]
    keys = [_low(key), _high(key)]
    for count in range(_ROUNDS):
        p, q = mul(words[0], _FACTORS[0]), mul(words[2], _FACTORS[1])
        here = [_low(add(one, np.uint64(count * step))) for one, step in zip(keys, _STEPS, strict=True)]
        words = [xor(xor(_high(q), words[1]), here[0]), _low(q), xor(xor(_high(p), words[3]), here[1]), _low(p)]
    first, second, third, fourth = (convert_element_type(word, U32) for word in words)
    return first, second, third, fourth


def _low(number: Any) -> Any:
    return and_(number, _LOW)


def _high(number: Any) -> Any:
    return shift_right_logical(number, HALF)
