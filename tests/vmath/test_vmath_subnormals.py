"""Subnormal numbers count like all others, as arguments and as results, in every elementary function."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.helpers.vector_functions import Array, apply, parts
from tests.helpers.vector_loops import AVX2, SSE2
from tools.accuracy.exact import error_in_units
from tools.accuracy.judge import EXACT_FUNCTIONS, FORMATS
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

COUNT = 60
WITHOUT_FMA = 4.0
ORDINARY = (1.0, -1.0, 0.75, -2.5, 3.0, 1e10, -1e-10)


def _erfc_inverse(result: float) -> float:
    """About where erfc is so small: its leading term, solved by iteration."""
    x = 5.0
    for _ in range(50):
        x = math.sqrt(-math.log(result) - math.log(x * math.sqrt(math.pi)))
    return x


SMALL_RESULTS: dict[str, Callable[[float], tuple[float, ...]]] = {
    **dict.fromkeys(("exp", "logistic", "softplus"), lambda result: (math.log(result),)),
    "exp2": lambda result: (math.log2(result),),
    "erfc": lambda result: (_erfc_inverse(result),),
    "pow": lambda result: (0.3, math.log(result) / math.log(0.3)),
    "atan2": lambda result: (result * 4.0, 4.0),
}
"""Arguments of functions that are small for others than small ones, by about the result."""


def subnormals(kind: str, rng: np.random.Generator) -> Array:
    """The smallest and the largest, and some of every size, with both signs."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    tiny = float(limits.tiny)
    sizes = tiny * np.exp2(-rng.uniform(0.0, limits.nmant, COUNT))
    values = np.array([*sizes, float(limits.smallest_subnormal), tiny - float(limits.smallest_subnormal)])
    return np.concatenate([values, -values]).astype(dtype)


def subnormal_arguments(name: str, rng: np.random.Generator) -> list[Array]:
    """Subnormal numbers, and pairs of which one or both are."""
    function = lookup(name)
    assert function is not None
    small = subnormals(parts(name)[1], rng)
    if len(function.arguments) == 1:
        return [small]
    others = np.resize(np.array(ORDINARY), small.size).astype(small.dtype)
    return [np.concatenate([small, others, small]), np.concatenate([others, small, rng.permutation(small)])]


def check(name: str, given: list[Array], bound: float, processor: llvm_pipeline.Target | None) -> Array:
    """Results are within the bound; returns them."""
    operation, kind = parts(name)
    limits, exact = FORMATS[kind], EXACT_FUNCTIONS[operation]
    results = apply(name, *given, processor=processor)
    for result, *arguments in zip(results, *given, strict=True):
        values = tuple(float(argument) for argument in arguments)
        error = error_in_units(float(result), values, exact, limits.digits, limits.largest)
        assert error <= bound, f"{name}{values} is {float(result)!r}, off by {error} units"
    return results


def bound_of(name: str, processor: llvm_pipeline.Target) -> float:
    error = VECTOR_FUNCTIONS[name].error
    return max(error, WITHOUT_FMA) if processor is SSE2 else error


PROCESSORS = {"here": llvm_pipeline.host(), "avx2": AVX2, "sse2": SSE2}
ON_X86 = PROCESSORS["here"].triple.startswith("x86_64")
TRIED = [*PROCESSORS.values()] if ON_X86 else [PROCESSORS["here"]]
on_every_processor = pytest.mark.parametrize("processor", TRIED, ids=lambda one: str(one.cpu))


@on_every_processor
@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_subnormal_arguments(name: str, processor: llvm_pipeline.Target, rng: np.random.Generator) -> None:
    check(name, subnormal_arguments(name, rng), bound_of(name, processor), processor)


@on_every_processor
@pytest.mark.parametrize("name", [name for name in VECTOR_FUNCTIONS if parts(name)[0] in SMALL_RESULTS])
def test_subnormal_results(name: str, processor: llvm_pipeline.Target, rng: np.random.Generator) -> None:
    operation, kind = parts(name)
    results = np.abs(subnormals(kind, rng).astype(np.float64))
    rows = [SMALL_RESULTS[operation](float(result)) for result in results]
    given = [np.array(column).astype(KINDS[kind].dtype) for column in zip(*rows, strict=True)]
    found = check(name, given, bound_of(name, processor), processor)
    tiny = np.finfo(found.dtype).tiny
    assert np.count_nonzero((found > 0) & (found < tiny)) > COUNT // 2
