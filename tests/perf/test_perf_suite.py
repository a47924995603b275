"""The performance suite measures the right thing: its programs are right, its checks find what they are for."""

from __future__ import annotations

import itertools
import types

import numpy as np
import pytest

from perf import gate
from perf.measuring.measure import Entry, verified_calls
from perf.measuring.peers import JAX, NUMPY, XJIT
from perf.measuring.timing import Samples, interleave, ratio_of, rounds_within
from perf.measuring.verify import WrongResult, check
from perf.programs import BY_NAME, PROGRAMS, Program, over_module
from perf.tables.compile_time import COUNTS, MIXES, new_chain
from perf.tables.memory import plan_of
from perf.thresholds import MOVED_OVER_LEAST_BYTES, OVER_JAX, SINGLE_ENTRIES, thresholds

SOFTMAX = BY_NAME["softmax f32"]


SMALL = [
    pytest.param(program, size, id=f"{program.name}-{size}")
    for program in PROGRAMS
    for size in ("S", "M")
    if size in program.sizes
]


# Programs bound by memory whose plans move more, and what for.
MOVE_MORE = {
    "column mean and deviation f64": "a pass over the columns per reduction",
    "rolling mean f64": "the running sums are stored",
    "logistic gradient f64": "products by BLAS read the features twice",
}


@pytest.mark.parametrize(("program", "size"), SMALL)
def test_programs_are_right_and_planned_as_asked(program: Program, size: str) -> None:
    part = verified_calls(program, size, (NUMPY, XJIT))
    assert set(part.calls) == {"NumPy", "xjit"}
    assert part.fallback is None
    moved, least, kernels = plan_of(program, size)
    assert program.kernels in (None, kernels)
    if program.decided_by == "memory" and program.name not in MOVE_MORE:
        assert moved <= MOVED_OVER_LEAST_BYTES * least


def test_the_suite_is_large_and_varied() -> None:
    assert len(BY_NAME) == len(PROGRAMS) >= 24
    assert set(MOVE_MORE) <= set(BY_NAME)
    assert all({"S", "M", "L"} <= set(program.sizes) for program in PROGRAMS if program.decided_by != "overhead")
    asked = ("softmax", "layernorm", "logsumexp", "z-score", "pairwise", "n-body", "Black-Scholes", "haversine")
    for part in (*asked, "stencil"):
        assert all(program.kernels == 1 for program in PROGRAMS if part in program.name)


@pytest.mark.parametrize("count", COUNTS[:2])
@pytest.mark.parametrize("mix", MIXES)
def test_chains_are_new_and_stay_small(count: int, mix: str, rng: np.random.Generator) -> None:
    x, y = rng.uniform(0.5, 1.0, 50), rng.uniform(0.5, 1.0, 50)
    results = [new_chain(count, MIXES[mix], seed)(x, y) for seed in range(3)]
    assert all(np.all(np.isfinite(result)) and np.max(np.abs(result)) < 100.0 for result in results)
    assert all(not np.array_equal(a, b) for a, b in itertools.combinations(results, 2))


def test_a_function_over_another_module_takes_its_helpers_along() -> None:
    other = types.ModuleType("other")
    vars(other).update({name: getattr(np, name) for name in ("sqrt", "log", "exp", "abs")})
    vars(other)["where"] = lambda condition, a, b: np.zeros_like(a)
    program = BY_NAME["Black-Scholes f64"]
    arrays = program.arguments("S")
    call, _ = over_module(program.function, other)(*arrays)
    assert np.all(call == 0.0)
    assert np.any(program.function(*arrays)[0] != 0.0)


def result_of(program: Program) -> np.ndarray:
    return program.function(*program.arguments("S"))


def test_wrong_results_are_found() -> None:
    expected = result_of(SOFTMAX)
    for wrong in (expected * np.float32(1.0001), expected.astype(np.float64), expected[:, :-1], expected.tolist()):
        with pytest.raises(WrongResult):
            check(SOFTMAX, "xjit", wrong, expected, strict=True)
    for wrong in (expected * np.float32(1.1), expected.astype(np.float64), expected[:, :-1]):
        with pytest.raises(WrongResult):
            check(SOFTMAX, "JAX", wrong, expected, strict=False)


def test_exact_programs_are_held_to_every_bit() -> None:
    program = BY_NAME["arithmetic chain f32"]
    expected = result_of(program)
    wrong = expected.copy()
    wrong[3] = np.nextafter(wrong[3], np.float32(9))
    check(program, "xjit", expected.copy(), expected, strict=True)
    with pytest.raises(WrongResult):
        check(program, "xjit", wrong, expected, strict=True)


def test_every_part_of_a_result_is_checked() -> None:
    program = BY_NAME["Black-Scholes f64"]
    call, put = program.function(*program.arguments("S"))
    with pytest.raises(WrongResult):
        check(program, "xjit", (call, put + 1e-6), (call, put), strict=True)
    with pytest.raises(WrongResult):
        check(program, "xjit", (call,), (call, put), strict=True)


def entry(numpy: float, xjit: float, jax: float, jax_minimum: float | None = None) -> Entry:
    """Return an entry of made-up times, eleven rounds each."""
    steady = {"NumPy": (numpy,) * 11, "xjit": (xjit,) * 11}
    return Entry(SOFTMAX, "M", Samples(steady | {"JAX": (jax_minimum or jax,) + (jax,) * 10}))


def test_gate_lets_fast_entries_pass() -> None:
    assert gate.shortfalls(entry(1e-3, 1e-4, 2e-4)) == []


def test_gate_finds_slow_entries() -> None:
    assert len(gate.shortfalls(entry(1e-3, 1.1e-3, 1e-2))) == 1
    assert len(gate.shortfalls(entry(1e-3, 5e-4, 4e-4))) == 1


def test_gate_allows_short_entries_a_fixed_excess() -> None:
    assert gate.shortfalls(entry(1e-6, 2.4e-6, 1e-5)) == []
    assert len(gate.shortfalls(entry(1e-6, 2.6e-6, 1e-5))) == 1


def test_gate_reads_the_pessimistic_end() -> None:
    noisy = Samples({"NumPy": (1e-3,) * 6 + (2e-3,) * 7, "xjit": (1.2e-3,) * 13})
    ratio = noisy.ratio("NumPy", "xjit")
    assert ratio.low < 0.95 < ratio.median
    assert gate.shortfalls(Entry(SOFTMAX, "M", noisy))


def test_gate_measures_a_shortfall_twice_more() -> None:
    slow, fast = entry(1e-3, 2e-3, 1e-2), entry(1e-3, 1e-4, 1e-2)
    for answers, calls in (([fast], 1), ([slow, fast], 2), ([slow, slow, fast], 3), ([slow, slow, slow], 3)):
        made = iter(answers)
        asked = []

        def again(made=made, asked=asked) -> Entry:
            asked.append(1)
            return next(made)

        assert gate.settled(again) is answers[-1]
        assert len(asked) == calls


def test_thresholds_name_real_programs() -> None:
    assert {threshold.reference for threshold in thresholds(SOFTMAX, "M")} == {NUMPY, JAX}
    assert OVER_JAX not in thresholds(BY_NAME["attention f32"], "L")
    for threshold in SINGLE_ENTRIES:
        assert threshold.size in BY_NAME[str(threshold.program)].sizes
        assert threshold in thresholds(BY_NAME[str(threshold.program)], str(threshold.size))


def test_ratio_of_equal_samples_is_one() -> None:
    ratio = ratio_of((1.0, 2.0, 3.0), (1.0, 2.0, 3.0))
    assert (ratio.median, ratio.minimum) == (1.0, 1.0)
    assert ratio.low == ratio.high == 1.0


def test_everybody_is_sampled_in_every_round() -> None:
    counts = {"a": 0, "b": 0}

    def count(name: str) -> None:
        counts[name] += 1

    samples = interleave({"a": lambda: count("a"), "b": lambda: count("b")}, budget=0.0)
    assert len(samples.seconds["a"]) == len(samples.seconds["b"]) >= 9
    assert min(counts.values()) > 0


def test_what_falls_back_is_told_and_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XJIT_STRICT")

    def refused(x: np.ndarray) -> np.ndarray:
        return np.frompyfunc(float, 1, 1)(x).astype(np.float64)

    program = Program("refused", refused, SOFTMAX.inputs, SOFTMAX.sizes, SOFTMAX.tolerance)
    part = verified_calls(program, "S", (NUMPY, XJIT))
    assert part.fallback
    fallen = Entry(program, "S", interleave(part.calls, 0.0), {}, "because")
    assert gate.shortfalls(fallen)[0] == "runs through NumPy: because"


def test_long_rounds_may_be_few() -> None:
    assert [rounds_within(1.0, one_round) for one_round in (1e-3, 0.05, 0.2, 0.5, 3.0)] == [61, 20, 9, 7, 5]
