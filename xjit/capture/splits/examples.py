"""Examples of what functions return that are called as they stand: results for arguments of the same types."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.capture.splits.call_arguments import Arguments
from xjit.capture.splits.memory_of_objects import larger, shares_memory
from xjit.ir.current import current, untraced
from xjit.ops.effects.expected_results import results_like

OTHERS = (1, -1)
"""The numbers that are added to those of a first example, to see whether the type of the result depends on them."""


def is_sized(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether results for other numbers are of another type: ``zeros(n)``, ``min(x, 1)`` of a float x."""
    return differ([example_result(function, args, kwargs, plus) for plus in (0, *OTHERS)])


def differ(examples: Sequence[tuple[Any, ...] | None]) -> bool:
    """Return whether one of some examples, each in a tuple, is of another type than the first, if that is known."""
    first, *others = examples
    known = [one for one in others if one is not None] if first is not None else []
    return first is not None and any(results_like(one[0]) != results_like(first[0]) for one in known)


def example_result(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], plus: int = 0) -> tuple[Any] | None:
    """The result of a function for arguments of the same types, in a tuple; None if that cannot be told.

    ``plus`` is added to numbers that only the run knows.
    """
    found = example(function, args, kwargs, plus)
    return None if found is None else found[:1]


def example(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], plus: int = 0, *, varied: bool = False
) -> tuple[Any, bool] | None:
    """The result of such a call, and whether it shares memory with arrays among the arguments.

    The elements of these are all the same unless they are ``varied``.
    """
    trace: Any = current()
    arguments = Arguments(trace)
    run = arguments.function(function, args, kwargs)
    if not arguments.is_typed or arguments.has_callbacks:
        return None
    try:
        with untraced(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            given = [_varied(one) for one in arguments.examples] if varied else arguments.examples
            found = run(*(larger(one, plus) for one in given))
            return found, shares_memory(found, given)
    except Exception:
        return None


def _varied(example: Any) -> Any:
    """An example with other elements, of which a function may find more or fewer than of equal ones.

    >>> _varied(np.ones(4, bool)), _varied(np.ones(4, int))
    (array([ True, False,  True, False]), array([0, 1, 0, 1]))
    """
    if type(example) is not np.ndarray or not example.ndim:
        return example
    count = np.arange(example.size).reshape(example.shape)
    if example.dtype.kind in "biu":
        return (count % 2 == (0 if example.dtype.kind == "b" else 1)).astype(example.dtype)
    return (example * (1.0 + 0.25 * (count % 3))).astype(example.dtype)
