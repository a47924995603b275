"""Single functions and chains of them beside NumPy, JAX and torch.compile."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from perf import thresholds
from perf.gate import ATTEMPTS
from perf.measuring.measure import Entry, measure
from perf.measuring.peers import JAX, NUMPY, TORCH, XJIT, Runner
from perf.programs import Program
from perf.single.function_compile import PROCESSES, added
from perf.single.function_table import ROWS, SIZES, Row, programs
from perf.tables.chains import CHAINS, SIZE

LARGE = "10⁶"


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """Measurements of one function of one element type: on one thread at every size, and on all cores."""

    row: Row
    kind: str
    one_thread: dict[str, Entry]
    all_cores: Entry

    @property
    def label(self) -> str:
        """The function and the element type."""
        return f"{self.row.label} {self.kind}"


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that the page reports; `left_out` says why a function is missing."""

    functions: Sequence[FunctionEntry]
    chains: Sequence[Entry]
    compiles: dict[str, dict[str, float]]
    left_out: dict[str, str]


def present(runners: Sequence[Runner]) -> tuple[Runner, ...]:
    """Return those whose packages are installed."""
    return tuple(runner for runner in runners if runner.installed)


def short_of(entry: Entry, asked: dict[Runner, float]) -> bool:
    """Return whether an entry is slower than asked beside any of the runners, by medians."""
    return any(
        entry.has(reference) and entry.speedup(XJIT, reference).median < least for reference, least in asked.items()
    )


def settled(again: Callable[[], Entry], asked: dict[Runner, float]) -> Entry:
    """Measure until the entry keeps what is asked, at most three times; return the last measurement."""
    entry = again()
    for _ in range(ATTEMPTS - 1):
        if not short_of(entry, asked):
            break
        entry = again()
    return entry


def on_one_thread(program: Program, size: str, budget: float) -> Entry:
    """Measure xjit on one thread beside NumPy."""
    from xjit import threads

    with threads(1):
        return settled(lambda: measure(program, size, (NUMPY, XJIT), budget), {NUMPY: thresholds.FUNCTION_OVER_NUMPY})


def on_all_cores(program: Program, budget: float) -> Entry:
    """Measure xjit on all cores beside NumPy and JAX."""
    return settled(
        lambda: measure(program, LARGE, present((NUMPY, XJIT, JAX)), budget),
        {JAX: thresholds.FUNCTION_ON_ALL_CORES_OVER_JAX},
    )


def chain(program: Program, budget: float) -> Entry:
    """Measure a chain on all cores beside everyone."""
    return settled(
        lambda: measure(program, SIZE, present((NUMPY, XJIT, JAX, TORCH)), budget), dict(thresholds.CHAIN_OVER)
    )


def unsupported(program: Program) -> str | None:
    """Return in words why xjit does not compile a program; None when it does."""
    from xjit import xjit
    from xjit.errors import CaptureError, FallbackWarning

    compiled = xjit(program.function)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            compiled(*program.arguments(next(iter(program.sizes))))
    except CaptureError as problem:
        return str(problem).splitlines()[0]
    reasons = [str(warning.message).splitlines()[0] for warning in said if warning.category is FallbackWarning]
    return "; ".join(reasons) or None


def measure_functions(
    budget: float, tell: Callable[[FunctionEntry], None], left_out: dict[str, str], only: Sequence[str] = ()
) -> Iterator[FunctionEntry]:
    """Measure every function that xjit compiles, or those named; enter the others into `left_out`."""
    for row, kind, program in programs():
        if only and row.name not in only:
            continue
        reason = unsupported(program)
        if reason is not None:
            left_out[f"{row.label} {kind}"] = reason
            continue
        single = {size: on_one_thread(program, size, budget) for size in SIZES}
        entry = FunctionEntry(row, kind, single, on_all_cores(program, budget))
        tell(entry)
        yield entry


def measure_all(
    budget: float,
    tell: Callable[[FunctionEntry], None],
    only: Sequence[str] = (),
    processes: int = PROCESSES,
) -> Measured:
    """Measure functions, chains and compile costs; `budget` is seconds per entry."""
    left_out: dict[str, str] = {}
    functions = list(measure_functions(budget, tell, left_out, only))
    known = {entry.row.label for entry in functions}
    compiles = {row.label: added(row, processes) for row in ROWS if row.label in known}
    chains = []
    for program in CHAINS:
        reason = unsupported(program)
        if reason is None:
            chains.append(chain(program, budget))
        else:
            left_out[program.name] = reason
    return Measured(functions, chains, compiles, left_out)
