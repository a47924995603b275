"""Measuring one function: a plan of chunks, each made from its number alone, and a state to resume from."""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tools.accuracy import results
from tools.accuracy.fingerprints import fingerprint
from tools.accuracy.judge import FORMATS, Verdict, judge
from tools.accuracy.loops import ELEMENTS, loop
from tools.accuracy.records import Record, record, split
from tools.accuracy.results import Result
from tools.accuracy.strata import Stratum, jitter, seed
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.vmath import VECTOR_FUNCTIONS

Array = np.ndarray[Any, Any]

BLOCK = 1 << 13
"""Arguments judged together: few enough that all that is computed of them stays in a cache."""
PATTERNS_PER_CHUNK = 1 << 22
SAMPLES_PER_CHUNK = 1 << 18
SECONDS_BETWEEN_SAVES = 5.0
SECONDS_BETWEEN_WORDS = 60.0
SAMPLES_PER_CLIMB = 1 << 16
CLIMBS = 8
"""Rounds at most in which arguments around the worst so far are tried, as long as worse ones are found."""
DEFAULT_SAMPLES = {"f32": 100_000_000, "f64": 10_000_000}

_SPECIAL = (0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 100.5, 101.0, np.inf, np.nan)


def special_values(dtype: Any) -> list[float]:
    """Zeros, infinities, NaN, whole and half numbers, the limits of the type, all with both signs."""
    limits = np.finfo(dtype)
    values = [*_SPECIAL, float(limits.max), float(limits.tiny), float(limits.smallest_subnormal)]
    return [*values, *(-value for value in values)]


def special_stratum(arguments: int) -> Stratum:
    """All combinations of special values, however many are asked for."""

    def draw(rng: np.random.Generator, count: int, dtype: Any) -> tuple[Array, ...]:
        combinations = itertools.product(special_values(dtype), repeat=arguments)
        return tuple(np.array(column, dtype) for column in zip(*combinations, strict=True))

    return Stratum("special values", draw)


def known_strata(name: str) -> list[Stratum]:
    """Around the worst arguments of the last measurement, if there was one."""
    known = results.read().get(name)
    return [around(known.arguments)] if known is not None and known.arguments else []


def around(arguments: tuple[str, ...]) -> Stratum:
    """Around one set of arguments."""
    points = [float.fromhex(text) for text in arguments]

    def draw(rng: np.random.Generator, count: int, dtype: Any) -> tuple[Array, ...]:
        return tuple(jitter(rng, np.full(count, point), dtype) for point in points)

    return Stratum("near the worst so far", draw)


@dataclass(frozen=True, slots=True)
class Plan:
    """Arguments to try: ``chunks`` numbered pieces, each of which can be made from its number."""

    function: str
    method: str
    chunks: int
    inputs: Callable[[int], Iterator[tuple[Array, ...]]]


def arity(name: str) -> int:
    """Return the number of arguments of a vector function."""
    function = lookup(name)
    assert function is not None
    return len(function.arguments)


def every_float32(name: str) -> Plan:
    """All bit patterns of a function of one argument; the upper half only where the sign is known to be a sign."""
    total = 1 << (31 if record(name).parity else 32)

    def inputs(chunk: int) -> Iterator[tuple[Array, ...]]:
        start = chunk * PATTERNS_PER_CHUNK
        for begin in range(start, start + PATTERNS_PER_CHUNK, BLOCK):
            yield (np.arange(begin, begin + BLOCK, dtype=np.uint64).astype(np.uint32).view(np.float32),)

    return Plan(name, "all 2^32", total // PATTERNS_PER_CHUNK, inputs)


def strata_of(name: str) -> list[Stratum]:
    """Special values, and the strata of the record."""
    return [special_stratum(arity(name)), *record(name).strata]


def sampled(
    name: str, samples: int, per_chunk: int = SAMPLES_PER_CHUNK, more: Sequence[Stratum] = (), method: str = "samples"
) -> Plan:
    """At least so many samples, as many from every stratum as from any other."""
    strata, dtype = [*strata_of(name), *more], FORMATS[split(name)[1]].dtype
    rounds = -(-samples // (per_chunk * (len(strata) - 1)))
    share = -(-samples // (rounds * (len(strata) - 1)))

    def inputs(chunk: int) -> Iterator[tuple[Array, ...]]:
        turn, place = divmod(chunk, len(strata))
        drawn = strata[place].arguments(seed(name, place, turn), share, dtype)
        for begin in range(0, drawn[0].size, BLOCK):
            yield tuple(part[begin : begin + BLOCK] for part in drawn)

    return Plan(name, method, rounds * len(strata), inputs)


# ---- trying


def expression(name: str) -> str:
    """The call of a function in a loop."""
    return f"{name}({', '.join(ELEMENTS[: arity(name)])})"


def same_bits(a: Array, b: Array) -> Array:
    """Test where two arrays agree in every bit, or are both NaN."""
    kind = f"u{a.dtype.itemsize}"
    agree: Array = (a.view(kind) == b.view(kind)) | (np.isnan(a) & np.isnan(b))
    return agree


def check_symmetry(verdict: Verdict, row: Record, compute: Any, inputs: tuple[Array, ...], result: Array) -> None:
    """Compares the results for the negated arguments bit by bit."""
    if row.parity:
        mirrored = compute(-inputs[0])
        expected = -result if row.parity == "odd" else result
        verdict.count += result.size
        verdict.mistake("symmetry", ~same_bits(mirrored, expected), inputs)


def check_variant(verdict: Verdict, name: str, inputs: tuple[Array, ...], result: Array) -> None:
    """Compares the quick variant bit by bit wherever it is said to be right."""
    function = VECTOR_FUNCTIONS[name]
    if function.varied:
        kind = split(name)[1]
        far = loop(expression(function.is_far), kind, "b1", arguments=len(inputs))(*inputs)
        near = loop(expression(function.near), kind, arguments=len(inputs))(*inputs)
        nan = functools.reduce(np.logical_or, map(np.isnan, inputs))
        verdict.mistake("variant", ~same_bits(near, result) & (~far | nan), inputs)


def try_arguments(verdict: Verdict, name: str, inputs: tuple[Array, ...], *, variants: bool = True) -> None:
    """Computes and judges one array of arguments."""
    row, (operation, kind) = record(name), split(name)
    compute = loop(expression(name), kind, arguments=len(inputs))
    result = compute(*inputs)
    judge(verdict, operation, kind, inputs, result, row.oracle)
    check_symmetry(verdict, row, compute, inputs, result)
    if variants:
        check_variant(verdict, name, inputs, result)


# ---- running a plan


@dataclass(slots=True)
class State:
    """Progress of a plan."""

    plan: str
    next_chunk: int
    verdict: Verdict

    def save(self, path: Path) -> None:
        """Writes the state whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(asdict(self)), encoding="utf-8")
        beside.replace(path)


def identity(plan: Plan) -> str:
    """Names a plan and the text of its function: a state of another is of no use."""
    return f"{plan.function} {fingerprint(plan.function)} {plan.method} {plan.chunks}"


def load_state(path: Path, plan: Plan) -> State:
    """The saved state of this very plan, or a fresh one."""
    fresh = State(identity(plan), 0, Verdict())
    if not path.exists():
        return fresh
    saved = json.loads(path.read_text(encoding="utf-8"))
    if saved["plan"] != fresh.plan:
        return fresh
    verdict = Verdict(**saved["verdict"])
    verdict.arguments = tuple(verdict.arguments)
    verdict.examples = {kind: [tuple(place) for place in places] for kind, places in verdict.examples.items()}
    return State(saved["plan"], saved["next_chunk"], verdict)


def run(plan: Plan, folder: Path, resume: bool, tell: Callable[[str], None]) -> Verdict:
    """Goes through a plan; the state is kept in ``folder`` every few seconds and whenever the run ends."""
    path = folder / f"{plan.function}-{plan.method.replace(' ', '-').replace('^', '')}.json"
    state = load_state(path, plan) if resume else State(identity(plan), 0, Verdict())
    saved = told = time.monotonic()
    try:
        for chunk in range(state.next_chunk, plan.chunks):
            verdict = Verdict(**asdict(state.verdict))
            for inputs in plan.inputs(chunk):
                try_arguments(verdict, plan.function, inputs)
            state.verdict, state.next_chunk = verdict, chunk + 1
            now = time.monotonic()
            if now - saved > SECONDS_BETWEEN_SAVES:
                state.save(path)
                saved = now
            if now - told > SECONDS_BETWEEN_WORDS:
                tell(f"{plan.function}: {state.next_chunk / plan.chunks:.0%}, {state.verdict.error:.4f} so far")
                told = now
    finally:
        state.save(path)
    return state.verdict


def climb(verdict: Verdict, name: str) -> None:
    """Tries arguments around the worst so far, and around the next worst that this finds."""
    for turn in range(CLIMBS):
        before = verdict.error
        if not verdict.arguments:
            return
        stratum, dtype = around(verdict.arguments), FORMATS[split(name)[1]].dtype
        drawn = stratum.arguments(seed(name, -1 % 256, turn), SAMPLES_PER_CHUNK, dtype)
        for begin in range(0, SAMPLES_PER_CHUNK, BLOCK):
            try_arguments(verdict, name, tuple(part[begin : begin + BLOCK] for part in drawn), variants=False)
        if verdict.error <= before:
            return


def climb_everywhere(verdict: Verdict, name: str) -> None:
    """Climbs from the worst so far, and from the worst of a few arguments of every stratum: peaks are many."""
    climb(verdict, name)
    dtype = FORMATS[split(name)[1]].dtype
    for place, stratum in enumerate(record(name).strata):
        own = Verdict()
        for turn in range(SAMPLES_PER_CLIMB // BLOCK):
            drawn = stratum.arguments(seed(name, 128 + place, turn), BLOCK, dtype)
            try_arguments(own, name, drawn, variants=False)
        climb(own, name)
        verdict.count += own.count
        if own.error > verdict.error:
            verdict.error, verdict.arguments = own.error, own.arguments


def result_of(plan: Plan, verdict: Verdict) -> Result:
    """The entry of the table that a finished plan makes."""
    return Result(
        plan.function,
        verdict.error,
        verdict.arguments,
        verdict.count,
        plan.method if plan.method != "samples" else f"{verdict.count} samples",
        verdict.mistakes,
        datetime.date.today().isoformat(),
        str(llvm_pipeline.host().cpu),
        fingerprint(plan.function),
    )
