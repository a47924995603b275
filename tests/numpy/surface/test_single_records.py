"""Calls of ufuncs that one record computes give the graphs that the rules of NumPy give the long way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import tree
from xjit.capture.capture import capture
from xjit.ir.node import Graph
from xjit.numpy import ufuncs
from xjit.numpy.rules import single_records

SQUARE = np.ones((3, 4))
TURNED = np.asfortranarray(SQUARE)
LINE = np.ones(4)
SINGLE = np.ones((3, 4), np.float32)
SMALL = np.ones(4, np.int8)
SCALAR = np.array(2.0)


def graph_of(function: Callable[..., Any], *arguments: Any) -> Graph:
    leaves, structure = tree.flatten((arguments, {}))
    return capture(function, leaves, structure).graph


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x, y: x * y + x, (SQUARE, SQUARE)),
        (lambda x, y: x * y + x, (TURNED, TURNED)),
        (lambda x, y: x * y - x, (SQUARE, TURNED)),
        (lambda x, y: x * y - x, (SQUARE, LINE)),
        (lambda x, y: x * y - x, (SQUARE, SINGLE)),
        (lambda x, y: x * y - x, (SCALAR, SCALAR)),
        (lambda x: (x + 0.0) / (x + -0.0), (SQUARE,)),
        (lambda x: (x + 1) * (x + 1.0), (SQUARE,)),
        (lambda x: (2 * x + 2) // 3, (SMALL,)),
        (lambda x: (x * 0.1, x / 2, x + 2), (SMALL,)),
        (lambda x: np.exp(np.sin(x * 0.5)), (SINGLE,)),
        (lambda x: np.add(x, 1.0, dtype=np.float32), (SQUARE,)),
        (lambda x: (np.sqrt(x[:, ::2]) * 2.0).T + 1.0, (SQUARE,)),
        (lambda x: np.ldexp(x, 3), (SQUARE,)),
        (lambda x: (np.nan * x, -np.nan * x), (SQUARE,)),
        (lambda x: np.maximum(np.minimum(abs(x), 1.5), x), (SQUARE,)),
        (lambda x: np.maximum(np.minimum(abs(x), 1), x), (SMALL,)),
        (lambda x: np.maximum(np.minimum(abs(x), x), x), (SQUARE > 0,)),
        (lambda x: np.maximum(np.minimum(x, 2.0), x) * abs(x), (SQUARE * 1j,)),
    ],
)
def test_makes_the_nodes_of_the_long_way(
    function: Callable[..., Any], arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = graph_of(function, *arguments)
    monkeypatch.setattr(ufuncs, "_RECORDS", {})
    assert short == graph_of(function, *arguments)


def test_an_integer_out_of_range_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(OverflowError):
            graph_of(lambda x: x + 300, SMALL)


def test_asks_for_promotion_once_for_operands_of_equal_types(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*arguments: Any) -> Any:
        asked.append(arguments)
        return loop_types(*arguments)

    loop_types = single_records.loop_types
    monkeypatch.setattr(single_records, "loop_types", counted)
    single_records._call.cache_clear()

    def steps(x: Any) -> Any:
        for step in range(20):
            x = x * 0.5 + float(step)
        return x

    graph_of(steps, np.ones((3, 5)))
    assert len(asked) == 2
