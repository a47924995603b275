"""Random programs over random layouts: every intermediate type and memory order is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xjit.numpy as xnp
from tests.helpers.oracles.numpy_oracle import assert_close, check
from xjit.numpy.rules.promotion import loop_types, result_type
from xjit.numpy.traced_functions import traced_functions
from xjit.numpy.ufuncs import ROWS

DTYPES = [np.dtype(code) for code in "?bhilBHILefdFD"]
SMALL = st.sampled_from([np.dtype(code) for code in "?bHief"])


@st.composite
def arrays(draw: Any, rank: int) -> Any:
    """An array of some layout: any axis order, steps of any sign, axes of one element."""
    shape = tuple(draw(st.sampled_from([1, 2, 3])) for _ in range(rank))
    order = draw(st.permutations(range(rank)))
    dtype = draw(SMALL)
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in range(rank)]
    memory = np.arange(np.prod([shape[a] * abs(steps[a]) for a in order], dtype=int)) % 7
    grown = memory.astype(dtype).reshape([shape[a] * abs(steps[a]) for a in order])
    return grown.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]


BINARY = ("add", "multiply", "maximum", "less", "equal", "logical_and", "copysign", "divide", "hypot", "fmin")
UNARY = ("negative", "sqrt", "isnan", "square", "logical_not", "absolute", "sign")
SHAPES: dict[str, Any] = {
    "transpose": lambda xp, a: xp.transpose(a),
    "swap": lambda xp, a: xp.swapaxes(a, 0, -1),
    "reverse": lambda xp, a: a[::-1],
    "step": lambda xp, a: a[..., ::2],
    "new": lambda xp, a: a[:, None],
    "drop": lambda xp, a: a[..., 0],
    "flat": lambda xp, a: xp.reshape(a, (-1,)),
    "column": lambda xp, a: xp.reshape(a, (-1, 1)),
    "twice": lambda xp, a: xp.concatenate([a, a], axis=-1),
    "stack": lambda xp, a: xp.stack([a, a], axis=1),
    "sum": lambda xp, a: xp.sum(a, axis=0, keepdims=True),
    "max": lambda xp, a: xp.max(a, axis=-1),
    "repeat": lambda xp, a: xp.broadcast_to(a, (2, *a.shape)),
    "copy": lambda xp, a: a.copy(),
    "single": lambda xp, a: a.astype(np.float32),
    "like": lambda xp, a: xp.ones_like(a),
    "where": lambda xp, a: xp.where(a > 1, a, 0),
    "clip": lambda xp, a: xp.clip(a, 0, 3),
}


@st.composite
def programs(draw: Any) -> list[tuple[str, str, int, int]]:
    """Steps of the form (kind, name, which values): each adds a value to those there are."""
    steps = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["binary", "binary", "unary", "shape", "shape"]))
        names = {"binary": BINARY, "unary": UNARY, "shape": tuple(SHAPES)}[kind]
        steps.append((kind, draw(st.sampled_from(names)), draw(st.integers(0, 9)), draw(st.integers(0, 9))))
    return steps


def execute(xp: Any, steps: list[tuple[str, str, int, int]], *operands: Any) -> Any:
    """Runs a program; a step that the operands do not allow ends it."""
    values = list(operands)
    for kind, name, first, second in steps:
        x, y = values[first % len(values)], values[second % len(values)]
        if kind == "shape":
            if not x.shape or len(x.shape) > 4:
                continue
            values.append(SHAPES[name](xp, x))
        else:
            values.append(getattr(xp, name)(x, y) if kind == "binary" else getattr(xp, name)(x))
    return tuple(values[len(operands) :]) or values[0] + 1


@settings(max_examples=300)
@given(arrays(2), arrays(2), arrays(1), programs())
def test_random_programs(x: Any, y: Any, z: Any, steps: list[tuple[str, str, int, int]]) -> None:
    check(lambda xp, *operands: execute(xp, steps, *operands), x, y, z, ulp=4.0, zeros=False)


@settings(max_examples=100)
@given(arrays(2), arrays(1), programs())
def test_random_programs_without_a_trace(x: Any, y: Any, steps: list[tuple[str, str, int, int]]) -> None:
    with np.errstate(all="ignore"):
        try:
            expected = execute(np, steps, x, y)
        except (TypeError, ValueError) as error:
            with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
                execute(xnp, steps, x, y)
            return
        found = execute(xnp, steps, x, y)
    for got, want in zip(found, expected, strict=True):
        assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
        assert_close(np.asarray(got), np.asarray(want), 4.0, False)


@settings(max_examples=200)
@given(arrays(3), arrays(3))
def test_memory_order_of_two_operands(x: Any, y: Any) -> None:
    for name in ("add", "copysign", "logical_and"):
        check(lambda xp, a, b: getattr(xp, name)(a, b), x, y, ulp=2.0)  # noqa: B023
    check(lambda xp, a, b: xp.where(a, b, 1), x, y)


@settings(max_examples=200)
@given(arrays(3), st.sampled_from([0, 1, 2, (0, 1), (0, 2), (1, 2)]))
def test_memory_order_of_reductions(x: Any, axis: Any) -> None:
    check(lambda xp, a: xp.sum(a, axis=axis), x, ulp=8.0)
    check(lambda xp, a: xp.any(a, axis=axis, keepdims=True), x)
    check(lambda xp, a: xp.mean(a, axis=axis), x, ulp=64.0)


@pytest.mark.parametrize("ufunc", sorted(ROWS, key=lambda ufunc: ufunc.__name__), ids=lambda ufunc: ufunc.__name__)
def test_loops_are_those_that_numpy_runs(ufunc: np.ufunc) -> None:
    samples = {dtype: np.ones(1, dtype) for dtype in DTYPES}
    combinations = [(d,) for d in DTYPES] if ufunc.nin == 1 else [(d, e) for d in DTYPES for e in DTYPES]
    for types in combinations:
        try:
            with np.errstate(all="ignore"):
                found = ufunc(*(samples[dtype] for dtype in types))
        except (TypeError, ValueError):
            with pytest.raises(TypeError):
                loop_types(ufunc, types)
            continue
        outputs = found if isinstance(found, tuple) else (found,)
        assert loop_types(ufunc, types)[ufunc.nin :] == tuple(one.dtype for one in outputs)


def test_result_types_are_numpys() -> None:
    for one in DTYPES:
        for other in DTYPES:
            assert result_type(np.ones(1, one), np.ones(1, other)) == np.result_type(one, other)
        for number in (True, 1, 2.5, 1j, 300):
            assert result_type(np.ones(1, one), number) == np.result_type(one, number)


CALLS: dict[Any, Any] = {
    np.sum: lambda f, a: f(a, axis=1),
    np.mean: lambda f, a: f(a, 0),
    np.var: lambda f, a: f(a, ddof=1),
    np.argmax: lambda f, a: f(a, axis=0),
    np.reshape: lambda f, a: f(a, (3, 2)),
    np.swapaxes: lambda f, a: f(a, 0, 1),
    np.moveaxis: lambda f, a: f(a, 0, 1),
    np.expand_dims: lambda f, a: f(a, 0),
    np.broadcast_to: lambda f, a: f(a, (2, 2, 3)),
    np.concatenate: lambda f, a: f([a, a]),
    np.stack: lambda f, a: f((a, a), axis=-1),
    np.hstack: lambda f, a: f([a, a]),
    np.vstack: lambda f, a: f([a, a]),
    np.where: lambda f, a: f(a > 2, a, 0.0),
    np.clip: lambda f, a: f(a, 1, 2),
    np.round: lambda f, a: f(a, 1),
    np.dot: lambda f, a: f(a, a.T),
    np.full_like: lambda f, a: f(a, 2),
    np.select: lambda f, a: f([a > 1], [a]),
    np.linspace: lambda f, a: f(a[0, 0], a[1, 1], 4),
}


@pytest.mark.parametrize("function", sorted(CALLS, key=lambda f: f.__name__), ids=lambda f: f.__name__)
def test_numpys_own_functions_dispatch(function: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert function in traced_functions()
    check(lambda xp, a: CALLS[function](function, a), x, ulp=4.0, namespace=np)


def test_operators_dispatch() -> None:
    x, y = np.arange(1, 7, dtype=np.int16).reshape(2, 3), np.arange(1.0, 4)
    programs: list[Any] = [
        lambda xp, a, b: (a + b, a - b, a * b, a / b, a // b, a % b, divmod(a, b), a**2, b**-1, 2**b)[:6],
        lambda xp, a, b: (-a, +a, abs(a), ~a, a & 3, a | a, a ^ 5, a << 1, a >> 1),
        lambda xp, a, b: (a < b, a <= 2, a == b, a != 3, a > b, a >= b, 1 + a, 2.0 - b, 3 / a),
        lambda xp, a, b: (a**2, a**3, b**0.5, b**-1, b**2.5, 2.0**b, a**0, b**8, b**-2),
        lambda xp, a, b: (a @ b, b @ a.T),
    ]
    for program in programs:
        check(program, x, y, ulp=4.0, namespace=np)
