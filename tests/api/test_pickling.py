"""Decorated functions reach other processes wherever plain functions do."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from xjit import jit

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300


@jit
def doubled(x):
    """Twice."""
    return x * 2.0


class Model:
    factor = 3.0

    @jit
    def scaled(self, x):
        return x * self.factor


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_functions_of_modules_go_by_name(dumps, protocol):
    assert pickle.loads(dumps([doubled, doubled], protocol=protocol)) == [doubled, doubled]
    assert pickle.loads(dumps(Model.scaled, protocol=protocol)) is Model.scaled
    assert doubled.__wrapped__.__qualname__ == "doubled"


def test_functions_of_a_module_that_goes_along_are_new_ones():
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    try:
        found = pickle.loads(cloudpickle.dumps(doubled))
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    assert found is not doubled
    assert found.options == doubled.options
    for function in (found, found.__wrapped__):
        assert (function.__name__, function.__qualname__, function.__doc__) == ("doubled", "doubled", "Twice.")
    assert found(np.ones(2)).tolist() == [2.0, 2.0]


def test_python_pickler_and_dispatch_tables():
    class Pickler(pickle._Pickler):
        dispatch_table = copyreg.dispatch_table.copy()

    file = io.BytesIO()
    Pickler(file).dump(doubled)
    assert pickle.loads(file.getvalue()) is doubled


SCRIPT = '''
import os, pickle, sys
import cloudpickle, joblib
import numpy as np
from xjit import xjit
from xjit.runtime.parallel.threads import default_threads

SHIFT = 0.5
x = np.arange(6.0)


def shifted(x):
    return x + SHIFT


@xjit
def plain(x, *, factor=3.0):
    """Shifts and scales."""
    return inner(x) * factor


@xjit(contract=True)
def inner(x):
    return shifted(x) * 2.0


@xjit
def recursive(x, depth=2):
    return x if depth == 0 else recursive(x, depth - 1) + 1.0


class Model:
    def __init__(self, factor):
        self.factor = factor

    @xjit
    def scaled(self, x):
        return x * self.factor


FUNCTIONS = plain, recursive, Model(4.0).scaled


def work(number):
    return plain(x + number)


def granted(_):
    return default_threads(), int(os.environ["OMP_NUM_THREADS"])


if __name__ == "__main__":
    if sys.argv[1] == "write":
        bundle = plain, inner, recursive, Model(4.0), [recursive, recursive]
        sys.stdout.buffer.write(cloudpickle.dumps(bundle))
    elif sys.argv[1] == "joblib":
        calls = [joblib.delayed(function)(x + n) for n in range(3) for function in FUNCTIONS]
        found = joblib.Parallel(n_jobs=2)(calls)
        for n in range(3):
            assert np.array_equal(found[3 * n], (x + n + 0.5) * 6.0)
            assert np.array_equal(found[3 * n + 1], x + n + 2.0)
            assert np.array_equal(found[3 * n + 2], (x + n) * 4.0)
        for threads, wanted in joblib.Parallel(n_jobs=2)(map(joblib.delayed(granted), range(4))):
            assert threads <= wanted
        print("right")
    elif sys.argv[1] == "spawn":
        import multiprocessing
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert np.array_equal(pool.map(plain, [x])[0], (x + 0.5) * 6.0)
            assert pool.map(work, [1.0])[0].shape == (6,)
        assert pickle.loads(pickle.dumps(plain)) is plain
        print("right")
'''

READER = """
import pickle, sys
import numpy as np
plain, inner, recursive, model, others = pickle.load(sys.stdin.buffer)
x = np.arange(6.0)
assert np.array_equal(plain(x), (x + 0.5) * 6.0)
assert np.array_equal(plain(x, factor=1.0), (x + 0.5) * 2.0)
assert np.array_equal(recursive(x), x + 2.0)
assert np.array_equal(model.scaled(x), x * 4.0)
assert others[0] is others[1] is recursive
assert inner.options.contract
for function in (plain, plain.__wrapped__):
    assert (function.__qualname__, function.__doc__) == ("plain", "Shifts and scales.")
for function in (recursive, recursive.__wrapped__):
    assert function.__qualname__ == function.__name__ == "recursive"
assert plain.stats().compiles + plain.stats().cache_hits == 2
print("right")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def output_of(*command: str | Path, given: bytes = b"") -> bytes:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, *command], input=given, env=environment, capture_output=True, timeout=SECONDS
    )
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout


def test_functions_of_the_main_script_go_with_their_code(script):
    written = output_of(script, "write")
    assert output_of("-c", READER, given=written).strip() == b"right"


@pytest.mark.parametrize("way", ["joblib", "spawn"])
def test_functions_of_the_main_script_run_in_workers(script, way):
    assert output_of(script, way).strip() == b"right"
