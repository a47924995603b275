"""Random ordinary programs: writes, views, loops, branches, arguments that overlap; they do what NumPy does.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --ordinary``.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.fuzz.comparing import Difference
from tests.fuzz.random_texts import random_text
from tests.fuzz.shrinking import shrunk
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import Tally, kind, tried

PROGRAMS, PORTION = 2000, 50
# Known differences, each with its cause.
KNOWN = {
    1790: "single precision, stored in a double and compared as such",
    1967: "what a loop makes of a column-major array is row-major",
}
# Programs that failed once.
FOUND = (
    91000001,
    91000298,
    91000598,
    91001802,
    91002074,
    91002297,
    91002774,
    91003260,
    91003848,
    91003947,
    91004188,
    91003610,
    91004043,
    91003247,
    93000114,
    93000742,
    93002703,
    93002957,
    93003114,
    93003402,
    93002106,
    93002772,
    93003885,
)


@pytest.fixture(autouse=True)
def falling_back(monkeypatch: Any) -> None:
    """Refused programs run as NumPy, uncompiled kernels as Python."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_programs(first: int) -> None:
    for seed in range(first, first + PORTION):
        if seed in KNOWN:
            continue
        program = random_text(random.Random(seed))
        failure = tried(program)
        assert failure is None, f"seed {seed}: {failure}\n{program}"


@pytest.mark.parametrize("seed", FOUND)
def test_found_programs(seed: int) -> None:
    program = random_text(random.Random(seed))
    failure = tried(program)
    assert failure is None, f"{failure}\n{program}"


def test_many_programs_compile_whole() -> None:
    tally = Tally()
    for seed in range(60):
        tried(random_text(random.Random(seed)), tally)
    assert tally.whole >= tally.programs // 3


WRONG = """
def arguments(k, r):
    x = values(3 + r, "float64", (5,))
    return x, k

def f(x, k):
    y = x + 1
    if k < 3:
        x[1:] = x[:-1]
        y[0] = 2
    return y, x[2:]
"""


def test_a_copy_for_a_view_is_found_and_shrunk() -> None:
    """A compiler that loses the last write, and returns copies, is caught; the rest of the program is left out."""
    program = TextProgram(WRONG)
    assert tried(program) is None

    def fails(other: TextProgram) -> bool:
        try:
            judged = _judge_copies(other)
        except Difference as error:
            return "share memory" in str(error)
        except Exception:  # not a program any more
            return False
        return bool(judged)

    assert fails(program)
    assert len(shrunk(program, fails).text.splitlines()) <= 7


GIVEN_BACK = """
def arguments(k, r):
    return values(3 + r, "float64", (5,)),

def h(u):
    return u + 1

def f(x):
    return h, [float(v) for v in x] * 2000, h(x)
"""


def test_a_function_among_thousands_of_results_is_that_of_the_program() -> None:
    """Each module has its own function ``h``, and only arrays have memory to compare."""
    assert tried(TextProgram(GIVEN_BACK)) is None


def _judge_copies(program: TextProgram) -> Any:
    from tests.fuzz.comparing import judge

    def copying(function: Any) -> Any:
        def called(*args: Any) -> Any:
            result = function(*args)
            return tuple(one.copy() for one in result) if isinstance(result, tuple) else result

        return called

    return judge(program, copying).refusals


def test_failures_of_one_cause_have_one_kind() -> None:
    one, other = (
        "f(*arguments(0, 1)): result 3: 2 of 7 numbers differ\n got",
        "f(*arguments(1, 0)): result 1: 1 of 2 numbers differ",
    )
    assert kind(one) == kind(other)
