"""Attributes of objects that only the run makes, named as those of what stands for such objects while tracing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.comprehensions.outcomes import identical
from tests.capture.splits.split_calls import split
from xjit import xjit


def kinds(x: Any) -> Any:
    found = np.unique_counts(x)
    return found.values.dtype.kind, found.counts.dtype.kind


def decided_by_a_kind(x: Any) -> Any:
    found = np.unique_counts(x)
    if found.values.dtype.kind == "f":
        return found.counts + 1
    return found.counts


def traces_of_matrices(x: Any) -> Any:
    found = np.linalg.eig(np.diag(x))
    return found.eigenvectors.trace(), found.eigenvectors.dtype.kind


@pytest.mark.parametrize("function", [kinds, decided_by_a_kind, traces_of_matrices])
def test_attributes_are_those_of_the_objects(function: Any) -> None:
    compiled = xjit(function)
    for numbers in ([1.0, 2.0, 1.0], [3, 3, 4], [5.0]):
        x = np.array(numbers)
        with split():
            identical(compiled(x), function(x))
