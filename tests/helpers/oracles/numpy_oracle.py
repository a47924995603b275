"""NumPy as the judge: a program is run by NumPy and through a trace, and the results are compared in every respect.

A trace is read back by the graph evaluator, so no code generation takes part.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

import xjit.numpy as xnp
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import tracing
from xjit.numpy.dispatch import call_function, call_ufunc
from xjit.numpy.methods import ATTRIBUTES, METHODS
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.ufuncs import power_operator
from xjit.ops.define.core import lift
from xjit.ops.define.evaluate import evaluate_graph
from xjit.types import type_of


class Value(NDArrayOperatorsMixin, TracedValue):
    """A traced value with NumPy's protocols and nothing else."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(func, args, kwargs)

    def __pow__(self, other: Any) -> Any:
        return power_operator(self, other)

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __getattr__(self, name: str) -> Any:
        if name in ATTRIBUTES:
            return ATTRIBUTES[name](self)
        if name in METHODS:
            return lambda *args, **kwargs: METHODS[name](self, *args, **kwargs)
        raise AttributeError(name)


Program = Callable[..., Any]


class Traced:
    """Results of tracing a program: the values handed out, the arrays they stand for, and the arguments."""

    def __init__(self, program: Program, arrays: Sequence[Any], namespace: Any = xnp) -> None:
        self.trace = Trace("program", wrap=Value)
        with tracing(self.trace):
            self.arguments = [self.argument(array) for array in arrays]
            result = program(namespace, *self.arguments)
            self.is_tuple = isinstance(result, tuple | list)
            self.values = list(result) if self.is_tuple else [result]
            nodes = tuple(lift(self.trace, value) for value in self.values)
        graph = self.trace.finish(nodes)
        with np.errstate(all="ignore"):
            self.results = evaluate_graph(graph, [np.asarray(array) for array in arrays])

    def argument(self, array: Any) -> Value:
        """A parameter for an array, a NumPy scalar or a Python number."""
        weak = type(array) if isinstance(array, bool | int | float | complex) else None
        if isinstance(array, np.generic):
            weak = None
        scalar = not isinstance(array, np.ndarray)
        node = self.trace.parameter(type_of(np.asarray(array)))
        self.trace.strides[node] = np.asarray(array).strides
        return Value(node, self.trace, weak=weak, scalar=scalar)


def check(
    program: Program, *arrays: Any, ulp: float = 0, strides: bool = True, zeros: bool = True, namespace: Any = xnp
) -> Traced | None:
    """Asserts that tracing the program gives what NumPy gives, or the same built-in error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = program(np, *arrays)
        except Exception as error:
            check_error(program, arrays, error, namespace)
            return None
    traced = Traced(program, arrays, namespace)
    parts = list(expected) if isinstance(expected, tuple | list) else [expected]
    assert len(parts) == len(traced.values)
    for want, value, got in zip(parts, traced.values, traced.results, strict=True):
        check_one(want, value, got, ulp, strides, zeros)
    return traced


def check_error(program: Program, arrays: Sequence[Any], error: Exception, namespace: Any) -> None:
    """Asserts that tracing raises an error of the same built-in types."""
    kinds = [kind for kind in (IndexError, ValueError, TypeError, ArithmeticError) if isinstance(error, kind)]
    try:
        Traced(program, arrays, namespace)
    except Exception as own:
        assert kinds and all(isinstance(own, kind) for kind in kinds), (repr(error), repr(own))
    else:
        raise AssertionError(f"NumPy raised {error!r}, tracing did not")


def check_one(want: Any, value: Any, got: Any, ulp: float, strides: bool, zeros: bool) -> None:
    """Asserts equal type, shape, scalar-ness, memory order and numbers."""
    if isinstance(want, bool):
        assert value is want or value.weak is bool, value
        assert bool(got) is want
        return
    assert isinstance(value, TracedValue), type(value)
    assert value.dtype == want.dtype, (value.dtype, want.dtype)
    assert value.shape == want.shape, (value.shape, want.shape)
    assert value.scalar == isinstance(want, np.generic), (value.scalar, type(want))
    assert got.dtype == want.dtype and got.shape == want.shape
    if strides and isinstance(want, np.ndarray) and want.size:
        mine = packed_strides(value.node.aval)
        theirs = [s for s, n in zip(np.copy(want, "K").strides, want.shape, strict=True) if n > 1]
        assert mine == theirs, (value.node.aval, mine, want.strides)
    assert_close(np.asarray(got), np.asarray(want), ulp, zeros)


def writable(array: Any) -> bool:
    """Return whether an array can be written to. NumPy warns who asks this of some that were broadcast together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(array.flags.writeable)


def packed_strides(type: Any) -> list[int]:
    """Strides of an array of this type that NumPy packs in K order, axes of one element left out."""
    missing = tuple(axis for axis in range(type.rank) if axis not in type.order)
    full = type.__class__(type.dtype, type.dims, (*type.order, *missing))
    return [stride for stride, size in zip(full.strides, type.shape, strict=True) if size > 1]


def assert_close(got: Any, want: Any, ulp: float, zeros: bool = True) -> None:
    """Equal numbers: bit by bit, NaN for NaN, or within some units in the last place of the larger magnitude."""
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    if want.dtype.kind == "c":
        size = np.abs(want.astype(np.complex128))
        assert_parts(got.real, want.real, ulp, size, zeros)
        assert_parts(got.imag, want.imag, ulp, size, zeros)
        return
    assert_parts(got, want, ulp, np.abs(want.astype(np.float64)), zeros)


def assert_parts(got: Any, want: Any, ulp: float, size: Any, zeros: bool) -> None:
    """Real parts within some units in the last place of ``size``; zeros compare with their signs if exact."""
    wide_got, wide_want = got.astype(np.float64), want.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(wide_got), np.isnan(wide_want))
    finite = np.isfinite(wide_want) & np.isfinite(wide_got)
    np.testing.assert_array_equal(wide_got[~finite], wide_want[~finite])
    if ulp == 0:
        np.testing.assert_array_equal(wide_got, wide_want)
        if zeros:
            np.testing.assert_array_equal(np.signbit(wide_got[finite]), np.signbit(wide_want[finite]))
        return
    info = ml_dtypes.finfo(want.dtype)
    unit = np.maximum(np.where(np.isfinite(size), size, 0.0), float(info.smallest_normal)) * float(info.eps)
    error = np.abs(np.where(finite, wide_got, 0.0) - np.where(finite, wide_want, 0.0)) / unit
    assert np.all(error <= ulp), (float(error.max()), got, want)


def as_numpy_since(version: str) -> pytest.MarkDecorator:
    """For rules that NumPy changed: xjit follows the newer ones whichever NumPy is installed."""
    older = np.lib.NumpyVersion(np.__version__) < version
    return pytest.mark.skipif(older, reason=f"the rules are those of NumPy {version}")
