"""The first call of a second process, of programs with loops and branches."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.second_process import run

PROGRAM = """
import sys
import numpy as np
import xjit


def f(x, turns):
    def body(i, state):
        moved = xjit.cond(state["sum"] > 50.0, lambda a: a * 0.5, lambda a: a + i, state["x"])
        return {"x": moved, "sum": moved.sum()}

    last = xjit.fori_loop(0, turns, body, {"x": x, "sum": 0.0})
    carry, rows = xjit.scan(lambda c, row: (c * 0.5 + row, c), last["x"][0], x)
    return last, carry, rows


def flat(value):
    last, carry, rows = value
    return [last["x"], last["sum"], carry, rows]


made = xjit.jit(f)
x = np.arange(12.0).reshape(3, 4)
for turns in (5, 7):
    for one, other in zip(flat(made(x, turns)), flat(f(x, turns)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
# The plain function above loads the tracer in any case: what counts is who has answered the calls.
count = sum(name.split(".")[0] == "xjit" for name in sys.modules)
print("traced" if made._dispatcher is not None else "started", count)
"""


def test_a_program_with_loops_is_kept(tmp_path: Path) -> None:
    hows = [run(tmp_path, tmp_path / "cache", text=PROGRAM)[0] for _ in range(2)]
    assert hows == ["traced", "started"]
