"""The first call of a second process, of programs that draw random numbers."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.second_process import run

PROGRAM = """
import sys
import numpy as np
import xjit


def f(x{parameter}):
    inside = 0
    for i in range(100):
        if {draw} < x[3]:
            inside += 1
    return inside, {draws}(5) * x[0]


made = xjit.jit(f)
x = np.arange(12.0) / 6.0
for _ in range(2):
    np.random.seed(3)
    found = made(x{theirs})
    np.random.seed(3)
    wanted = f(x{own})
    assert found[0] == wanted[0]
    np.testing.assert_array_equal(found[1], wanted[1])
count = sum(name.split(".")[0] == "xjit" for name in sys.modules)
print("traced" if made._dispatcher is not None else "started", count)
"""

OF_THE_MODULE = {"parameter": "", "draw": "np.random.rand()", "draws": "np.random.random", "theirs": "", "own": ""}
OF_AN_ARGUMENT = {
    "parameter": ", rng",
    "draw": "rng.uniform(0.0, 2.0)",
    "draws": "rng.standard_normal",
    "theirs": ", np.random.default_rng(1)",
    "own": ", np.random.default_rng(1)",
}


def test_a_program_that_draws_is_kept(tmp_path: Path) -> None:
    text = PROGRAM.format(**OF_THE_MODULE)
    assert [run(tmp_path, tmp_path / "cache", text=text)[0] for _ in range(2)] == ["traced", "started"]


def test_kernels_that_draw_are_kept(tmp_path: Path) -> None:
    text = PROGRAM.format(**OF_AN_ARGUMENT)
    assert [run(tmp_path, tmp_path / "cache", text=text)[0] for _ in range(2)] == ["traced", "started"]
