"""The tables of single functions: every function is found, judged by what is asked, and left out with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import special

import xjit
from perf import thresholds
from perf.measuring import machine
from perf.measuring.measure import Entry, verified_calls
from perf.measuring.peers import JAX, NUMPY, TORCH, XJIT
from perf.measuring.timing import Samples
from perf.programs import Program
from perf.single import function_compile, function_index, function_report, functions
from perf.single.function_table import ROWS, SIZES, function_of, program_of
from perf.single.functions import FunctionEntry, Measured
from perf.tables.chains import CHAINS
from xjit.codegen.cpu import llvm_pipeline

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXP = next(row for row in ROWS if row.name == "exp")
SMALL = next(iter(SIZES))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_functions_are_those_of_numpy_and_scipy(row: function_report.Runner) -> None:
    program = program_of(row, "f32")
    arrays = program.arguments(SMALL)
    theirs = getattr({"np": np, "special": special}[row.module], row.name)
    assert all(x.dtype == np.float32 and np.isfinite(x).all() for x in arrays)
    assert np.array_equal(function_of(row)(*arrays), theirs(*arrays))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_supported_functions_agree_with_numpy(row: function_report.Runner) -> None:
    for kind in ("f32", "f64"):
        program = program_of(row, kind)
        if functions.unsupported(program) is None:
            assert set(verified_calls(program, SMALL, (NUMPY, XJIT)).calls) == {"NumPy", "xjit"}


@pytest.mark.parametrize("program", CHAINS, ids=lambda program: program.name)
def test_chains_agree_with_numpy(program: Program) -> None:
    few = Program(program.name, program.function, program.inputs, {"few": (5000,)}, program.tolerance)
    if functions.unsupported(few) is None:
        assert set(verified_calls(few, "few", (NUMPY, XJIT)).calls) == {"NumPy", "xjit"}


def test_what_is_not_compiled_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(EXP, "f64")
    assert functions.unsupported(program) is None
    unknown = Program("spherical", special.spherical_jn.__call__, program.inputs, SIZES, program.tolerance)

    def refused(x: np.ndarray) -> np.ndarray:
        return np.frompyfunc(float, 1, 1)(x)

    unknown = Program("refused", refused, program.inputs, SIZES, program.tolerance)
    assert functions.unsupported(unknown)


def entry(program: Program, size: str, **seconds: float) -> Entry:
    return Entry(program, size, Samples({name: (value,) * 9 for name, value in seconds.items()}))


def measured(over_numpy: float, over_jax: float) -> Measured:
    program = program_of(EXP, "f32")
    times = {"NumPy": over_numpy * 1e-4, "xjit": 1e-4}
    single = {size: entry(program, size, **times) for size in SIZES}
    cores = entry(program, functions.LARGE, **times, JAX=over_jax * 1e-4)
    chain = entry(CHAINS[0], "whole", **times, JAX=over_jax * 1e-4)
    compiles = {"np.exp": {"f32 cold": 0.03, "f32 again": 0.03, "f64 cold": 0.01, "f64 again": 0.001}}
    return Measured([FunctionEntry(EXP, "f32", single, cores)], [chain], compiles, {"np.j0 f32": "unknown"})


def test_the_page_marks_what_is_missed() -> None:
    good, bad = measured(7.0, 3.0), measured(0.8, 0.7)
    reached = {figure.what: figure.met for figure in function_report.all_figures(good)}
    assert reached.pop("a function in a cold compile") is False
    assert all(reached.values())
    assert not any(figure.met for figure in function_report.all_figures(bad))
    page = function_report.page(bad, "")
    assert (
        "| `np.exp` | f32 | 8 (8) | 10 (10) | **0.80 (0.80)** | 0.08 (0.08) | 0.1 (0.1) | **0.80 (0.80)** |" in page
    )
    assert "| `np.exp` | **30** | 30 | 10 | 1 |" in page
    assert "* `np.j0 f32`: unknown" in page
    assert "**" not in function_report.page(good, "").replace("**30**", "").replace("**bold**", "").replace(
        "**no**", ""
    )


def test_pages_of_processors_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "function-speed"
    found = iter([measured(7.0, 3.0), measured(0.8, 0.7)])
    monkeypatch.setattr(function_report, "measure_all", lambda *_: next(found))
    for name in ("one-256", "other-512"):
        monkeypatch.setattr(function_report, "code_for", lambda name=name: name)
        function_report.write_page(folder, 1.0)
        assert (folder / f"{name}.md").read_text().startswith(f"# Speed of single functions on {name}\n")
    text = folder.with_suffix(".md").read_text()
    sizes = [f"{name} {size}" for name in ("one-256", "other-512") for size in SIZES]
    assert f"| function | type | {' | '.join(sizes)} |" in text
    assert "| `np.exp` | f32 | 7.00 (7.00) | 7.00 (7.00) | **0.80 (0.80)** | **0.80 (0.80)** |" in text
    assert "* [other-512](function-speed/other-512.md)" in text


def test_code_is_named_after_the_processor_and_its_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    features = "+avx,+avx2,+avx512f,-prefer-128-bit,+prefer-256-bit"
    for target, name in (
        (llvm_pipeline.Target("x86_64", "icelake-server", features), "icelake-server-256"),
        (llvm_pipeline.Target("x86_64", "haswell", "+avx,+avx2"), "haswell"),
    ):
        monkeypatch.setattr(llvm_pipeline, "host", lambda target=target: target)
        assert machine.code_for() == name


def test_the_page_of_all_processors_is_up_to_date() -> None:
    pages = function_index.read_pages(sorted(DOCS.glob("function-speed/*.md")))
    assert pages and function_index.index(pages) == (DOCS / "function-speed.md").read_text()


def test_entries_that_miss_are_measured_again() -> None:
    program, turns = program_of(EXP, "f32"), iter([0.5, 0.7, 2.0])

    def again() -> Entry:
        return entry(program, SMALL, NumPy=next(turns), xjit=1.0)

    assert functions.settled(again, {NUMPY: thresholds.FUNCTION_OVER_NUMPY}).samples.median("NumPy") == 2.0
    assert list(turns) == []
    assert not functions.short_of(entry(program, SMALL, NumPy=1.0, xjit=1.0), {JAX: 5.0, TORCH: 5.0})


def test_one_thread_is_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    from xjit.runtime.parallel.threads import current_threads

    seen = []
    monkeypatch.setattr(
        functions, "measure", lambda *given: seen.append(current_threads()) or measured(2.0, 2.0).chains[0]
    )
    functions.on_one_thread(program_of(EXP, "f32"), SMALL, 0.1)
    assert seen == [1]


def test_kernels_for_compile_costs_differ_in_the_function_only() -> None:
    x = np.linspace(0.0, 1.0, 5)
    plain, with_function = function_compile.kernel(None, 2), function_compile.kernel(EXP, 2)
    assert np.array_equal(plain(x), x * 3.5 + 2.25)
    assert np.array_equal(with_function(x), np.exp(x) * 3.5 + 2.25)
    assert xjit.jit(with_function)(x).dtype == np.float64
