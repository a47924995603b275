"""Tables of calls, one call of NumPy in each line, checked against NumPy itself.

In a line the arrays are called ``a``, ``b`` and so on, ``np`` is NumPy or what stands for it, and names of functions
are those of NumPy: ``roll(a, 1)``. Every line runs through a trace and the interpreter for every set of arrays; lines
over one set of arrays are also compiled together as one function.
"""

from __future__ import annotations

import string
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import xjit.numpy as xnp
from tests.helpers.oracles.numpy_oracle import Traced, assert_close, check, writable
from xjit import xjit as jit
from xjit.fusion.regions.materialized import view_chain

Program = Callable[..., Any]

_NAMES = string.ascii_lowercase


def lines(table: str) -> list[str]:
    """The calls of a table; lines that begin with a number sign and empty ones are left out."""
    found = [line.strip() for line in table.splitlines()]
    return [line for line in found if line and not line.startswith("#")]


def program_of(call: str, count: int) -> Program:
    """The call as a function of the namespace and of arrays."""
    names = ", ".join(_NAMES[:count])
    target = (
        call if call.startswith(("(", "[", "xp.", "np.", *(f"{name}." for name in _NAMES[:count]))) else f"xp.{call}"
    )
    program: Program = eval(f"lambda xp, {names}: {target}", {"np": np})
    return program


def array(dtype: Any, *shape: int, seed: int = 3) -> Any:
    """Small numbers of an element type, the same ones at every call."""
    rng, found = np.random.default_rng(seed), np.dtype(dtype)
    if found.kind == "b":
        return np.asarray(rng.integers(0, 2, shape) == 1)
    if found.kind in "iu":
        return np.asarray(rng.integers(0 if found.kind == "u" else -5, 12, shape)).astype(found)
    values = rng.normal(size=shape) + 2
    return np.asarray(values + 1j * rng.normal(size=shape) if found.kind == "c" else values).astype(found)


def layouts(one: Any) -> list[Any]:
    """The same numbers in row-major and column-major memory, with gaps, and backwards."""
    if one.ndim == 0:
        return [one]
    gaps = np.repeat(one, 2, axis=-1)[..., ::2]
    backwards = np.ascontiguousarray(one[::-1])[::-1]
    found = [one, np.asfortranarray(one), gaps, backwards]
    if one.ndim == 3:
        found.append(np.ascontiguousarray(one.transpose(1, 0, 2)).transpose(1, 0, 2))
    return found


def check_lines(
    table: str, arrays: Iterable[Any], *, ulp: float = 0, zeros: bool = True, views: bool = False
) -> None:
    """Checks every line on every array, or set of arrays, through the interpreter."""
    sets = [one if isinstance(one, tuple) else (one,) for one in arrays]
    for call in lines(table):
        for operands in sets:
            try:
                _check(program_of(call, len(operands)), operands, ulp, zeros, views)
            except Exception as error:
                error.add_note(
                    f"{call} for {[(one.dtype.str, one.shape, one.strides) for one in map(np.asarray, operands)]}"
                )
                raise


def _check(program: Program, operands: tuple[Any, ...], ulp: float, zeros: bool, views: bool) -> None:
    traced = check(program, *operands, ulp=ulp, zeros=zeros)
    if traced is not None and views:
        _check_views(program, operands, traced)


def _check_views(program: Program, operands: tuple[Any, ...], traced: Traced) -> None:
    """Those results are marked as views that share memory in NumPy, and those are operands that are in NumPy."""
    wanted, _ = answer(program, operands)
    for value, want in zip(traced.values, wanted if isinstance(wanted, tuple | list) else [wanted], strict=True):
        is_operand = any(value is one for one in traced.arguments)
        assert is_operand == any(want is one for one in operands)
        if isinstance(want, np.ndarray) and want.size and not is_operand:
            shares = any(np.shares_memory(want, one) for one in operands)
            mine = value.is_view and _is_view(value.node, traced, operands)
            assert mine == shares, (value.is_view, mine, shares)


def _is_view(node: Any, traced: Traced, operands: tuple[Any, ...]) -> bool:
    """Return whether the index operations that lead to a node give a view of an operand."""
    *chain, base = reversed(view_chain(node))
    known = {argument.node: one for argument, one in zip(traced.arguments, operands, strict=True)}
    if base not in known:
        return False
    result = known[base]
    for step in reversed(chain):
        result = step.op.view(result, **step.kwargs)
    return bool(np.shares_memory(result, known[base]))


def check_eager(table: str, *arrays: Any, ulp: float = 0) -> None:
    """Checks every line on plain arrays, outside of a trace."""
    for call in lines(table):
        program = program_of(call, len(arrays))
        want, error = answer(program, arrays)
        if error is None:
            _compare_all(call, program(xnp, *arrays), want, ulp, (), ())


def answer(program: Program, arrays: Sequence[Any]) -> tuple[Any, Exception | None]:
    """Return NumPy's result, or the error that it raises."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return program(np, *arrays), None
        except Exception as error:
            return None, error


def check_compiled(table: str, *arrays: Any, ulp: float = 0) -> None:
    """Compiles all lines that NumPy takes as one function, and compares its results in every respect."""
    programs = [(call, program_of(call, len(arrays))) for call in lines(table)]
    answers = [(call, program, *answer(program, arrays)) for call, program in programs]
    kept = [(call, program, want) for call, program, want, error in answers if error is None]

    def function(*operands: Any) -> Any:
        return [program(np, *operands) for _, program, _ in kept]

    function.__code__ = function.__code__.replace(co_name="table")
    for found in (jit(function)(*arrays), jit(function)(*arrays)):
        for (call, _, want), got in zip(kept, found, strict=True):
            _compare_all(call, got, want, ulp, arrays, arrays)


def _compare_all(call: str, got: Any, want: Any, ulp: float, mine: Sequence[Any], theirs: Sequence[Any]) -> None:
    assert type(got) is type(want), (call, type(got), type(want))
    gots, wants = (one if isinstance(one, tuple | list) else [one] for one in (got, want))
    for one, other in zip(gots, wants, strict=True):
        _compare(call, one, other, ulp, mine, theirs)


def _compare(call: str, got: Any, want: Any, ulp: float, mine: Sequence[Any], theirs: Sequence[Any]) -> None:
    assert type(got) is type(want), (call, type(got), type(want))
    one, other = np.asarray(got), np.asarray(want)
    assert (one.dtype, one.shape) == (other.dtype, other.shape), (
        call,
        one.dtype,
        one.shape,
        other.dtype,
        other.shape,
    )
    assert not mine or writable(one) == writable(other), (call, writable(one))
    if other.size and mine:
        assert essential(one) == essential(other), (call, one.strides, other.strides)
        shared = (
            [np.shares_memory(one, array) for array in mine],
            [np.shares_memory(other, array) for array in theirs],
        )
        assert shared[0] == shared[1], (call, *shared)
    assert_close(one, other, ulp)


def essential(array: Any) -> list[int]:
    """Strides along axes where they matter."""
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]
