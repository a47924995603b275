"""Results computed of elements that a mask has chosen, before these, or what shows them, are written to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

X = np.round(np.random.default_rng(4).standard_normal(700) * 4) / 4
A = np.round(np.random.default_rng(5).standard_normal((60, 4)) * 4) / 4
MADE = {
    "a product": ("x[x > 0.2]", "a * 2"),
    "another type": ("x[x > 0.2]", "a.astype(np.float32)"),
    "a copy": ("x[x > 0.2]", "a.copy()"),
    "a choice": ("x[x > 0.2]", "np.where(a > 1, a, 0)"),
    "one of two": ("x[x > 0.2]", "divmod(a, 2)[1]"),
    "a product of rows": ("A[A[:, 0] > 0]", "a @ A.T"),
    "rows at positions": ("np.arange(60)[A[:, 0] > 0]", "A[a]"),
    "columns at positions": ("A.T[:, A[:, 0] > 0]", "a[np.array([1, 2])]"),
    "a column": ("A[A[:, 0] > 0]", "a[:, 1]"),
    "columns": ("A[A[:, 0] > 0]", "a[:, 1:3]"),
    "a new axis": ("A[A[:, 0] > 0]", "a[:, None]"),
    "a row of columns": ("A.T[:, A[:, 0] > 0]", "a[1]"),
    "real parts": ("(x + 1j)[x > 0.2]", "a.real"),
    "a product of a column": ("A[A[:, 0] > 0]", "a[:, 1] * 2"),
    "a copy of a column": ("A[A[:, 0] > 0]", "a[:, 1].copy()"),
    "itself": ("x[x > 0.2]", "a"),
}
WRITES = ("a[:1] = 1", "a *= 3", "c[:1] = 1", "c += 2", "a *= 2; c += 1", "c -= 1; a[:1] = 2")
READS = ("np.sort(c, axis=0)", "c * 1", "c.sum(), a.sum()", "np.sort(a, axis=0), c.max(), a.max()")


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("write", WRITES)
def test_order_of_writes(made: str, write: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    chosen, computed = MADE[made]
    for read in READS:
        lines = [f"a = {chosen}", f"c = {computed}", *write.split("; "), f"return {read}"]
        names: dict[str, Any] = {"np": np}
        exec("def f(x, A):\n    " + "\n    ".join(lines), names)
        with split():
            compiled = xjit.jit(names["f"])
            check_same(compiled(X.copy(), A.copy()), names["f"](X.copy(), A.copy()))
