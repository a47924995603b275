"""Jobs that several threads share, and kernels that they compile: in turns, but for the long calls of LLVM."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from xjit import jobs
from xjit.codegen.front_end import numba_compat
from xjit.llvm import targets
from xjit.programs.kernels import KernelStore
from xjit.runtime.tally import KernelTally
from xjit.watch import UNWATCHED, CompileLimitError, Watch

TEXT = """def kernel(lo, hi, table):
    x = ptr_f64(table, 0)
    for i in range(lo, hi):
        st(x, i, exp_f64(ld(x, i)) * f64({number}.0))
"""
TEXTS = tuple(TEXT.format(number=number) for number in range(1, 7))


def shared(functions: Any, threads: int = 2) -> None:
    jobs.run(lambda: jobs.in_turns(functions, threads))


def test_one_runs_at_a_time() -> None:
    running, seen = [], []

    def work() -> None:
        running.append(jobs.worker())
        time.sleep(0.002)
        seen.append(tuple(running))
        running.pop()

    shared([work] * 20, threads=3)
    assert all(len(one) == 1 and one[0] in (1, 2, 3) for one in seen) and len(seen) == 20


def test_what_is_done_aside_meets() -> None:
    both = threading.Barrier(2, timeout=30.0)
    shared([lambda: jobs.aside(both.wait)] * 2)


def test_threads_that_share_a_job_are_inside_of_it() -> None:
    found: list[bool] = []
    both = threading.Barrier(2, timeout=30.0)

    def work() -> None:
        jobs.aside(both.wait)
        found.append(jobs.inside())
        assert jobs.run(lambda: 5) == 5

    shared([work] * 2)
    assert found == [True, True]
    assert not jobs.inside() and not jobs.worker()


def test_what_one_raises_ends_the_others() -> None:
    done: list[int] = []

    def fail() -> None:
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        shared([fail, *(lambda: done.append(1),) * 10], threads=1)
    assert not done
    shared([lambda: done.append(1)] * 3)
    assert len(done) == 3


def test_no_thread_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(jobs, "start_new_thread", refuse)
    done: list[int] = []
    shared([lambda: done.append(jobs.worker())] * 3)
    assert done == [1, 1, 1]


def test_machine_code_does_not_depend_on_who_compiles() -> None:
    alone = {text: numba_compat.compile_kernel(text).object_code for text in TEXTS}
    ahead = jobs.run(lambda: KernelStore().ahead(TEXTS, contract=False, threads=3, watch=UNWATCHED))
    assert {text: module.object_code for text, module in ahead.items()} == alone


def test_long_calls_of_llvm_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    both, met = threading.Barrier(2, timeout=30.0), []
    aside = jobs.aside

    def meeting(function: Any) -> Any:
        def run() -> Any:
            if len(met) < 2:
                met.append(both.wait())
            return function()

        return aside(run)

    monkeypatch.setattr(jobs, "aside", meeting)
    KernelStore().ahead(TEXTS[:2], contract=False, threads=2, watch=UNWATCHED)
    assert sorted(met) == [0, 1]


def test_each_has_contexts_and_code_generators_of_its_own() -> None:
    machines: dict[int, Any] = {}
    both = threading.Barrier(2, timeout=30.0)

    def work() -> None:
        jobs.aside(both.wait)
        module = targets.parsed("define void @f() {\n  ret void\n}\n")
        machines[jobs.worker()] = targets.target_machine(targets.host()), module._context

    shared([work] * 2)
    machines[0] = targets.target_machine(targets.host()), targets.parsed("")._context
    for place in (0, 1):
        assert len({id(one[place]) for one in machines.values()}) == 3


def test_modules_are_freed_by_who_has_their_context(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    dispose = targets._dispose
    monkeypatch.setattr(targets, "_dispose", lambda module: (freed.append(jobs.worker()), dispose(module)))
    text, kept = "define void @f() {\n  ret void\n}\n", list[Any]()

    def alone(function: Any) -> None:
        jobs.run(lambda: jobs.in_turns([function], 1))

    alone(lambda: targets.parsed(text))
    assert freed == [1]
    alone(lambda: kept.append(targets.parsed(text)))
    kept.clear()
    assert freed == [1]
    alone(lambda: targets.parsed(text))
    assert freed == [1, 1, 1]


def test_a_text_that_is_refused_is_refused_where_it_is_asked_for() -> None:
    wrong = "def kernel(lo, hi, table):\n    st(lo, hi)\n"
    store, tally = KernelStore(), KernelTally()
    ahead = jobs.run(lambda: store.ahead((*TEXTS[:2], wrong), contract=False, threads=2, watch=UNWATCHED))
    assert set(ahead) == set(TEXTS[:2])
    with pytest.raises(TypeError):
        store.load(wrong, tally, ahead=ahead)


def test_the_limit_holds() -> None:
    with pytest.raises(CompileLimitError):
        jobs.run(lambda: KernelStore().ahead(TEXTS, contract=False, threads=2, watch=Watch(limit=0.0)))


def test_kernels_compiled_ahead_are_counted_and_run() -> None:
    store, tally = KernelStore(), KernelTally()
    ahead = store.ahead(TEXTS[:2], contract=False, threads=2, watch=UNWATCHED)
    kernels = [store.load(text, tally, ahead=ahead) for text in TEXTS[:2]]
    assert tally.compiles == 2 and tally.cache_hits == 0
    again = store.ahead(TEXTS[:2], contract=False, threads=2, watch=UNWATCHED)
    assert not again and kernels
    assert np.isfinite(tally.seconds)
