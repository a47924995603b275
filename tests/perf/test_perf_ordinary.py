"""The suite of ordinary programs: differences are found, obstacles named, summaries counted, versions agree."""

from __future__ import annotations

import copy
import importlib.util
import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from perf.ordinary import worker
from perf.ordinary.outcomes import Outcome, difference, of_peer, outcome
from perf.ordinary.record import Ordinary
from perf.ordinary.sampling import Side, Timer
from perf.ordinary.table import BY_NAME, FAMILY, PROGRAMS, by_hand
from perf.tables import ordinary, ordinary_figures, ordinary_page
from perf.tables.figures import Figure
from perf.tables.ordinary import Row, coverage_line, summary, time_line

LINE = np.arange(4.0)


def halve(x, n):
    """Halve an array in place and count it."""
    x *= 0.5
    return n * x.size


HALVE = Ordinary("halve", halve, lambda rng, n: (rng.random(n), 2), {"S": (4,), "L": (8,)}, ("x",), 0.0)


def test_differences_are_found() -> None:
    wanted = outcome(halve, HALVE.arguments("S"))
    (x, n), result = wanted.arguments, wanted.result
    assert HALVE.stored == (0,)
    assert difference(HALVE, outcome(halve, HALVE.arguments("S")), wanted) is None
    assert difference(HALVE, Outcome(9, (x, n)), wanted) == "result: other bits in 1 of 1 elements"
    assert difference(HALVE, Outcome(float(result), (x, n)), wanted) == "result: float, NumPy int"
    assert difference(HALVE, Outcome(result, (2.0 * x, n)), wanted) == "argument x: other bits in 4 of 4 elements"
    assert difference(HALVE, Outcome(result, (x, 3)), wanted) == "argument n: other bits in 1 of 1 elements"
    assert difference(HALVE, Outcome(x, (x, n)), wanted) == "returns argument 0, NumPy argument None"
    assert difference(HALVE, Outcome((result, 1), (x, n)), wanted) == "result: 2 values, NumPy 1"
    assert of_peer(HALVE, (8, x), wanted) is None
    assert of_peer(HALVE, (8, x + 1.0), wanted) is not None


def test_differences_of_state_and_text_are_found() -> None:
    def draw(rng, counter, text):
        counter.count += 1
        print(text)  # noqa: T201
        return rng.random()

    program = Ordinary("draw", draw, lambda rng, text: (rng, SimpleNamespace(count=0), text), {"S": ("a",), "L": ()})
    wanted = outcome(draw, program.arguments("S"))
    assert wanted.printed == "a\n"
    assert difference(program, outcome(draw, program.arguments("S")), wanted) is None
    rng, counter, text = wanted.arguments
    other = np.random.default_rng(0)
    moved = SimpleNamespace(count=2)
    assert difference(program, Outcome(wanted.result, (other, counter, text), "a\n"), wanted).startswith(
        "argument rng"
    )
    assert difference(program, Outcome(wanted.result, (rng, moved, text), "a\n"), wanted) == (
        "argument counter: other bits in 1 of 1 elements"
    )
    assert difference(program, Outcome(wanted.result, (rng, counter, text), "b\n"), wanted) == "other text is printed"
    itself = Outcome(counter, wanted.arguments, "a\n")
    another = Outcome(copy.copy(counter), wanted.arguments, "a\n")
    assert difference(program, another, itself) == "returns argument None, NumPy argument 1"


@pytest.mark.parametrize(
    ("found", "wanted", "right"),
    [
        ([1.0, 1e-12], [1.0, 0.0], True),
        ([1.0, 1e-3], [1.0, 0.0], False),
        ([np.nan, 1.0], [np.nan, 1.0], True),
        ([np.nan, np.nan], [np.nan, 1.0], False),
        ([np.inf, 1.0], [-np.inf, 1.0], False),
        ([], [], True),
    ],
)
def test_distances_are_shares_of_the_largest(found: list[float], wanted: list[float], right: bool) -> None:
    program = Ordinary("values", lambda: None, lambda rng: (), {"S": (), "L": ()})
    outcomes = (Outcome(np.array(values), ()) for values in (found, wanted))
    assert (difference(program, *outcomes) is None) == right


def test_arguments_are_restored_before_every_call() -> None:
    x = LINE.copy()
    timer = Timer(Side(halve, (x, 1), (0,)))
    timer.sample()
    assert (x == 0.5 * LINE).all()


def test_objects_and_generators_are_as_new_before_every_call() -> None:
    seen = []

    def draw(rng, counter):
        counter.count += 1
        seen.append((rng.random(), counter.count))

    timer = Timer(Side(draw, (np.random.default_rng(0), SimpleNamespace(count=0)), (0, 1)))
    timer.sample()
    assert len(seen) > 2
    assert len(set(seen)) == 1


def test_process_says_what_it_found(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "1")
    worker.main("gesummv", "S", "cover", 0)
    found = json.loads(capsys.readouterr().out)
    assert found.pop("first") > 0.0
    assert found == {"obstacle": None, "split": False, "difference": None}


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_process_tells_split_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "1")

    def told(x):
        print(x.max())  # noqa: T201
        return x + 1.0

    def objects(x):
        return x.astype(object).sum()

    for function, split in ((told, True), (objects, False)):
        found = worker.covered(Ordinary("some", function, lambda rng: (LINE.copy(),), {"S": (), "L": ()}), "S")
        assert found["obstacle"] is not None
        assert found["difference"] is None
        assert found["split"] == split


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_obstacles_name_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "1")

    def drawn(x):
        return np.random.default_rng(0).permutation(x)

    found = worker.covered(Ordinary("drawn", drawn, lambda rng: (LINE,), {"S": (), "L": ()}), "S")
    assert "`return np.random.default_rng(0).permutation(x)`: " in found["obstacle"]
    assert found["difference"] is None


def test_summary_counts_and_takes_means() -> None:
    times = {"xjit": [1.0, 2.0], "NumPy": [4.0, 9.0], "Numba": [0.5, 1.0]}
    rows = [
        Row("a", "L", first=0.5, again=0.1, seconds=times),
        Row("b", "L", obstacle="line 3", seconds={"xjit": [1.0], "NumPy": [1.0]}),
        Row("c", "L", difference="result", first=0.25),
        Row("d", "L", obstacle="line 4", split=True),
    ]
    assert summary(rows) == [
        "compiled whole: 2 of 4 (50%)",
        "split: 1; NumPy: 1",
        "wrong: c",
        "over NumPy, all 2: geometric mean 2.00; least: b 1.00, a 4.00",
        "over NumPy, compiled 1: geometric mean 4.00; least: a 4.00",
        "over Numba, all 1: geometric mean 0.50; least: a 0.50",
        "over Numba, compiled 1: geometric mean 0.50; least: a 0.50",
        "longest first calls: a 0.50 s, c 0.25 s",
        "in a second process: a 0.10 s",
    ]
    assert coverage_line(rows[1]) == "| b | right | NumPy: line 3 |  |  |"
    assert coverage_line(rows[3]) == "| d | right | split: line 4 |  |  |"
    assert [row.way for row in rows] == ["whole", "NumPy", "whole", "split"]
    assert time_line(rows[0]) == "| a | L |  | 1.5e+03 | 6.5e+03 | 750 |  | 4 | 0.5 |  |"


def test_page_joins_runs_and_keeps_the_last_row(tmp_path: Path) -> None:
    times = {"xjit": [1.0], "NumPy": [4.0]}
    runs = [[Row("a", "S", first=0.5), Row("a", "L", seconds=times)], [Row("a", "S", first=0.25), Row("b", "S")]]
    for number, rows in enumerate(runs):
        kept = {"machine": f"machine {number}", "rows": [asdict(row) for row in rows]}
        (tmp_path / f"{number}.json").write_text(json.dumps(kept))
    output = tmp_path / "page.md"
    ordinary_page.main([str(tmp_path / "0.json"), str(tmp_path / "1.json"), str(output)])
    text = output.read_text()
    assert "Machine: machine 1." in text
    assert text.index("## Size S") < text.index("| a | right | whole | 0.25 |") < text.index("| b | right |")
    assert text.index("## Size L") < text.index("| a | L |  | 1e+03 | 4e+03 |  |  | 4 |  |  |")
    assert "0.5 |" not in text


def test_page_has_the_figures_beside_the_programs(tmp_path: Path) -> None:
    rows, figures = tmp_path / "rows.json", tmp_path / "figures.json"
    rows.write_text(json.dumps({"machine": "machine", "rows": [asdict(Row("a", "S"))]}))
    figures.write_text(json.dumps({"figures": [asdict(Figure("a step", "≤ 5 us", "1.6 us", met=True))]}))
    output = tmp_path / "page.md"
    ordinary_page.main(["--figures", str(figures), str(rows), str(output)])
    text = output.read_text()
    assert text.index("| a step | ≤ 5 us | 1.6 us | yes |") < text.index("## Size S")


def test_figures_beside_the_programs_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordinary_figures, "LONG", 1000)
    monkeypatch.setattr(ordinary_figures, "BUDGET", 0.0)
    figures = ordinary_figures.selections() + ordinary_figures.retraces()
    assert [figure.asked for figure in figures] == ["≥ 3 x NumPy", "≥ 2 x NumPy", "≥ 2 x NumPy", "0", "0"]
    # Changes behind the first one cost nothing, whatever the machine is.
    assert all(figure.reached.endswith("0 by 3 others") or " ms" in figure.reached for figure in figures[:4])
    assert figures[4].reached.endswith("0 by 2 others")


def test_program_whose_process_dies_is_not_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordinary, "asked", lambda *_: {"failed": "the process ended with -11"})
    assert not ordinary.measured("gemm", "S", 0).whole


def test_every_kernel_has_loops_by_hand() -> None:
    families = {FAMILY[program.name] for program in PROGRAMS if by_hand(program.name) is not None}
    assert set(FAMILY.values()) - families == {"measurements", "networks", "pipelines", "simulations"}
    kernels = [program for program in PROGRAMS if FAMILY[program.name] in families]
    assert not [program.name for program in kernels if by_hand(program.name) is None]


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="Numba is not installed")
@pytest.mark.parametrize(
    "name", ["cholesky", "seidel-2d", "nussinov", "durbin", "flood-fill", "maze-distances", "lower-hull"]
)
def test_loops_by_hand_agree(name: str) -> None:
    program, loops = BY_NAME[name], by_hand(name)
    arguments = program.arguments("S")
    result = vars(loops)["py_func"](*arguments)
    after = (result, *(arguments[place] for place in program.stored))
    assert of_peer(program, after, outcome(program.function, program.arguments("S"))) is None
