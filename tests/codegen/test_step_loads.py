"""Elements at short steps are picked out of whole vectors where sums add lane by lane, none beyond the last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.children import run_script
from xjit.codegen.cpu.llvm_pipeline import host, parse
from xjit.codegen.cpu.step_loads import StepLoad, called_in
from xjit.codegen.language.scalar_types import STEPS

LENGTHS = (9, 31, 32, 64, 100, 600)


def sums(x: Any) -> Any:
    return np.sum(x * 3, axis=-1)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("step", [2, 3, 4, 5, 8, 9])
def test_steps_change_no_bit(step: int, dtype: str) -> None:
    for length in LENGTHS:
        x = np.random.default_rng(step).standard_normal((3, length * step)).astype(dtype)[:, ::step]
        compiled = xjit.jit(sums, strict=True)
        np.testing.assert_array_equal(compiled(x), compiled(x.copy()))
        is_short = step in STEPS and step * x.itemsize <= 32
        assert (f"ld{step}(a0" in compiled.source(x)) == is_short


@pytest.mark.parametrize("places", [(0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_some_of_neighbouring_elements(places: tuple[int, ...]) -> None:
    """Those that nobody reads may lie behind the end of the buffer."""
    x = np.random.default_rng(2).standard_normal((40, 300))
    parts = [x[:, place::3] for place in places]
    compiled = xjit.jit(lambda *parts: sum(parts).sum(axis=1), strict=True)
    expected = compiled(*(part.copy() for part in parts))

    def together(x: Any) -> Any:
        return sum(x[:, place::3] for place in places).sum(axis=1)

    np.testing.assert_array_equal(xjit.jit(together, strict=True)(x), expected)


def test_nothing_behind_the_last_element_is_read(tmp_path: Path) -> None:
    """The last element of each array ends a page, and the next page may not be read."""
    run_script(
        """
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
page = mmap.PAGESIZE
room = mmap.mmap(-1, 9 * page)
start = ctypes.addressof(ctypes.c_char.from_buffer(room))
assert libc.mprotect(ctypes.c_void_p(start + 8 * page), page, 0) == 0
for dtype in (np.float32, np.float64):
    whole = np.frombuffer(room, dtype, 8 * page // np.dtype(dtype).itemsize)
    whole[:] = 1
    for step in range(2, 9):
        compiled = xjit(lambda x: np.sum(x * 3))
        for length in (9, 32, 64, 70, 128, 300):
            x = whole[whole.size - 1 - (length - 1) * step :: step]
            assert x.size == length and compiled(x) == 3 * length
""",
        tmp_path,
    )


@pytest.mark.parametrize("kind", ["f32", "f64", "i8", "u16"])
@pytest.mark.parametrize("widest", [128, 256, 512])
def test_forms_are_whole_for_every_width(kind: str, widest: int) -> None:
    for step in STEPS:
        load = StepLoad(step, kind)
        text = load.definitions(widest)
        parse(text, host()).verify()
        assert all(f"@{form}(" in text and f"({form})" in load.attributes for form in load.forms)
        assert called_in(f'declare float @"every{step}_{kind}"(ptr %".1")') == (load,)
