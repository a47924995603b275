"""The thread pool and thread limits: every range exactly once, from any number of threads, also after a fork."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from xjit.runtime.native import native_code, native_parts
from xjit.runtime.parallel import pool, threads
from xjit.runtime.parallel.control_groups import ControlGroups
from xjit.runtime.parallel.pool import Pool

KERNELS = r"""
$PAUSE_DECLARATION
; The same once a while has passed.
define void @mark_late(i64 %low, i64 %high, ptr %table) {
entry:
  br label %wait
wait:
  %i = phi i64 [ 0, %entry ], [ %i1, %wait ]
  $PAUSE
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 30000
  br i1 %more, label %wait, label %done
done:
  call void @mark(i64 %low, i64 %high, ptr %table)
  ret void
}

; table: counts, lows, highs.  counts[i] += 1, lows[i] = low, highs[i] = high for i in the range.
define void @mark(i64 %low, i64 %high, ptr %table) {
entry:
  %counts = call ptr @pointer(ptr %table, i64 0)
  %lows = call ptr @pointer(ptr %table, i64 1)
  %highs = call ptr @pointer(ptr %table, i64 2)
  for %i from %low below %high
    %count_place = call ptr @place(ptr %counts, i64 %i)
    %count = load i64, ptr %count_place
    %count1 = add i64 %count, 1
    store i64 %count1, ptr %count_place
    %low_place = call ptr @place(ptr %lows, i64 %i)
    store i64 %low, ptr %low_place
    %high_place = call ptr @place(ptr %highs, i64 %i)
    store i64 %high, ptr %high_place
  end %i
  ret void
}
"""


def native_kernels(text: str = KERNELS) -> native_code.NativeModule:
    """Machine code of kernels in the runtime's assembly."""
    return native_code.NativeModule(native_parts.WORDS_TEXT + text)


PythonKernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
NativeLaunch = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
)


@pytest.fixture(scope="module")
def mark() -> int:
    return native_kernels().function("mark")


@pytest.fixture(scope="module", params=["system sleep", "python sleep"])
def workers(request: pytest.FixtureRequest) -> Pool:
    return Pool(sleep_in_python=request.param == "python sleep")


@pytest.fixture
def fresh_limit() -> Iterator[None]:
    with threads.threads(None):
        yield


class Marks:
    """The arrays the kernel ``mark`` writes to, and its table."""

    def __init__(self, extent: int) -> None:
        self.arrays = np.zeros((3, max(extent, 1)), np.int64)
        self.table = np.array([row.ctypes.data for row in self.arrays], np.int64)

    @property
    def address(self) -> int:
        return int(self.table.ctypes.data)

    def check(self, extent: int, chunk: int, launches: int = 1) -> None:
        low = np.arange(extent) // chunk * chunk
        assert (self.arrays[0, :extent] == launches).all()
        assert (self.arrays[1, :extent] == low).all()
        assert (self.arrays[2, :extent] == np.minimum(low + chunk, extent)).all()


@pytest.mark.parametrize("count", [1, 2, 3, 9])
@pytest.mark.parametrize(
    ("extent", "chunk"), [(0, 4), (1, 1), (5, 9), (7, 7), (8, 7), (64, 1), (1000, 7), (4096, 512)]
)
def test_every_range_is_run_exactly_once(workers: Pool, mark: int, extent: int, chunk: int, count: int) -> None:
    marks = Marks(extent)
    workers.launch(mark, extent, chunk, marks.address, count)
    marks.check(extent, chunk)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no futex")
def test_workers_sleep_without_the_interpreter_where_they_can() -> None:
    assert not Pool().sleeps_in_python and Pool(sleep_in_python=True).sleeps_in_python


def test_shared_pool_launches(mark: int) -> None:
    marks = Marks(100)
    pool.launch(mark, 100, 9, marks.address, 4)
    marks.check(100, 9)


def test_many_launches_after_one_another(workers: Pool, mark: int) -> None:
    marks = Marks(40)
    for _ in range(3000):
        workers.launch(mark, 40, 3, marks.address, 4)
    marks.check(40, 3, launches=3000)


def test_launches_from_many_python_threads_at_once(workers: Pool, mark: int) -> None:
    all_marks = [Marks(50) for _ in range(32)]

    def hammer(marks: Marks) -> None:
        for _ in range(200):
            workers.launch(mark, 50, 4, marks.address, 4)

    callers = [threading.Thread(target=hammer, args=(marks,)) for marks in all_marks]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for marks in all_marks:
        marks.check(50, 4, launches=200)


def test_workers_take_part(workers: Pool) -> None:
    """Three pieces that wait for one another can only finish on three threads at once."""
    meeting = threading.Barrier(3)
    seen = set()

    def meet(low: int, high: int, table: int) -> None:
        meeting.wait(timeout=30)
        seen.add(threading.get_ident())

    kernel = PythonKernel(meet)
    workers.launch(ctypes.cast(kernel, ctypes.c_void_p).value or 0, 3, 1, 0, 3)
    assert len(seen) == 3
    assert threading.get_ident() in seen


def test_never_more_threads_than_the_limit(workers: Pool) -> None:
    inside: list[int] = []
    most = 0
    lock = threading.Lock()

    def count(low: int, high: int, table: int) -> None:
        nonlocal most
        with lock:
            inside.append(low)
            most = max(most, len(inside))
        threading.Event().wait(0.001)
        with lock:
            inside.remove(low)

    kernel = PythonKernel(count)
    address = ctypes.cast(kernel, ctypes.c_void_p).value or 0
    workers.launch(address, 8, 1, 0, 6)
    most = 0
    workers.launch(address, 20, 1, 0, 2)
    assert most <= 2


def test_a_launch_inside_a_kernel_runs_serially(workers: Pool, mark: int) -> None:
    marks = [Marks(30) for _ in range(6)]

    def nested(low: int, high: int, table: int) -> None:
        workers.launch(mark, 30, 4, marks[low].address, 4)

    kernel = PythonKernel(nested)
    workers.launch(ctypes.cast(kernel, ctypes.c_void_p).value or 0, 6, 1, 0, 3)
    for one in marks:
        one.check(30, 4)


def test_chunk_must_be_positive(mark: int) -> None:
    with pytest.raises(ValueError, match="chunk of at least 1, got 0"):
        pool.launch(mark, 10, 0, 0, 2)


@pytest.mark.usefixtures("fresh_limit")
def test_native_launcher_obeys_the_limit_of_the_calling_thread(mark: int) -> None:
    own = Pool()
    launch = NativeLaunch(own.launcher)
    marks = Marks(64)
    for count, workers_started in ((1, 0), (3, 2), (2, 2), (6, 5)):
        threads.threads(count)
        assert launch(mark, 64, 1, marks.address, None) == 0
        assert own.worker_count == workers_started
    marks.check(64, 1, launches=4)


def _run(script: str) -> subprocess.CompletedProcess[str]:
    folder = Path(__file__).resolve().parents[3]
    prelude = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    prelude += "from tests.runtime.parallel.test_runtime_pool import Marks, native_kernels\n"
    prelude += "from xjit.runtime.parallel import pool\n"
    prelude += "mark = native_kernels().function('mark')\n"
    command = [sys.executable, "-c", prelude + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


FORK_AFTER_USE = """
import os
def use():
    marks = Marks(100)
    for _ in range(50):
        pool.launch(mark, 100, 7, marks.address, 4)
    marks.check(100, 7, launches=50)
use()
child = os.fork()
if child == 0:
    assert pool.shared_pool().worker_count == 0
    use()
    assert pool.shared_pool().worker_count == 3
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
use()
"""

FORK_DURING_LAUNCHES = """
import os, threading
stop = threading.Event()
def use(enough):
    marks = Marks(100)
    count = 0
    while not enough(count):
        pool.launch(mark, 100, 3, marks.address, 3)
        count += 1
    marks.check(100, 3, launches=count)
busy = [threading.Thread(target=use, args=(lambda count: stop.is_set(),)) for _ in range(3)]
for thread in busy:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        use(lambda count: count == 20)
        os._exit(0 if pool.shared_pool().worker_count == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
for thread in busy:
    thread.join()
"""

FORK_WITHIN_A_LAUNCH = """
import os, signal
from xjit.runtime.calls import entry; from xjit.runtime.parallel import threads
from xjit.runtime.calls.records import FastProgram, KernelCall
threads.threads(3)
late = native_kernels().function("mark_late")
marks, others, children = Marks(300), Marks(90), []
def use():
    pool.launch(mark, 90, 4, others.address, 4)
def fork(number, frame):
    use()
    children.append(os.fork())
    use()
signal.signal(signal.SIGALRM, fork)
calls = (KernelCall(late, 300, 1, tuple(map(int, marks.table)), ()),)
run = entry.native_entries().make(FastProgram((), (), (), calls, False, True))
signal.setitimer(signal.ITIMER_REAL, 0.02)
run()
signal.setitimer(signal.ITIMER_REAL, 0)
marks.check(300, 1)
assert len(children) == 1
use()
others.check(90, 4, launches=3)
if not children[0]:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7
run()
marks.check(300, 1, launches=2)
"""

EXIT_DURING_LAUNCHES = """
import threading
def use():
    marks = Marks(100)
    while True:
        pool.launch(mark, 100, 3, marks.address, 4)
threading.Thread(target=use, daemon=True).start()
threading.Event().wait(0.05)
"""

EXIT_WITH_SLEEPING_WORKERS = """
import threading
marks = Marks(100)
for sleep_in_python in (False, True):
    pool.Pool(sleep_in_python=sleep_in_python).launch(mark, 100, 3, marks.address, 4)
threading.Event().wait(0.05)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("script", [FORK_AFTER_USE, FORK_DURING_LAUNCHES], ids=["idle", "busy"])
def test_a_forked_child_starts_workers_of_its_own(script: str) -> None:
    result = _run(script)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_within_a_launch_loses_no_element() -> None:
    """Workers finish their chunks before; the child computes the rest, and so does the parent, each once."""
    for _ in range(3):
        result = _run(FORK_WITHIN_A_LAUNCH)
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("script", [EXIT_DURING_LAUNCHES, EXIT_WITH_SLEEPING_WORKERS], ids=["busy", "idle"])
def test_workers_do_not_keep_the_process_alive(script: str) -> None:
    result = _run(script)
    assert result.returncode == 0, result.stderr


# ---------------------------------------------------------------------------------------------- limits


@pytest.mark.usefixtures("fresh_limit")
def test_threads_sets_and_restores() -> None:
    default = threads.current_threads()
    assert default == threads.default_threads() >= 1
    with threads.threads(3):
        assert threads.current_threads() == 3
        with threads.threads(5):
            assert threads.current_threads() == 5
            threads.threads(2)
            assert threads.current_threads() == 2
        assert threads.current_threads() == 3
    assert threads.current_threads() == default
    threads.threads(7)
    assert threads.current_threads() == 7
    threads.threads(None)
    assert threads.current_threads() == default


@pytest.mark.usefixtures("fresh_limit")
def test_threads_concerns_the_calling_thread_only() -> None:
    seen = []
    with threads.threads(11):
        other = threading.Thread(target=lambda: seen.append(threads.current_threads()))
        other.start()
        other.join()
    assert seen == [threads.default_threads()]


def test_threads_refuses_nonsense() -> None:
    before = threads.current_threads()
    with pytest.raises(ValueError, match="at least 1, got 0"):
        threads.threads(0)
    with pytest.raises(TypeError):
        threads.threads(1.5)
    assert threads.current_threads() == before


def _groups(folder: Path, membership: str) -> ControlGroups:
    path = folder / "cgroup"
    path.write_text(membership)
    return ControlGroups(path, folder / "mount")


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


def test_limits_of_version_2_are_the_tightest_of_all_ancestors(tmp_path: Path) -> None:
    root = tmp_path / "mount"
    _write(root / "a" / "b", cpu__max="400000 100000", memory__max="max")
    _write(root / "a", cpu__max="150000 100000", memory__max="5000000")
    _write(root, cpu__max="max 100000")
    groups = _groups(tmp_path, "0::/a/b\n")
    assert (groups.processors(), groups.memory()) == (1.5, 5e6)


def test_limits_of_version_1(tmp_path: Path) -> None:
    root = tmp_path / "mount"
    _write(root / "cpu,cpuacct" / "job", cpu__cfs_quota_us="250000", cpu__cfs_period_us="100000")
    _write(root / "cpu,cpuacct", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    _write(root / "memory" / "job", memory__limit_in_bytes="777")
    groups = _groups(tmp_path, "5:memory:/job\n4:cpu,cpuacct:/job\n")
    assert (groups.processors(), groups.memory()) == (2.5, 777)


def test_limits_inside_a_container_are_found_at_the_mount(tmp_path: Path) -> None:
    _write(tmp_path / "mount", cpu__max="300000 100000")
    assert _groups(tmp_path, "0::/of/the/host\n").processors() == 3.0


@pytest.mark.parametrize("text", ["max 100000", "nonsense", "", "5", "0 0"])
def test_no_limits(tmp_path: Path, text: str) -> None:
    _write(tmp_path / "mount", cpu__max=text, memory__max="max")
    groups = _groups(tmp_path, "0::/\n")
    assert groups.processors() is None
    assert groups.memory() is None
    assert ControlGroups(tmp_path / "absent", tmp_path / "mount").processors() is None
