"""Loops and branches over NumPy code: the same in Python, compiled and uncompiled, with nested states.

Every program is written twice: with the functions of xjit, and with statements of Python, which say what is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on
from xjit import tree
from xjit.errors import ArgumentError, CaptureError, DTypeError, ShapeError, XjitError

RNG = np.random.default_rng(5)
GRID = RNG.random((20, 24))
ROWS = RNG.random((5, 3))
WEIGHTS = RNG.random((3, 3))


def jacobi(u: Any, turns: int) -> Any:
    def body(i: Any, state: Any) -> Any:
        v = state["u"]
        inner = (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]) * 0.25
        middle = np.concatenate([v[1:-1, :1], inner, v[1:-1, -1:]], axis=1)
        w = np.concatenate([v[:1], middle, v[-1:]], axis=0)
        return {"u": w, "turns": state["turns"] + 1, "change": np.abs(w - v).max()}

    return xjit.fori_loop(0, turns, body, {"u": u, "turns": 0, "change": 0.0})


def jacobi_in_python(u: Any, turns: int) -> Any:
    change: Any = 0.0
    for _ in range(turns):
        w = u.copy()
        w[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
        u, change = w, np.abs(w - u).max()
    return {"u": u, "turns": turns, "change": change}


def predators(x: Any, y: Any) -> Any:
    return xjit.fori_loop(
        0, 300, lambda i, s: (s[0] + 0.01 * s[0] * (1 - s[1]), s[1] + 0.01 * s[1] * (s[0] - 1)), (x, y)
    )


def predators_in_python(x: Any, y: Any) -> Any:
    for _ in range(300):
        x, y = x + 0.01 * x * (1 - y), y + 0.01 * y * (x - 1)
    return x, y


def collatz(n: Any) -> Any:
    def body(state: Any) -> Any:
        n, steps = state
        return np.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return xjit.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]


def collatz_in_python(n: Any) -> Any:
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def weighted(x: Any) -> Any:
    return xjit.fori_loop(0, len(x), lambda i, total: total + x[i] * i, 0)


def weighted_in_python(x: Any) -> Any:
    total = x.dtype.type(0)
    for i in range(len(x)):
        total = total + x[i] * i
    return total


def nested(x: Any) -> Any:
    def outer(i: Any, s: Any) -> Any:
        return xjit.fori_loop(i, 3, lambda j, t: t * 0.5 + x * j + i, s)

    return xjit.fori_loop(0, 3, outer, x)


def nested_in_python(x: Any) -> Any:
    s = x
    for i in range(3):
        for j in range(i, 3):
            s = s * 0.5 + x * j + i
    return s


def products_of_counters(x: Any, start: Any, end: Any) -> Any:
    """Counters of loops in loops are integers of Python's, whatever the ends are: no number changes float32."""

    def outer(i: Any, s: Any) -> Any:
        s = xjit.fori_loop(start, i, lambda j, t: t * 0.5 + j * i + x, s)
        return xjit.fori_loop(i + 1, 5, lambda j, t: t * 0.5 + j * (i - j) * 0.25, s)

    return xjit.fori_loop(start, end, outer, x)


def products_of_counters_in_python(x: Any, start: Any, end: Any) -> Any:
    s = x
    for i in range(start, end):
        for j in range(start, i):
            s = s * 0.5 + j * i + x
        for j in range(i + 1, 5):
            s = s * 0.5 + j * (i - j) * 0.25
    return s


def products_between_lengths(x: Any) -> Any:
    return products_of_counters(x, 0, x.shape[0])


def products_between_lengths_in_python(x: Any) -> Any:
    return products_of_counters_in_python(x, 0, x.shape[0])


def written_over(x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        s += 1
        s *= x
        return s

    return xjit.fori_loop(0, 3, body, x)


def written_over_in_python(x: Any) -> Any:
    s = x
    for _ in range(3):
        s = (s + 1) * x
    return s


def branches_in_a_loop(x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        large = xjit.cond(
            s["x"].sum() > 100.0, lambda a: {"x": a * 0.5, "n": 1}, lambda a: {"x": a * 3.0, "n": 0}, s["x"]
        )
        moved = xjit.switch(i - 1, [lambda a: a + 1.0, lambda a: a - x, np.sin], large["x"])
        return {"x": moved, "n": s["n"] + large["n"]}

    return xjit.fori_loop(0, 6, body, {"x": x, "n": 0})


def branches_in_python(x: Any) -> Any:
    s, n = x, 0
    for i in range(6):
        large = s.sum() > 100.0
        s, n = (s * 0.5, n + 1) if large else (s * 3.0, n)
        s = s + 1.0 if i <= 1 else s - x if i == 2 else np.sin(s)
    return {"x": s, "n": n}


def recurrent(rows: Any, weights: Any) -> Any:
    def cell(h: Any, row: Any) -> Any:
        h = np.tanh(weights @ h + row["x"])
        return h, {"sum": h.sum(), "h": h[::-1]}

    return xjit.scan(cell, np.zeros(rows.shape[1]), {"x": rows})


def recurrent_in_python(rows: Any, weights: Any) -> Any:
    h, found = np.zeros(rows.shape[1]), []
    for row in rows:
        h = np.tanh(weights @ h + row)
        found.append(h)
    return h, {"sum": np.array([one.sum() for one in found]), "h": np.array([one[::-1] for one in found])}


def backwards(x: Any) -> Any:
    return xjit.scan(lambda c, r: (c * 0.5 + r, (c, r)), 0.0, x, reverse=True)


def backwards_in_python(x: Any) -> Any:
    c, found = 0.0, []
    for r in x[::-1]:
        found.append((c, r))
        c = c * 0.5 + r
    found.reverse()
    return c, (np.array([c for c, _ in found]), np.array([r for _, r in found]))


def counted(x: Any) -> Any:
    return xjit.scan(lambda c, _: (c * 2.0, None), x, None, length=4)


def counted_in_python(x: Any) -> Any:
    return x * 16.0, None


PROGRAMS = {
    "jacobi": (jacobi, jacobi_in_python, (GRID, 30)),
    "no turns": (jacobi, jacobi_in_python, (GRID, 0)),
    "predators": (predators, predators_in_python, (1.5, 0.5)),
    "predators of float32": (predators, predators_in_python, (np.float32([1.5, 2]), np.float32([0.5, 1]))),
    "collatz": (collatz, collatz_in_python, (27,)),
    "weighted": (weighted, weighted_in_python, (ROWS[:, 0],)),
    "weighted integers": (weighted, weighted_in_python, (np.arange(7),)),
    "weighted float32": (weighted, weighted_in_python, (np.arange(7, dtype=np.float32),)),
    "nested": (nested, nested_in_python, (GRID.T,)),
    "products of counters": (products_between_lengths, products_between_lengths_in_python, (np.float32(GRID[:4]),)),
    "products of counters between numbers": (
        *(products_of_counters, products_of_counters_in_python),
        (np.float32([1, 2]), 1, 4),
    ),
    "products of counters between scalars": (
        *(products_of_counters, products_of_counters_in_python),
        (np.float32([1, 2]), np.int64(1), np.int32(4)),
    ),
    "written over": (written_over, written_over_in_python, (ROWS,)),
    "branches": (branches_in_a_loop, branches_in_python, (GRID,)),
    "scan": (recurrent, recurrent_in_python, (ROWS, WEIGHTS)),
    "scan backwards": (backwards, backwards_in_python, (ROWS[:, 1],)),
    "scan without rows": (counted, counted_in_python, (ROWS,)),
}
WAYS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "in Python": lambda program: program,
    "compiled": lambda program: xjit.jit(program, strict=True),
}


def assert_same(found: Any, wanted: Any) -> None:
    leaves, structure = tree.flatten(found)
    others, other = tree.flatten(wanted)
    assert structure == other
    for one, two in zip(leaves, others, strict=True):
        assert np.asarray(one).dtype == np.asarray(two).dtype
        np.testing.assert_allclose(one, two, rtol=1e-12 if np.asarray(one).dtype != np.float32 else 1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, way: str) -> None:
    program, plain, arguments = PROGRAMS[name]
    kept = [np.array(one) for one in arguments]
    assert_same(WAYS[way](program)(*arguments), plain(*arguments))
    assert all(np.array_equal(one, two) for one, two in zip(kept, arguments, strict=True)), "an argument was changed"


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_uncompiled_and_verified(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_VERIFY", "1")
    program, plain, arguments = PROGRAMS[name]
    assert_same(xjit.jit(program, strict=True)(*arguments), plain(*arguments))


def test_the_number_of_turns_is_no_reason_to_trace_again() -> None:
    function = xjit.jit(jacobi, strict=True)
    for turns in (3, 4, 5):
        assert_same(function(GRID, turns), jacobi_in_python(GRID, turns))
    assert function.stats().traces == 1


def test_rows_are_written_in_place() -> None:
    """A turn of scan moves a row, not the array of all rows."""
    steps = on(replace(PROCESSOR, longest_turn=0))  # where no loop is a part of a kernel
    text = str(xjit.jit(recurrent, strict=True, target=steps).explain(ROWS, WEIGHTS))
    assert text.count("changes parameter in place") == 2


def test_results_are_memory_of_their_own() -> None:
    def exchanged(x: Any, y: Any) -> Any:
        return xjit.fori_loop(0, 2, lambda i, s: {"a": s["b"], "b": s["a"], "c": s["a"]}, {"a": x, "b": y, "c": x})

    arrays = GRID.copy(), GRID * 2.0
    found = list(xjit.jit(exchanged, strict=True)(*arrays).values())
    for number, one in enumerate(found):
        others = (*arrays, *found[:number], *found[number + 1 :])
        assert not any(np.shares_memory(one, other) for other in others)


# ---- mistakes

X32 = np.ones(3, np.float32)


def _outside(x: Any) -> Any:
    y = x + 1

    def body(i: Any, s: Any) -> Any:
        nonlocal y
        y += 1
        return s + y

    return xjit.fori_loop(0, 3, body, x)


MISTAKES: dict[str, tuple[Callable[[Any], Any], type[XjitError], str]] = {
    "type": (
        lambda x: xjit.fori_loop(0, 3, lambda i, s: {"a": s["a"] * x.astype(np.float64)}, {"a": x}),
        DTypeError,
        r"xjit.fori_loop: body_fun: init_val\['a'\] changes its element type; got f32\[3\] before and f64\[3\] after",
    ),
    "shape": (
        lambda x: xjit.while_loop(lambda s: s[0].sum() > 0, lambda s: (s[0][1:],), (x,)),
        ShapeError,
        r"xjit.while_loop: body_fun: init_val\[0\] changes its shape; got f32\[3\] before and f32\[2\] after",
    ),
    "structure": (
        lambda x: xjit.fori_loop(0, 3, lambda i, s: (s, s), x),
        ArgumentError,
        r"the result changes its structure; got \* before and \(\*, \*\) after",
    ),
    "carry": (
        lambda x: xjit.scan(lambda c, r: (c[1:], r), x, x),
        ShapeError,
        r"xjit.scan: f: init changes its shape",
    ),
    "pair": (lambda x: xjit.scan(lambda c, r: c, x, x), ArgumentError, "a pair of the carry"),
    "rows": (lambda x: xjit.scan(lambda c, r: (c, r), x, (x, x[1:])), ArgumentError, r"lengths \[2, 3\]"),
    "no rows": (lambda x: xjit.scan(lambda c, r: (c, r), x, x[0]), ShapeError, "an array with rows is required"),
    "no branches": (lambda x: xjit.switch(0, [], x), ArgumentError, "at least one function is required"),
    "state": (lambda x: xjit.fori_loop(0, 3, lambda i, s: s, {"a": x, "b": "text"}), DTypeError, r"init_val\['b'\]"),
}
OF_TRACES: dict[str, tuple[Callable[[Any], Any], type[XjitError], str]] = {
    "condition": (lambda x: xjit.while_loop(lambda s: s > 0, lambda s: s, x), ShapeError, "a single truth value"),
    "number": (lambda x: xjit.while_loop(lambda s: s.sum(), lambda s: s, x), DTypeError, "a truth value is required"),
    "bound": (lambda x: xjit.fori_loop(0, x[0], lambda i, s: s, x), DTypeError, "upper: an integer is required"),
    "branches": (
        lambda x: xjit.cond(x.sum() > 0, lambda: x, lambda: x[1:]),
        ShapeError,
        r"xjit.cond: false_fun: result has another shape; got f32\[3\] in the first branch and f32\[2\] here",
    ),
    "outside": (
        _outside,
        CaptureError,
        "an array from outside of the body of a loop or a branch is written in place",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_in_python(name: str) -> None:
    call, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        call(X32)


@pytest.mark.parametrize("name", MISTAKES | OF_TRACES)
def test_mistake_in_a_trace(name: str) -> None:
    """The message has four parts: rule, the user's line, where the value came from, what to do."""
    call, error, message = (MISTAKES | OF_TRACES)[name]
    with pytest.raises(error, match=message) as caught:
        xjit.jit(call, strict=True)(X32)
    lines = str(caught.value).splitlines()
    assert "test_loops_and_branches.py" in lines[1]
    assert lines[-1].startswith("  fix: ")
