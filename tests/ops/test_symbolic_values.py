"""Values inside of computations: what is neither an operation nor an operator is refused in words of the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ops
from xjit.errors import CaptureError

X = np.float32([1, 2])
BODIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "index": (lambda v: v[0], "got an index"),
    "unpacked": (lambda v: [*v], "got an index"),
    "method": (lambda v: v.max(), "got the attribute 'max'"),
    "property": (lambda v: v.T, "got the attribute 'T'"),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_what_computations_do_not_have(name: str, compiled: bool) -> None:
    body, found = BODIES[name]

    def function(x: Any) -> Any:
        return ops.while_loop(lambda v: np.False_, body, x)

    with pytest.raises(CaptureError) as caught:
        (xjit.jit(function, strict=True) if compiled else function)(X)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"a computation: operations of ops and Python's operators are required; {found}"
    assert "test_symbolic_values.py" in lines[1]
    assert lines[-1].startswith("  fix: use ops")


def test_a_ufunc_tells_the_same() -> None:
    with pytest.raises(TypeError, match="sin") as caught:
        ops.while_loop(lambda v: np.False_, np.sin, X)
    assert isinstance(caught.value.__cause__, CaptureError)


def test_questions_for_attributes_are_answered() -> None:
    answers: list[bool] = []

    def body(v: Any) -> Any:
        answers.extend((hasattr(v, "dtype"), hasattr(v, "max"), hasattr(v, "__array__")))
        return v

    ops.while_loop(lambda v: np.False_, body, X)
    assert answers[:3] == [True, False, False]
