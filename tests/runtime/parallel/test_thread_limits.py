"""Limits on threads in the environment of a process are obeyed, as affinity and quota are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xjit.runtime.parallel import threads
from xjit.runtime.parallel.threads import LIMITS, environment_limit

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 300


@pytest.mark.parametrize("name", LIMITS)
def test_every_variable_counts_alone(name: str) -> None:
    assert environment_limit({name: "3"}) == 3


def test_the_first_variable_counts() -> None:
    environment = {name: str(number) for number, name in enumerate(LIMITS, 1)}
    for number, name in enumerate(LIMITS, 1):
        assert environment_limit(environment) == number
        del environment[name]
    assert environment_limit(environment) is None


@pytest.mark.parametrize("value", ["", "0", "-1", "all", "1.5", "²"])
def test_what_is_no_number_of_threads_sets_no_limit(value: str) -> None:
    assert environment_limit({"OMP_NUM_THREADS": value}) is None
    assert environment_limit({"OMP_NUM_THREADS": value, "MKL_NUM_THREADS": "5"}) == 5


def test_lists_of_openmp_begin_with_the_outermost_level() -> None:
    assert environment_limit({"OMP_NUM_THREADS": " 4 , 2,1"}) == 4


def test_the_environment_does_not_raise_the_limit() -> None:
    assert threads.default_threads() <= threads._affinity()


PROGRAM = """
import numpy as np
from xjit import xjit
from xjit.runtime.parallel.pool import shared_pool
from xjit.runtime.parallel.threads import default_threads

x = np.linspace(0.0, 1.0, 3_000_000)
for _ in range(3):
    xjit(lambda x: np.exp(np.sin(x)))(x)
print(default_threads(), shared_pool().worker_count)
"""


@pytest.mark.skipif(threads.default_threads() < 2, reason="there is one processor")
@pytest.mark.parametrize(
    ("settings", "printed"),
    [
        ({"OMP_NUM_THREADS": "1"}, "1 0"),
        ({"OPENBLAS_NUM_THREADS": "1"}, "1 0"),
        ({"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}, "2 1"),
    ],
)
def test_a_process_takes_no_more_threads(settings: dict[str, str], printed: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in LIMITS} | settings
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert run.stdout.strip() == printed, run.stderr
