"""The generated source of a dozen programs, word for word: a change of it is meant, or a mistake.

``XJIT_UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py`` writes the files anew; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import formulas
import numpy as np
import pytest

import xjit
from xjit.codegen.source import without_comments

FOLDER = Path(__file__).with_name("golden")
ROWS = np.ones((64, 100))
LINE = np.ones(100)
SINGLE = ROWS.astype(np.float32)

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "chain": (formulas.chain, (SINGLE, SINGLE)),
    "chain_strided": (formulas.chain, (ROWS[::2, ::-1], ROWS[:32].T.copy().T)),
    "softmax": (formulas.softmax, (SINGLE,)),
    "layernorm": (formulas.layernorm, (ROWS, LINE, LINE)),
    "logsumexp": (formulas.logsumexp, (ROWS,)),
    "sum_of_squares": (formulas.sum_of_squares, (np.ones(100_000, np.float32),)),
    "column_means": (formulas.column_means, (ROWS,)),
    "stencil": (formulas.stencil, (LINE,)),
    "outer_exponential": (formulas.outer_exponential, (LINE, np.ones((100, 50)))),
    "joined": (formulas.joined, (LINE,)),
    "nearest": (formulas.nearest, (np.ones((20, 3)), np.ones((5, 3)))),
    "accelerations": (formulas.accelerations, (np.ones((100, 3)), LINE)),
    "softmax_of_four": (formulas.softmax, (np.ones((100, 4)),)),
    "sines": (lambda x: np.sin(x).sum(axis=1), (ROWS,)),
    "nearest_of_long": (formulas.nearest, (np.ones((40, 20)), np.ones((12, 20)))),
    "collatz": (formulas.collatz, (np.ones(100, np.int32),)),
    "across": (formulas.blended, (SINGLE.T.copy(), SINGLE, SINGLE[0])),
    "stencil_of_stencil": (formulas.biharmonic, (np.ones((2000, 300)),)),
    "rolling_mean": (formulas.rolling_mean, (ROWS,)),
    "half_precision": (formulas.hypotenuse, (LINE.astype(np.float16), LINE.astype(np.float16))),
}


def source_of(name: str) -> str:
    function, arguments = PROGRAMS[name]
    return xjit.jit(function).source(*arguments)


@pytest.mark.parametrize("name", PROGRAMS)
def test_source(name: str) -> None:
    text = without_comments(source_of(name))
    file = next(FOLDER.rglob(f"{name}.txt"), FOLDER / f"{name}.txt")
    if os.environ.get("XJIT_UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text(), f"the source of {name} has changed; if that is meant, update {file.name}"


def test_no_file_is_left_over() -> None:
    assert sorted(file.stem for file in FOLDER.rglob("*.txt")) == sorted(PROGRAMS)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"chain_strided", "nearest_of_long"}))
def test_other_shapes_have_the_same_source(name: str) -> None:
    """Kernels are size-generic: what is compiled depends on the class of a shape, not on the shape.

    Short inner loops of nested reductions are an exception: their extents are written into the source.
    """
    function, arguments = PROGRAMS[name]
    larger = [np.ones([n + 100 if n > 8 else n for n in one.shape], one.dtype) for one in arguments]
    assert without_comments(xjit.jit(function).source(*larger)) == without_comments(source_of(name))


def test_source_does_not_depend_on_threads() -> None:
    expected = source_of("softmax")
    with xjit.threads(1):
        assert source_of("softmax") == expected


def test_lines_name_the_users_file() -> None:
    """Loads, values and stores say which line of the program they come from."""
    lines = source_of("softmax").splitlines()
    marked = [line for line in lines if "# formulas.py:" in line]
    assert any(" = exp_f32(" in line for line in marked)
    assert all("# formulas.py:" in line for line in lines if " = ld(" in line or "st(" in line)
