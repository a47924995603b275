"""Obstacles of functions that are split or left to NumPy: all of them are told, by strict and by ``explain``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import lenient
from xjit.errors import MAX_OTHERS, CaptureError

LINE = np.arange(5.0)


def prints_and_asks(x: Any) -> Any:
    print("first")
    y = np.trim_zeros(x)
    return {x[0]: y}


def prints_often(x: Any) -> Any:
    print("a")
    print("b")
    print("c")
    print("d")
    print("e")
    print("f")
    return x


def test_strict_names_all() -> None:
    with pytest.raises(CaptureError) as caught:
        xjit.jit(strict=True)(prints_and_asks)(LINE)
    head, at, *others, fix = str(caught.value).splitlines()
    assert head.startswith("print()") and at.startswith("  at ") and fix.startswith("  fix: ")
    assert ["numpy.trim_zeros" in line for line in others] == [True, False]
    assert all(line.startswith("  also ") and "test_obstacles.py:" in line for line in others)
    assert "a hash" in others[1]


def test_strict_names_only_so_many() -> None:
    with pytest.raises(CaptureError) as caught:
        xjit.jit(strict=True)(prints_often)(LINE)
    lines = str(caught.value).splitlines()
    assert sum(line.startswith("  also ") for line in lines) == MAX_OTHERS
    assert "  and 1 more, which f.explain(...) lists" in lines and len(lines) <= 12


def test_what_is_left_to_numpy_is_explained() -> None:
    function = xjit.jit(prints_and_asks)
    with lenient():
        explanation = function.explain(LINE)
        assert explanation.steps == ("NumPy runs the function",) and not explanation.kernels
        assert len(explanation.reasons) == 3 and explanation.reasons[0].startswith("a hash")
        assert all("test_obstacles.py:" in reason and "; " in reason for reason in explanation.reasons)
        for text in (function.graph(LINE), function.source(LINE)):
            assert text.splitlines()[0].startswith("# prints_and_asks: 0 kernels") and "because: print()" in text
    with pytest.raises(CaptureError):
        function.explain(LINE)


def test_mistakes_are_raised() -> None:
    with lenient(), pytest.raises(ValueError, match="sizes"):
        xjit.jit(lambda x: x + np.ones(3)).explain(LINE)


def test_explanations_under_strict_name_all() -> None:
    with pytest.raises(CaptureError) as caught:
        xjit.jit(strict=True)(prints_and_asks).explain(LINE)
    assert sum(line.startswith("  also ") for line in str(caught.value).splitlines()) == 2


def test_prompts_show_the_text_of_explanations() -> None:
    explanation = xjit.jit(np.sin).explain(LINE)
    assert repr(explanation) == str(explanation)
