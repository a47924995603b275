"""On the small machines of the kernel tests few elements reach the loops that large arrays have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, many_chunks, many_pieces, on, short_blocks, small_blocks

Array = np.ndarray[Any, Any]
LINE, GRID = np.linspace(0.5, 2.0, 30), np.linspace(0.5, 2.0, 30 * 13).reshape(30, 13)

FORMS: dict[str, tuple[Callable[..., Any], tuple[Array, ...], str]] = {
    "strips that run again": (np.sin, (LINE,), "p0 = p0_block0 * 4"),
    "blocks of sums": (lambda x: x.sum(axis=1), (GRID,), "for b0 in range(0, n0, 4):"),
    "blocks of columns": (lambda x: x.max(axis=0), (GRID[:, ::-2],), "scratch_f64(3)"),
    "several rows in a step": (lambda x: x[:9].sum(axis=0), (GRID,), " - 3, 4):"),
    "two rows in a step": (lambda x: np.cumsum(x[:6], axis=1), (GRID,), "i0 = i0_block0 * 2"),
    "transposed tiles": (lambda x, y: x.T * y, (GRID, GRID.T.copy()), "m0_row * 12, 12, a0,"),
    "overlapped tiles": (lambda u: (lambda v: v[2:] + v[:-2])(np.exp(u)), (GRID,), "b0 * size0"),
    "chunks": (lambda x: x.sum(), (LINE,), "k_start"),
}


def sources(function: Callable[..., Any], *arguments: Array) -> tuple[str, str]:
    """The text on the small machine, and that on the processor."""
    with many_chunks(), short_blocks():
        small = xjit.jit(function, target=on(small_blocks(many_pieces(PROCESSOR)))).source(*arguments)
    return small, xjit.jit(function).source(*arguments)


@pytest.mark.parametrize("name", FORMS)
def test_few_elements_reach_the_form(name: str) -> None:
    function, arguments, line = FORMS[name]
    small, usual = sources(function, *arguments)
    assert line in small
    assert line not in usual


def test_few_elements_make_several_pieces() -> None:
    cut = xjit.jit(lambda x: x + 1.0, target=on(many_pieces(PROCESSOR)))
    assert cut.explain(LINE).kernels[0].pieces == 5
    assert xjit.jit(lambda x: x + 1.0).explain(LINE).kernels[0].pieces == 1
