"""Short axes beside long ones: what makes the elements of a pixel, or planes of them, shares one loop over pixels."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled, run_unrolled

RUNS = {"uncompiled": run_uncompiled, "unrolled": run_unrolled, "serial": run_serial, "parallel": run_parallel}


def elements(shape: tuple[int, ...], dtype: Any = np.uint8) -> Any:
    return (np.arange(np.prod(shape)) * 37 % 101).astype(dtype).reshape(shape)


IMAGE, PLANE = elements((13, 17, 3)), elements((13, 17)) + np.uint8(1)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "one_more_channel": (lambda x, a: np.concatenate([x, a[..., None]], axis=-1), (IMAGE, PLANE)),
    "a_channel_in_front": (lambda x, a: np.concatenate([a[..., None] * 2, x], axis=-1), (IMAGE, PLANE)),
    "constant_channel": (lambda x: np.concatenate([x, np.full((13, 17, 1), 255, np.uint8)], axis=-1), (IMAGE,)),
    "stacked": (lambda a, b: np.stack([a, b, a + b], axis=-1), (PLANE, PLANE[::-1])),
    "of_columns": (lambda a, b: np.concatenate([a.T[..., None], b], axis=-1), (elements((17, 13)), IMAGE)),
    "pairs": (lambda a: np.stack([a, -a], axis=-1).reshape(13, 34), (PLANE.astype(float),)),
    "padded": (lambda x: np.pad(x, 1), (IMAGE,)),
    "padded_rows": (lambda x: np.pad(x, ((2, 0), (1, 1))), (IMAGE[0],)),
    "eight_doubles": (lambda x: np.concatenate([x, x + 1], axis=-1), (elements((40, 4), float),)),
    "many_doubles": (lambda x: np.concatenate([x, x + 1], axis=-1), (elements((40, 9), float),)),
    "swapped_channels": (lambda x: x[..., ::-1].copy(), (IMAGE,)),
    "planes": (lambda x: np.array(x.transpose(2, 0, 1), order="C"), (IMAGE,)),
    "planes_of_rows": (lambda x: np.array(x.transpose(2, 0, 1), order="C"), (elements((13, 20, 3))[:, ::2],)),
    "planes_of_stacks": (lambda x: np.array(x.transpose(0, 3, 1, 2), order="C"), (elements((2, 9, 11, 4), "f4"),)),
    "from_planes": (lambda x: np.array(x.transpose(1, 2, 0), order="C"), (elements((3, 13, 17)),)),
    "turned": (lambda x: np.array(x.transpose(1, 0, 2), order="C"), (IMAGE,)),
    "turned_planes": (lambda x: np.array(x.transpose(2, 1, 0), order="C"), (IMAGE,)),
    "planes_computed": (lambda x, a: np.array(x.transpose(2, 0, 1) * 2 + a, order="C"), (IMAGE, PLANE)),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_numpys(run: Any, name: str) -> None:
    function, arguments = PROGRAMS[name]
    got, want = run(function, arguments), function(*arguments)
    assert got.dtype == want.dtype and got.shape == want.shape and got.strides == want.strides
    assert got.tobytes() == want.tobytes()


def loops_of(name: str) -> list[str]:
    function, arguments = PROGRAMS[name]
    return re.findall(r"for (\w+) in", xjit.jit(function).source(*arguments))


@pytest.mark.parametrize(
    "name", ["one_more_channel", "a_channel_in_front", "constant_channel", "eight_doubles", "planes", "from_planes"]
)
def test_there_is_one_loop_over_pixels(name: str) -> None:
    assert len(loops_of(name)) == 1


def test_pieces_that_fill_vectors_keep_loops_of_their_own() -> None:
    assert len(loops_of("many_doubles")) > 1


def test_pads_have_borders_of_their_own() -> None:
    assert len(loops_of("padded")) > 5
