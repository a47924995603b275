"""Tests of others, run against compiled functions: what they see, what becomes of each test, what is counted."""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.array_api import __main__ as array_api
from tools.array_api import compiled
from tools.numpy_tests import __main__ as numpy_tests
from tools.numpy_tests import outcomes
from tools.numpy_tests.outcomes import CRASHED, FAILED, PASSED, SKIPPED, Outcome
from tools.numpy_tests.reasons import reason
from tools.numpy_tests.wrapping import Wrapped, Wrapper, plain, public_functions

LINE = np.array([3.0, 1.0, 2.0])


# ---- what a test sees


@pytest.fixture
def wrapper() -> Wrapper:
    return Wrapper()


def test_functions_are_called_inside_compiled_ones(wrapper: Wrapper) -> None:
    seen: Any = wrapper.seen(np)
    np.testing.assert_array_equal(seen.sort(LINE), [1.0, 2.0, 3.0])
    assert seen.add.reduce(LINE) == 6.0 and seen.linalg.norm([3.0, 4.0]) == 5.0
    assert (wrapper.calls, wrapper.fallbacks) == (3, 0)


def test_functions_are_themselves_to_whoever_asks(wrapper: Wrapper) -> None:
    seen: Any = wrapper.seen(np)
    assert seen.sin is seen.sin and seen.sin == np.sin and hash(seen.sin) == hash(np.sin)
    assert isinstance(seen.sin, np.ufunc) and seen.sin.nin == 1 and repr(seen.sin) == repr(np.sin)
    assert seen.sum.__name__ == "sum" and inspect.signature(seen.sum) == inspect.signature(np.sum)
    assert seen.float64 is np.float64 and seen.pi is np.pi and seen.testing is np.testing
    assert seen.array is np.array and type(seen.fft.fft) is Wrapped


def test_functions_as_arguments_are_numpys_own() -> None:
    wrapped = Wrapped(np.sin, Wrapper())
    assert plain((wrapped, [wrapped], {"key": (wrapped,)})) == (np.sin, [np.sin], {"key": (np.sin,)})
    assert plain([wrapped])[0] is np.sin


def test_what_is_stored_in_a_module_is_stored_in_numpys(wrapper: Wrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Any = wrapper.seen(np)
    monkeypatch.setattr(seen, "stored_by_a_test", 3, raising=False)
    assert vars(np)["stored_by_a_test"] == 3
    monkeypatch.undo()
    assert not hasattr(np, "stored_by_a_test")


def test_every_public_function_is_wrapped_once() -> None:
    found = list(public_functions())
    assert len({id(one) for one in found}) == len(found) > 300
    assert np.sum in found and np.linalg.inv in found and np.fft.fft in found and np.array not in found


# ---- a file of tests, run twice

FILE = """\
import os

import pytest

import numpy as np
from numpy import sort
from numpy.testing import assert_array_equal


def test_both_pass():
    from numpy.linalg import norm

    assert_array_equal(sort(np.array([2.0, 1.0])), [1.0, 2.0])
    assert norm([3.0, 4.0]) == 5.0


def test_warns():
    with pytest.warns(RuntimeWarning):
        np.divide(np.ones(3), np.zeros(3))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sees_what_it_calls(name):
    assert type(getattr(np, name)).__name__ == "ufunc"


def test_neither_passes():
    assert np.sum([1.0]) == 2.0


def test_skipped():
    pytest.skip("not here")


def test_ends_the_process():
    os._exit(3)


def test_comes_last():
    assert np.sum([1.0]) == 1.0
"""


def test_both_runs_are_counted_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "numpy" / "tests" / "test_small.py"
    file.parent.mkdir(parents=True)
    file.write_text(FILE)
    options = argparse.Namespace(limit=300.0, errors="ignore", rest=["-p", "no:benchmark"])
    found = numpy_tests.judged(str(file), tmp_path, options)
    words = {name: outcome.word for name, outcome in found.plain.items()}
    assert words == {
        "test_both_pass": PASSED,
        "test_warns": PASSED,
        "test_sees_what_it_calls[sin]": PASSED,
        "test_sees_what_it_calls[cos]": PASSED,
        "test_neither_passes": FAILED,
        "test_skipped": SKIPPED,
        "test_ends_the_process": CRASHED,
        "test_comes_last": PASSED,
    }
    assert found.wrapped.keys() == found.plain.keys() and found.wrapped["test_ends_the_process"].word == CRASHED
    different = {"test_warns", "test_sees_what_it_calls[sin]", "test_sees_what_it_calls[cos]"}
    assert found.differing.keys() == different
    assert found.unexplained.keys() == different - {"test_warns"}
    assert found.calls == 1 and found.fallbacks == 0  # behind the test that ended the process
    assert numpy_tests.row(found) == f"| {file} | 8 | 5 | 2 | 1 | 2 | {found.calls} | 0 |"
    lines = numpy_tests.listing([found])
    assert lines[0].startswith(f"{file}::test_sees_what_it_calls  [sin] [cos]") and "assert type(getattr" in lines[0]
    assert lines[1].startswith("    1 compiled code gives no RuntimeWarning")
    assert numpy_tests.records([found])[str(file)]["test_warns"]["reason"].startswith("compiled code gives no")


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(outcomes.TooSlow), outcomes._alarm(0.05):
        while True:
            pass
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    assert outcomes._wait(child, tmp_path / "notes", 0.1) is None and child.returncode < 0


def test_reasons_need_the_words_of_the_report() -> None:
    assert not reason("test_a", Outcome(FAILED, "AssertionError: 1 != 2", ""))
    assert reason("test_a", Outcome(FAILED, "Failed: DID NOT WARN. No warnings of type RuntimeWarning", ""))


# ---- the array API

ARRAY_API_TESTS = """\
import importlib
import os

import pytest

xp = importlib.import_module(os.environ["ARRAY_API_TESTS_MODULE"])


@pytest.mark.parametrize("number", [1.0, 2.0])
def test_sums(number):
    x = xp.asarray([number, number])
    assert xp.sum(x) == 2 * number and xp.linalg.matmul(x, x) == 2 * number**2
    assert xp.concat([x, x]).shape == (4,) and xp.zeros(3).dtype == xp.float64


def test_is_numpy_itself():
    assert xp.__name__ == "numpy"


def test_wrong():
    assert xp.sum(xp.asarray([1.0])) == 2.0
"""


def test_a_checkout_is_run_with_both_modules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = tmp_path / "array_api_tests"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "test_small.py").write_text(ARRAY_API_TESTS)
    answer = tmp_path / "found.json"
    assert array_api.main([str(tmp_path), "--json", str(answer), "-p", "no:benchmark"]) == 1
    said = capsys.readouterr().out
    assert "4 tests: NumPy passes 3, compiled functions 2\n1 fail with compiled functions only\n" in said
    assert [name.split("::")[-1] for name in json.loads(answer.read_text())] == ["test_is_numpy_itself"]


def test_without_a_checkout_it_says_what_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert array_api.main([str(tmp_path)]) == 2
    assert "a checkout of the array API tests is needed" in capsys.readouterr().out


def test_the_namespace_has_functions_types_and_submodules() -> None:
    np.testing.assert_array_equal(compiled.sin(LINE), np.sin(LINE))
    assert compiled.float32 is np.float32 and compiled.asarray is np.asarray and compiled.pi == np.pi
    assert compiled.sum is compiled.sum and compiled.sum.__name__ == "sum"
    np.testing.assert_allclose(compiled.fft.ifft(compiled.fft.fft(LINE)), LINE)
    assert "linalg" in dir(compiled) and "inv" in dir(compiled.linalg)
