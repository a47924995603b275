"""Outcomes of calls: results to the classes of numbers, what is printed, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.capture.splits.split_calls import check_same, printed


def identical(found: Any, wanted: Any) -> None:
    """Check that two results are of the same classes in all parts, and as near as the order of sums lets them be."""
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            identical(one, other)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        identical(list(found.values()), list(wanted.values()))
    else:
        check_same(found, wanted)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call with what it prints, or the text of its error."""
    try:
        return printed(function, arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
