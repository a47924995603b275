"""Traces as users meet them: counts, reasons to trace again, warnings, and how many are kept."""

from __future__ import annotations

import array
import ctypes
import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.api.traces import known_traces
from xjit.errors import RetraceWarning
from xjit.inspect.statistics import Statistics

LINE = np.arange(6.0)


def test_statistics() -> None:
    function = xjit.jit(lambda x: np.tanh(x) * 1.0625 + 0.3)
    assert function.stats() == Statistics(0, 0, 0, 0, 0.0, ())
    function(LINE)
    function(LINE + 1.0)
    first = function.stats()
    assert (first.traces, first.fallbacks, first.retraces) == (1, 0, ())
    assert first.compiles + first.cache_hits == 1
    function(np.arange(50.0))
    second = function.stats()
    assert (second.traces, second.compiles) == (2, first.compiles), "a new shape finds its kernel again"
    assert second.cache_hits == first.cache_hits + 1
    assert second.compile_seconds == first.compile_seconds


def test_retraces_are_explained_in_words() -> None:
    function = xjit.jit(lambda x, scale=1.0: x * scale)
    function(LINE)
    function(np.arange(7.0))
    function(np.arange(7, dtype=np.float32))
    function(np.arange(14.0)[::2])
    function(np.arange(7.0), 2)
    function([np.arange(7.0)][0], scale=np.float32(3.0))
    reasons = function.stats().retraces
    assert reasons[0] == "x changed from f64[6] to f64[7]"
    assert reasons[1] == "x changed from f64[7] to f32[7]"
    assert reasons[2].startswith("x changed from f32[7] to f64[7] with strides (16,)")
    assert len(reasons) == function.stats().traces - 1 == 5
    assert all(isinstance(reason, str) and reason for reason in reasons)


def test_values_that_python_needs_are_guards() -> None:
    def repeated(x: Any, times: int) -> Any:
        for one in [1.0] * times:
            x = x + one
        return x

    function = xjit.jit(repeated)
    assert function(LINE, 2)[0] == 2.0 and function(LINE, 3)[0] == 3.0 and function(LINE, 2)[0] == 2.0
    assert function.stats().traces == 2
    assert "times" in function.stats().retraces[0]


def test_the_eighth_retrace_for_one_cause_warns() -> None:
    def repeated(x: Any, times: int) -> Any:
        return x * math.factorial(times)

    function = xjit.jit(repeated)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for times in range(12):
            function(LINE, times)
    found = [one for one in caught if one.category is RetraceWarning]
    assert len(found) == 1
    assert "times" in str(found[0].message) and "8 times" in str(found[0].message)
    assert found[0].filename == __file__


def test_the_warning_as_an_error_is_the_users() -> None:
    function = xjit.jit(lambda x, times: x * math.factorial(times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RetraceWarning, match="times"):
            for times in range(12):
                function(LINE, times)
        assert function(LINE, 9)[0] == LINE[0] * math.factorial(9)
    assert function.stats().fallbacks == 0


def integers() -> list[np.ndarray[Any, Any]]:
    """The same numbers in every way in which arrays of 64-bit integers come about."""
    plain = np.arange(4, dtype=np.int64)
    return [
        plain,
        *(plain.astype(code) for code in "lq"),
        np.frombuffer(plain.tobytes(), "q"),
        np.ctypeslib.as_array((ctypes.c_longlong * 4)(*range(4))),
        np.ctypeslib.as_array((ctypes.c_int64 * 4)(*range(4))),
        np.asarray(memoryview(array.array("q", range(4)))),
    ]


def test_equal_element_types_share_a_trace() -> None:
    function = xjit.jit(lambda x: x + 1)
    for given in integers():
        np.testing.assert_array_equal(function(given), [1, 2, 3, 4])
    assert function.stats().traces == 1
    sums = xjit.jit(lambda x, y: (x + y, x.sum()))
    for one in integers():
        for other in integers():
            np.testing.assert_array_equal(sums(one, other)[0], [0, 2, 4, 6])
    assert sums.stats().traces == 1
    unsigned = xjit.jit(lambda x: np.sort(x)[::-1] * 2)
    for code in "LQ":
        np.testing.assert_array_equal(unsigned(np.arange(3, dtype=code)), np.arange(3, dtype=code)[::-1] * 2)
    assert unsigned.stats().traces == 1


def test_numpy_scalars_of_equal_types_share_a_trace() -> None:
    function = xjit.jit(lambda x, number, unused: x * number)
    for number, unused in itertools.product((np.longlong(3), np.int64(3), np.dtype("l").type(3)), repeat=2):
        result = function(LINE, number, unused)
        np.testing.assert_array_equal(result, LINE * 3)
    assert function.stats().traces == 1
    assert function(LINE, np.int32(3), np.int64(3)).dtype == np.float64
    assert function.stats().traces == 2


def test_what_describes_a_type_takes_no_memory_of_its_size() -> None:
    """The arrays of one number look as if they had 64 GiB, more than there is."""
    function = xjit.jit(lambda x: x[:3] + 1.0)
    for size in (2**33, 2**33 + 1, 2**34):
        np.testing.assert_array_equal(function(np.broadcast_to(np.float64(1.0), (size,))), [2.0, 2.0, 2.0])
    assert [reason.partition(" with")[0] for reason in function.stats().retraces] == [
        "x changed from f64[8589934592]",
        "x changed from f64[8589934593]",
    ]


def test_new_shapes_never_warn() -> None:
    function = xjit.jit(lambda x: x + 1.0)
    for size in range(1, 30):
        function(np.zeros(size))
    assert function.stats().compiles + function.stats().cache_hits == 29


def test_clear_forgets() -> None:
    function = xjit.jit(lambda x: x * 1.5)
    function(LINE)
    function.clear()
    assert function.stats().traces == 0
    assert function(LINE)[1] == 1.5
    assert function.stats().traces == 1 and function.stats().compiles == 0


@pytest.fixture
def few_traces(monkeypatch: pytest.MonkeyPatch) -> int:
    """Functions keep so many traces."""
    monkeypatch.setattr(known_traces, "MAXIMUM_TRACES", 12)
    return 12


def test_the_oldest_trace_is_dropped(few_traces: int) -> None:
    function = xjit.jit(lambda x: x + 1.0)
    for size in range(1, few_traces + 2):
        function(np.zeros(size))
    count = function.stats().traces
    function(np.zeros(few_traces + 1))
    function(np.zeros(2))
    assert function.stats().traces == count
    function(np.zeros(1))
    assert function.stats().traces == count + 1


@pytest.mark.filterwarnings("ignore::xjit.errors.RetraceWarning")
def test_the_oldest_trace_of_one_kind_of_call_is_dropped_alone(few_traces: int) -> None:
    rolled = xjit.jit(lambda x, n: np.roll(x, n))
    x = np.arange(29.0)
    for n in range(1, few_traces + 2):  # each is a value that decides what is traced
        rolled(x, n)
    traces = rolled.stats().traces
    for n in range(few_traces + 1, 1, -1):
        np.testing.assert_array_equal(rolled(x, n), np.roll(x, n))
    assert rolled.stats().traces == traces


def test_a_trace_in_use_stays(few_traces: int) -> None:
    """It may be traced again once in a while, not at every call."""
    function = xjit.jit(lambda x: x + 1.0)
    shapes = 3 * few_traces
    for size in range(1, shapes):
        function(np.zeros(size))
        function(np.zeros(1))
    assert function.stats().traces < shapes + 4


@pytest.mark.parametrize("numbers", [True, False])
def test_the_eighth_change_of_a_type_warns(numbers: bool) -> None:
    """From one type of number to the next, or from numbers to arrays and back."""
    function = xjit.jit(lambda x, by: (x * by).sum())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for size, dtype in enumerate("bhilBHILfd" if numbers else "bhilf"):
            function(LINE, np.dtype(dtype).type(2))
            if not numbers:
                function(LINE, np.ones((size + 1, 6)))
    found = [str(one.message) for one in caught if one.category is RetraceWarning]
    assert len(found) == 1 and "by changed from" in found[0]
