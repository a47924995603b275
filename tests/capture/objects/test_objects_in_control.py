"""Attributes that branches and loops assign where only the run decides."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from tests.capture.objects.objects_with_state import (
    N,
    Particles,
    Welford,
    check,
)
from xjit import fori_loop, xjit
from xjit.errors import CaptureError


def test_branches_that_assign() -> None:
    def f(p: Any, x: Any) -> Any:
        p.steps = 0
        if x[0] > 0.0:
            p.pos = x * 2.0
            p.steps += 1
        else:
            p.vel = x - 1.0
            p.time = 1.0
        return p.pos + p.vel

    for sign in (1.0, -1.0):
        check(f, Particles, sign * np.arange(1.0, N + 1.0), traces=2)


def test_objects_of_the_function_in_branches() -> None:
    def f(x: Any) -> Any:
        one = types.SimpleNamespace()
        own = Welford(0, 0.0, 0.0)
        if x[0] > 0.0:
            own.mean = 1.0
        else:
            own.mean = 2.0
        own.m2 = 3.0 if x[1] > 0.0 else 4.0
        del one
        return x * own.mean + own.m2

    compiled = xjit(strict=True)(f)
    for x in (np.array([1.0, -1.0]), np.array([-1.0, 1.0])):
        np.testing.assert_array_equal(compiled(x), f(x))


def test_expressions_that_assign() -> None:
    def f(p: Any, x: Any) -> Any:
        found = p.kick(0.5) if x[0] > 0.0 else p.pos.sum()
        return x[1] > 0.0 and p.kick(0.1) > 0.0, found

    for x in (np.array([1.0, -1.0]), np.array([-1.0, 1.0])):
        check(f, Particles, x, traces=1)


def test_an_attribute_on_one_branch_only() -> None:
    def f(p: Any, x: Any) -> Any:
        if x[0] > 0.0:
            p.fresh = x
        return x + 1.0

    with pytest.raises(CaptureError, match="fresh on one branch only"):
        xjit(strict=True)(f)(Particles(), np.ones(3))


def test_loops_that_assign() -> None:
    def through(p: Any, x: Any) -> Any:
        for value in x:
            p.time += value
            if value > 0.5:
                p.steps += 1
        return p.time

    def until(p: Any, x: Any) -> Any:
        while p.time < x[0]:
            p.move(0.25)
        return p.steps

    def in_place(p: Any, x: Any) -> None:
        for i in range(len(x)):
            p.vel -= p.pos * x[i]
            p.pos += p.vel * 0.01

    def nested(p: Any, x: Any) -> Any:
        for i in range(200):
            for j in range(i):
                p.time += x[j] * x[i]
            p.steps += 1
        return p.time

    x = np.random.default_rng(3).random(2000)
    check(through, Particles, x, calls=3)
    check(until, Particles, np.array([5.0]), calls=2)
    check(in_place, Particles, x[:300], calls=2, traces=1)
    check(nested, Particles, x, calls=2)


def test_objects_of_the_function_in_loops() -> None:
    def f(x: Any) -> Any:
        own = Welford(0, 0.0, 0.0)
        for value in x:
            own.push(value)
        return own.mean, own.m2, own.n

    def counted(x: Any) -> Any:
        own = Particles(3)
        own.steps = 0
        for value in x:
            if value > 0.5:
                own.steps += 1
        return own.steps

    for x in (np.random.default_rng(1).random(3000), np.random.default_rng(2).random(3000)):
        for function in (f, counted):
            np.testing.assert_allclose(xjit(strict=True)(function)(x), function(x), rtol=1e-9)


def test_attributes_that_the_first_turn_makes() -> None:
    def f(p: Any, x: Any) -> Any:
        for value in x:
            p.fresh = value * 2.0
            p.time += p.fresh
        return p.time

    check(f, Particles, np.random.default_rng(1).random(3000), calls=2)


def test_functions_that_are_handed_to_a_loop_assign_nothing() -> None:
    def f(p: Any, x: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            p.steps = 5
            return total + x[i]

        return fori_loop(0, 3, body, 0.0)

    with pytest.raises(CaptureError, match="only the run decides"):
        xjit(strict=True)(f)(Particles(), np.ones(3))


SHARED = types.SimpleNamespace(steps=0, place=1.0)


def test_objects_of_the_module_that_a_loop_reads_first() -> None:
    """Trials of a turn are taken back, also where an object is read there for the first time."""

    def f(x: Any) -> Any:
        turns = 0
        while x[0] > turns:
            SHARED.steps += 1
            SHARED.place = SHARED.place * 0.5
            turns += 1
        return turns

    compiled = xjit(f)
    for turns in (2.0, 3.0, 0.0):
        SHARED.steps, SHARED.place = 0, 1.0
        assert compiled(np.array([turns])) == turns
        assert (SHARED.steps, SHARED.place) == (turns, 0.5**turns)
    assert compiled.stats().fallbacks == 0


class Watched:
    """An object whose attributes are watched: what reads them is noted."""

    def __init__(self, pos: Any) -> None:
        self.pos = pos
        self.steps = 0

    @property
    def last(self) -> Any:
        self.steps += 100
        return self.pos


def test_attributes_that_a_finally_mentions_are_read_where_it_runs() -> None:
    """The search for handlers of an error reads no attributes of the user's."""

    def f(p: Any, x: Any) -> Any:
        try:
            p.pos *= np.linalg.norm(np.linalg.inv(x))
            p.steps += 1
        finally:
            p.last[0] = -1.0
        return p.steps

    for function in (f, xjit(strict=True)(f)):
        one = Watched(np.ones(N))
        assert function(one, np.eye(N)) == 101
        np.testing.assert_allclose(one.pos, [-1.0] + [np.sqrt(N)] * (N - 1))
        assert one.steps == 101
