"""Single functions as programs: what NumPy or SciPy calls them, and the range their arguments are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from perf.programs import Arrays, Function, Program, Random, Shape, Tolerance

SIZES = {"10⁴": (10_000,), "10⁶": (1_000_000,)}
DTYPES: dict[str, type[Any]] = {"f32": np.float32, "f64": np.float64}
# Units of the last place of one that results may differ from NumPy's by: both have errors of their own.
EPSILONS = 32


@dataclass(frozen=True, slots=True)
class Row:
    """One function: the module it is found in (`np` or `special`), its name, and the range of every argument."""

    module: str
    name: str
    ranges: tuple[tuple[float, float], ...]

    @property
    def label(self) -> str:
        """The name as users write it."""
        return f"{self.module}.{self.name}"


def one(module: str, names: str, low: float, high: float) -> list[Row]:
    """Return rows of functions of one argument with a common range."""
    return [Row(module, name, ((low, high),)) for name in names.split()]


ROWS = (
    *one("np", "exp exp2 expm1 sinh cosh tanh", -20, 20),
    *one("np", "sin cos tan arctan arcsinh cbrt", -10, 10),
    *one("np", "log log2 log10", 1e-3, 1e3),
    *one("np", "log1p", -0.9, 10),
    *one("np", "arcsin arccos", -1, 1),
    *one("np", "arctanh", -0.99, 0.99),
    *one("np", "arccosh", 1, 100),
    Row("np", "arctan2", ((-10, 10), (-10, 10))),
    Row("np", "hypot", ((-10, 10), (-10, 10))),
    Row("np", "power", ((0.01, 10), (-10, 10))),
    Row("np", "fmod", ((-100, 100), (0.5, 10))),
    Row("np", "remainder", ((-100, 100), (0.5, 10))),
    Row("np", "logaddexp", ((-20, 20), (-20, 20))),
    Row("np", "logaddexp2", ((-20, 20), (-20, 20))),
    *one("special", "erf erfc", -4, 4),
    *one("special", "erfinv", -0.99, 0.99),
    *one("special", "gammaln digamma", 0.1, 50),
    *one("special", "expit", -20, 20),
    *one("special", "logit", 0.01, 0.99),
)


def function_of(row: Row) -> Function:
    """Return the function that calls it, written out so that it can be rebuilt over another module."""
    from scipy import special

    names = ", ".join("xy"[: len(row.ranges)])
    space: dict[str, Any] = {"np": np, "special": special, "__name__": "perf.single.functions"}
    exec(f"def call({names}):\n    return {row.label}({names})\n", space)
    function: Function = space["call"]
    return function


def program_of(row: Row, kind: str) -> Program:
    """Return the program of one function and element type, with both sizes."""
    dtype = DTYPES[kind]

    def inputs(rng: Random, shape: Shape) -> Arrays:
        return tuple(rng.uniform(low, high, shape).astype(dtype) for low, high in row.ranges)

    error = EPSILONS * float(np.finfo(dtype).eps)
    return Program(f"{row.label} {kind}", function_of(row), inputs, SIZES, Tolerance(error, error))


def programs() -> Iterator[tuple[Row, str, Program]]:
    """Yield every function with every element type."""
    for row in ROWS:
        for kind in DTYPES:
            yield row, kind, program_of(row, kind)
