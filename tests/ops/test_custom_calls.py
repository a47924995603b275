"""custom_call: registered functions in Python and C, between kernels, at every call of a compiled function."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.children import run_script
from xjit import ops

PAIR = np.float32([1, 2])
FORMS = pytest.mark.parametrize(
    "form", [lambda function: function, lambda function: xjit.jit(function, strict=True)], ids=["eager", "compiled"]
)


@FORMS
def test_a_function_fills_the_result(form: Any) -> None:
    def corner(out: Any, ins: list[Any]) -> None:
        out[0, 0] = ins[0][1] + ins[1][1, 0]

    ops.register_custom_call("corner", corner)
    function = form(lambda x, y: ops.neg(ops.custom_call("corner", (ops.neg(x), y), "f32[2,2]")))
    table = np.asfortranarray(np.float32([[10, 20], [40, 50]]))
    np.testing.assert_array_equal(function(PAIR, table), [[-38, 0], [0, 0]])


@FORMS
def test_results_of_several_shapes(form: Any) -> None:
    def parts(out: Any, ins: list[Any]) -> None:
        assert [one.shape for one in out] == [(2,), ()]
        out[0][:], out[1][()] = ins[0], 7

    ops.register_custom_call("parts", parts)
    first, second = form(lambda x: ops.custom_call("parts", (x,), ("f64[2]", "s8[]")))(PAIR)
    np.testing.assert_array_equal(first, PAIR)
    assert second == 7 and second.dtype == np.int8 and first.dtype == np.float64


@FORMS
def test_results_begin_as_zeros_and_operands_stay(form: Any) -> None:
    def touch(out: Any, ins: list[Any]) -> None:
        assert not out.any()
        out += 1
        with pytest.raises(ValueError, match="read-only"):
            ins[0][0] = 5

    ops.register_custom_call("touch", touch)
    function = form(lambda x: ops.custom_call("touch", [x], "s16[3]"))
    for _ in range(3):
        np.testing.assert_array_equal(function(PAIR), [1, 1, 1])


@FORMS
def test_symbols_of_c(form: Any) -> None:
    """The address of ``void target(void *out, void **in)``; here one that ctypes makes of Python."""
    seen = []

    def added(out: int, ins: int) -> None:
        pointers = ctypes.cast(ins, ctypes.POINTER(ctypes.c_void_p))
        first, second = (ctypes.cast(pointers[k], ctypes.POINTER(ctypes.c_float)) for k in (0, 1))
        result = ctypes.cast(out, ctypes.POINTER(ctypes.c_float))
        for place in range(4):
            seen.append(result[place])
            result[place] = first[place] + 10 * second[place]

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(added)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address
    ops.register_custom_call("added", address)
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    result = form(lambda x, y: ops.custom_call("added", (x, y), "f32[2,2]"))(x, np.asfortranarray(x))
    np.testing.assert_array_equal(result, 11 * x)
    assert seen == [0.0] * 4


def test_calls_are_neither_left_out_nor_shared() -> None:
    calls: list[float] = []
    ops.register_custom_call("count", lambda out, ins: calls.append(float(ins[0][0])))

    @xjit.jit(strict=True)
    def function(x: Any) -> Any:
        ops.custom_call("count", (x,), "f32[]")
        ops.custom_call("count", (x,), "f32[]")
        ops.custom_call("count", (ops.neg(x),), "f32[]")
        return ops.add(x, x)

    for _ in range(2):
        function(PAIR)
    assert calls == [1.0, 1.0, -1.0] * 2


def test_the_function_of_a_name_is_looked_up_at_the_call() -> None:
    ops.register_custom_call("named", lambda out, ins: out.fill(1))
    function = xjit.jit(lambda: ops.custom_call("named", (), "f32[]"), strict=True)
    assert function() == 1
    ops.register_custom_call("named", lambda out, ins: out.fill(2))
    assert function() == 2


@FORMS
def test_exceptions_are_the_users_own(form: Any) -> None:
    def fails(out: Any, ins: list[Any]) -> None:
        raise LookupError("not there")

    ops.register_custom_call("fails", fails)
    with pytest.raises(LookupError, match="not there"):
        form(lambda: ops.custom_call("fails", (), "f32[]"))()


PROGRAM = """
from xjit import ops
ops.register_custom_call("doubled", lambda out, ins: np.copyto(out, ins[0] * 2))

@xjit
def function(x):
    ops.outfeed(x)
    both = ops.add(x, ops.infeed("f64[2]"))
    return ops.custom_call("doubled", (both,), "f64[2]"), ops.rng_uniform(0, 1000, "s32[4]")

drawn_eagerly = [list(ops.rng_uniform(0, 1000, "s32[4]")) for _ in range(2)]
ops.rng_seed(0)
for turn in range(2):
    ops.infeed_enqueue(np.array([10.0, 20.0]) * turn)
    doubled, drawn = function(np.array([1.0, 2.0]))
    assert list(doubled) == [2.0 + 20.0 * turn, 4.0 + 40.0 * turn]
    assert list(ops.outfeed_dequeue()) == [1.0, 2.0]
    assert list(drawn) == drawn_eagerly[turn]
"""


def test_programs_with_effects_start_from_the_disk(tmp_path: Path) -> None:
    run_script(PROGRAM, tmp_path)
    run_script(PROGRAM + "assert function.stats().traces == 0\n", tmp_path)
