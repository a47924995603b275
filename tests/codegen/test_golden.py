"""The golden texts: what becomes of some programs, word for word.  A change of a text is meant, or a mistake.

Each text is a program, one sentence about it, the steps of its plan, and the source of its kernels.
``XJIT_UPDATE_GOLDEN=1 python -m pytest tests/codegen/test_golden.py`` writes the files anew; read the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.codegen.golden_programs import GOLDENS, Golden
from tests.helpers.kernel_executors import KERNEL_EXECUTORS
from xjit.codegen.text.source import without_comments

FOLDER = Path(__file__).with_name("golden")
# As tools that record programs take them.
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    name: (one.function, one.arguments) for name, one in GOLDENS.items()
}
# How far sums and functions may be from NumPy's.
TOLERANCES = {np.dtype(np.float16): 1e-2, np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
# Where a line stands, and in how many pieces threads share a loop, is no part of a plan.
_PLACE = re.compile(r" ?\(?(?:at )?[^\s()]+\.py:\d+\)?")
_PIECES = re.compile(r", (?:serial|parallel in \d+ pieces)(?=:)")


def source_of(name: str) -> str:
    one = GOLDENS[name]
    return xjit.jit(one.function).source(*one.arguments)


def text_of(one: Golden) -> str:
    """The whole text."""
    return "".join(f"# {line}".rstrip() + "\n" for line in header(one)) + without_comments(source_of(one.name))


def header(one: Golden) -> Iterator[str]:
    yield from (f"{one.name}: {one.shows}", "", *one.text().splitlines(), "")
    yield "for " + ", ".join(f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in one.arguments)
    found = xjit.jit(one.function).explain(*one.arguments)
    for number, step in enumerate(found.steps, 1):
        yield f"{number}. {_PIECES.sub('', _PLACE.sub('', step))}"
    yield from ("- " + _PLACE.sub("", reason) for reason in found.reasons)
    yield ""


def test_there_are_many_programs() -> None:
    assert len(GOLDENS) >= 60


@pytest.mark.parametrize("name", GOLDENS)
def test_source(name: str) -> None:
    text = text_of(GOLDENS[name])
    file = next(FOLDER.rglob(f"{name}.txt"), FOLDER / f"{name}.txt")
    if os.environ.get("XJIT_UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text(), f"the source of {name} has changed; if that is meant, update {file.name}"


def test_no_file_is_left_over() -> None:
    assert {file.stem for file in FOLDER.rglob("*.txt")} == GOLDENS.keys()


@pytest.mark.parametrize("name", sorted(name for name, one in GOLDENS.items() if one.any_size))
def test_other_shapes_have_the_same_source(name: str) -> None:
    """Kernels are size-generic: what is compiled depends on the class of a shape, not on the shape.

    Exceptions are short inner loops of nested reductions, whose extents are written into the source, and what is
    planned by size: chunks, tiles with halos, columns in registers.
    """
    one = GOLDENS[name]
    larger = xjit.jit(one.function).source(*one.more())
    assert without_comments(larger) == without_comments(source_of(name))


@pytest.mark.parametrize("run", KERNEL_EXECUTORS)
@pytest.mark.parametrize("name", GOLDENS)
def test_answers_are_numpys(name: str, run: str) -> None:
    """Uncompiled every access is checked, in blocks of few elements; compiled, on one thread and on several."""
    one = GOLDENS[name]
    arguments = one.few() if run == "uncompiled" else one.arguments
    got = KERNEL_EXECUTORS[run](one.function, arguments)
    expected = one.function(*arguments)
    for found, wanted in zip(*map(_arrays, (got, expected)), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        near = TOLERANCES.get(found.real.dtype, 0.0)
        np.testing.assert_allclose(found, wanted, rtol=near, atol=near)


def _arrays(result: Any) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]


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
