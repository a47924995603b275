"""Loops and branches that run without Python between their turns, by every executor of kernels."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers.step_programs import Steps, begin, loading, made, run
from xjit.runtime.calls.records import ArraySpec
from xjit.runtime.spec import CopyStep, Operation, ProgramSpec, ReshapeStep, ViewStep
from xjit.runtime.steps import native_groups, program

MAKERS = pytest.mark.parametrize("maker", ["native", "python", "uncompiled"])
X, Y = np.arange(5.0), np.full(5, 2.0)


def plus_one(steps: Steps, _: int, value: int) -> tuple[int]:
    return (steps.run("a + 1.0", value),)


def results(spec: ProgramSpec, maker: str, *values: Any) -> Any:
    """Return what a program makes of values, which stay as they were."""
    before = [np.array(value) for value in values]
    found = run(spec, *values, maker=maker)
    for value, old in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, old)
    return found


@MAKERS
@pytest.mark.parametrize("turns", [0, 1, 2, 7])
def test_a_carried_value_is_made_of_the_one_before(maker: str, turns: int) -> None:
    steps = begin(X)
    (result,) = steps.count(turns, [0], plus_one)
    made_of_x = results(made(steps, 1, [result]), maker, X)
    assert made_of_x.tolist() == (X + turns).tolist()
    assert not np.shares_memory(made_of_x, X)


def test_a_program_of_loops_is_one_builtin_function() -> None:
    steps = begin(X)
    (result,) = steps.count(3, [0], plus_one)
    direct = program.load(made(steps, 1, [result]), loading()).direct
    assert type(direct).__name__ == "builtin_function_or_method"


# What turns hand on: by name the next values of a pair, written with the old ones and a third value from outside.
HANDED_ON: dict[str, tuple[Callable[..., Sequence[int]], Callable[..., Any]]] = {
    "exchanged": (lambda s, a, b, c: (b, a), lambda a, b, c: (b, a)),
    "shifted": (lambda s, a, b, c: (b, s.run("a + b", a, b)), lambda a, b, c: (b, a + b)),
    "one for both": (lambda s, a, b, c: (s.run("a + b", a, b),) * 2, lambda a, b, c: (a + b, a + b)),
    "old for both": (lambda s, a, b, c: (a, a), lambda a, b, c: (a, a)),
    "unchanged": (lambda s, a, b, c: (a, s.run("a * b", a, b)), lambda a, b, c: (a, a * b)),
    "from outside": (lambda s, a, b, c: (c, s.run("a + b", a, b)), lambda a, b, c: (c, a + b)),
    "a constant": (lambda s, a, b, c: (s.constant(Y), a), lambda a, b, c: (Y, a)),
    "written over": (lambda s, a, b, c: (b, s.run("a + b", a, b, into=a)), lambda a, b, c: (b, a + b)),
    "all of it": (
        lambda s, a, b, c: (s.run("a + b", b, c), s.run("a * 0.5", a, into=a)),
        lambda a, b, c: (b + c, a * 0.5),
    ),
}


@MAKERS
@pytest.mark.parametrize("name", HANDED_ON)
@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_pairs_are_handed_on_all_at_once(name: str, turns: int, maker: str) -> None:
    body, expected = HANDED_ON[name]
    steps = begin(X, Y, X)
    pair = steps.count(turns, [0, 1], lambda inner, _, a, b: body(inner, a, b, 2))
    first, second = results(made(steps, 3, pair), maker, X, Y, X - 7.0)
    a, b = X, Y
    for _ in range(turns):
        a, b = expected(a, b, X - 7.0)
    assert (first.tolist(), second.tolist()) == (a.tolist(), b.tolist())
    assert not np.shares_memory(first, second)


@MAKERS
def test_loops_in_loops_start_anew(maker: str) -> None:
    """The inner one starts from what the outer one carries, from an argument, and from a constant."""
    steps = begin(X, Y)

    def outer(inner: Steps, _: int, carried: int) -> tuple[int]:
        a, b, c = inner.count(
            3,
            [carried, 1, inner.constant(np.ones(5))],
            lambda s, _, a, b, c: (s.run("a + b", a, c), c, s.run("a + 1.0", b)),
        )
        return (inner.run("a - b * c", a, b, c),)

    (result,) = steps.count(4, [0], outer)
    expected = X
    for _ in range(4):
        a, b, c = expected, Y, np.ones(5)
        for _ in range(3):
            a, b, c = a + c, c, b + 1.0
        expected = a - b * c
    assert results(made(steps, 2, [result]), maker, X, Y).tolist() == expected.tolist()


@MAKERS
def test_a_value_that_is_read_behind_the_loop_survives_it(maker: str) -> None:
    steps = begin(X)
    start = steps.run("a * 3.0", 0)
    (result,) = steps.count(3, [start], lambda s, _, a: (s.run("a + 1.0", a, into=a),))
    both = steps.run("a - b", result, start)
    assert results(made(steps, 1, [both, start]), maker, X)[0].tolist() == [3.0] * 5


BRANCHES = (
    lambda s: (s.run("a + 1.0", 1), 1),
    lambda s: (1, s.run("a * 2.0", 1)),
    lambda s: (s.run("a * a", 1),) * 2,
)


@MAKERS
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("number", [0, 1, 2, 3, -1])
def test_a_number_chooses_a_block(number: int, kind: Any, maker: str) -> None:
    steps = begin(kind(number), X)
    pair = steps.branch(0, *BRANCHES)
    expected = ((X + 1, X), (X, X * 2), (X * X, X * X))[number if 0 <= number < 3 else -1]
    first, second = results(made(steps, 2, pair), maker, np.asarray(kind(number)), X)
    assert (first.tolist(), second.tolist()) == (expected[0].tolist(), expected[1].tolist())
    assert not np.shares_memory(first, X) and not np.shares_memory(second, X) and not np.shares_memory(first, second)


@MAKERS
def test_a_branch_in_a_loop_asks_each_time(maker: str) -> None:
    steps = begin(X)

    def body(inner: Steps, number: int, value: int) -> tuple[int]:
        odd = inner.run("(a & 1) == 1", number, dtype=bool)
        return inner.branch(odd, lambda s: (value,), lambda s: (s.run("a + 10.0", value, into=value),))

    (result,) = steps.count(5, [0], body)
    assert results(made(steps, 1, [result]), maker, X).tolist() == (X + 20.0).tolist()


@MAKERS
def test_outputs_of_several_layouts_in_one_memory(maker: str) -> None:
    """Values of one size that are arrays of other dimensions outside of the loop."""
    steps = begin(X[:4], X[:4])

    def body(inner: Steps, _: int, a: int, b: int) -> tuple[int, int]:
        return b, inner.run("a + b", a, b)

    a, b = steps.count(3, [0, 1], body)
    square = steps.slot(ArraySpec(np.dtype(np.float64), (2, 2), (16, 8)))
    steps.steps.append(ReshapeStep((b,), (square,), steps.layouts[square]))
    first, second = results(made(steps, 2, [a, square]), maker, X[:4], X[1:])
    values = X[:4], X[1:]
    for _ in range(3):
        values = values[1], values[0] + values[1]
    assert first.tolist() == values[0].tolist()
    assert second.tolist() == values[1].reshape(2, 2).tolist()


@MAKERS
def test_copies_and_shapes_inside(maker: str) -> None:
    steps = begin(X[:4])
    flat, wide = steps.layouts[0], ArraySpec(np.dtype(np.float64), (2, 2), (16, 8))

    def body(inner: Steps, _: int, value: int) -> tuple[int]:
        square, copy, again = inner.slot(wide), inner.slot(wide), inner.slot(flat)
        inner.steps.append(ReshapeStep((value,), (square,), wide))
        inner.steps.append(CopyStep((square,), (copy,)))
        inner.run("a + 1.0", copy, into=copy)
        inner.steps.append(ReshapeStep((copy,), (again,), flat))
        return (inner.run("a + b", again, value),)

    (result,) = steps.count(3, [0], body)
    expected = X[:4]
    for _ in range(3):
        expected = 2 * expected + 1
    assert results(made(steps, 1, [result]), maker, X[:4]).tolist() == expected.tolist()


@MAKERS
def test_pieces_of_a_kernel_run_in_parallel(maker: str) -> None:
    x = np.arange(1000.0)
    steps = begin(x)
    options = {"chunk": 128, "heavy": True}
    (result,) = steps.count(50, [0], lambda s, _, a: (s.run("a * 0.5 + 1.0", a, **options),))
    expected = x
    for _ in range(50):
        expected = expected * 0.5 + 1.0
    assert results(made(steps, 1, [result]), maker, x).tolist() == expected.tolist()


@MAKERS
def test_arrays_without_elements(maker: str) -> None:
    steps = begin(X[:0])
    (result,) = steps.count(3, [0], plus_one)
    assert results(made(steps, 1, [result]), maker, X[:0]).shape == (0,)


# Programs at random: statements are data, which one reader writes as steps and another one carries out.


class Values:
    """Carries statements out on arrays."""

    def run(self, expression: str, *sources: Any, **_: Any) -> Any:
        return eval(expression, {**dict(zip("abc", sources, strict=False)), "z": sources[0][::-1]})

    def count(self, turns: int, starts: Sequence[Any], body: Any) -> Sequence[Any]:
        for number in range(turns):
            starts = body(self, number, *starts)
        return starts

    def branch(self, asked: Any, *blocks: Any) -> Any:
        return blocks[asked](self)


EXPRESSIONS = ("a + b", "a - b * 0.5", "a * 0.25 + 1.0 + b - b")


def statements(rng: random.Random, own: int, known: int, depth: int) -> tuple[list[Any], int]:
    """Some statements, and how many variables there are behind them; those from ``own`` on may be written over."""
    found: list[Any] = []

    def pick(count: int) -> list[int]:
        return [rng.randrange(known) for _ in range(count)]

    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(["run", "run", "over", "loop", "branch"] if depth else ["run", "over"])
        if kind == "run" or (kind == "over" and known == own):
            found.append(("run", rng.choice((*EXPRESSIONS, "z - b")), pick(2)))
            known += 1
        elif kind == "over":
            found.append(("over", rng.choice(EXPRESSIONS), [rng.randrange(own, known), *pick(1)]))
        elif kind == "loop":
            starts = pick(rng.randint(1, 3))
            body, inside = statements(rng, known, known + len(starts), depth - 1)
            found.append(("loop", rng.randint(0, 3), starts, body, [rng.randrange(inside) for _ in starts]))
            known += len(starts)
        else:
            count, blocks = rng.randint(1, 2), []
            for _ in range(rng.randint(1, 3)):
                block, inside = statements(rng, known, known, depth - 1)
                blocks.append((block, [rng.randrange(inside) for _ in range(count)]))
            found.append(("branch", rng.randrange(len(blocks)), blocks))
            known += count
    return found, known


def carry_out(statements: list[Any], by: Any, variables: list[Any]) -> list[Any]:
    """The variables behind the statements."""
    variables = list(variables)
    for kind, *rest in statements:
        if kind == "run":
            variables.append(by.run(rest[0], *(variables[n] for n in rest[1])))
        elif kind == "over":
            target = variables[rest[1][0]]
            variables[rest[1][0]] = by.run(rest[0], *(variables[n] for n in rest[1]), into=target)
        elif kind == "loop":
            turns, starts, body, following = rest
            turn = functools.partial(turned, body, following, list(variables))
            variables += by.count(turns, [variables[n] for n in starts], turn)
        else:
            number, blocks = rest
            asked = by.constant(np.int32(number)) if isinstance(by, Steps) else number
            variables += by.branch(asked, *(functools.partial(block, *one, list(variables)) for one in blocks))
    return variables


def turned(body: list[Any], values: list[int], variables: list[Any], by: Any, _: Any, *carried: Any) -> list[Any]:
    """The values that a turn hands on."""
    return block(body, values, [*variables, *carried], by)


def block(statements: list[Any], values: list[int], variables: list[Any], by: Any) -> list[Any]:
    """The values that a block hands on."""
    inside = carry_out(statements, by, variables)
    return [inside[number] for number in values]


@pytest.mark.parametrize("seed", range(60))
def test_programs_at_random(seed: int) -> None:
    rng = random.Random(seed)
    code, _ = statements(rng, 2, 2, 3)
    steps = begin(X, Y)
    slots = carry_out(code, steps, [0, 1])
    outputs = [slot for slot in dict.fromkeys(slots[2:]) if rng.random() < 0.7] or slots[-1:]
    spec = made(steps, 2, outputs)
    expected = dict(zip(slots, carry_out(code, Values(), [X, Y]), strict=True))
    for maker in ("native", "python"):
        found = results(spec, maker, X, Y)
        found = [found] if len(outputs) == 1 else found
        for slot, one in zip(outputs, found, strict=True):
            np.testing.assert_array_equal(one, expected[slot], err_msg=f"{maker} {slot}")


# Views


def part(start: int, limit: int, stride: int = 1) -> tuple[Operation, ...]:
    return (Operation("slice", (("start", (start,)), ("limit", (limit,)), ("strides", (stride,)))),)


@MAKERS
def test_views_are_read_where_they_lie(maker: str) -> None:
    """A view from outside, one of what is carried, and one that becomes what is carried."""
    x = np.arange(10.0)
    steps = begin(x)
    half, apart = (ArraySpec(np.dtype(np.float64), (5,), (step,)) for step in (8, 16))
    outside, start = steps.slot(apart), steps.slot(half)
    steps.steps.append(ViewStep((0,), (outside,), part(1, 10, 2)))
    steps.steps.append(ViewStep((0,), (start,), part(3, 8)))

    def body(inner: Steps, _: int, small: int, large: int) -> tuple[int, int]:
        last = inner.slot(half)
        inner.steps.append(ViewStep((large,), (last,), part(5, 10)))
        return inner.run("a + b + c - c", small, outside, last), large

    small, _ = steps.count(2, [start, 0], body)
    spec = made(steps, 1, [small])
    assert results(spec, maker, x).tolist() == (x[3:8] + 2 * x[1::2]).tolist()
    assert native_groups.reasons(spec) == ("",)


@MAKERS
def test_views_that_are_results_are_views(maker: str) -> None:
    x = np.arange(10.0)
    steps = begin(x)
    half = ArraySpec(np.dtype(np.float64), (5,), (8,))
    view, of_result = steps.slot(half), steps.slot(half)
    steps.steps.append(ViewStep((0,), (view,), part(5, 10)))
    (result,) = steps.count(2, [view], plus_one)
    (whole,) = steps.count(2, [0], plus_one)
    steps.steps.append(ViewStep((whole,), (of_result,), part(0, 5)))
    (more,) = steps.count(2, [of_result], plus_one)
    found = results(made(steps, 1, [view, result, of_result, whole, more]), maker, x)
    expected = (x[5:], x[5:] + 2, x[:5] + 2, x + 2, x[:5] + 4)
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]
    assert np.shares_memory(found[0], x) and np.shares_memory(found[2], found[3])
    assert not np.shares_memory(found[1], x) and not np.shares_memory(found[4], found[2])
