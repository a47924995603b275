"""Transfers within the process: queues to and from compiled functions, and channels between two computations."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ops
from xjit.errors import CaptureError, CommunicatorError
from xjit.ops.effects import feeds

SECONDS = 60.0
PAIR, OTHER = np.float32([1, 2]), np.float32([3, 4])


def compiled(function: Any) -> Any:
    return xjit.jit(function, strict=True)


def beside(*functions: Callable[[], Any]) -> list[Any]:
    """The results, or exceptions, of functions that run at the same time."""
    results: list[Any] = [None] * len(functions)

    def work(number: int) -> None:
        try:
            results[number] = functions[number]()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"
    return results


FORMS = pytest.mark.parametrize("form", [lambda function: function, compiled], ids=["eager", "compiled"])


# ---- queues


@FORMS
def test_items_come_in_their_order(form: Any) -> None:
    both = form(lambda: (ops.infeed("f32[2]"), ops.infeed(("f32[2]", "s8[]"))))
    for _ in range(3):
        ops.infeed_enqueue(PAIR)
        ops.infeed_enqueue((OTHER, np.int8(5)))
        first, (second, third) = both()
        np.testing.assert_array_equal(first, PAIR)
        np.testing.assert_array_equal(second, OTHER)
        assert third == 5 and third.dtype == np.int8


def test_items_that_nobody_reads_are_taken() -> None:
    @compiled
    def second() -> Any:
        ops.infeed("f32[2]")
        return ops.neg(ops.infeed("f32[2]"))

    for _ in range(2):
        ops.infeed_enqueue(PAIR)
        ops.infeed_enqueue(OTHER)
        np.testing.assert_array_equal(second(), -OTHER)


def test_no_kernel_pulls_an_effect_forward() -> None:
    """Otherwise a reader of the second item would share loops with what is fed out before the first one is taken."""

    @compiled
    def function(x: Any) -> Any:
        ops.outfeed(ops.neg(x))
        first, second = ops.infeed("f32[2]"), ops.infeed("f32[2]")
        return ops.add(ops.cos(x), second), first

    ops.infeed_enqueue(PAIR)
    ops.infeed_enqueue(OTHER)
    later, first = function(np.zeros(2, np.float32))
    np.testing.assert_array_equal(first, PAIR)
    np.testing.assert_array_equal(later, OTHER + 1)
    np.testing.assert_array_equal(ops.outfeed_dequeue(), np.zeros(2))


def test_equal_infeeds_are_two() -> None:
    ops.infeed_enqueue(PAIR)
    ops.infeed_enqueue(OTHER)
    np.testing.assert_array_equal(
        compiled(lambda: ops.sub(ops.infeed("f32[2]"), ops.infeed("f32[2]")))(), PAIR - OTHER
    )


@FORMS
def test_what_is_fed_out(form: Any) -> None:
    def function(x: Any) -> Any:
        ops.outfeed(x)
        ops.outfeed((ops.neg(x), x))
        return ops.add(x, x)

    run = form(function)
    for values in (PAIR, OTHER):
        np.testing.assert_array_equal(run(values), values + values)
        np.testing.assert_array_equal(ops.outfeed_dequeue(), values)
        first, second = ops.outfeed_dequeue()
        np.testing.assert_array_equal(first, -values)
        np.testing.assert_array_equal(second, values)


def test_items_are_copies() -> None:
    values = PAIR.copy()
    ops.infeed_enqueue(values)
    values[:] = 0
    np.testing.assert_array_equal(ops.infeed("f32[2]"), PAIR)
    run = compiled(lambda x: ops.outfeed(x))
    values[:] = PAIR
    run(values)
    values[:] = 0
    np.testing.assert_array_equal(ops.outfeed_dequeue(), PAIR)


def test_nothing_is_read_for_no_shapes() -> None:
    ops.infeed_enqueue(PAIR)
    assert ops.infeed(()) == ()
    np.testing.assert_array_equal(ops.infeed("f32[2]"), PAIR)


@FORMS
@pytest.mark.parametrize("item", [np.float32([1]), np.float64([1, 2]), (PAIR,)], ids=["size", "type", "tuple"])
def test_items_of_another_shape(form: Any, item: Any) -> None:
    ops.infeed_enqueue(item)
    with pytest.raises(ops.ShapeError, match="what has come is of another shape"):
        form(lambda: ops.infeed("f32[2]"))()


def test_infeed_waits_for_an_item() -> None:
    results = beside(compiled(lambda: ops.infeed("f32[2]")), lambda: (time.sleep(0.2), ops.infeed_enqueue(PAIR)))
    np.testing.assert_array_equal(results[0], PAIR)


def test_the_rest_of_the_process_is_outside() -> None:
    for call in (lambda: ops.infeed_enqueue(PAIR), ops.outfeed_dequeue):
        with pytest.raises(CaptureError, match="outside of compiled functions"):
            compiled(call)()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("wait", [lambda: ops.infeed("f32[2]"), ops.outfeed_dequeue], ids=["infeed", "outfeed"])
def test_signals_end_a_wait(wait: Callable[[], Any]) -> None:
    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


# ---- channels


@FORMS
@pytest.mark.parametrize("value", [PAIR, (PAIR, np.int8(3))], ids=["array", "tuple"])
def test_what_is_sent_is_received(form: Any, value: Any) -> None:
    shape = ("f32[2]", "s8[]") if isinstance(value, tuple) else "f32[2]"
    for _ in range(2):  # other computations use the channel again
        sent, received = beside(
            lambda: form(lambda x: ops.send(x, 3))(value),
            lambda: form(lambda: ops.recv(shape, 3))(),
        )
        assert sent is None
        parts = zip(*(one if isinstance(one, tuple) else (one,) for one in (received, value)), strict=True)
        for one, other in parts:
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


@FORMS
def test_halves(form: Any) -> None:
    def sender() -> Any:
        context = form(lambda x: ops.send_start(x, 4))(PAIR)
        form(lambda: ops.neg(PAIR))()
        return context, form(ops.send_done)(context)

    def receiver() -> Any:
        context = form(lambda: ops.recv_start("f32[2]", 4))()
        return context, form(ops.recv_done)(context)

    (sent, nothing), (asked, received) = beside(sender, receiver)
    assert nothing is None
    np.testing.assert_array_equal(received, PAIR)
    np.testing.assert_array_equal(sent[0], PAIR)
    assert asked[0].shape == (2,) and asked[1].dtype == sent[1].dtype == np.uint32 and asked[1] != sent[1]


def test_two_channels_cross() -> None:
    def first() -> Any:
        context = ops.recv_start("f32[2]", 6)
        ops.send(PAIR, 5)
        return ops.recv_done(context)

    def second() -> Any:
        context = ops.recv_start("f32[2]", 5)
        ops.send(OTHER, 6)
        return ops.recv_done(context)

    received = beside(first, compiled(second))
    np.testing.assert_array_equal(received, [OTHER, PAIR])


def failed(*functions: Callable[[], Any]) -> list[type]:
    """The classes of what functions that run at the same time raise."""
    return [type(result) for result in beside(*functions)]


ENDS = [
    (lambda: ops.recv("f32[2]", 7), lambda: None),
    (lambda: ops.send(PAIR, 7), lambda: time.sleep(0.2)),
    (lambda: ops.send_done(ops.send_start(PAIR, 7)), lambda: ops.send(PAIR, 8)),
    (compiled(lambda: ops.recv("f32[2]", 7)), lambda: None),
]


@pytest.mark.parametrize("functions", ENDS, ids=["recv", "send", "halves", "compiled"])
def test_partners_that_end(functions: Any) -> None:
    assert failed(*functions)[0] is CommunicatorError
    assert issubclass(CommunicatorError, RuntimeError)


def test_a_computation_that_is_alone() -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"ops\.recv: channel_handle: the other computation ended"):
            ops.recv("f32[2]", 9)


def test_computations_that_wait_for_each_other() -> None:
    assert (
        failed(
            lambda: (ops.recv("f32[2]", 10), ops.send(PAIR, 11)), lambda: (ops.recv("f32[2]", 11), ops.send(PAIR, 10))
        )
        == [CommunicatorError] * 2
    )


def test_values_of_another_shape_fail_on_both_sides() -> None:
    assert failed(lambda: ops.send(PAIR, 12), lambda: ops.recv("f32[3]", 12)) == [ops.ShapeError] * 2
    assert failed(lambda: ops.send(PAIR, 12), lambda: ops.recv("s32[2]", 12)) == [ops.DTypeError] * 2
    assert failed(lambda: ops.send(PAIR, 12), lambda: ops.recv(("f32[2]",), 12)) == [ops.ShapeError] * 2


@FORMS
def test_a_channel_serves_one_transfer(form: Any) -> None:
    def twice(call: Callable[[], Any]) -> Callable[[], Any]:
        return form(lambda: (call(), call()))

    send, receive = (lambda: ops.send_start(PAIR, 13)), (lambda: ops.recv_start("f32[2]", 14))
    assert failed(twice(send), twice(receive)) == [ops.ArgumentError] * 2
    sent = twice(lambda: ops.send(PAIR, 17))
    assert failed(sent, twice(lambda: ops.recv("f32[2]", 17))) == [ops.ArgumentError] * 2
    both = form(lambda: (ops.send_start(PAIR, 15), ops.recv_start("f32[2]", 15)))
    assert failed(both) == [ops.ArgumentError]


def test_contexts_serve_their_own_operation_once() -> None:
    def sender() -> None:
        context = ops.send_start(PAIR, 16)
        with pytest.raises(ops.ArgumentError, match="the context of a recv_start is required"):
            ops.recv_done(context)
        ops.send_done(context)
        with pytest.raises(ops.ArgumentError, match="one that is over"):
            ops.send_done(context)

    result, received = beside(sender, lambda: ops.recv("f32[2]", 16))
    assert result is None
    np.testing.assert_array_equal(received, PAIR)


# ---- tokens


def test_tokens() -> None:
    first, second = ops.create_token(), ops.create_token()
    assert first is not second
    assert isinstance(ops.after_all((first, second)), ops.Token)
    assert isinstance(ops.after_all(()), ops.Token)
    with pytest.raises(ops.DTypeError, match=r"operands\[1\]: a token is required"):
        ops.after_all((first, PAIR))


def test_tokens_inside() -> None:
    def function(x: Any) -> Any:
        token, values = ops.optimization_barrier((ops.create_token(), x))
        assert isinstance(ops.after_all([token]), ops.Token)
        return ops.neg(values)

    np.testing.assert_array_equal(compiled(function)(PAIR), -PAIR)


# ---- inside of control


@FORMS
def test_transfers_in_loops(form: Any) -> None:
    def turn(state: Any) -> Any:
        ops.outfeed(state[0])
        return ops.add(state[0], 1), ops.add(state[1], ops.infeed("f32[2]"))

    function = form(lambda x: ops.while_loop(lambda state: ops.lt(state[0], 3), turn, (np.int32(0), x)))
    for _ in range(2):
        for factor in (1, 10, 100):
            ops.infeed_enqueue(PAIR * np.float32(factor))
        np.testing.assert_array_equal(function(OTHER)[1], OTHER + 111 * PAIR)
        assert [int(ops.outfeed_dequeue()) for _ in range(3)] == [0, 1, 2]


@FORMS
def test_transfers_of_the_branch_that_runs(form: Any) -> None:
    def branch(factor: float) -> Any:
        return lambda x: (ops.outfeed(ops.mul(x, factor)), x)[1]

    function = form(lambda number, x: ops.conditional(number, (branch(2.0), branch(3.0)), (x, x)))
    for number in (0, 1):
        np.testing.assert_array_equal(function(np.int32(number), PAIR), PAIR)
        np.testing.assert_array_equal(ops.outfeed_dequeue(), PAIR * (2 + number))
    assert not feeds._queues[0].back, "the other branch fed something out"
