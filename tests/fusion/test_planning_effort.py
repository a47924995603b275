"""Work of planning grows with the program, not with its square: counted in work, not in seconds.

Programs of twice as many steps take at most 2.2 times as much of everything that planning does for a place at which a
value is read, for a statement, for a group, and for a kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.codegen.lowering.kernels import equal_kernels
from xjit.fusion import cost
from xjit.fusion.grouping import clusters, group_dependence, groups, open_groups, overlapped
from xjit.fusion.regions import assembled, parts, reads
from xjit.fusion.regions.equal_parts import EqualParts
from xjit.fusion.storage import demand

GRID = np.ones((150, 150))
LINE = np.ones(4000)
Program = Callable[..., Any]


def relaxed(a: Any) -> Any:
    """One sweep of Jacobi over the interior."""
    return 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def padded(count: int) -> Program:
    def program(a: Any) -> Any:
        for _ in tuple(range(count)):
            a = np.pad(relaxed(a), 1)
        return a

    return program


def with_source(count: int) -> Program:
    """All sweeps read one array more."""

    def program(a: Any) -> Any:
        source = np.sqrt(a)
        for _ in tuple(range(count)):
            a = np.pad(relaxed(a), 1) + source
        return a

    return program


def joined(count: int) -> Program:
    def program(a: Any) -> Any:
        for _ in tuple(range(count)):
            rows = np.concatenate([a[1:-1, :1], relaxed(a), a[1:-1, -1:]], axis=1)
            a = np.concatenate([a[:1], rows, a[-1:]], axis=0)
        return a

    return program


def rolled(count: int) -> Program:
    def program(a: Any) -> Any:
        for _ in tuple(range(count)):
            a = 0.25 * (np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1))
        return a

    return program


def predators(count: int) -> Program:
    """Steps of Runge and Kutta's for the equations of Lotka and Volterra."""

    def slopes(x: Any, y: Any) -> tuple[Any, Any]:
        return 1.5 * x - x * y, x * y - 3.0 * y

    def program(x: Any) -> Any:
        y, h = x + 1.0, 0.01
        for _ in tuple(range(count)):
            a, b = slopes(x, y)
            c, d = slopes(x + h / 2 * a, y + h / 2 * b)
            e, f = slopes(x + h / 2 * c, y + h / 2 * d)
            g, i = slopes(x + h * e, y + h * f)
            x, y = x + h / 6 * (a + 2 * c + 2 * e + g), y + h / 6 * (b + 2 * d + 2 * f + i)
        return x, y

    return program


def chained(count: int) -> Program:
    def program(x: Any) -> Any:
        for _ in tuple(range(8 * count)):
            x = np.sin(x) * 1.1 + 0.3
        return x

    return program


def shrinking(count: int) -> Program:
    def program(x: Any) -> Any:
        for _ in tuple(range(count)):
            x = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
        return x

    return program


def balanced(count: int) -> Program:
    """Reductions of both axes in turn, each of what came of the one before."""

    def program(a: Any) -> Any:
        for _ in tuple(range(count)):
            a = a - a.mean(axis=1, keepdims=True)
            a = a / (1.0 + np.sqrt((a * a).sum(axis=1, keepdims=True)))
            a = a + a.max(axis=0)
        return a

    return program


def measured(count: int) -> Program:
    """After every sweep how much it has changed."""

    def program(a: Any) -> Any:
        changes = []
        for _ in tuple(range(count)):
            before, a = a, np.pad(relaxed(a), 1)
            changes.append(abs(a - before).max())
        return a, changes

    return program


def looked_up(count: int) -> Program:
    """Conditions to be checked in every step."""

    def program(x: Any) -> Any:
        order = np.argsort(x)
        for _ in tuple(range(count)):
            x = np.cumsum(np.sqrt(x[order] + 1.0))
        return x

    return program


PROGRAMS: dict[str, tuple[Callable[[int], Program], Any]] = {
    "padded": (padded, GRID),
    "with a source": (with_source, GRID),
    "joined": (joined, GRID),
    "rolled": (rolled, GRID),
    "predators": (predators, LINE),
    "chained": (chained, LINE),
    "shrinking": (shrinking, LINE),
    "balanced": (balanced, GRID),
    "measured": (measured, GRID),
    "looked up": (looked_up, LINE),
}

COUNTED: dict[str, tuple[Any, str]] = {
    "operands looked for": (reads, "sources"),
    "operands demanded": (demand.Demands, "read"),
    "pieces looked for": (assembled, "_meets"),
    "slices": (reads, "producer_slice"),
    "statements cut": (parts, "parts_of"),
    "evaluations": (cost, "evaluations"),
    "groups asked": (groups.Grouping, "_placement"),
    "places compared": (open_groups.OpenGroup, "makes_at"),
    "needs noted": (group_dependence.Dependent, "need"),
    "paths looked for": (group_dependence.Dependent, "needs"),
    "depths changed": (group_dependence.Dependent, "_deepen"),
    "clusters": (clusters, "_number"),
    "kernels asked for tiles": (overlapped, "_may_be_tiled"),
    "tilings": (overlapped._Chains, "_together"),
    "kernels told apart": (equal_kernels, "_key"),
}


def effort(monkeypatch: pytest.MonkeyPatch, program: Program, argument: Any) -> Counter[str]:
    """Return how often each of these functions is called for a program."""
    calls: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_call(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return function(*args, **kwargs)

        return count_and_call

    with monkeypatch.context() as patched:
        for name, (owner, attribute) in COUNTED.items():
            patched.setattr(owner, attribute, counted(name, getattr(owner, attribute)))
        xjit.jit(program).explain(argument)
    return calls


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_as_many_steps_take_twice_the_work(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    make, argument = PROGRAMS[name]
    short, long = (effort(monkeypatch, make(steps), argument) for steps in (24, 48))
    assert short
    for kind, count in long.items():
        assert count <= 2.2 * short[kind] + 20, (kind, short[kind], count)


def test_searches_for_paths_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search goes through the groups of few sweeps, however many there are."""
    visited: list[int] = []
    needs = group_dependence.Dependent.needs

    def watched(self: Any, goal: Any) -> bool:
        reached = {id(one) for one in self.before} | {id(one) for one in goal.after}
        visited.append(len(reached))
        return needs(self, goal)

    monkeypatch.setattr(group_dependence.Dependent, "needs", watched)
    xjit.jit(with_source(24)).explain(GRID)
    assert visited and max(visited) < 200


def test_steps_of_a_solver_share_kernels() -> None:
    """Kernels end between steps, and compute nothing twice."""
    found = xjit.jit(predators(60)).explain(LINE)
    operations = sum(len(kernel.operations) for kernel in found.kernels)
    assert len(found.kernels) <= 5
    assert operations <= 60 * 50


def test_sweeps_are_one_kernel_each() -> None:
    found = xjit.jit(padded(24)).explain(GRID)
    assert len(found.kernels) == 24
    assert sum("is stored" in reason for reason in found.reasons) == 23


@pytest.mark.parametrize("name", ["padded", "with a source", "joined", "rolled"])
def test_sweeps_of_one_structure_are_cut_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    make, argument = PROGRAMS[name]
    short, long = (effort(monkeypatch, make(steps), argument)["statements cut"] for steps in (12, 24))
    assert 0 < short == long


@pytest.mark.parametrize("name", ["padded", "with a source", "joined", "rolled", "measured"])
def test_what_is_cut_once_has_the_parts_of_what_is_cut_by_itself(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    make, argument = PROGRAMS[name]
    program = make(6)
    once = xjit.jit(program).explain(argument), xjit.jit(program).source(argument)
    monkeypatch.setattr(EqualParts, "of", lambda self, statement, slices: self.cut(statement, slices))
    assert once == (xjit.jit(program).explain(argument), xjit.jit(program).source(argument))
