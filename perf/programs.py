"""The table of programs: which formula, on which inputs, at which sizes, and how exact the result must be.

One function object is run by NumPy and given to xjit. For JAX it is rebuilt over globals in which the
name `np` means `jax.numpy`, so that no variant can drift from the others.

Sizes: S about 10³ elements; M with all arrays together inside a 1 MiB second-level cache; L the usual
size of such a program; XL 10⁷ elements, beyond the caches of common machines. Where L has 10⁷ elements
there is no XL.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from perf import formulas

Array = np.ndarray[Any, Any]
Arrays = tuple[Array, ...]
Shape = tuple[int, ...]
Function = Callable[..., Any]
Random = np.random.Generator

SEED = 20_240_501


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may be from NumPy's; both zero means equal bit patterns."""

    relative: float = 0.0
    absolute: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether only equal bit patterns pass."""
        return self.relative == 0.0 and self.absolute == 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the suite.

    `inputs(rng, shape)` makes the arguments. `expression` is the same formula in numexpr's language where
    that can say it with one result; `constants` are the names in it that are no arguments.
    """

    name: str
    function: Function
    inputs: Callable[[np.random.Generator, Shape], Arrays]
    sizes: Mapping[str, Shape]
    tolerance: Tolerance
    expression: str | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self, size: str) -> Arrays:
        """Return the inputs of one size; the same ones in every run."""
        return self.inputs(np.random.default_rng(SEED), self.sizes[size])


def over_module(function: Function, module: types.ModuleType, special: types.ModuleType | None = None) -> Function:
    """Return `function`, and the functions of its file that it calls, rebuilt so that `np` means `module`.

    The name `special`, for SciPy's module, then means the module given for it.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"expected a plain function, got {type(function).__name__}")
    variables = {**function.__globals__, "np": module}
    if special is not None:
        variables["special"] = special
    for name, value in function.__globals__.items():
        if isinstance(value, types.FunctionType) and value.__globals__ is function.__globals__:
            variables[name] = types.FunctionType(value.__code__, variables, name, value.__defaults__)
    # PyTorch remembers what it compiled by the code object, and would use it with the globals of an earlier copy.
    return types.FunctionType(function.__code__.replace(), variables, function.__name__, function.__defaults__)


def normals(count: int, dtype: type) -> Callable[[np.random.Generator, Shape], Arrays]:
    """Return a maker of `count` arrays of normal random numbers."""

    def make(rng: np.random.Generator, shape: Shape) -> Arrays:
        return tuple(rng.standard_normal(shape, dtype=dtype) for _ in range(count))

    return make


def options(rng: np.random.Generator, shape: Shape) -> Arrays:
    """Return spot prices, strike prices and years to expiry."""
    return rng.uniform(10, 100, shape), rng.uniform(10, 100, shape), rng.uniform(0.1, 5, shape)


def rows_and_columns(rng: np.random.Generator, shape: Shape) -> Arrays:
    """Return a float32 matrix and two float32 rows as long as its rows."""
    matrix = rng.standard_normal(shape, dtype=np.float32)
    return matrix, *(rng.standard_normal(shape[1], dtype=np.float32) for _ in range(2))


def matrix_and_bias(rng: np.random.Generator, shape: Shape) -> Arrays:
    """Return a float32 matrix and one float32 row."""
    return rows_and_columns(rng, shape)[:2]


def observations(rng: np.random.Generator, shape: Shape) -> Arrays:
    """Return observations, their means and their standard deviations."""
    mean, deviation = rng.standard_normal(shape), rng.uniform(0.5, 2, shape)
    return mean + deviation * rng.standard_normal(shape), mean, deviation


PROGRAMS = (
    Program(
        "arithmetic chain f32",
        formulas.chain,
        normals(3, np.float32),
        {"S": (1000,), "M": (32_768,), "L": (4_000_000,), "XL": (10_000_000,)},
        Tolerance(),
        "(a + b) * c - a * half",
        {"half": np.float32(0.5)},
    ),
    Program(
        "hypot chain f64",
        formulas.hypot,
        normals(2, np.float64),
        {"S": (1000,), "M": (16_384,), "L": (2_000_000,), "XL": (10_000_000,)},
        Tolerance(),
        "sqrt(x * x + y * y)",
    ),
    Program(
        "Black-Scholes f64",
        formulas.black_scholes,
        options,
        {"S": (1000,), "M": (16_384,), "L": (1_000_000,), "XL": (10_000_000,)},
        Tolerance(1e-11, 1e-11),
    ),
    Program(
        "softmax f32",
        formulas.softmax,
        normals(1, np.float32),
        {"S": (16, 64), "M": (64, 1024), "L": (4096, 1024), "XL": (9766, 1024)},
        Tolerance(2e-6, 1e-12),
    ),
    Program(
        "layernorm f32",
        formulas.layernorm,
        rows_and_columns,
        {"S": (16, 64), "M": (64, 768), "L": (8192, 768), "XL": (13_021, 768)},
        Tolerance(1e-5, 2e-6),
    ),
    Program(
        "GELU + bias f32",
        formulas.gelu,
        matrix_and_bias,
        {"S": (16, 64), "M": (64, 1024), "L": (4096, 1024), "XL": (9766, 1024)},
        Tolerance(1e-5, 1e-6),
        "half * (x + bias) * (one + tanh(a * ((x + bias) + b * (x + bias) * (x + bias) * (x + bias))))",
        {
            "half": np.float32(0.5),
            "one": np.float32(1),
            "a": np.float32(0.7978845608028654),
            "b": np.float32(0.044715),
        },
    ),
    Program(
        "logsumexp f64",
        formulas.logsumexp,
        normals(1, np.float64),
        {"S": (16, 64), "M": (64, 1024), "L": (1024, 1024), "XL": (9766, 1024)},
        Tolerance(1e-14, 1e-14),
    ),
    Program(
        "sum of squares f32",
        formulas.sum_of_squares,
        normals(1, np.float32),
        {"S": (1000,), "M": (131_072,), "L": (10_000_000,)},
        Tolerance(1e-6),
        "sum(x * x)",
    ),
    Program(
        "Gaussian log-likelihood f64",
        formulas.gaussian_log_likelihood,
        observations,
        {"S": (1000,), "M": (16_384,), "L": (1_000_000,), "XL": (10_000_000,)},
        Tolerance(1e-12),
        "sum(-0.5 * ((x - mean) / deviation) ** 2 - log(deviation) - 0.9189385332046727)",
    ),
    Program(
        "a*b+c, ten elements",
        formulas.multiply_add,
        normals(3, np.float64),
        {"S": (10,)},
        Tolerance(),
        "a * b + c",
    ),
)

BY_NAME = {program.name: program for program in PROGRAMS}
LARGE_SIZES = ("L", "XL")


def table() -> list[tuple[Program, str]]:
    """Return every program with every size, in the order of the report."""
    return [(program, size) for program in PROGRAMS for size in program.sizes]
