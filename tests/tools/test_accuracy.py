"""Every vector function on a million arguments of every type, and the measuring of errors itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
import pytest

from tools.accuracy import exact
from tools.accuracy.__main__ import chosen, main
from tools.accuracy.angles import hardest
from tools.accuracy.fingerprints import fingerprint
from tools.accuracy.judge import FORMATS, Verdict, judge, scale_of
from tools.accuracy.measure import (
    PATTERNS_PER_CHUNK,
    SAMPLES_PER_CHUNK,
    Plan,
    arity,
    climb,
    climb_everywhere,
    every_float32,
    known_strata,
    load_state,
    result_of,
    run,
    sampled,
    special_stratum,
    strata_of,
    try_arguments,
)
from tools.accuracy.oracles import ORACLES, WIDE_LONG_DOUBLE
from tools.accuracy.records import RECORDS, has_record, record, split
from tools.accuracy.strata import from_ordered, jitter, ordered, seed
from xjit.codegen.vmath import VECTOR_FUNCTIONS

NAMES = sorted(VECTOR_FUNCTIONS)
MEASURED = [name for name in NAMES if has_record(name)]
SAMPLES = 1_000_000
# Where MPFR computes every single one.
SAMPLES_WITHOUT_SCREEN = 10_000
EVERY_FLOAT32 = {"exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh", "erf"}


# ---- the functions


def test_every_real_function_can_be_measured() -> None:
    assert [name for name in NAMES if split(name)[1] in FORMATS and not has_record(name)] == []


def test_the_records_ask_for_every_float32_of_the_most_used_functions() -> None:
    assert {row.operation for row in RECORDS.values() if "f32" in row.exhaustive} >= EVERY_FLOAT32


@pytest.mark.parametrize("name", MEASURED)
def test_a_million_samples_are_within_the_stated_error(name: str) -> None:
    screened = record(name).oracle.screen(split(name)[1]) is not None
    plan = sampled(name, SAMPLES if screened else SAMPLES_WITHOUT_SCREEN)
    verdict = Verdict()
    for chunk in range(plan.chunks):
        for inputs in plan.inputs(chunk):
            try_arguments(verdict, name, inputs)
    assert verdict.count >= SAMPLES or not screened
    assert verdict.mistakes == {}, verdict.examples
    assert verdict.error <= VECTOR_FUNCTIONS[name].error, verdict.arguments


# ---- judging


def judged(name: str, x: np.ndarray[Any, Any], result: np.ndarray[Any, Any]) -> Verdict:
    verdict = Verdict()
    judge(verdict, *split(name), (x,), result, record(name).oracle)
    return verdict


@pytest.mark.parametrize("name", ["exp_f32", "exp_f64", "erf_f64", "sin_f64"])
def test_planted_errors_are_found(name: str) -> None:
    dtype = FORMATS[split(name)[1]].dtype
    x = np.linspace(0.1, 1.9, 1000).astype(dtype)
    right = ORACLES[split(name)[0]].single(x.astype(np.float64)).astype(dtype)
    assert judged(name, x, right).error < 3.0
    wrong = right.copy()
    wrong[417] = from_ordered(ordered(wrong[417:418]) + 100, dtype)[0]
    verdict = judged(name, x, wrong)
    assert 97 < verdict.error < 103
    assert verdict.arguments == (float(x[417]).hex(),)
    assert verdict.mistakes == {}


def test_planted_mistakes_of_class_are_found() -> None:
    x = np.array([0.0, -0.0, np.nan, np.inf, 1.0])
    with np.errstate(invalid="ignore"):
        right = np.sin(x)
    assert judged("sin_f64", x, right).mistakes == {}
    assert judged("sin_f64", x, np.abs(right)).mistakes == {"sign of zero": 1}
    assert judged("sin_f64", x, np.where(np.isnan(x), 1.0, right)).mistakes == {"NaN": 1}
    assert judged("exp_f64", x, np.minimum(np.exp(x), 1e300)).mistakes == {"infinity": 1}


@pytest.mark.parametrize("kind", FORMATS)
def test_overflow_is_judged_like_any_rounding(kind: str) -> None:
    form = FORMATS[kind]
    most = np.finfo(form.dtype).max
    last = form.dtype(math.log(float(most)))
    last = last if np.exp(form.wide(last)) < float(most) else np.nextafter(last, form.dtype(0))
    beyond = np.array([np.nextafter(last, form.dtype(np.inf))])
    assert judged(f"exp_{kind}", beyond, np.array([np.inf], form.dtype)).error < 1.0
    assert judged(f"exp_{kind}", np.array([last]), np.array([np.inf], form.dtype)).error > 1.0
    assert judged(f"exp_{kind}", np.array([100 * last]), np.array([most])).mistakes == {"infinity": 1}


def test_errors_of_tiny_results_are_in_the_smallest_unit() -> None:
    x = np.array([-740.0])
    true = np.exp(x)
    off = from_ordered(ordered(true) + 3, np.float64)
    assert 2.4 < judged("exp_f64", x, off).error < 3.6


@pytest.mark.parametrize("operation", sorted(ORACLES))
def test_screens_are_as_good_as_they_are_taken_to_be(operation: str) -> None:
    for kind, form in FORMATS.items():
        screen = ORACLES[operation].screen(kind)
        if screen is None:
            continue
        for place, stratum in enumerate(RECORDS[operation].strata):
            inputs = stratum.arguments(seed(operation, place, 0), 100, form.dtype)
            check_screen(operation, kind, inputs)


def check_screen(operation: str, kind: str, inputs: tuple[np.ndarray[Any, Any], ...]) -> None:
    oracle, form, function = ORACLES[operation], FORMATS[kind], exact.table()[operation]
    with np.errstate(all="ignore"):
        screen: Any = oracle.screen(kind)
        values = screen(*(x.astype(form.wide) for x in inputs))
    with exact.working_precision():
        for place, value in enumerate(values):
            if not np.isfinite(value) or value == 0:
                continue
            arguments = [gmpy2.mpfr(float(x[place])) for x in inputs]
            true = function(*arguments)
            head = float(value)
            if not math.isfinite(head) or abs(head) < 1e-290:
                continue
            approximate = gmpy2.mpfr(head) + gmpy2.mpfr(float(value - form.wide(head)))
            scale = scale_of(oracle, kind, inputs)
            size = abs(true) if scale is None else max(abs(true), float(scale[place]))
            slack = oracle.slack(kind) * gmpy2.exp2(1 - form.digits) * size + oracle.absolute[kind == "f64"]
            assert abs(approximate - true) <= slack, (arguments, approximate, true)


@pytest.mark.skipif(not WIDE_LONG_DOUBLE, reason="no screen of float64 here")
def test_the_inverse_of_the_error_function_is_one() -> None:
    with exact.working_precision():
        for x in (1e-300, 0.1, 0.5, 0.75, 0.999, 1 - 2.0**-53):
            assert abs(gmpy2.erf(exact.erf_inv(gmpy2.mpfr(x))) / gmpy2.mpfr(x) - 1) < 2.0**-100


# ---- arguments


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_of_floats_are_in_their_order(dtype: Any) -> None:
    x = np.array([-np.inf, -1.5, -1.0, -0.0, 0.0, 1e-45, 1.0, np.inf], dtype)
    numbers = ordered(x)
    assert np.all(np.diff(numbers) >= 0)
    assert np.array_equal(from_ordered(numbers, np.dtype(dtype)), x)
    assert from_ordered(ordered(np.array([1.0], dtype)) + 1, np.dtype(dtype))[0] == np.nextafter(dtype(1), dtype(2))


def test_points_are_met_at_all_distances(rng: np.random.Generator) -> None:
    distance = np.abs(ordered(jitter(rng, np.full(20_000, 0.7), np.float64)) - ordered(np.array([0.7])))
    assert {0, 1, 2, 3} <= set(distance.tolist())
    assert np.histogram(np.log2(distance[distance > 0]), bins=50, range=(0, 50))[0].min() > 100


@pytest.mark.parametrize("operation", sorted(RECORDS))
def test_strata_give_the_same_arguments_again(operation: str) -> None:
    for place, stratum in enumerate(RECORDS[operation].strata):
        for dtype in (np.float32, np.float64):
            first, again = (stratum.arguments(seed(operation, place, 3), 100, dtype) for _ in range(2))
            assert [x.tobytes() for x in first] == [x.tobytes() for x in again]
            assert all(x.shape == (100,) and x.dtype == dtype for x in first)
            assert len(first) == (2 if operation in ("pow", "atan2", "hypot", "fmod", "remainder") else len(first))


def test_hardest_angles_are_those_that_are_known() -> None:
    angles = hardest()
    assert {5.319372648326541e255, 3.576149729694266e39, 3.924293714572882e298} <= set(angles.tolist())
    with gmpy2.context(precision=1400):
        pi = gmpy2.const_pi()
        turns = [gmpy2.mpfr(float(angle)) * 2 / pi for angle in angles]
        distances = [float(abs(turn - gmpy2.rint(turn))) for turn in turns]
    # Of random significands one in 2**51 comes so close.
    assert sum(distance < 2.0**-52 for distance in distances) > 900


# ---- running


def test_all_bit_patterns_are_covered_once() -> None:
    plan, half = every_float32("exp_f32"), every_float32("sin_f32")
    assert (plan.chunks, half.chunks) == (1 << 10, 1 << 9)
    first = np.concatenate([x.view(np.uint32) for (x,) in plan.inputs(3)])
    assert np.array_equal(first, np.arange(3 * PATTERNS_PER_CHUNK, 4 * PATTERNS_PER_CHUNK, dtype=np.uint32))


class Stopped(Exception):
    """Stands for an interruption."""


def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    plan = sampled("pow_f32" if "pow_f32" in NAMES else "exp_f32", 30_000, per_chunk=500)
    whole = run(plan, tmp_path / "whole", False, print)

    def until(limit: int) -> Plan:
        def inputs(chunk: int) -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
            if chunk == limit:
                raise Stopped
            return plan.inputs(chunk)

        return Plan(plan.function, plan.method, plan.chunks, inputs)

    for limit in (3, 9):
        with pytest.raises(Stopped):
            run(until(limit), tmp_path / "parts", True, print)
        (state,) = (tmp_path / "parts").glob("*.json")
        assert load_state(state, plan).next_chunk == limit
    assert run(plan, tmp_path / "parts", True, print) == whole
    assert result_of(plan, whole).count == whole.count
    other = sampled(plan.function, 60_000, per_chunk=500)
    assert load_state(state, other).next_chunk == 0


def test_fingerprints_tell_texts_apart() -> None:
    marks = {fingerprint(name) for name in NAMES}
    assert len(marks) == len(NAMES)
    assert all(len(mark) == 16 for mark in marks)


def test_the_command_chooses_functions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert chosen(["exp"]) == ["exp_f32", "exp_f64"]
    assert chosen(["exp_f64", "log"]) == [
        name for name in VECTOR_FUNCTIONS if name in ("exp_f64", "log_f32", "log_f64")
    ]
    with pytest.raises(SystemExit, match="tanhh"):
        chosen(["tanhh"])
    assert main(["exp_f64", "--samples", "2e4", "--state", str(tmp_path)]) == 0
    assert "exp_f64" in capsys.readouterr().out


def test_special_values_and_the_worst_so_far_are_among_the_strata() -> None:
    assert strata_of("exp_f64")[0].name == "special values"
    assert [stratum.name for stratum in known_strata("exp_f64")] == ["near the worst so far"]
    assert len(special_stratum(2).arguments([0], 1, np.float64)) == arity("pow_f64") == 2


def test_the_worst_argument_is_climbed_to() -> None:
    verdict = Verdict(error=0.5, arguments=("0x1.1a18f3c94072cp+4",))
    climb(verdict, "exp_f64")
    assert verdict.error > 0.7
    assert verdict.count >= 2 * SAMPLES_PER_CHUNK
    before = verdict.error
    climb_everywhere(verdict, "exp_f64")
    assert verdict.error >= before
