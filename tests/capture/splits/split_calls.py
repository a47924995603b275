"""Calls of split functions beside those of the functions themselves."""

from __future__ import annotations

import contextlib
import copy
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning


@contextlib.contextmanager
def split() -> Iterator[None]:
    """A context in which functions are split, and no trial gives calls to NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XJIT_STRICT", "0")
        patch.setenv("XJIT_TRIALS", "0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            yield


def printed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """The result of a call, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        result = function(*arguments)
    return result, out.getvalue()


def check_split(function: Callable[..., Any], *arguments: Any, calls: int = 3) -> Any:
    """Check that calls give the same as the function's own, print the same, leave arguments alike, and are split.

    Returns the compiled function.
    """
    compiled = xjit.jit(function)
    own, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with split():
        for _ in range(calls):
            wanted, found = printed(function, own), printed(compiled, theirs)
            check_same(found[0], wanted[0])
            assert found[1] == wanted[1]
        assert compiled.stats().fallbacks == 0 and compiled.stats().traces > 0
    for one, other in zip(theirs, own, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
    return compiled


def check_same(found: Any, wanted: Any) -> None:
    """Check that two results are of the same types, and as near as the order of sums lets them be."""
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            check_same(one, other)
    elif isinstance(wanted, np.ndarray | np.generic | float):
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-300)
    else:
        assert found == wanted
