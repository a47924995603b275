"""The page about the speed of single functions and chains of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from perf import thresholds
from perf.measuring.machine import code_for, this_machine
from perf.measuring.measure import Entry
from perf.measuring.peers import JAX, NUMPY, TORCH, XJIT, Runner
from perf.measuring.timing import geometric_mean
from perf.report import load_text
from perf.single.function_compile import WHEN
from perf.single.function_index import write_index
from perf.single.function_table import SIZES
from perf.single.functions import FunctionEntry, Measured, measure_all, present
from perf.tables.chains import SIZE
from perf.tables.figures import Figure, figure_table

HEAD = """# Speed of single functions on {processor}

Made by `python -m perf functions` on {date}.

Machine: {machine}.{load}

Every function is called alone on arrays that fit it, as `np.exp(x)`: under `@xjit`, by NumPy or SciPy, and by JAX
(jitted, 64-bit types enabled, on its own device arrays). All take turns in one process on the same inputs, results
are checked against NumPy first, and each call allocates its result. Times are medians in nanoseconds per element,
with the minimum in brackets; a ratio above 1 means that xjit is faster, by medians, with the ratio of minima in
brackets. Ratios below what is asked are **bold**: such an entry was measured three times and the last one stands.
"""

COMPILES = """The first call of `f(x) * a + b` minus that of `x * a + b`: *cold* with an empty cache folder, in a
process that has compiled arithmetic before; *again* with other constants in the same process, where the function
itself is known.
"""


def nanoseconds(entry: Entry, runner: Runner) -> str:
    """Return a cell with a median and a minimum per element."""
    if not entry.has(runner):
        return "wrong result" if "differs" in entry.left_out.get(runner.name, "") else "–"
    scale = 1e9 / entry.program.sizes[entry.size][0]
    return f"{entry.samples.median(runner.name) * scale:.3g} ({entry.samples.minimum(runner.name) * scale:.3g})"


def ratio(entry: Entry, reference: Runner, asked: float) -> str:
    """Return a cell with the ratio of medians and of minima, bold where it is less than asked."""
    if not entry.has(reference):
        return "–"
    found = entry.speedup(XJIT, reference)
    text = f"{found.median:.2f} ({found.minimum:.2f})"
    return text if found.median >= asked else f"**{text}**"


def one_thread_row(entry: FunctionEntry) -> str:
    """Return the line of one function on one thread."""
    cells = [f"`{entry.row.label}`", entry.kind]
    for measured in entry.one_thread.values():
        cells += [nanoseconds(measured, NUMPY), nanoseconds(measured, XJIT)]
        cells.append(ratio(measured, NUMPY, thresholds.FUNCTION_OVER_NUMPY))
    return f"| {' | '.join(cells)} |"


def all_cores_row(entry: FunctionEntry) -> str:
    """Return the line of one function on all cores."""
    measured = entry.all_cores
    cells = [f"`{entry.row.label}`", entry.kind, *(nanoseconds(measured, runner) for runner in (NUMPY, XJIT, JAX))]
    cells += [ratio(measured, NUMPY, 0.0), ratio(measured, JAX, thresholds.FUNCTION_ON_ALL_CORES_OVER_JAX)]
    return f"| {' | '.join(cells)} |"


def chain_row(entry: Entry) -> str:
    """Return the line of one chain."""
    runners = (NUMPY, XJIT, JAX, TORCH)
    cells = [entry.program.name, f"{entry.program.sizes[SIZE][0]:,}".replace(",", " ")]
    cells += [nanoseconds(entry, runner) for runner in runners]
    cells += [ratio(entry, reference, asked) for reference, asked in thresholds.CHAIN_OVER.items()]
    return f"| {' | '.join(cells)} |"


def compile_row(label: str, seconds: dict[str, float]) -> str:
    """Return the line of one function's compile cost."""
    cells = []
    for name, value in seconds.items():
        above = name.endswith(WHEN[0]) and value > thresholds.FUNCTION_COMPILE_SECONDS
        cells.append(f"**{value * 1e3:.0f}**" if above else f"{value * 1e3:.0f}")
    return f"| `{label}` | {' | '.join(cells)} |"


def table(titles: str, lines: Sequence[str]) -> str:
    """Return a table from its titles, separated by commas, and its lines."""
    names = titles.split(", ")
    return "\n".join([f"| {' | '.join(names)} |", "|---" * len(names) + "|", *lines])


def mean_figure(what: str, entries: Sequence[Entry], reference: Runner, asked: float) -> Iterator[Figure]:
    """Yield the figure of a geometric mean, by medians, with minima beside; nothing without entries."""
    ratios = [entry.speedup(XJIT, reference) for entry in entries if entry.has(reference)]
    if ratios:
        median = geometric_mean([ratio.median for ratio in ratios])
        minimum = geometric_mean([ratio.minimum for ratio in ratios])
        text = f"{median:.2f}x by medians, {minimum:.2f}x by minima"
        yield Figure(f"geometric mean {what}, {len(ratios)} entries", f"≥ {asked:g}x", text, median >= asked)


def least_figure(what: str, entries: Sequence[Entry], reference: Runner, asked: float) -> Iterator[Figure]:
    """Yield the figure of the slowest entry; nothing without entries."""
    ratios = [(entry.speedup(XJIT, reference).median, entry) for entry in entries if entry.has(reference)]
    if ratios:
        least, slowest = min(ratios, key=lambda pair: pair[0])
        below = sum(value < asked for value, _ in ratios)
        text = f"{least:.2f}x ({slowest.program.name}, {slowest.size}); {below} of {len(ratios)} below"
        yield Figure(f"each {what}", f"≥ {asked:g}x", text, least >= asked)


def all_figures(found: Measured) -> list[Figure]:
    """Return what is asked and what was reached."""
    single = [entry for function in found.functions for entry in function.one_thread.values()]
    cores = [function.all_cores for function in found.functions]
    figures = [
        *mean_figure("on one thread over NumPy", single, NUMPY, thresholds.FUNCTIONS_OVER_NUMPY),
        *least_figure("on one thread over NumPy", single, NUMPY, thresholds.FUNCTION_OVER_NUMPY),
        *mean_figure("on all cores over NumPy", cores, NUMPY, thresholds.FUNCTIONS_ON_ALL_CORES_OVER_NUMPY),
        *mean_figure("on all cores over JAX", cores, JAX, thresholds.FUNCTIONS_ON_ALL_CORES_OVER_JAX),
        *least_figure("on all cores over JAX", cores, JAX, thresholds.FUNCTION_ON_ALL_CORES_OVER_JAX),
    ]
    for reference, asked in thresholds.CHAIN_OVER.items():
        figures += least_figure(f"chain over {reference.name}", found.chains, reference, asked)
    return figures + compile_figures(found.compiles)


def compile_figures(compiles: dict[str, dict[str, float]]) -> list[Figure]:
    """Return the largest compile cost."""
    every = [(seconds, f"{label} {name}") for label, row in compiles.items() for name, seconds in row.items()]
    costs = [(seconds, name) for seconds, name in every if name.endswith(WHEN[0])]
    if not costs:
        return []
    allowed = thresholds.FUNCTION_COMPILE_SECONDS
    most, label = max(costs)
    above = sum(seconds > allowed for seconds, _ in costs)
    text = f"{most * 1e3:.0f} ms ({label}); {above} of {len(costs)} above"
    return [Figure("a function in a cold compile", f"≤ {allowed * 1e3:.0f} ms", text, most <= allowed)]


def mean_row(functions: Sequence[FunctionEntry], pick: Callable[[FunctionEntry], Entry], reference: Runner) -> str:
    """Return the geometric mean of one column, by medians with minima in brackets."""
    ratios = [pick(entry).speedup(XJIT, reference) for entry in functions if pick(entry).has(reference)]
    medians, minima = ([getattr(ratio, name) for ratio in ratios] for name in ("median", "minimum"))
    return f"{geometric_mean(medians):.2f} ({geometric_mean(minima):.2f})" if ratios else "–"


def one_thread_means(functions: Sequence[FunctionEntry]) -> str:
    """Return the last line of the table of one thread."""

    def at(size: str) -> Callable[[FunctionEntry], Entry]:
        return lambda entry: entry.one_thread[size]

    cells = [f" |  | {mean_row(functions, at(size), NUMPY)}" for size in SIZES]
    return f"| geometric mean |  | {' | '.join(cells)} |"


def page(found: Measured, load: str) -> str:
    """Return the whole page."""
    machine = this_machine(present((NUMPY, XJIT, JAX, TORCH)))
    functions = found.functions

    def cores(entry: FunctionEntry) -> Entry:
        return entry.all_cores

    means = (
        f"| geometric mean |  |  |  |  | {mean_row(functions, cores, NUMPY)} | {mean_row(functions, cores, JAX)} |"
    )
    sizes = ", ".join(f"NumPy {size}, xjit {size}, over NumPy {size}" for size in SIZES)
    chains = ", ".join(f"over {runner.name}" for runner in thresholds.CHAIN_OVER)
    compiles = [compile_row(label, seconds) for label, seconds in found.compiles.items()]
    missing = [f"* `{label}`: {reason}" for label, reason in found.left_out.items()]
    parts = [
        HEAD.format(processor=code_for(), date=datetime.date.today().isoformat(), machine=machine, load=load),
        "## Figures\n",
        figure_table(all_figures(found)),
        "\n## One thread\n",
        table(f"function, type, {sizes}", [*map(one_thread_row, functions), one_thread_means(functions)]),
        "\n## All cores, 10⁶ elements\n",
        table(
            "function, type, NumPy, xjit, JAX, over NumPy, over JAX",
            [*map(all_cores_row, functions), means],
        ),
        "\n## Chains, all cores\n",
        table(
            f"chain, elements, NumPy, xjit, JAX, torch.compile, {chains}",
            [chain_row(entry) for entry in found.chains],
        ),
        "\n## Milliseconds that a function adds to a cold compile\n",
        COMPILES,
        table("function, f32 cold, f32 again, f64 cold, f64 again", compiles),
        "\n## Functions that xjit does not compile\n",
        "\n".join(missing) or "None.",
    ]
    return "\n".join(parts) + "\n"


def write_page(folder: Path, budget: float, only: Sequence[str] = ()) -> None:
    """Measure everything, write the page of this processor in `folder` and that of all beside it.

    `budget` is seconds per entry.
    """
    load = load_text()
    found = measure_all(
        budget, lambda entry: print(f"{one_thread_row(entry)}\n{all_cores_row(entry)}", flush=True), only
    )
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / f"{code_for()}.md"
    output.write_text(page(found, load), encoding="utf-8")
    print(figure_table(all_figures(found)))
    print(f"written: {output}, {write_index(folder)}")
