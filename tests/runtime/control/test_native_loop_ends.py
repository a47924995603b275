"""Native loops that end early, run in several threads, or stand among steps that need Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests.helpers.step_programs import Steps, begin, loading, made, run
from tests.runtime.control.test_native_loops import MAKERS, X, plus_one
from xjit.errors import ArgumentError
from xjit.ir.source_location import NOWHERE, Where
from xjit.runtime.parallel.threads import threads
from xjit.runtime.spec import CallStep, Failure, Operation, ProgramSpec, PythonStep, ViewStep
from xjit.runtime.steps import native_groups, program

BOUND = Failure(
    Operation("require", (("error", "value"), ("message", "the value is over the bound"))), Where("user.py", 7, "f")
)


def bounded(turns: int) -> ProgramSpec:
    """Adds one in each turn, and fails where an element comes to eight."""
    steps = begin(X)

    def body(inner: Steps, _: int, value: int) -> tuple[int]:
        fine = inner.run("a >= 8.0", value, failure=BOUND)
        return (inner.run("a + 1.0", fine),)

    return made(steps, 1, steps.count(turns, [0], body))


@MAKERS
def test_a_status_ends_the_loop_and_raises_at_the_line(maker: str) -> None:
    assert run(bounded(4), X, maker=maker).tolist() == (X + 4.0).tolist()
    entry = program.load(bounded(10**9 if maker == "native" else 100), loading(maker)).direct
    for _ in range(3):
        with pytest.raises(ArgumentError, match=r"over the bound[^$]*user.py:7"):
            entry(X)


@MAKERS
def test_a_status_in_a_block_that_is_not_chosen_is_not_set(maker: str) -> None:
    steps = begin(np.int32(0), X + 10.0)
    chosen = steps.branch(0, lambda s: (s.run("a * 2.0", 1),), lambda s: (s.run("a >= 8.0", 1, failure=BOUND),))
    spec = made(steps, 2, chosen)
    assert run(spec, np.array(0, np.int32), X + 10.0, maker=maker).tolist() == (X * 2 + 20.0).tolist()
    with pytest.raises(ArgumentError):
        run(spec, np.array(1, np.int32), X + 10.0, maker=maker)


def test_failures_and_results_leave_no_memory_behind() -> None:
    steps = begin(X)
    pair = steps.count(3, [0, 0], lambda s, _, a, b: (b, s.run("z + b", a, b)))
    good, bad, exchanging = (
        program.load(spec, loading()).direct for spec in (bounded(4), bounded(100), made(steps, 1, pair))
    )

    def calls() -> None:
        for _ in range(200):
            good(X)
            exchanging(X)
            with pytest.raises(ArgumentError):
                bad(X)

    calls()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        calls()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("chunk", [1000, 64])
def test_several_threads_run_one_program(chunk: int) -> None:
    x = np.arange(1000.0)
    steps = begin(x)
    spec = made(
        steps, 1, steps.count(300, [0], lambda s, _, a: (s.run("a * 0.5 + b", a, 0, chunk=chunk, heavy=True),))
    )
    entry = program.load(spec, loading()).direct
    expected = np.zeros((8, 1000))
    for number in range(8):
        value = x + number
        for _ in range(300):
            value = value * 0.5 + (x + number)
        expected[number] = value
    found: dict[int, list[Any]] = {number: [] for number in range(8)}

    def work(number: int) -> None:
        with threads(1 + number % 3):
            for _ in range(20):
                found[number].append(entry(x + number))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    for number, arrays in found.items():
        assert len(arrays) == 20
        for array in arrays:
            np.testing.assert_array_equal(array, expected[number])


INTERRUPTED = """
import signal, sys, threading, time
import numpy as np
from tests.helpers.step_programs import begin, loading, made
from xjit.runtime.steps import program

x = np.arange(float(sys.argv[1]))
steps = begin(x)
options = {"chunk": int(sys.argv[2]), "heavy": sys.argv[2] != sys.argv[1]}
(result,) = steps.count(10**15, [0], lambda s, _, a: (s.run("a * 0.5 + 1.0", a, **options),))
entry = program.load(made(steps, 1, [result]), loading()).direct
(short,) = (again := begin(x)).count(3, [0], lambda s, _, a: (s.run("a + 1.0", a),))
second = program.load(made(again, 1, [short]), loading()).direct
held = sys.getrefcount(x)
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in a background job
for _ in range(2):
    try:
        print("ready", flush=True)
        entry(x)
    except KeyboardInterrupt:
        print("interrupted", time.time(), sys.getrefcount(x) - held, flush=True)
print(second(x).tolist() == (x + 3.0).tolist(), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
@pytest.mark.parametrize(("size", "chunk"), [("5", "5"), ("200000", "200000"), ("200000", "1000")])
def test_an_interrupt_ends_a_loop_at_once(size: str, chunk: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, size, chunk]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        limit = threading.Timer(60, child.kill)
        limit.start()
        for _ in range(2):
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.3)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            word, when, held = child.stdout.readline().split()
            assert (word, held) == ("interrupted", "0")
            assert float(when) - sent < 5.0  # ten times the limit of half a second
        assert child.stdout.readline() == "True\n"
        assert child.wait() == 0
        limit.cancel()


# Steps that need Python


def negated(steps: Steps, value: int) -> int:
    """The negative of a value, by the reference of an operation."""
    result = steps.slot(steps.layouts[value])
    steps.steps.append(CallStep(Operation("neg"), (value,), (result,), steps.layouts[value], NOWHERE))
    return result


@MAKERS
def test_inner_loops_of_loops_that_need_python_are_native(maker: str) -> None:
    steps = begin(X)

    def outer(inner: Steps, _: int, value: int) -> tuple[int]:
        (added,) = inner.count(3, [value], plus_one)
        return (negated(inner, added),)

    spec = made(steps, 1, steps.count(5, [0], outer))
    expected = X
    for _ in range(5):
        expected = -(expected + 3.0)
    assert run(spec, X, maker=maker).tolist() == expected.tolist()
    assert native_groups.reasons(spec) == ("neg is computed by a library", "")
    text = program.load(spec, loading(maker)).direct
    assert type(text).__name__ == "function"


@MAKERS
def test_loops_between_other_steps_hand_arrays_over(maker: str) -> None:
    """One that reads what a call made, and one whose result a piece in Python reads."""
    steps = begin(X)
    first = negated(steps, 0)
    (added,) = steps.count(3, [first], lambda s, _, a: (s.run("a * 2.0 + b", a, 0),))
    seen, last = steps.slot(steps.layouts[0]), steps.run("a * 3.0", added)
    steps.steps.append(PythonStep("look", (last, added), (seen,)))
    spec = made(steps, 1, [seen, last])
    calls = loading(maker, {"look": lambda a, b: (a + b,)})
    found, tripled = program.load(spec, calls).direct(X)
    expected = -X
    for _ in range(3):
        expected = expected * 2.0 + X
    assert found.tolist() == (4.0 * expected).tolist()
    assert tripled.tolist() == (3.0 * expected).tolist()
    assert native_groups.reasons(spec) == ("",)


def test_reasons_name_the_step() -> None:
    def reason(step: Any) -> str:
        steps = begin(X)

        def body(inner: Steps, _: int, value: int) -> tuple[int]:
            result = inner.slot(inner.layouts[value])
            inner.steps.append(step(value, result))
            return (result,)

        return native_groups.reasons(made(steps, 1, steps.count(2, [0], body)))[0]

    layout = begin(X).layouts[0]
    call = lambda name, why: lambda a, b: CallStep(Operation(name), (a,), (b,), layout, NOWHERE, why)  # noqa: E731
    assert reason(call("sort", "")) == "sort is computed by a library"
    assert reason(call("gcd", "no code")) == "gcd runs through NumPy: no code"
    assert reason(lambda a, b: PythonStep("look", (a,), (b,))) == "look runs in Python"
    reverse = (Operation("slice", (("start", (0,)), ("limit", (5,)), ("strides", (2,)))),)
    assert reason(lambda a, b: ViewStep((a,), (b,), reverse)) == "hands on arrays of different layouts"
