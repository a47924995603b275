"""The text of primitives whose operands are known in part."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xjit
from xjit.codegen.text.scalar_text import call_text
from xjit.types import BOOL, FLOAT64

TRUTHS = ("b1(0)", "b1(1)")


@pytest.mark.parametrize(("one", "other"), [*itertools.product(TRUTHS, ("q",)), *itertools.product(("q",), TRUTHS)])
def test_a_choice_of_a_known_truth_is_arithmetic(one: str, other: str) -> None:
    text = call_text("select", (("c", BOOL), (one, BOOL), (other, BOOL)), BOOL)
    assert "select" not in text
    for c, q in itertools.product((False, True), repeat=2):
        names = {"c": c, "q": q, "b1": bool}
        assert eval(text, names) == (eval(one, names) if c else eval(other, names))


def test_other_choices_stay() -> None:
    assert call_text("select", (("c", BOOL), ("p", BOOL), ("q", BOOL)), BOOL) == "select(c, p, q)"
    assert call_text("select", (("c", BOOL), ("b1(1)", FLOAT64), ("q", FLOAT64)), FLOAT64).startswith("select")


def test_ends_of_types_are_part_of_the_text_and_extents_are_not() -> None:
    compiled = xjit.jit(lambda x: np.where(x > 3_000_000_000_000_000_000, x, np.where(x < 1000, 1, 2)))
    source = compiled.source(np.arange(9))
    assert "i64(3000000000000000000)" in source and "1000)" not in source
