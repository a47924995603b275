"""Functions of float16 and bfloat16 over all arguments, beside float32 results and correctly rounded ones."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tools.accuracy.measure import arity
from tools.accuracy.oracles import ORACLES
from tools.accuracy.records import has_record, split
from xjit.codegen.vmath import VECTOR_FUNCTIONS

Array = np.ndarray[Any, Any]

NARROW: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
# Functions of one kernel: few, so that none takes long to compile.
PER_KERNEL = 4


@dataclass(frozen=True, slots=True)
class Computed:
    """Arguments, results in the narrow type, results of the same numbers in float32, true values in float64."""

    inputs: tuple[Array, ...]
    result: Array
    wide: Array
    true: Array

    @property
    def expected(self) -> Array:
        """The float32 results, rounded once."""
        with np.errstate(all="ignore"):
            return self.wide.astype(self.result.dtype)

    @property
    def right(self) -> Array:
        """The true values, rounded once."""
        return once_rounded(self.true, self.result.dtype)

    @property
    def beside(self) -> Array:
        """Return where the result is not the correctly rounded one."""
        return differing(self.result, self.right)


def operations(arguments: int) -> list[str]:
    """Operations with a vector function of float32 and a public function."""
    from xjit import ops

    names = [name for name in sorted(VECTOR_FUNCTIONS) if has_record(name) and name.endswith("_f32")]
    return [split(name)[0] for name in names if arity(name) == arguments and hasattr(ops, split(name)[0])]


def batches(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names in groups, each of which one kernel computes."""
    remaining = iter(names)
    while batch := tuple(itertools.islice(remaining, PER_KERNEL)):
        yield batch


def every_code(dtype: Any) -> tuple[Array, ...]:
    """All numbers of a type of 16 bits."""
    return (np.arange(1 << 16, dtype=np.uint16).view(dtype),)


def grid(dtype: Any) -> tuple[Array, ...]:
    """All pairs of 256 numbers: of every exponent some, of both signs, zeros, ones, infinities and NaN among them."""
    codes = np.linspace(0, (1 << 15) - 1, 118).astype(np.uint16)
    some = np.array([0.0, 1.0, 2.0, 3.0, 0.5, 0.25, 1.5, 10.0, np.inf, np.nan], dtype).view(np.uint16)
    positive = np.concatenate([codes, some]).view(dtype)
    first, second = np.meshgrid(*[np.concatenate([positive, -positive])] * 2)
    return first.ravel(), second.ravel()


@functools.cache
def computed(names: tuple[str, ...], narrow: str) -> dict[str, Computed]:
    """The results of some operations, compiled together."""
    import xjit
    from xjit import ops

    functions = [getattr(ops, name) for name in names]
    inputs = grid(NARROW[narrow]) if arity(f"{names[0]}_f32") == 2 else every_code(NARROW[narrow])

    def together(narrow_ones: Any, wide_ones: Any) -> Any:
        return tuple(function(*values) for values in (narrow_ones, wide_ones) for function in functions)

    compiled: Any = xjit.jit(together)
    results = compiled(inputs, tuple(x.astype(np.float32) for x in inputs))
    if compiled.stats().fallbacks:
        raise RuntimeError(f"NumPy ran in place of kernels of {', '.join(names)}")
    pairs = zip(names, results[: len(names)], results[len(names) :], strict=True)
    return {name: Computed(inputs, result, wide, truth(name, inputs)) for name, result, wide in pairs}


def truth(name: str, inputs: tuple[Array, ...]) -> Array:
    """The true values in float64."""
    with np.errstate(all="ignore"):
        wide = [x.astype(np.float64) for x in inputs]
        # NumPy's functions see signalling NaN, which some treat in their own way.
        true = ORACLES[name].single(*(np.where(np.isnan(x), np.nan, x) for x in wide))
        # The operation of that name has no value at its pole.
        return np.where(wide[0] == 0, np.nan, true) if name == "digamma" else true


def once_rounded(true: Array, dtype: Any) -> Array:
    """Float64 numbers rounded once: to float32 towards the neighbour whose last bit is set, then to nearest."""
    with np.errstate(all="ignore"):
        single = true.astype(np.float32)
        single = np.where(np.abs(single) > np.abs(true), np.nextafter(single, np.float32(0)), single)
        inexact = (single != true) & ~np.isnan(true)
        odd = (single.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
        # A number that vanished still has its sign.
        rounded: Array = np.where(inexact, np.copysign(odd, true).astype(np.float32), single).astype(dtype)
        return rounded


def differing(a: Array, b: Array) -> Array:
    """Test where bits differ and not both are NaN."""
    different: Array = (a.view(np.uint16) != b.view(np.uint16)) & ~(np.isnan(a) & np.isnan(b))
    return different


def steps_between(a: Array, b: Array) -> Array:
    """Count the narrow floats from one number to another; zeros of both signs are one."""

    def number(x: Array) -> Array:
        bits = x.view(np.int16).astype(np.int64)
        return np.where(bits < 0, -(1 << 15) - bits, bits)

    distance: Array = np.abs(number(a) - number(b))
    return distance


def lines() -> Iterator[str]:
    """For every operation and type how many results are not the correctly rounded ones, in words."""
    for arguments, narrow in itertools.product((1, 2), NARROW):
        for batch in batches(operations(arguments)):
            for name, found in computed(batch, narrow).items():
                wrong = int(differing(found.result, found.expected).sum())
                beside = f"{found.beside.sum()} beside the correctly rounded result"
                yield f"{name:14} {narrow:9} of 65536: {wrong} not the rounded float32 result, {beside}"
