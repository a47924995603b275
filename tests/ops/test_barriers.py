"""optimization_barrier: nothing moves across, nothing is shared or folded, and no byte is copied for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ops

ROWS = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def kernels(function: Any, *arrays: Any) -> list[tuple[str, ...]]:
    """The operations of each kernel."""
    return [kernel.operations for kernel in xjit.jit(function, strict=True).explain(*arrays).kernels]


def test_chains_are_cut() -> None:
    assert kernels(lambda x: ops.exp(ops.neg(x)), ROWS) == [("neg", "exp")]
    assert kernels(lambda x: ops.exp(ops.optimization_barrier(ops.neg(x))), ROWS) == [("neg",), ("exp",)]


def test_all_parts_are_there_before_what_reads_one() -> None:
    def function(x: Any, y: Any) -> Any:
        first, second = ops.optimization_barrier((ops.neg(x), ops.cos(y)))
        return ops.add(ops.exp(first), y), second

    found = kernels(function, ROWS, ROWS + 1.0)
    last = next(number for number, names in enumerate(found) if "exp" in names)
    assert not {"neg", "cos"} & {*found[last]}
    assert {"neg", "cos"} <= {name for names in found[:last] for name in names}


def test_equal_values_are_computed_again_behind_it() -> None:
    def function(x: Any) -> Any:
        return ops.sub(ops.exp(x), ops.exp(ops.optimization_barrier(x)))

    assert sum(names.count("exp") for names in kernels(function, ROWS)) == 2
    np.testing.assert_array_equal(xjit.jit(function)(ROWS), np.zeros((2, 3)))


def test_constants_are_not_folded() -> None:
    def total(barrier: Any) -> Any:
        return lambda: ops.add(barrier(ops.constant(1.0, "f32")), ops.constant(2.0, "f32"))

    assert kernels(total(lambda value: value)) == []
    assert kernels(total(ops.optimization_barrier)) == [("add",)]


def test_reductions_and_stencils_are_cut() -> None:
    def function(x: Any) -> Any:
        total = ops.reduce(ops.optimization_barrier(ops.exp(x)), 0.0, ops.add, (1,))
        return ops.neg(ops.optimization_barrier(total))

    assert len(kernels(function, ROWS)) == 3


def test_no_byte_is_moved_for_it() -> None:
    x = np.zeros((300, 400), np.float32)
    explanation = xjit.jit(lambda x: ops.exp(ops.optimization_barrier(x)), strict=True).explain(x)
    assert explanation.bytes_moved == explanation.minimum_bytes


LAYOUTS = {
    "rows": ROWS,
    "columns": np.asfortranarray(ROWS),
    "steps": np.repeat(ROWS, 2, 1)[:, ::2],
    "backwards": ROWS[::-1, ::-1],
    "empty": ROWS[:0],
}
FUNCTIONS = {
    "argument": lambda x: ops.optimization_barrier(x),
    "computed": lambda x: ops.optimization_barrier(ops.neg(x)),
    "read": lambda x: ops.neg(ops.optimization_barrier(x)),
    "tuple": lambda x: ops.optimization_barrier((x, (ops.neg(x), x))),
    "view": lambda x: ops.optimization_barrier(ops.transpose(x, (1, 0))),
    "library": lambda x: ops.sort(ops.optimization_barrier(ops.neg(x))),
    "of a library": lambda x: ops.optimization_barrier(ops.sort(x)),
    "twice": lambda x: ops.optimization_barrier(ops.optimization_barrier(x)),
    "constant": lambda x: ops.optimization_barrier((ops.constant([1.0, 2.0]), x))[0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_stay(name: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    x, function = LAYOUTS[layout], FUNCTIONS[name]
    for one, other in zip(leaves(xjit.jit(function, strict=True)(x)), leaves(function(x)), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype and not np.shares_memory(one, x)


def leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [value]


def test_every_bit_stays() -> None:
    payload = np.array([0x7FC12345, 0xFFA00001], np.uint32).view(np.float32)
    for function in (ops.optimization_barrier, xjit.jit(lambda x: ops.optimization_barrier(x), strict=True)):
        assert function(payload).tobytes() == payload.tobytes()
