"""Cases of operations and the executors that have to agree on them.

A case is a function over arrays, the arrays, and what must come out: literals, or numbers from a formula written
apart from the implementation. Every executor runs every case; adding one is adding a function
``run(function, arrays)`` to EXECUTORS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.helpers.element_executor import run_elements
from xjit import ops
from xjit.ir.context import Trace
from xjit.ir.current import tracing
from xjit.ir.node import Graph
from xjit.ops.define.core import as_operand, lift
from xjit.ops.define.symbolic_value import ScalarValue
from xjit.passes.interpret import interpret
from xjit.types import DTYPES, NAMES, type_of

Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One call: ``op`` names the record that it tests.

    ``expected`` is an array, a tuple of arrays or an error class. ``ulp`` is the permitted distance in representable
    numbers; 0 asks for every bit but those of NaN.
    """

    op: str
    function: Function
    arrays: tuple[Any, ...]
    expected: Any
    ulp: float = 0
    label: str = ""

    def __str__(self) -> str:
        kinds = "-".join(NAMES[array.dtype] for array in self.arrays[:1])
        return ".".join(part for part in (self.op, kinds, self.label) if part)


def array(dtype: str, values: Any) -> np.ndarray[Any, Any]:
    """An array of the element type with XLA's name."""
    return np.array(values).astype(DTYPES[dtype])


# ---- executors


def run_eager(function: Function, arrays: Sequence[Any]) -> Any:
    """Plain calls on arrays."""
    return function(*arrays)


def traced(function: Function, arrays: Sequence[Any]) -> tuple[Graph, bool]:
    """The graph of a function, and whether it returned a tuple."""
    trace = Trace("case", wrap=ScalarValue)
    with tracing(trace):
        values = [ScalarValue(trace.parameter(type_of(one)), trace) for one in arrays]
        result = function(*values)
        parts = result if isinstance(result, tuple) else (result,)
        nodes = tuple(lift(trace, as_operand(part, "case", "result")) for part in parts)
    return trace.finish(nodes), isinstance(result, tuple)


def run_interpreted(function: Function, arrays: Sequence[Any]) -> Any:
    """Traced, then the interpreter."""
    graph, several = traced(function, arrays)
    results = interpret(graph, arrays)
    return results if several else results[0]


def run_by_elements(function: Function, arrays: Sequence[Any]) -> Any:
    """Traced, then computed from the scalar expressions, index maps and pieces of the records."""
    graph, several = traced(function, arrays)
    results = run_elements(graph, arrays)
    return results if several else results[0]


EXECUTORS: dict[str, Callable[[Function, Sequence[Any]], Any]] = {
    "eager": run_eager,
    "interpreted": run_interpreted,
    "elements": run_by_elements,
}


# ---- comparison


def check(case: Case, run: Callable[[Function, Sequence[Any]], Any]) -> None:
    """Asserts that an executor gives what the case expects, in memory of its own, and leaves the operands alone."""
    before = [one.tobytes() for one in case.arrays]
    if isinstance(case.expected, type) and issubclass(case.expected, Exception):
        check_error(case, run)
        return
    got = run(case.function, case.arrays)
    expected = case.expected if isinstance(case.expected, tuple) else (case.expected,)
    assert isinstance(got, tuple) == isinstance(case.expected, tuple), f"{case}: tuple or not: {got!r}"
    for one, other in zip(got if isinstance(got, tuple) else (got,), expected, strict=True):
        assert not any(np.shares_memory(one, operand) for operand in case.arrays), f"{case}: shared memory"
        assert_same(np.asarray(one), np.asarray(other), case.ulp, str(case))
    assert before == [one.tobytes() for one in case.arrays], f"{case}: an operand was written to"


def check_error(case: Case, run: Callable[[Function, Sequence[Any]], Any]) -> None:
    """Asserts that the very class of error is raised, with a message of the agreed form."""
    try:
        got = run(case.function, case.arrays)
    except ops.XjitError as error:
        assert type(error) is case.expected, f"{case}: {type(error).__name__}: {error}"
        assert_message(error)
    else:
        raise AssertionError(f"{case}: expected {case.expected.__name__}, got {got!r}")


def assert_message(error: ops.XjitError) -> None:
    """``ops.<name>: <operand or argument>: <rule>; got <values>``"""
    head, _, rest = error.message.partition(": ")
    subject, _, rule = rest.partition(": ")
    assert head.startswith("ops.") and head[4:].isidentifier(), error.message
    assert subject and rule and ("; got " in rule or "required" in rule or "supported" in rule), error.message


def assert_same(got: Any, expected: Any, ulp: float, name: str) -> None:
    """Same type, dimensions and values; NaN equals NaN, and with ``ulp`` 0 zeros agree in sign."""
    assert got.dtype == expected.dtype, f"{name}: {got.dtype} for {expected.dtype}"
    assert got.shape == expected.shape, f"{name}: {got.shape} for {expected.shape}"
    right = _matches(got, expected, ulp)
    if not np.all(right):
        wrong = np.argwhere(~np.atleast_1d(right))
        place = tuple(wrong[0]) if got.ndim else ()
        raise AssertionError(
            f"{name}: {len(wrong)} of {got.size} differ, first at {place}: got {got[place]!r}, "
            f"expected {expected[place]!r}"
        )


def _matches(got: Any, expected: Any, ulp: float) -> Any:
    with np.errstate(all="ignore"):
        if got.dtype.kind in "biu":
            return got == expected
        if got.dtype.kind == "c":
            if not ulp:
                return _matches(got.real, expected.real, 0) & _matches(got.imag, expected.imag, 0)
            return _near_complex(got, expected, ulp)
        wide, target = got.astype(np.float64), expected.astype(np.float64)
        same = (wide == target) & (np.signbit(wide) == np.signbit(target))
        if ulp:
            same |= (wide == target) | (_distance(got, expected) <= ulp)
        return same | (np.isnan(wide) & np.isnan(target))


def _distance(got: Any, expected: Any) -> Any:
    keys = []
    for one in (got, expected):
        bits = np.ascontiguousarray(one).view(f"i{one.dtype.itemsize}").astype(np.int64)
        keys.append(np.where(bits < 0, np.iinfo(f"i{one.dtype.itemsize}").min - bits, bits))
    first, second = keys  # as integers: floats of this size are hundreds apart
    apart = np.abs(first.astype(np.float64)) + np.abs(second.astype(np.float64))
    distance = np.where((first < 0) == (second < 0), np.abs(first - second).astype(np.float64), apart)
    return np.where(np.isnan(got.astype(np.float64)) | np.isnan(expected.astype(np.float64)), np.inf, distance)


def _near_complex(got: Any, expected: Any, ulp: float) -> Any:
    exact = _matches(got.real, expected.real, 0) & _matches(got.imag, expected.imag, 0)
    error = np.hypot(got.real - expected.real, got.imag - expected.imag)
    size = np.maximum(np.abs(expected), np.finfo(got.dtype).tiny)
    return exact | (error <= ulp * np.finfo(got.dtype).eps * size)
