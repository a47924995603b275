"""python_call: the record of calls in Python, whose result is one object or arrays of known types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit.ir.boundary import COMES_FIRST, WRONG_SITE
from xjit.ir.source_location import Where
from xjit.ops.define.core import registry
from xjit.ops.effects.python_call import OBJECT_TYPE, PYTHON_CALL, PythonCall, UnforeseenCall, unboxed
from xjit.types import array_type

SITE = (Where("file.py", 3, "user"), "f")
WIDE = array_type(np.dtype(np.float64), (2,))


def as_arrays(result: Any) -> Any:
    return (result,) if result.shape == (2,) else None


def test_the_record() -> None:
    assert registry["python_call"] is PYTHON_CALL and PYTHON_CALL.has_effects


def test_objects_are_boxed() -> None:
    call = PythonCall(lambda x: [x], SITE, repeats=True)
    assert PYTHON_CALL.infer((), {"call": call}) == OBJECT_TYPE
    made = PYTHON_CALL.reference(3, call=call)
    assert unboxed(made) == [3] and unboxed(np.asarray(made, object)) == [3]
    assert unboxed(np.asarray(np.random.default_rng(1), object)).random() < 1.0


def test_arrays_of_known_types() -> None:
    call = PythonCall(lambda x: x * 2, SITE, repeats=True, types=(WIDE,), arrays=as_arrays)
    assert PYTHON_CALL.infer((), {"call": call}) == WIDE
    np.testing.assert_array_equal(PYTHON_CALL.reference(np.ones(2), call=call), [2, 2])


@pytest.mark.parametrize(("repeats", "first"), [(True, True), (True, False), (False, True)])
def test_other_results_are_told(repeats: bool, first: bool) -> None:
    call = PythonCall(lambda x: x, SITE, repeats=repeats, first=first, types=(WIDE,), arrays=as_arrays)
    with pytest.raises(UnforeseenCall, match="f has returned something of another type") as caught:
        call(np.ones(3))
    assert "file.py:3, in user" in str(caught.value)
    assert getattr(caught.value, COMES_FIRST) is (repeats and first)
    assert getattr(caught.value, WRONG_SITE) == (SITE, True)


def test_writes_are_told() -> None:
    def write(x: Any) -> None:
        x[0] = 1

    frozen = np.zeros(2)
    frozen.flags.writeable = False
    with pytest.raises(UnforeseenCall, match="f writes to an array that it gets") as caught:
        PythonCall(write, SITE, repeats=False, first=True, guarded=True)(frozen)
    assert getattr(caught.value, COMES_FIRST) is True and getattr(caught.value, WRONG_SITE) == (SITE, False)
    with pytest.raises(ValueError, match="read-only"):
        PythonCall(write, SITE, repeats=False)(frozen)
