"""One ordinary program: its function, its arguments at two sizes, and what is expected of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]
Arguments = tuple[Any, ...]
Sizes = tuple[int, ...]

SEED = 20_261_123
ROUNDING = 1e-10


@dataclass(frozen=True, slots=True)
class Ordinary:
    """One ordinary program.

    inputs       `inputs(rng, *sizes)` makes the arguments
    sizes        what `inputs` gets: `S` for tests, `L` for times
    written      names of the parameters whose arrays, attributes or states the function changes
    tolerance    distance from NumPy's values as a share of the largest one; zero means equal bits
    """

    name: str
    function: Function
    inputs: Callable[..., Arguments]
    sizes: Mapping[str, Sizes]
    written: tuple[str, ...] = ()
    tolerance: float = ROUNDING

    def arguments(self, size: str) -> Arguments:
        """Return fresh arguments of one size; the same ones in every run."""
        return self.inputs(np.random.default_rng(SEED), *self.sizes[size])

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return tuple(inspect.signature(self.function).parameters)

    @property
    def stored(self) -> tuple[int, ...]:
        """Return the positions of the arguments that are changed."""
        return tuple(map(self.parameters.index, self.written))
