"""Signals end loops that change an argument behind a statement: what is there then is what NumPy could have left."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import xjit
from tests.api.test_interrupts import Signalled, needs_signals, raising


def counted(a: Any) -> None:
    while a[0, 0] < 1.0:
        a[1, 1] += 1.0
        a[2, 2] = a[1, 1]


def multiplied(a: Any) -> None:
    while a[0, 0] < 1.0:
        a[:70, 5:75] = a[:70, 5:75] @ a[100:170, :70]
        a[80, 0] += 1.0
        a[81, 0] = a[80, 0]


def cleared(a: Any) -> None:
    while a[0, 0] < 1.0:
        a[1:] += 1.0
        a[1:] -= 1.0


def searched(a: Any) -> None:
    for i in range(1, 90):
        a[i, 0] = 1.0
        while a[0, i] < 1.0:
            a[1, 1] += 1.0


def by_two(a: Any, b: Any) -> None:
    while a[0, 0] < 1.0:
        a[1, 1] += 1.0
        b[1, 1] = a[1, 1]


def by_two_products(a: Any, b: Any) -> None:
    while a[0, 0] < 1.0:
        a[:70, 5:75] = a[:70, 5:75] @ a[100:170, :70]
        b[80, 0] += 1.0
        a[80, 0] = b[80, 0]
        b[81, 0] = a[80, 0]


def then_another(a: Any, b: Any) -> None:
    b[1, 1] = 5.0
    while a[0, 0] < 1.0:
        a[1, 1] += 1.0
    b[1, 1] = 6.0


def ended(function: Any, *arguments: Any) -> None:
    """Ends a loop that has no end by a signal, after a call that ends by itself."""
    program = xjit.jit(function)
    program(*(np.full_like(one, 2.0) for one in arguments))

    def send() -> None:
        time.sleep(0.2)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, raising)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(Signalled):
            program(*arguments)
    finally:
        signal.signal(signal.SIGINT, before)
        sender.join()


@needs_signals
def test_turns_of_a_kernel() -> None:
    a = np.zeros((200, 100))
    ended(counted, a)
    assert a[1, 1] == a[2, 2] > 0.0
    a[1, 1] = a[2, 2] = 0.0
    assert not a.any()


@needs_signals
def test_statements_of_a_turn_of_steps() -> None:
    a = np.zeros((200, 100))
    ended(multiplied, a)
    assert a[80, 0] > 0.0 and a[81, 0] in (a[80, 0], a[80, 0] - 1.0)


@needs_signals
def test_no_statement_is_done_by_halves() -> None:
    a = np.zeros((2000, 1000))
    ended(cleared, a)
    assert len(set(a[1:].ravel())) == 1 and a[1, 0] in (0.0, 1.0) and not a[0].any()


@needs_signals
def test_a_loop_in_a_turn() -> None:
    a = np.zeros((200, 100))
    ended(searched, a)
    assert a[1, 0] == 1.0 and a[1, 1] >= 0.0 and not a[2:].any()


@needs_signals
@pytest.mark.parametrize("function", [by_two, by_two_products, then_another])
def test_two_arguments(function: Any) -> None:
    a, b = np.zeros((200, 100)), np.zeros((200, 100))
    ended(function, a, b)
    match function.__name__:
        case "by_two":
            assert b[1, 1] in (a[1, 1], a[1, 1] - 1.0)
        case "by_two_products":
            assert b[80, 0] >= a[80, 0] >= b[81, 0] >= b[80, 0] - 1.0
        case _:
            assert b[1, 1] == 5.0 or (b[1, 1] == 0.0 and a[1, 1] == 0.0)
