"""A call as its caller sees it: values, which results and arguments are one array, and which of them share memory."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import xjit
from xjit import tree
from xjit.errors import FallbackWarning


def check_like_numpy(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], *, strict: bool) -> None:
    """Compares a compiled call with NumPy's; what is refused without ``strict`` runs as NumPy."""
    check_calls_like_numpy(xjit.jit(function, strict=strict), make)


def check_calls_like_numpy(compiled: Any, make: Callable[[], tuple[Any, ...]]) -> None:
    """Compares a call of a compiled function with one of the function itself, with arguments of their own."""
    mine, numpys = make(), make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        got = _seen(mine, compiled(*mine))
    wanted = _seen(numpys, compiled.__wrapped__(*numpys))
    assert got[1:] == wanted[1:]
    for one, other in zip(got[0], wanted[0], strict=True):
        np.testing.assert_array_equal(one, other)


def _seen(arguments: Any, result: Any) -> tuple[Any, ...]:
    leaves, structure = tree.flatten((arguments, result))
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    pairs = [(one is other, np.shares_memory(one, other)) for one, other in itertools.combinations(arrays, 2)]
    return leaves, structure, pairs, [array.flags.writeable for array in arrays]
