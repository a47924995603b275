"""Names that loops and branches give to arrays of sizes that only the run knows: writes are seen by all names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split
from tests.fuzz.text_program import TextProgram

X = np.round(np.random.default_rng(4).standard_normal(60) * 4) / 4
BODIES = (
    "for r in np.unique(x):\n        v = a\n    v[:1] = 7\n    return a",
    "for r in np.unique(x):\n        v = a\n    a[:1] = 7\n    return v.sum()",
    "for r in np.unique(x):\n        v = a\n    v[::-2] = 7\n    return a.sum()",
    "v = a\n    if x.sum() > 3:\n        v = a * 2\n    v[:1] = 7\n    return a",
    "v = a\n    if x.sum() > 3:\n        t = a\n    else:\n        t = a * 2\n    t[:1] = 7\n    return a, v.sum()",
    "v = a\n    for r in np.unique(x[x > y]):\n        a = a[a < r + 9]\n    a[:1] = 7\n    return v.sum()",
    "v = a\n    for r in np.unique(x):\n        a = a[a < r + 9]\n    v += 7\n    return a.sum()",
)
WHOLE = (
    "while a.size > 2:\n        a = a[a > a.mean()]\n    a[:1] = 7\n    return a",
    "if x.sum() > 3:\n        a = a * 2\n    a[:1] = 7\n    return a",
    "for r in np.unique(x):\n        v = a\n    return v.sum(), a * 2",
)


def _made(body: str) -> Any:
    return TextProgram(f"def f(x, y):\n    a = x[x > 0.2]\n    {body}\n").module().f


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("y", [0.0, 99.0])
def test_all_names_see_a_write(body: str, y: float) -> None:
    function = _made(body)
    compiled = xjit.jit(function)
    with split():
        check_same(compiled(X.copy(), y), function(X.copy(), y))


@pytest.mark.parametrize("body", WHOLE)
def test_one_name_is_no_hindrance(body: str) -> None:
    function = _made(body)
    check_same(xjit.jit(function, strict=True)(X.copy(), 0.0), function(X.copy(), 0.0))
