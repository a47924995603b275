"""Random NumPy programs: as NumPy computes them, whichever way they are run.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz``.
"""

from __future__ import annotations

import random
import tempfile
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xjit
from tests.helpers.kernel_executors import (
    PROCESSOR,
    many_chunks,
    many_pieces,
    on,
    one_kernel_for_each,
    run_parallel,
    run_serial,
    run_uncompiled,
)
from tests.helpers.random_judge import judge
from tests.helpers.random_programs import Program, random_program
from xjit import tree
from xjit.programs.kernels import shared_kernels

# Arrays that a program makes of nothing are computed by NumPy while tracing, with NumPy's warnings.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# Programs that compiled code is tried on; compiling takes a tenth of a second each.
COMPILED = [random_program(random.Random(seed).choice) for seed in range(24)]


@st.composite
def programs(draw: Any) -> Program:
    return random_program(lambda options: draw(st.sampled_from(options)))


def check(program: Program, run: Any) -> Any:
    """Runs a program, judges the result, and checks that the arguments are as before."""
    arguments = program.arguments()
    before = [np.array(one) for one in arguments]
    result = run(program.function(), arguments)
    for one, old in zip(arguments, before, strict=True):
        assert np.array_equal(one, old, equal_nan=old.dtype.kind == "f"), f"an argument was written to\n{program}"
    judge(program, arguments, result)
    return result


@settings(max_examples=400)
@given(programs())
def test_uncompiled(program: Program) -> None:
    check(program, run_uncompiled)


@pytest.mark.parametrize("seed", range(40))
def test_uncompiled_in_numbers(seed: int) -> None:
    """Programs of plain random numbers, which are larger than those that hypothesis prefers."""
    for number in range(10 * seed, 10 * seed + 10):
        check(random_program(random.Random(number).choice), run_uncompiled)


@pytest.mark.parametrize("program", COMPILED, ids=range(len(COMPILED)))
def test_compiled(program: Program) -> None:
    check(program, run_serial)


@pytest.mark.parametrize("program", COMPILED[:12], ids=range(12))
def test_threads_change_no_bits(program: Program) -> None:
    one, two = (_bits(run(program.function(), program.arguments())) for run in (_pieces_on_one_thread, run_parallel))
    assert one == two, program


@pytest.mark.parametrize("program", COMPILED[:12], ids=range(12))
def test_each_operation_on_its_own(program: Program) -> None:
    with one_kernel_for_each():
        check(program, run_uncompiled)


@pytest.mark.parametrize("program", COMPILED[:8], ids=range(8))
def test_from_the_cache(program: Program) -> None:
    """Compiled anew, loaded from disk, and taken from memory: the same bits."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", XJIT_CACHE_DIR=folder):
        shared_kernels().clear()
        fresh, hits = _run_counting(program)
        shared_kernels().clear()
        loaded, loaded_hits = _run_counting(program)
        known, known_hits = _run_counting(program)
    shared_kernels().clear()
    assert _bits(fresh) == _bits(loaded) == _bits(known)
    assert hits.compiles + hits.cache_hits == loaded_hits.cache_hits == known_hits.cache_hits
    assert not loaded_hits.compiles and not known_hits.compiles


def _run_counting(program: Program) -> tuple[Any, Any]:
    function = xjit.jit(program.function())
    return function(*program.arguments()), function.stats()


def _pieces_on_one_thread(function: Any, arguments: Any) -> Any:
    with xjit.threads(1), many_chunks():
        return xjit.jit(function, target=on(many_pieces(PROCESSOR)))(*arguments)


def _bits(result: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in tree.flatten(result)[0]]
