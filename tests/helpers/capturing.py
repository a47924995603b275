"""Captures a function, evaluates its graph with NumPy and compares: what the tests of capturing share."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.capture import Captured, capture
from xjit.ir.current import current
from xjit.ops.define.evaluate import evaluate_graph


def captured(function: Any, *args: Any, **kwargs: Any) -> tuple[Captured, list[Any]]:
    leaves, structure = tree.flatten((args, kwargs))
    found = capture(function, leaves, structure)
    assert found.guards.holds(leaves), found.guards.reason(leaves)
    assert current() is None
    return found, leaves


def run(found: Captured, leaves: list[Any]) -> Any:
    """The result of a captured function, its graph evaluated with NumPy."""
    values = found.guards.fetch(leaves)
    assert values is not None, found.guards.reason(leaves)
    results = evaluate_graph(found.graph, [np.asarray(value) for value in values])
    finished = []
    for output in found.outputs:
        if output.source == "graph":
            array = results[output.index]
            finished.append(output.python(array.item()) if output.python else array[()] if output.scalar else array)
        else:
            finished.append(output.value if output.path is None else output.path.read(leaves))
    return tree.unflatten(found.out_tree, finished)


def check(function: Any, *args: Any, **kwargs: Any) -> Captured:
    """Captures, evaluates and compares with NumPy, types included; then once more with other numbers."""
    found, leaves = captured(function, *args, **kwargs)
    assert_same(run(found, leaves), function(*args, **kwargs))
    others = [leaf + leaf if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    other_args, other_kwargs = tree.unflatten(tree.flatten((args, kwargs))[1], others)
    if found.guards.holds(others):
        assert_same(run(found, others), function(*other_args, **other_kwargs))
    return found


def assert_same(result: Any, expected: Any) -> None:
    result_leaves, result_tree = tree.flatten(result)
    expected_leaves, expected_tree = tree.flatten(expected)
    assert result_tree == expected_tree
    for one, other in zip(result_leaves, expected_leaves, strict=True):
        assert type(one) is type(other)
        if isinstance(other, np.ndarray | np.generic):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=1e-12)
        else:
            assert one == other


def check_mutation(monkeypatch: Any, mutation: tuple[Any, Any, str], *args: Any) -> None:
    """Of (function, change, words): the trace is right, the change noticed and named, and a new trace right again."""
    function, change, words = mutation
    found, leaves = captured(function, *args)
    assert_same(run(found, leaves), function(*args))
    change(monkeypatch)
    assert not found.guards.holds(leaves)
    assert words in found.guards.reason(leaves)
    fresh, leaves = captured(function, *args)
    assert_same(run(fresh, leaves), function(*args))
