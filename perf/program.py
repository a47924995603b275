"""One program of the suite: its formula, its inputs, its sizes, and what is expected of it.

One function object is run by NumPy and given to xjit. For JAX it is rebuilt over globals in which the
name `np` means `jax.numpy`, so that no variant can drift from the others.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Arrays = tuple[Array, ...]
Shape = tuple[int, ...]
Function = Callable[..., Any]
Random = np.random.Generator
Bound = Literal["memory", "arithmetic", "BLAS", "overhead"]

SEED = 20_240_501


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Distance that a result may have from NumPy's; both zero means equal bit patterns."""

    relative: float = 0.0
    absolute: float = 0.0

    @property
    def exact(self) -> bool:
        """Return whether only equal bit patterns pass."""
        return self.relative == 0.0 and self.absolute == 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the suite.

    inputs       `inputs(rng, shape)` makes the arguments
    sizes        what `inputs` gets, by the name of the size
    tolerance    how far xjit may be from NumPy
    decided_by   what its time goes into when it is large and compiled as well as possible
    kernels      how many kernels its plan has to have, where that is asked
    expression   the same formula in numexpr's language, where that can say it: a text for every result
    operands     the names of the expression, from the arguments; the parameters' names when None
    constants    names in the expression that come from no argument
    """

    name: str
    function: Function
    inputs: Callable[[Random, Shape], Arrays]
    sizes: Mapping[str, Shape]
    tolerance: Tolerance
    decided_by: Bound = "arithmetic"
    kernels: int | None = None
    expression: str | tuple[str, str] | None = None
    operands: Callable[..., dict[str, Array]] | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self, size: str) -> Arrays:
        """Return the inputs of one size; the same ones in every run."""
        return self.inputs(np.random.default_rng(SEED), self.sizes[size])

    def named(self, arrays: Arrays) -> dict[str, Any]:
        """Return what the names in the expression mean."""
        if self.operands is not None:
            return {**self.operands(*arrays), **self.constants}
        code = self.function.__code__
        return {**dict(zip(code.co_varnames[: code.co_argcount], arrays, strict=True)), **self.constants}


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


def normals(count: int, dtype: type) -> Callable[[Random, Shape], Arrays]:
    """Return a maker of `count` arrays of normal random numbers."""

    def make(rng: Random, shape: Shape) -> Arrays:
        return tuple(rng.standard_normal(shape, dtype=dtype) for _ in range(count))

    return make
