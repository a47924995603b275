"""A child process that is forked while another thread is at work can do everything that its parent could."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers.children import run_script

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

FUNCTIONS = """
first = xjit(lambda x: np.exp(x) * 2.0 + x)
second = xjit(lambda x: np.sin(x).sum() + x)

def use():
    assert np.allclose(first(x), np.exp(x) * 2.0 + x)
    assert np.allclose(second(x), np.sin(x).sum() + x)
    assert np.allclose(first(x[:20]), np.exp(x[:20]) * 2.0 + x[:20])
    assert first.stats().fallbacks == second.stats().fallbacks == 0

def fork_during(begin, go):
    worker = threading.Thread(target=first, args=(x,))
    worker.start()
    assert begin.wait(60)
    in_child(use)
    go.set()
    worker.join()
    use()
"""

TRACING = """
from xjit.api import dispatcher
begun, go, capture = threading.Event(), threading.Event(), dispatcher.capture

def capture_slowly(*arguments, **options):
    if threading.current_thread() is not threading.main_thread():
        begun.set()
        assert go.wait(60)
    return capture(*arguments, **options)

dispatcher.capture = capture_slowly
fork_during(begun, go)
"""

COMPILING = """
import gc
from xjit.codegen.cpu import llvm_pipeline
begun, go, emit = threading.Event(), threading.Event(), llvm_pipeline.emit_object

def emit_slowly(*arguments):
    assert gc.isenabled()
    begun.set()
    time.sleep(0.2)
    return emit(*arguments)

llvm_pipeline.emit_object = emit_slowly
use_before = use

def use():
    assert gc.isenabled()
    use_before()

fork_during(begun, go)
assert gc.isenabled()
"""


@pytest.mark.parametrize("state", [TRACING, COMPILING], ids=["tracing", "compiling"])
def test_a_child_forked_while_another_thread_works(state: str, tmp_path: Path) -> None:
    run_script(FUNCTIONS + state, tmp_path)


def test_warnings_are_as_they_were_in_a_child(tmp_path: Path) -> None:
    """NumPy is asked for types without its warnings, which are switched off for the whole process meanwhile."""
    script = """
from xjit.ops.define.library_op import run_quietly
begun, filters = threading.Event(), list(warnings.filters)

def ask():
    run_quietly(lambda: (begun.set(), time.sleep(0.2)))

def check():
    assert list(warnings.filters) == filters
    ask()

worker = threading.Thread(target=ask)
worker.start()
assert begun.wait(60)
in_child(check)
worker.join()
check()
"""
    run_script(script, tmp_path)


def test_children_forked_while_the_compiler_is_imported(tmp_path: Path) -> None:
    script = """
worker = threading.Thread(target=first, args=(x,))
worker.start()
forks = 0
for name in ("xjit.ops", "xjit.numpy", "llvmlite", "numba.core", "numba.core.typing", "numba.core.lowering"):
    while name not in sys.modules and worker.is_alive():
        time.sleep(0.0005)
    in_child(use)
    forks += 1
worker.join()
assert forks == 6
"""
    run_script(FUNCTIONS + script, tmp_path)


def test_a_child_forked_by_a_handler_while_the_thread_waits_for_its_turn(tmp_path: Path) -> None:
    """The child waits for a job that was never begun; it begins anew there."""
    script = """
from xjit.codegen.cpu import llvm_pipeline
emit, begun, children = llvm_pipeline.emit_object, threading.Event(), []

def emit_slowly(*arguments):
    begun.set()
    time.sleep(0.5)
    return emit(*arguments)

def fork(number, frame):
    children.append(os.fork())

llvm_pipeline.emit_object = emit_slowly
signal.signal(signal.SIGALRM, fork)
worker = threading.Thread(target=first, args=(x,))
worker.start()
assert begun.wait(60)
signal.setitimer(signal.ITIMER_REAL, 0.1)
assert np.allclose(second(x), np.sin(x).sum() + x)
while not children:
    time.sleep(0.01)
if children[0] == 0:
    use()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
worker.join()
use()
"""
    run_script(FUNCTIONS + script, tmp_path)


def test_a_child_forked_while_an_attribute_is_computed(tmp_path: Path) -> None:
    script = """
from xjit.lazy import lazy
begun, go = threading.Event(), threading.Event()

class Slow:
    @lazy
    def value(self):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go.wait(60)
        return 7

def check():
    assert slow.value == Slow().value == 7

slow = Slow()
worker = threading.Thread(target=lambda: slow.value)
worker.start()
assert begun.wait(60)
in_child(check)
go.set()
worker.join()
check()
"""
    run_script(script, tmp_path)


def test_children_forked_while_code_is_given_back(tmp_path: Path) -> None:
    script = """
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.runtime.loading.loader import load_object
text = "def kernel(lo, hi, table):\\n    x = ptr_f64(table, 0)\\n    st(x, lo, f64(1.0))\\n"
module, enough = compile_kernel(text), threading.Event()

def load():
    return load_object(module.object_code, module.symbol, externals=module.externals)

def drop():
    while not enough.is_set():
        kernels = [load() for _ in range(3)]
        kernels.clear()

worker = threading.Thread(target=drop)
worker.start()
for _ in range(20):
    in_child(load)
enough.set()
worker.join()
"""
    run_script(script, tmp_path)
