"""Behaviour of a call beside its result: printed text, random numbers drawn, the line of an error, objects."""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)\b")
LINE = re.compile(r"at <random program \d+>:(\d+)")
CONTAINERS = (list, tuple, dict, set, frozenset)


def opened(value: Any, seen: dict[int, tuple[int, Any]]) -> Any:
    """Return a value with its objects as dicts of what they hold; one that was seen before is named."""
    if isinstance(value, np.random.Generator):
        return {"generator": _text(value.bit_generator.state)}
    if isinstance(value, np.random.RandomState):
        return {"generator": _text(value.get_state(legacy=False))}
    if isinstance(value, list | dict) or _is_object(value):
        if id(value) in seen and _is_object(value):
            return f"seen as {seen[id(value)][0]}"
        seen[id(value)] = len(seen), value
    if isinstance(value, dict):
        return {"class": type(value).__name__} | {name: opened(one, seen) for name, one in value.items()}
    if isinstance(value, tuple) and type(value) is not tuple:
        return {"class": type(value).__name__, "fields": tuple(opened(one, seen) for one in value)}
    if isinstance(value, list | tuple):
        return type(value)(opened(one, seen) for one in value)
    if isinstance(value, type):
        kept = {name: one for name, one in vars(value).items() if isinstance(one, (int, float, np.generic))}
        return {"type": value.__name__} | kept
    if _is_object(value):
        if not hasattr(value, "__dict__"):
            return f"{type(value).__name__}: {re.sub('0x[0-9a-f]+', '', repr(value))}"
        return {"class": type(value).__name__} | {name: opened(one, seen) for name, one in vars(value).items()}
    return value


def _is_object(value: Any) -> bool:
    simple = (int, float, complex, str, bytes, type, np.generic, np.ndarray, types.NoneType)
    return not isinstance(value, (*simple, *CONTAINERS))


def _text(state: Any) -> str:
    with np.printoptions(threshold=2000):
        return str(state)


def stream_of() -> str:
    """Return the state of NumPy's own random numbers, as text."""
    return _text(np.random.get_state(legacy=False))


def line_of(error: BaseException | None) -> int | None:
    """Return the line of the program that raised an error: the innermost one, or the one that its message names."""
    named = LINE.search(str(error))
    line, trace = int(named[1]) if named else None, error.__traceback__ if error else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<random program"):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def same_text(got: str, expected: str, noisy: bool) -> bool:
    """Return whether texts are the same, the last digits of their numbers left out in noisy programs."""
    if got == expected or not noisy:
        return got == expected
    if NUMBER.sub("#", got) != NUMBER.sub("#", expected):
        return False
    pairs = zip(NUMBER.findall(got), NUMBER.findall(expected), strict=True)
    return all(np.isclose(float(one), float(other), rtol=1e-2, atol=1e-9, equal_nan=True) for one, other in pairs)
