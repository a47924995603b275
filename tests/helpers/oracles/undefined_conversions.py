"""Conversions of floats to integers that do not hold them, which C leaves undefined and NumPy does as it comes."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import tree


def converts_out_of_bounds(function: Callable[..., Any], arguments: Any) -> bool:
    """Return whether NumPy converts a float to an integer that does not hold it, as far as arguments lead there."""
    _Watched.noted = False
    given = [one.view(_Watched) if isinstance(one, np.ndarray) else one for one in arguments]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        function(*given)
    return _Watched.noted


class _Watched(np.ndarray[Any, Any]):
    """An array of an argument that notes floats that become integers of a type which does not hold them."""

    noted = False

    def __setitem__(self, key: Any, value: Any) -> None:
        _note([value], [self])
        super().__setitem__(key, value)

    def astype(self, dtype: Any, *rest: Any, **named: Any) -> Any:
        result = super().astype(dtype, *rest, **named)
        _note([self], [result])
        return result

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        result = super().__array_ufunc__(ufunc, method, *map(_plain, inputs), **_all_plain(named))
        _note(inputs, named.get("out") or ())
        return _same_or_watched(result, named.get("out") or ())

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, named: Any) -> Any:
        result = super().__array_function__(function, kinds, arguments, named)
        inputs = [*tree.flatten((arguments, named))[0]]
        _note(inputs, [*inputs, *tree.flatten(result)[0]])
        return result


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Watched) else value


def _all_plain(named: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(map(_plain, one)) if name == "out" else _plain(one) for name, one in named.items()}


def _same_or_watched(result: Any, outputs: tuple[Any, ...]) -> Any:
    if isinstance(result, tuple):
        return tuple(_same_or_watched(one, outputs[place : place + 1]) for place, one in enumerate(result))
    if outputs and outputs[0] is not None:
        return outputs[0]
    return result.view(_Watched) if isinstance(result, np.ndarray) else result


def _note(given: Any, stored: Any) -> None:
    """Note floats beyond the bounds of one of the arrays that they may be stored in."""
    kinds = {one.dtype for one in stored if isinstance(one, np.ndarray) and one.dtype.kind in "iu"}
    for kind in kinds:
        numbers = [np.asarray(_plain(one)).real for one in given if isinstance(one, np.ndarray | np.generic)]
        limits = np.iinfo(kind)
        _Watched.noted |= any(
            one.dtype.kind == "f" and bool(np.any((one <= limits.min - 1.0) | (one >= limits.max + 1.0)))
            for one in numbers
        )
