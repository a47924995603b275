"""Values in messages: what a trace took for granted of them, and short texts."""

from __future__ import annotations

from typing import Any

import numpy as np


def layout_of(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Return the properties of an array that a trace bakes in."""
    return (array.dtype, array.shape, array.strides)


def text_of(value: Any) -> str:
    """A value in a message: short, and never the contents of an array."""
    if isinstance(value, np.ndarray):
        value = layout_of(value)
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], np.dtype):
        return f"{value[0]}{list(value[1])}"
    if isinstance(value, type):
        return value.__qualname__
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the function {value.__qualname__}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
