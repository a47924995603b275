"""Attributes of the caller's objects that functions assign, behind the program."""

from __future__ import annotations

import argparse
import threading
import types
from typing import Any

import numpy as np
import pytest

from tests.capture.objects.objects_with_state import (
    Checked,
    Frozen,
    Kalman,
    Mode,
    N,
    Pair,
    Particles,
    Scaled,
    Slotted,
    Welford,
    check,
    state,
)
from xjit import xjit
from xjit.errors import CaptureError, FallbackWarning


def test_rebound_arrays_and_numbers() -> None:
    check(lambda p, dt: p.move(dt), Particles, 0.1)
    check(lambda p, dt: [p.move(dt), p.move(dt), p.pos, p.steps], Particles, 0.1)


def test_arrays_in_place_stay_the_callers() -> None:
    mine = Particles()
    before = mine.vel
    kick = xjit(strict=True)(Particles.kick)
    kick(mine, 0.5)
    assert mine.vel is before
    check(Particles.kick, Particles, 0.5, traces=1)


def test_later_calls_take_the_short_way() -> None:
    compiled, mine = xjit(strict=True)(Particles.move), Particles()
    for _ in range(5):
        compiled(mine, 0.1)
    traces = compiled.stats().traces
    for _ in range(20):
        compiled(mine, 0.1)
    assert compiled.stats().traces == traces
    assert mine.steps == 25


def test_all_kinds_of_values() -> None:
    def f(p: Any, x: Any) -> Any:
        p.fresh = x * 2.0
        p.last = None
        p.mode = Mode.HOT
        p.name = "some"
        p.pair = Pair(x + 1.0, {"sum": x.sum(), "list": [x - 1.0, 3]})
        p.view = p.pos[1:3]
        p.same = x
        return p.fresh

    check(f, Particles, np.arange(4.0), traces=2)


def test_what_was_assigned_is_read() -> None:
    def f(p: Any, x: Any) -> Any:
        before = p.pos
        p.pos = x.copy()
        p.pos[0] = 5.0
        p.last = before
        p.pos, p.vel = p.vel, p.pos
        return p.pos + p.vel[0]

    check(f, Particles, np.arange(float(N)), calls=3, traces=3)


def test_an_object_that_is_returned_is_the_callers() -> None:
    def f(p: Any) -> Any:
        p.move(0.5)
        return p

    mine = Particles()
    assert xjit(strict=True)(f)(mine) is mine
    check(f, Particles)


def test_dataclasses_that_keep_state() -> None:
    check(Welford.push, lambda: Welford(0, np.zeros(3), np.zeros(3)), np.array([1.0, 5.0, 2.0]))
    check(Welford.push, lambda: Welford(0, 0.0, 0.0), 2.5, calls=5, traces=4)


def test_filters_that_keep_state() -> None:
    def step(k: Any, z: Any) -> Any:
        k.predict()
        return k.update(z)

    check(step, Kalman, np.array([0.7]), traces=3)


def test_objects_in_lists() -> None:
    def f(ps: Any, dt: float) -> None:
        for p in ps:
            p.move(dt)

    check(f, lambda: [Particles(), Particles(3)], 0.25)


def test_nested_objects() -> None:
    def make() -> Any:
        p = Particles()
        p.last = Particles(3)
        return p

    def f(p: Any, dt: float) -> None:
        p.last.move(dt)
        p.child, p.last.parent = p.last, p
        p.child.steps += 10

    check(f, make, 0.5)


def test_slots_and_namespaces() -> None:
    def f(s: Any) -> None:
        s.x = s.x * 2.0
        s.count += 1

    check(f, Slotted)
    check(f, lambda: types.SimpleNamespace(x=np.ones(N), count=0))
    check(f, lambda: argparse.Namespace(x=np.ones(N), count=0))


def test_classes_that_assign_in_a_way_of_their_own() -> None:
    def f(s: Any) -> None:
        s.x = s.x + 1.0

    check(f, Checked, traces=2)
    check(f, Scaled, traces=2)


def test_attributes_that_cannot_be_assigned() -> None:
    def f(s: Any, x: Any) -> None:
        s.a = x * 2.0

    for make in (lambda: Frozen(np.ones(3), 1.0), Slotted):
        one, other = make(), make()
        with pytest.raises(AttributeError) as mine:
            xjit(f)(one, np.ones(3))
        with pytest.raises(AttributeError) as wanted:
            f(other, np.ones(3))
        assert type(mine.value) is type(wanted.value)
        assert str(mine.value) == str(wanted.value)


class Shouting:
    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["x"] = value

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else instance.__dict__["x"]


class Described:
    x = Shouting()

    def __init__(self) -> None:
        self.x = np.ones(3)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def descriptor(s: Any) -> None:
        s.x = s.x + 1.0

    def seen_as_dict(s: Any) -> Any:
        s.pos = s.pos + 1.0
        return s.__dict__["pos"]

    def first_as_dict(s: Any) -> Any:
        kept = s.__dict__
        s.pos = s.pos + 1.0
        return kept["pos"]

    def deleted(s: Any) -> None:
        del s.pos

    cases = [(descriptor, Described), (seen_as_dict, Particles), (first_as_dict, Particles), (deleted, Particles)]
    for function, make in cases:
        with pytest.raises(CaptureError):
            xjit(strict=True)(function)(make())
        mine, plain = make(), make()
        with pytest.warns(FallbackWarning):
            found = xjit(function)(mine)
        np.testing.assert_array_equal(np.asarray(found, object), np.asarray(function(plain), object))


class Shared:
    table = np.ones(3)


def test_an_attribute_of_the_class_becomes_one_of_the_object() -> None:
    def f(s: Any) -> None:
        s.table += 1.0

    mine, before = Shared(), Shared.table.copy()
    xjit(strict=True)(f)(mine)
    assert mine.__dict__["table"] is Shared.table
    np.testing.assert_array_equal(Shared.table, before + 1.0)


def test_other_types_at_the_next_call() -> None:
    def f(p: Any, x: Any) -> None:
        p.pos = p.pos + x
        p.steps += 1

    compiled, mine, plain = xjit(strict=True)(f), Particles(), Particles()
    for value in (1, 2.5, np.float32(2.0), np.arange(N), np.ones((2, N)), 1j):
        compiled(mine, value)
        f(plain, value)
        assert state(mine) == state(plain)
    for one in (mine, plain):
        one.pos, one.time = np.arange(N, dtype=np.int32), 2
    compiled(mine, 3)
    f(plain, 3)
    assert state(mine) == state(plain)


def test_one_object_by_two_names() -> None:
    def f(a: Any, b: Any) -> Any:
        a.pos = a.pos + 1.0
        return b.pos * 2.0

    compiled = xjit(strict=True)(f)
    for first in (False, True):
        pairs = [(one := Particles(), one if first else Particles()) for _ in range(2)]
        np.testing.assert_array_equal(compiled(*pairs[0]), f(*pairs[1]))
    one, other = Particles(), Particles()
    np.testing.assert_array_equal(compiled(one, other), f(Particles(), Particles()))


def test_a_call_that_fails_leaves_what_numpy_would_have_left() -> None:
    def f(p: Any, a: Any, i: int) -> None:
        p.steps += 1
        p.last = np.linalg.inv(a)
        p.mode = Mode.HOT

    compiled, mine, plain = xjit(strict=True)(f), Particles(), Particles()
    for a in (np.eye(3), np.zeros((3, 3)), 2.0 * np.eye(3), np.zeros((3, 3))):
        for function, one in ((compiled, mine), (f, plain)):
            if a.any():
                function(one, a, 1)
            else:
                with pytest.raises(np.linalg.LinAlgError):
                    function(one, a, 1)
        assert state(mine) == state(plain)


def test_demands_that_fail() -> None:
    def f(p: Any, x: Any) -> None:
        p.steps += 1
        if x[0] < 0.0:
            raise ValueError("negative")
        p.pos = x * 2.0

    compiled, mine, plain = xjit(strict=True)(f), Particles(), Particles()
    for x in (np.ones(3), np.ones(3), -np.ones(3), np.ones(3)):
        for function, one in ((compiled, mine), (f, plain)):
            if x[0] > 0:
                function(one, x)
            else:
                with pytest.raises(ValueError, match="negative"):
                    function(one, x)
        assert state(mine) == state(plain)


def test_two_threads() -> None:
    def f(p: Any, x: Any) -> Any:
        p.pos = p.pos + x
        p.steps += 1
        return p.pos.sum()

    compiled = xjit(strict=True)(f)
    mine = [Particles(), Particles()]
    found: list[list[float]] = [[], []]

    def work(number: int) -> None:
        for turn in range(50):
            found[number].append(compiled(mine[number], float(turn + number)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for number in range(2):
        plain = Particles()
        wanted = [f(plain, float(turn + number)) for turn in range(50)]
        np.testing.assert_allclose(found[number], wanted)
        assert state(mine[number]) == state(plain)
