"""The suite's tables beside the programs: peers, reductions, first calls, memory, the plot."""

from __future__ import annotations

import importlib
import time
from pathlib import Path

import numpy as np
import pytest

from perf import __main__ as command_line
from perf import plot, worker
from perf.measuring import peers, results, verify
from perf.measuring.bandwidth import Bandwidth
from perf.measuring.measure import CANNOT_SAY, Entry, verified_calls
from perf.measuring.peers import JAX, NUMEXPR, NUMPY, RUNNERS, TORCH, XJIT, LeftOut
from perf.measuring.timing import Samples
from perf.programs import BY_NAME, PROGRAMS
from perf.tables import copying, entries, first_calls, memory, reductions

CHAIN = BY_NAME["arithmetic chain f32"]


def entry(size: str = "L", left_out: dict[str, str] | None = None, **seconds: float) -> Entry:
    steady = {name: (value,) * 9 for name, value in seconds.items()}
    return Entry(CHAIN, size, Samples(steady), left_out or {})


def test_hand_written_loops_belong_to_programs_and_agree() -> None:
    loops = importlib.import_module("perf.loops.table").LOOPS
    assert set(loops) <= set(BY_NAME)
    program = BY_NAME["n-body accelerations f64"]
    arrays = program.arguments("S")
    uncompiled = loops[program.name].py_func(*arrays)
    verify.check(program, "Numba loops", uncompiled, program.function(*arrays), strict=False)


@pytest.mark.parametrize("program", [one for one in PROGRAMS if one.expression], ids=lambda one: one.name)
def test_expressions_say_the_same_as_the_programs(program: peers.Program) -> None:
    pytest.importorskip("numexpr")
    assert set(verified_calls(program, "S", (NUMPY, NUMEXPR)).calls) == {"NumPy", "numexpr"}


def test_peers_take_part_where_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [runner.takes("S") for runner in RUNNERS] == [runner is not TORCH for runner in RUNNERS]
    assert TORCH.takes("L") and TORCH.takes("whole")
    assert verified_calls(BY_NAME["softmax f32"], "S", (NUMPY, NUMEXPR)).left_out == {"numexpr": CANNOT_SAY}
    monkeypatch.setattr(peers.shutil, "which", lambda name: None)
    part = verified_calls(CHAIN, "L", (NUMPY, TORCH))
    assert "C++ compiler" in part.left_out["torch.compile"]
    monkeypatch.setattr(entries, "installed", lambda: RUNNERS)
    assert "C++ compiler" in entries.left_out_text([])
    monkeypatch.setattr(entries, "installed", lambda: (NUMPY, XJIT))
    assert "Not installed: JAX, torch.compile, numexpr." in entries.left_out_text([])


def test_a_compiler_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(TimeoutError), peers.at_most(0.05):
        time.sleep(5)
    with peers.at_most(60):
        pass
    assert str(peers.TORCH_SECONDS) in peers.why_not(RuntimeError("backend raised:\nTimeoutError: "))
    assert "no kernel" in peers.why_not(RuntimeError("no kernel\nat all"))


def test_loops_use_threads_where_they_are_worth_it() -> None:
    assert peers.quick(lambda: None)
    assert not peers.quick(lambda: time.sleep(2 * peers.SECONDS_WORTH_THREADS))
    assert not peers.quick(lambda: time.sleep(0.11))
    program = BY_NAME["hypot chain f64"]
    assert set(verified_calls(program, "S", (NUMPY, peers.LOOPS)).calls) == {"NumPy", "Numba loops"}


def test_whole_numbers_of_peers_may_differ_in_few_places() -> None:
    program, wanted = BY_NAME["RGB to grey u8"], np.zeros(10_000, np.uint8)
    wrong = wanted.copy()
    wrong[:10] = 1
    verify.check(program, "JAX", wrong, wanted, strict=False)
    with pytest.raises(verify.WrongResult):
        verify.check(program, "xjit", wrong, wanted, strict=True)
    wrong[:11] = 1
    with pytest.raises(verify.WrongResult):
        verify.check(program, "JAX", wrong, wanted, strict=False)


def test_entries_say_who_is_faster_and_who_was_left_out() -> None:
    found = entry(left_out={"JAX": "JAX differs from NumPy", "torch.compile": "no such thing"}, NumPy=4e-3, xjit=1e-3)
    line = entries.row(found, (NUMPY, XJIT, JAX, TORCH))
    assert "| 4 (4) | 1 (1) | wrong result | – | 4.00 [4.00, 4.00] | – | – |" in line
    assert "torch.compile: no such thing" in entries.left_out_text([found])


def test_reductions_cover_axes_and_layouts() -> None:
    cases = list(reductions.cases())
    assert len(set(cases)) == len(cases) == 3 * 4 + 3 * 3 + 2
    assert reductions.laid_out((3, 4), "F").flags.f_contiguous
    assert reductions.laid_out((3, 4), "strided").strides == (64, 16)
    x = reductions.laid_out((6, 5), "strided")
    assert set(reductions.calls_of(x, 1)) == {f"{o}, {w}" for o in reductions.OPERATIONS for w in ("NumPy", "xjit")}


def test_slow_reductions_are_marked() -> None:
    seconds = {f"{name}, {who}": (1e-3,) * 9 for name in reductions.OPERATIONS for who in ("NumPy", "xjit")}
    case = reductions.Case((4, 5), "F", None)
    good = reductions.Reduced(case, Samples(seconds))
    bad = reductions.Reduced(case, Samples(seconds | {"max, xjit": (2e-3,) * 9}))
    assert "**" not in reductions.row(good)
    assert "2 ms, **0.50**" in reductions.row(bad)
    assert "**2.00**" in reductions.row(bad)
    assert all(figure.met for figure in reductions.reduction_figures([good]))
    assert [figure.met for figure in reductions.reduction_figures([good, bad])] == [False, False]
    assert "max of 4×5 F, all" in reductions.reduction_figures([good, bad])[0].reached


def test_bytes_of_plans_are_judged() -> None:
    moved, least, kernels = memory.plan_of(CHAIN, "S")
    assert (moved, least, kernels) == (16_000, 16_000, 1)
    good = memory.Memory(CHAIN, "XL", 100, 100, 1, 5 << 20, None)
    bad = memory.Memory(CHAIN, "XL", 200, 100, 1, None, 3 << 20)
    table = memory.memory_table([good, bad])
    assert "| 1.00 | 5.0 | – |" in table
    assert "| **2.00** | – | 3.0 |" in table
    assert [figure.met for figure in memory.memory_figures([good])] == [True]
    assert [figure.met for figure in memory.memory_figures([good, bad])] == [False]


@pytest.mark.skipif(not memory.REFERENCES.exists(), reason="the system keeps no peaks")
def test_the_peak_of_a_call_is_its_memory() -> None:
    peak = memory.peak(BY_NAME["hypot chain f64"], "L", "xjit")
    assert peak is None or 10e6 <= peak <= 60e6  # 16 MB, and what the process itself does meanwhile


def test_shares_of_the_copy_bandwidth() -> None:
    bandwidth = Bandwidth(1, {"copy": 1e9, "xjit chain": 9e9}, {"copy": 1e9, "xjit chain": 9e9})
    small, large = entry("S", xjit=1.0), entry("XL", xjit=0.16)
    (share,) = copying.shares([small, large], bandwidth)
    assert share.least == 160_000_000
    assert share.reached == pytest.approx(1.0)
    assert "| 1.0 | 100% | 100% |" in copying.share_table([share])
    slow = copying.shares([entry("XL", xjit=0.2)], bandwidth)
    assert "**80%**" in copying.share_table(slow)
    assert [figure.met for figure in copying.share_figures([share])] == [True]
    assert [figure.met for figure in copying.share_figures([share, *slow])] == [False]


def test_first_calls_are_tabulated() -> None:
    found = first_calls.FirstCalls({"a": 0.1, "b": 0.4}, {"a": 0.01, "b": 0.01}, {"b": 0.2})
    table = first_calls.first_call_table(found)
    assert "| a | 100.0 | 10.0 | – |" in table
    assert "| geometric mean | 200.0 | 10.0 | 200.0 |" in table


def test_times_are_stored_and_drawn(tmp_path: Path) -> None:
    stored, picture = tmp_path / "times.json", tmp_path / "times.svg"
    times = {"NumPy": 4e-3, "xjit": 1e-3, "JAX": 2e-3}
    results.store(stored, [entry("L", **times), entry("S", **times)], "2020-02-02", "a machine; a system")
    ((program, ratios),) = plot.speedups(results.load(stored))
    assert (program, ratios) == (CHAIN.name, {"NumPy": 1.0, "xjit": 4.0, "JAX": 2.0})
    pytest.importorskip("matplotlib")
    plot.draw(stored, picture)
    text = picture.read_text()
    assert all(word in text for word in ("<svg", CHAIN.name, "xjit", "JAX", "a machine", "2020-02-02"))
    assert "a system" not in text


def test_a_worker_says_what_its_revision_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    request = {"do": "prepare", "program": CHAIN.name, "size": "S"}
    assert isinstance(worker.prepared(request), worker.Plan)

    def wrong(*given: object) -> None:
        raise verify.WrongResult("another result")

    monkeypatch.setattr(worker, "verified_calls", wrong)
    assert worker.prepared(request) == "another result"


def test_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in (*command_line.PLAIN, "report", "programs", "reductions", "compare"))


def test_what_is_not_written_for_a_peer_is_left_out() -> None:
    with pytest.raises(LeftOut):
        peers.prepare_numexpr(BY_NAME["softmax f32"], ())
