"""Views of which only the run tells place or size, made at the end of a call of the numbers that its program returns.

x[i : i + n]     the program returns i and n, the call the part of the very array that was passed as x
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xjit.capture.guarding.access_path import Path
from xjit.capture.outline import Output
from xjit.showing import Along, Flattened, Indexed, PartsOf, Reshaped, Showing, Turned, positions

Results = Sequence[Any] | Mapping[int, Any]


def shown(output: Output, results: Results, outside: Sequence[Any]) -> Any:
    """The view of a result, or of an array from ``outside``: the only one, or that of a number of the program's."""
    assert output.moving is not None
    if output.index < 0:
        (view,) = outside
    else:
        number = _number(results[output.code]) if output.code >= 0 else 0
        view = outside[number - 1] if number else results[output.index]
    view = view if output.moving.steps else view[...]
    for step in output.moving.steps:
        view = _after(step, view, results)
    if output.frozen:
        view.flags.writeable = False
    return view


def bases_of(output: Output) -> tuple[Path, ...]:
    """The places of the arrays from outside that such a view may show."""
    return output.arrays if output.path is None else (output.path,)


def _after(step: Showing, array: Any, results: Results) -> Any:
    match step:
        case Indexed(entries):
            return array[(*(_entry(one, results) for one in entries), ...)]
        case Turned(order):
            return array.transpose(order)
        case Reshaped(sizes):
            return array.reshape(sizes)
        case Flattened():
            return array.ravel()
        case PartsOf(real):
            return array.real if real else array.imag


def _entry(one: Along | int | None, results: Results) -> Any:
    if not isinstance(one, Along):
        return one
    if one.is_whole:
        return slice(None)
    start = one.start + (_number(results[one.at]) if one.at >= 0 else 0)
    count = _number(results[one.of]) if one.of >= 0 else one.count
    return positions(start, count, one.step)


def _number(result: Any) -> int:
    return int(np.asarray(result)[()])
