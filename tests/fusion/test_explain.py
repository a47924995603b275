"""Explanations: kernels, operations, bytes, how each runs, and why; as numbers and as text."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers import formulas
from tests.helpers.gaps import REASON, lenient, tripled
from tests.helpers.kernel_executors import PROCESSOR, many_pieces, on
from xjit.inspect.explain import Explanation

LINE = np.ones(1000)
ROWS = np.ones((64, 100))


def explained(function: Any, *arguments: Any, **named: Any) -> Explanation:
    return xjit.jit(function).explain(*arguments, **named)


def test_numbers_of_one_kernel() -> None:
    plan = explained(formulas.softmax, ROWS)
    (kernel,) = plan.kernels
    assert (kernel.domain, kernel.reduced) == ((64, 100), (1,))
    assert (kernel.bytes_read, kernel.bytes_written) == (ROWS.nbytes, ROWS.nbytes)
    assert plan.bytes_moved == plan.minimum_bytes == 2 * ROWS.nbytes
    assert {"exp", "reduce max", "reduce add", "div"} <= set(kernel.operations)
    assert [line.split(":")[0] for line in kernel.lines] == ["formulas.py"] * len(kernel.lines)


def test_the_text_holds_the_numbers() -> None:
    plan = explained(formulas.softmax, ROWS)
    first, second, *rewrites, third = str(plan).splitlines()
    assert [one.split("(")[0].strip() for one in rewrites][:2] == ["StageValue", "StageInOutput"]
    assert first == "softmax: 1 kernel"
    assert second.startswith("  1. kernel over 64x100 reducing axes (1,), ")
    assert "reads 51,200 bytes, writes 51,200" in second
    assert third == "  bytes moved 102,400, at least 102,400 (1.00x)"


def test_reasons_follow_the_numbers() -> None:
    text = str(explained(lambda x: np.exp(x)[1:] - np.exp(x)[:-1], LINE))
    assert "2 kernels" in text.splitlines()[0]
    reasons = [line for line in text.splitlines() if line.startswith("  because: ")]
    assert any(
        re.search(r"exp at test_explain.py:\d+ is stored: pulled in, its 1000 elements", one) for one in reasons
    )


def test_equal_operations_are_counted() -> None:
    assert ": 2 mul, 2 add" in str(explained(lambda x, y: x * x + y * y + x, LINE, LINE))


def test_parallel_and_serial() -> None:
    assert not explained(formulas.chain, LINE, LINE).kernels[0].parallel
    large = np.ones(2_000_000)
    kernel = explained(formulas.chain, large, large).kernels[0]
    assert kernel.parallel and kernel.pieces > 1
    assert f"parallel in {kernel.pieces} pieces" in str(kernel)
    cut = xjit.jit(formulas.chain, target=on(many_pieces(PROCESSOR)))
    assert cut.explain(LINE, LINE).kernels[0].pieces == 5


def test_explaining_does_not_depend_on_threads() -> None:
    with xjit.threads(1):
        one = explained(formulas.softmax, ROWS)
    assert one == explained(formulas.softmax, ROWS)


def test_library_calls_are_steps() -> None:
    plan = explained(lambda x, w: np.maximum(x @ w, 0.0), ROWS, np.ones((100, 7)))
    assert len(plan.kernels) == 1 and len(plan.steps) == 2
    assert re.fullmatch(
        r"library call: dot_general \(test_explain.py:\d+\); its bits may depend on the thread count", plan.steps[0]
    )
    assert plan.bytes_moved == ROWS.nbytes + 5600 + 3 * 64 * 7 * 8


def test_steps_of_numpy_say_why() -> None:
    with lenient():
        plan = explained(lambda x: tripled(x * 2.0), LINE)
    step = next(step for step in plan.steps if step.startswith("NumPy runs tripled"))
    assert REASON in step
    assert plan.bytes_moved > plan.minimum_bytes


def test_views_are_no_work() -> None:
    plan = explained(lambda x: x.T[1:], ROWS)
    assert not plan.kernels and plan.steps[0].startswith("no work: slice is a view")


def test_bytes_of_joined_parts() -> None:
    plan = explained(formulas.joined, LINE)
    assert [kernel.bytes_written for kernel in plan.kernels] == [16000]


def test_nothing_to_do() -> None:
    plan = explained(lambda x: x, LINE)
    assert (plan.kernels, plan.bytes_moved) == ((), 0)
    assert ": 0 kernels" in str(plan)


def test_no_data() -> None:
    plan = explained(lambda x: x + 1.0, np.zeros(0))
    assert plan.bytes_moved == plan.minimum_bytes == 0
    assert "(1.00x)" in str(plan)


def test_explaining_compiles_and_runs_nothing() -> None:
    function = xjit.jit(lambda x: np.exp(x) * 1.2345678)
    function.explain(LINE)
    function.source(LINE)
    function.graph(LINE)
    assert function.stats().compiles == function.stats().traces == 0


def test_explanations_are_records() -> None:
    plan = explained(formulas.chain, LINE, LINE)
    assert dataclasses.is_dataclass(plan) and hash(plan) == hash(explained(formulas.chain, LINE, LINE))
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.bytes_moved = 3


def test_named_arguments() -> None:
    assert explained(lambda x, *, scale: x * scale, LINE, scale=2.0).kernels


def test_graphs_and_sources_as_text() -> None:
    function = xjit.jit(formulas.chain)
    graph = function.graph(LINE, LINE)
    assert graph.splitlines()[0] == "chain(%0: f64[1000], %1: f64[1000])"
    assert graph.splitlines()[-1].startswith("  return %")
    assert "formulas.py:" in graph
    assert function.source(LINE, LINE).startswith("def kernel(lo, hi, table):")


def test_errors_are_those_of_a_call() -> None:
    with pytest.raises(xjit.CaptureError, match="trim_zeros"):
        explained(lambda x: np.trim_zeros(x), LINE)


def test_a_result_of_many_parts_has_one_reason_for_each_pair_of_values() -> None:
    def blurred(x: Any) -> Any:
        padded = np.pad(x, 1)
        return padded, padded[:-2, 1:-1] + padded[2:, 1:-1]

    plan = xjit.jit(blurred).explain(np.ones((20, 30)))
    assert len(plan.kernels) == 2
    texts = [re.sub(r"\S+:(\d+)", r"line \1", reason) for reason in plan.reasons]
    padding, adding = (f"line {inspect.getsourcelines(blurred)[1] + offset}" for offset in (1, 2))
    assert texts == [
        f"add [20, 30] at {adding} stays apart from 8 parts of mosaic f64[22,32] at {padding}: the loops run over "
        "other extents or other reduced axes",
        f"add [20, 30] at {adding} stays apart from mosaic [20, 30] at {padding}: a value is read at another "
        "position than it is made at",
    ]


def test_parts_that_lie_over_each_other_are_kernels_of_their_own() -> None:
    plan = explained(lambda x: xjit.ops.pad(x, 0.5, ((1, 0, 2),)), LINE)
    assert len(plan.kernels) == 2
    (reason,) = plan.reasons
    assert reason.endswith("is made in 2 kernels: parts of one result run one after the other")


@pytest.mark.parametrize(
    ("function", "elements"),
    [
        (lambda x: np.cumsum(x, axis=1), 4000),
        (lambda x: np.cumsum(x, axis=1).max(axis=1), 40),
        (lambda x: np.cumsum(x, axis=1)[:, 3:] - np.cumsum(x, axis=1)[:, :-3], 40 * 97),
    ],
    ids=["stored", "reduced", "read at once"],
)
def test_running_values_count_where_they_are_stored(function: Any, elements: int) -> None:
    (kernel,) = xjit.jit(function).explain(np.ones((40, 100))).kernels
    assert kernel.bytes_written == 8 * elements


def test_sorts_do_not_depend_on_threads() -> None:
    (step,) = xjit.jit(lambda x: np.sort(x)).explain(np.ones(4)).steps
    assert step.startswith("library call") and "thread" not in step


def test_rewrites_of_the_loops() -> None:
    found = explained(lambda x: np.sin(x).sum(axis=0), np.ones((50, 4000)))
    names = [one.split("(")[0] for one in found.kernels[0].rewrites]
    assert names == ["Interchange", "Precompute", "Split", "SpecializeRare"]
    assert all(one in str(found) for one in found.kernels[0].rewrites)
    assert explained(lambda x: x + 1, np.ones(50)).kernels[0].rewrites == ()
