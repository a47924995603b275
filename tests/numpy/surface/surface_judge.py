"""Judges one call of NumPy on arrays: traced as a user's function is, its graph evaluated, and all of it compared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.helpers.capturing import captured
from tests.helpers.oracles.numpy_oracle import assert_close, packed_strides, writable
from xjit import tree
from xjit.api.entries.shortcut import finish
from xjit.errors import CaptureError
from xjit.fusion.regions.materialized import view_chain
from xjit.ops.define.evaluate import evaluate_graph
from xjit.types import ArrayType

# The kinds of exceptions that have to agree, the narrower ones first.
KINDS = (IndexError, OverflowError, ZeroDivisionError, ValueError, TypeError, ArithmeticError)


def function_of(
    call: str, arrays: Mapping[str, Any], before: str = "{x}"
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call as a function of the arrays that it mentions, and these arrays.

    ``before`` is what the function makes of each array before the call sees it.
    """
    text = call if re.match(r"[a-z]\b|np\.|\(", call) else f"np.{call}"
    names = [name for name in compile(text, call, "eval").co_names if name in arrays]
    listed, seen = ", ".join(names), ", ".join(before.format(x=name) for name in names)
    source = text if before == "{x}" else f"(lambda {listed}: {text})({seen})"
    function: Callable[..., Any] = eval(f"lambda {listed}: {source}", {"np": np})
    return function, tuple(arrays[name] for name in names)


def judge(
    call: str,
    arrays: Mapping[str, Any],
    ulp: float = 0.0,
    *,
    zeros: bool = True,
    before: str = "{x}",
    memory: bool = True,
) -> str:
    """ "" if the traced call gives NumPy's answer, or raises as NumPy does; why not in words if it is refused.

    Raises AssertionError for any difference, with ``memory`` also in what shares memory, and in flags.
    """
    function, operands = function_of(call, arrays, before)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted, error = function(*operands), None
        except Exception as raised:
            wanted, error = None, raised
        try:
            found, leaves = captured(function, *operands)
            values = found.guards.fetch(leaves)
            results = evaluate_graph(found.graph, [np.asarray(value) for value in values])
        except Exception as raised:
            return same_error(error, raised)
    if error is not None:
        raise AssertionError(f"NumPy raises {error!r}")
    wants, structure = tree.flatten(wanted)
    assert found.out_tree == structure, f"{found.out_tree} for {structure}"
    for want, output in zip(wants, found.outputs, strict=True):
        same_result(want, output, found.graph, results, leaves, ulp, zeros)
        if memory and output.source == "graph" and isinstance(want, np.ndarray) and want.size:
            same_memory(want, output, found.graph, values, leaves)
    return ""


def same_error(wanted: Exception | None, raised: Exception) -> str:
    """ "" if both are of one built-in kind; the message of a refusal."""
    if wanted is not None:
        kind = next((kind for kind in KINDS if isinstance(wanted, kind)), type(wanted))
        if isinstance(raised, kind):
            return ""
        if not isinstance(raised, CaptureError):
            raise AssertionError(f"{raised!r} for {wanted!r}") from raised
    elif not isinstance(raised, CaptureError):
        raise AssertionError(f"{raised!r}, where NumPy has an answer") from raised
    return str(raised)


def same_result(want: Any, output: Any, graph: Any, results: Any, leaves: Any, ulp: float, zeros: bool) -> None:
    """One leaf: its type, element type, shape, memory order and numbers."""
    if output.source != "graph":
        got = output.value if output.path is None else output.path.read(leaves)
        plain = not isinstance(want, np.ndarray) and type(got) is type(want)
        assert got is want or (plain and got == want), f"{got!r} for {want!r}"
        return
    got = results[output.index]
    if output.python is not None:
        assert type(want) is output.python, f"a Python {output.python} for {type(want)}"
    else:
        assert isinstance(want, np.ndarray | np.generic), f"an array for {want!r}"
        assert output.scalar == isinstance(want, np.generic), f"scalar: {output.scalar} for {type(want)}"
        assert got.dtype == want.dtype, f"{got.dtype} for {want.dtype}"
    want = np.asarray(want)
    assert got.shape == want.shape, f"{got.shape} for {want.shape}"
    if want.size and not output.scalar:
        bound = graph.outputs[output.index].aval  # as large as may be, where only the run knows the length
        mine = packed_strides(ArrayType(bound.dtype, got.shape, bound.order))
        theirs = [s for s, n in zip(np.copy(want, "K").strides, want.shape, strict=True) if n > 1]
        assert mine == theirs, f"strides {mine} for {theirs}"
    assert_close(got, want, ulp, zeros)


def same_memory(want: Any, output: Any, graph: Any, values: Any, leaves: Any) -> None:
    """One array: the operands whose memory it shows, where its elements lie in it, and whether it can be written."""
    base, *chain = view_chain(graph.outputs[output.index])
    got = np.empty_like(want)
    if output.view:
        given = base in graph.parameters
        got = (
            np.asarray(values[graph.parameters.index(base)])[...]
            if given
            else np.empty(base.aval.shape, base.aval.dtype)
        )
        for step in chain:
            got = step.op.view(got, **step.kwargs)
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    shared = [[bool(np.shares_memory(one, leaf)) for leaf in arrays] for one in (got, want)]
    assert shared[0] == shared[1], f"shares memory: {shared[0]} for {shared[1]}"
    if any(shared[1]):
        steps = [[step for step, size in zip(one.strides, one.shape, strict=True) if size > 1] for one in (got, want)]
        assert steps[0] == steps[1], f"strides of the view {steps[0]} for {steps[1]}"
    got = finish(output, {output.index: got}, leaves)
    assert writable(got) == writable(want), f"writeable: {writable(got)}"
