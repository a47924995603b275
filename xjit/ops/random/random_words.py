"""Numbers of 64 bits and their halves, and the numbers of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ops.elements.bits import shift_left, shift_right_logical
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import or_
from xjit.types import DTYPES

U32, U64 = DTYPES["u32"], DTYPES["u64"]
HALF = np.uint64(32)


def low_word(number: Any) -> Any:
    """The low 32 bits of U64 numbers, as U32.

    >>> low_word(np.uint64(2**40 + 3))
    array(3, dtype=uint32)
    """
    return convert_element_type(number, U32)


def high_word(number: Any) -> Any:
    """The high 32 bits of U64 numbers, as U32."""
    return convert_element_type(shift_right_logical(number, HALF), U32)


def joined(low: Any, high: Any) -> Any:
    """U64 numbers of two U32 words.

    >>> joined(np.uint32(3), np.uint32(256)) == 2**40 + 3
    np.True_
    """
    return or_(convert_element_type(low, U64), shift_left(convert_element_type(high, U64), HALF))
