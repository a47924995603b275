"""The bits of an element depend neither on its place in an array nor on its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import xjit
from tests.helpers.vector_functions import FAR_EDGES, REMAINDERS, Array, apply, arguments, parts
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import COMPLEX_FUNCTIONS, VECTOR_FUNCTIONS

PLACES = 64
LONGEST = 200
LENGTHS = (1, 7, 64, 200, 511, 513, 1100)
"""Those of arrays with rare neighbours: within and beyond the strips that loops run again."""

NAMES = {"pow": "power", "lgamma": "gammaln"}
USUAL: dict[str, tuple[tuple[float, float], ...]] = {
    **dict.fromkeys(("sin", "cos", "tan"), ((-1000.0, 1000.0),)),
    **dict.fromkeys(("lgamma", "digamma"), ((0.01, 60.0),)),
    **dict.fromkeys(REMAINDERS, ((-100.0, 100.0), (0.5, 10.0))),
    "pow": ((0.01, 10.0), (-10.0, 10.0)),
}
"""Arguments for which quick variants are right."""

RARE = {**dict.fromkeys(("sin", "cos", "tan"), ((np.inf, 1e9, -1e30),)), "pow": ((-2.0, -1.5, 0.0), (3.0, 2.0, -1.0))}
"""Arguments, one column for each, for which they are not."""


def bits(values: Array) -> Array:
    """Return the bits to compare: of NaN only that it is one."""
    values = values.view(values.real.dtype).reshape(*values.shape, -1)
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    return np.where(np.isnan(values), unsigned.type(0), values.view(unsigned))


def complex_arguments(name: str, rng: np.random.Generator) -> tuple[Array, ...]:
    """Numbers of every size, and such as have parts that are zero, infinite or NaN."""
    function = lookup(name)
    assert function is not None
    sizes = rng.normal(size=(len(function.arguments), 400, 2)) * np.exp2(rng.uniform(-30, 8, 800)).reshape(400, 2)
    sizes[:, ::9, 0], sizes[:, ::10, 1] = rng.choice([0.0, -0.0, np.inf, np.nan], 2)
    return tuple(part.view(np.complex128)[:, 0].astype(KINDS[function.arguments[0]].dtype) for part in sizes)


def chosen(name: str, rng: np.random.Generator) -> list[Array]:
    """As many arguments as there are places, of every kind."""
    given = arguments(name, rng, 400) if name in VECTOR_FUNCTIONS else complex_arguments(name, rng)
    picked = rng.choice(len(given[0]), PLACES, replace=False)
    return [part[picked] for part in given]


def resized(expected: Array, length: int) -> Array:
    """The first elements of an array repeated for good."""
    return expected[np.arange(length) % len(expected)]


@pytest.mark.parametrize("name", [*VECTOR_FUNCTIONS, *COMPLEX_FUNCTIONS])
def test_an_element_has_the_same_bits_at_every_place(name: str, rng: np.random.Generator) -> None:
    given = chosen(name, rng)
    expected = bits(np.concatenate([apply(name, *(part[k : k + 1] for part in given)) for k in range(PLACES)]))
    for shift in range(PLACES):
        rolled = [np.resize(np.roll(part, shift), LONGEST) for part in given]
        assert np.array_equal(bits(apply(name, *rolled)), resized(np.roll(expected, shift, axis=0), LONGEST)), shift
    for length in range(1, LONGEST):
        cut = [np.resize(part, length) for part in given]
        assert np.array_equal(bits(apply(name, *cut)), resized(expected, length)), length


def public(operation: str) -> Callable[..., Any]:
    """The function as users write it, in a function of its own."""
    name = NAMES.get(operation, operation)
    function = getattr(np, name, None) or getattr(scipy.special, name)
    return lambda *x: function(*x)


def usual_and_rare(name: str, rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """Arguments for which the quick variant is right, and some for which it is not."""
    operation, kind = parts(name)
    dtype = KINDS[kind].dtype
    rare = RARE.get(operation) or FAR_EDGES[operation]
    usual = [rng.uniform(low, high, max(LENGTHS)).astype(dtype) for low, high in USUAL[operation]]
    columns = [np.resize(np.array(column), 12) for column in rare]
    if len(columns) == 2:
        columns[1] = np.repeat(columns[1], len(rare[0]))[:12]
    return usual, [column.astype(dtype) for column in columns]


@pytest.mark.parametrize("name", [name for name, function in VECTOR_FUNCTIONS.items() if function.varied])
def test_an_element_has_the_same_bits_beside_rare_ones(name: str, rng: np.random.Generator) -> None:
    usual, rare = usual_and_rare(name, rng)
    compiled = xjit.jit(public(parts(name)[0]))
    is_far = f"{name}_is_far"
    assert lookup(is_far) is not None and apply(is_far, *rare).any() and not apply(is_far, *usual).any()
    expected = bits(apply(name, *usual))
    for length in LENGTHS:
        for every in (length + 1, 1 + length // 2, 5):
            spots = np.arange(every - 1, length, every)
            mixed = [part[:length].copy() for part in usual]
            for part, other in zip(mixed, rare, strict=True):
                part[spots] = np.resize(other, spots.size)
            with np.errstate(all="ignore"):
                result = bits(compiled(*mixed))
            result[spots] = expected[spots]
            assert np.array_equal(result, expected[:length]), (length, every)
