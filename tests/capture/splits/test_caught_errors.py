"""Errors that the function catches: the program runs where there is none, and NumPy does the call where there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

REGULAR = np.eye(3) * 2 + 0.1
SINGULAR = np.ones((3, 3))


def inverse_or_pinv(a: Any, b: Any) -> Any:
    try:
        x = np.linalg.inv(a) @ b
    except np.linalg.LinAlgError:
        x = np.linalg.pinv(a) @ b
    return np.exp(-x) * 2


def caught_by_all(a: Any, b: Any) -> Any:
    try:
        return np.linalg.solve(a, b) + 1
    except Exception as error:
        return type(error).__name__


def with_finally(a: Any, b: Any) -> Any:
    y = b * 2
    try:
        y = np.linalg.cholesky(a) @ y
    except ValueError:
        y = y * 3
    finally:
        y = y + 1
    return y


def by_index(a: Any, b: Any) -> Any:
    try:
        return b[int(a[0, 0])] * 2
    except IndexError:
        return -1.0


def unused(a: Any, b: Any) -> Any:
    try:
        np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return b * 0
    return b * 2


@pytest.mark.parametrize("function", [inverse_or_pinv, caught_by_all, with_finally, by_index, unused])
def test_handlers_run(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for a in (REGULAR, SINGULAR, REGULAR, SINGULAR * 50, REGULAR):
            check_same(compiled(a, np.arange(3.0)), function(a, np.arange(3.0)))
        assert compiled.stats().traces == 1 and compiled.stats().fallbacks == 0


def stores_before(a: Any, b: Any) -> Any:
    b += 1
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return b * 0


def prints_before(a: Any, b: Any) -> Any:
    print("once")
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return b * 0


@pytest.mark.parametrize("function", [stores_before, prints_before])
def test_what_cannot_be_done_again_is_left_to_numpy(function: Any, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = xjit.jit(function)
    for a in (REGULAR, SINGULAR):
        own, theirs = np.arange(3.0), np.arange(3.0)
        wanted, before = function(a, own), capsys.readouterr().out
        with split():
            check_same(compiled(a, theirs), wanted)
        assert capsys.readouterr().out == before
        np.testing.assert_array_equal(theirs, own)
    assert compiled.stats().fallbacks == 2
