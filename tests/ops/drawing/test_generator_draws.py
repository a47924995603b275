"""Draws by NumPy's routines: what the records' references draw, beside the methods of generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit.ops.define.core import registry
from xjit.ops.random.numpy_generators import ROUTINES, locked, single

NUMBERS: dict[str, tuple[float, ...]] = {"random_triangular": (0.0, 0.5, 2.0), "random_geometric": (0.3,)}
NUMBERS |= {"random_logseries": (0.4,), "random_zipf": (2.5,), "random_binomial": (400, 0.3)}
GIVEN = {"random_uniform": (0.75, 0.75), "random_binomial": (0.3, 400)}
OTHER_NAMES = {"random_standard_uniform": "random"}


def words(generator: Any) -> Any:
    return registry["bit_generator"].reference(generator)


def drawn(generator: Any, routine: str, *numbers: Any, dims: tuple[int, ...] = (3,)) -> Any:
    return registry["draw"].reference(
        words(generator), *map(np.asarray, numbers), routine=routine, dims=dims, masked=False
    )


def numpys(generator: Any, routine: str, numbers: tuple[float, ...]) -> Any:
    name = routine.removesuffix("_f").removesuffix("_fill").removesuffix("_inv")
    options = {"dtype": np.float32} if routine.endswith("_f") and routine != "random_f" else {}
    options |= {"method": "inv"} if "_inv_" in routine else {}
    name = "random_f" if routine == "random_f" else name
    method = getattr(generator, OTHER_NAMES.get(name, name.removeprefix("random_")))
    return method(*numbers, size=3, **options)


@pytest.mark.parametrize("routine", [name for name in ROUTINES if "bounded" not in name])
def test_routines_draw_what_methods_do(routine: str) -> None:
    own, theirs = np.random.default_rng(1), np.random.default_rng(1)
    numbers = NUMBERS.get(routine, (0.75, 1.5)[: ROUTINES[routine].operands])
    np.testing.assert_array_equal(drawn(own, routine, *GIVEN.get(routine, numbers)), numpys(theirs, routine, numbers))
    assert own.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("routine", [name for name in ROUTINES if "bounded" in name])
def test_bounded_integers(routine: str) -> None:
    own, theirs = np.random.default_rng(1), np.random.default_rng(1)
    dims = (3,) if single(routine) != routine else ()
    np.testing.assert_array_equal(
        drawn(own, routine, -5, 16, dims=dims), theirs.integers(-5, 11, dims or None, endpoint=True)
    )
    assert own.bit_generator.state == theirs.bit_generator.state


def test_no_numbers_are_drawn_of_none() -> None:
    own, theirs = np.random.default_rng(1), np.random.default_rng(1)
    assert drawn(own, "random_normal", 0.0, 1.0, dims=(0, 2)).shape == (0, 2)
    assert own.bit_generator.state == theirs.bit_generator.state


def test_words_of_numpys_module() -> None:
    np.random.seed(3)
    wanted = np.random.random(2)
    np.random.seed(3)
    found = registry["draw"].reference(
        registry["bit_generator"].reference(),
        routine="random_standard_uniform_fill",
        dims=(2,),
        masked=False,
    )
    np.testing.assert_array_equal(found, wanted)


def test_bit_generators_are_locked_once() -> None:
    one, other = np.random.default_rng(1), np.random.default_rng(2)
    with locked(words(one), words(other), words(one)), locked(words(one)):
        assert drawn(one, "random_normal", 0.0, 1.0).shape == (3,)
    copied = words(one).copy()  # as good, but nobody knows whose it is
    with locked(copied):
        pass


def test_words_keep_their_bit_generator() -> None:
    found = words(np.random.default_rng(4))
    drawing = registry["draw"].reference
    numbers = drawing(found, routine="random_standard_normal_fill", dims=(2,), masked=False)
    np.testing.assert_array_equal(numbers, np.random.default_rng(4).standard_normal(2))
