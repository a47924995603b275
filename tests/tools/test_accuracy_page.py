"""The committed figures of the accuracy of vector functions, and the page made from them."""

from __future__ import annotations

from pathlib import Path

from tools.accuracy import results, table
from tools.accuracy.fingerprints import fingerprint
from tools.accuracy.judge import FORMATS
from tools.accuracy.records import split
from tools.accuracy.results import Result
from xjit.codegen.vmath import VECTOR_FUNCTIONS

NAMES = sorted(VECTOR_FUNCTIONS)


def test_the_page_is_what_its_figures_give() -> None:
    """A function that has changed shows as stale: write the page with ``python -m tools.accuracy --table``."""
    assert table.PAGE.read_text(encoding="utf-8") == table.text(results.read())


def test_stated_errors_are_not_below_measured_ones() -> None:
    found = results.read()
    assert [line for line in table.problems(found) if "stated" in line or "wrong" in line] == []
    assert set(found) <= set(VECTOR_FUNCTIONS)


def test_the_page_lists_every_function_and_marks_stale_ones() -> None:
    fresh = Result("exp_f32", 0.9, ("0x1p+0",), 1 << 32, "all 2^32", {}, "2026-01-01", "any", fingerprint("exp_f32"))
    stale = Result("exp_f64", 9.9, ("0x1p+0",), 10**7, "samples", {"NaN": 3}, "2026-01-01", "any", "another")
    found = {result.function: result for result in (fresh, stale)}
    lines = table.text(found).splitlines()
    for kind in FORMATS:
        start = lines.index({"f32": "### float32", "f64": "### float64"}[kind])
        listed = {line.split("`")[1] for line in lines[start:] if line.startswith("| `")}
        assert listed >= {split(name)[0] for name in NAMES if split(name)[1] == kind}
    assert f"| `exp` | 0.900 | {VECTOR_FUNCTIONS['exp_f32'].error:g} | all | `0x1p+0` |" in lines
    assert any(line.startswith("| `exp` | 9.900 (stale); **3 wrong: NaN**") for line in lines)
    assert sum("not measured" in line for line in lines) == len(NAMES) - 2
    problems = table.problems(found)
    assert not any(line.startswith("exp_f32") for line in problems)
    assert [line.split(": ")[1].split(",")[0] for line in problems if line.startswith("exp_f64")] == [
        "changed since it was measured",
        "9.9000 units at ('0x1p+0'",
        "wrong results",
    ]


def test_figures_are_merged_without_forgetting(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    full = Result("exp_f32", 0.9, ("0x1p+0",), 1 << 32, "all 2^32", {}, "2026-01-01", "any", "same")
    results.record(full, file)
    results.record(Result("exp_f32", 0.8, ("0x1p+1",), 100, "100 samples", {}, "2026-01-02", "any", "same"), file)
    assert results.read(file)["exp_f32"] == full
    worse = Result("exp_f32", 1.1, ("0x1p+2",), 100, "100 samples", {"NaN": 1}, "2026-01-02", "any", "same")
    results.record(worse, file)
    kept = results.read(file)["exp_f32"]
    assert (kept.error, kept.arguments, kept.method, kept.mistakes) == (1.1, ("0x1p+2",), "all 2^32", {"NaN": 1})
    changed = Result("exp_f32", 0.7, ("0x1p+3",), 100, "100 samples", {}, "2026-01-03", "any", "other")
    results.record(changed, file)
    assert results.read(file)["exp_f32"] == changed
