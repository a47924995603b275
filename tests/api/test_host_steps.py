"""Steps of compiled programs that NumPy runs: refused under strict, otherwise one warning for each reason."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import REASON, lenient, operation_of, tripled
from xjit import ops
from xjit.errors import FallbackWarning, TargetError

LINE = np.arange(6.0)


def scaled(x: Any, y: Any) -> Any:
    shifted = x + y
    return tripled(shifted * 2.0) - 1.0


def line_in_scaled() -> str:
    return f"{__file__}:{inspect.getsourcelines(scaled)[1] + 2}, in scaled"


def assert_four_parts(text: str) -> None:
    """Check the four parts of a message: what is the matter, the user's line, where the operand came from, what to
    do.
    """
    head, at, *origin, cost, fix = text.splitlines()
    assert head.endswith(f"tripled of float64[6] has no compiled form: {REASON}")
    assert at == f"  at {line_in_scaled()}"
    assert origin[0].startswith("  from return tripled(shifted * 2.0) - 1.0 -> float64[6], test_host_steps.py:")
    assert origin[-1] == "  from argument x: float64[6]"
    assert cost.startswith("  cost: NumPy's time for this step") and fix.startswith("  fix: ")
    assert len(text.splitlines()) <= 12


@pytest.mark.parametrize("how", ["option", "environment"])
def test_strict_refuses(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "1" if how == "environment" else "0")
    function = xjit.jit(strict=how == "option")(scaled)
    for _ in range(2):
        with pytest.raises(TargetError) as caught:
            function(LINE, LINE)
        assert_four_parts(str(caught.value))
    assert function.stats().compiles == 0


def test_one_warning_for_each_reason() -> None:
    function = xjit.jit(scaled)
    with lenient(), pytest.warns(FallbackWarning) as caught:
        np.testing.assert_array_equal(function(LINE, LINE), LINE * 12.0 - 1.0)
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert text.startswith("scaled runs a step through NumPy: ")
    assert_four_parts(text)
    with lenient(), warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(function(LINE, LINE), LINE * 12.0 - 1.0)
        function(LINE[:3], LINE[:3])  # another program, for the same reason
    assert function.stats().fallbacks == 2


def test_further_reasons_have_warnings_of_their_own() -> None:
    other = operation_of("other", "of another kind")
    function = xjit.jit(lambda x: tripled(other(tripled(x))))
    with lenient(), pytest.warns(FallbackWarning) as caught:
        np.testing.assert_array_equal(function(LINE), LINE * 27.0)
    texts = [str(one.message) for one in caught]
    assert len(texts) == 2 and REASON in texts[0] and "of another kind" in texts[1]
    assert function.stats().fallbacks == 3


def test_warnings_made_errors_leave_a_working_function() -> None:
    function = xjit.jit(scaled)
    with lenient():
        with pytest.raises(FallbackWarning, match=REASON):  # the tests make every warning an error
            function(LINE, LINE)
        np.testing.assert_array_equal(function(LINE, LINE), LINE * 12.0 - 1.0)


def test_library_calls_are_none() -> None:
    square = np.arange(9.0).reshape(3, 3)
    function = xjit.jit(strict=True)(lambda x: (x + 1.0) @ x)
    np.testing.assert_array_equal(function(square), (square + 1.0) @ square)
    assert function.stats().fallbacks == 0


def test_types_outside_of_the_gap_are_compiled() -> None:
    counts = np.arange(6)
    function = xjit.jit(strict=True)(lambda x: tripled(x) + 1)
    np.testing.assert_array_equal(function(counts), counts * 3 + 1)
    assert function.stats().fallbacks == 0


def test_obeying_errstate_is_no_fallback() -> None:
    """``errors="numpy"`` asks for NumPy, operation by operation."""
    function = xjit.jit(strict=True, errors="numpy")(scaled)
    np.testing.assert_array_equal(function(LINE, LINE), LINE * 12.0 - 1.0)


def test_no_fallback_refuses_programs_that_were_built_before(monkeypatch: pytest.MonkeyPatch) -> None:
    function = xjit.jit(scaled)
    assert any(step.startswith("NumPy runs tripled") for step in function.explain(LINE, LINE).steps)
    with lenient(), pytest.warns(FallbackWarning):
        function(LINE, LINE)
    monkeypatch.setenv("XJIT_NO_FALLBACK", "1")
    with pytest.raises(TargetError, match="tripled would run through NumPy"):
        function(LINE, LINE)


def test_results_under_numpys_errors_are_those_of_compiled_programs() -> None:
    """Writable, in NumPy's memory order, and sharing memory as in NumPy."""

    def function(x: Any) -> Any:
        doubled = x * 2.0
        return x.sum(axis=0), x @ x.T, np.dot(x, x.T), doubled, doubled[1:], x.T.copy(), x[1:], x.view(), x

    x = np.arange(12.0).reshape(3, 4)
    found, expected = xjit.jit(strict=True, errors="numpy")(function)(x), function(x)
    for one, other in zip(found, expected, strict=True):
        assert one.strides == other.strides and one.flags.writeable and (one is x) == (other is x)
        np.testing.assert_array_equal(one, other)
    for results in (found, expected):
        apart = {(i, k) for i in range(9) for k in range(i) if not np.shares_memory(results[i], results[k])}
        assert {(i, k) for i in range(9) for k in range(i)} - apart == {(4, 3), (7, 6), (8, 6), (8, 7)}


def ordered(x: Any, shift: Any) -> Any:
    """By the bits as XLA's comparators take them, moved by a number from outside of the comparator."""

    def bits(element: Any) -> Any:
        found = ops.bitcast_convert_type(element, "s32")
        folded = ops.select(ops.lt(found, np.int32(0)), ops.xor(found, np.int32(0x7FFFFFFF)), found)
        return ops.shift_right_arithmetic(folded, shift)

    return ops.sort(x * 2, lambda a, b: ops.lt(bits(a), bits(b)))


def test_sorts_by_what_is_computed_of_elements_need_no_step(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_NO_FALLBACK", "1")
    function = xjit.jit(ordered)
    x = rng.standard_normal((3, 500)).astype(np.float32)
    np.testing.assert_array_equal(function(x, np.int32(0)), np.sort(x * 2))
    coarse = function(x, np.int32(30))  # by the sign and the magnitude above 2, stable otherwise
    kinds = np.where(np.abs(coarse) >= 2, np.copysign(2, coarse), np.copysign(1, coarse))
    assert (np.diff(kinds) >= 0).all()
    assert function.stats().fallbacks == 0
