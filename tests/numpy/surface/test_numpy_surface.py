"""The whole surface: every function in the tables of ``surface_lines`` × element types, Python numbers included.

A call gives NumPy's answer in element type, shape, memory order, scalar-ness and numbers, or both raise, or it is
refused and listed here. Graphs are evaluated by NumPy; a sample of the calls is compiled.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.kernel_executors import run_serial, run_uncompiled
from tests.helpers.oracles.numpy_oracle import assert_close, writable
from tests.numpy.surface.surface_calls import calls
from tests.numpy.surface.surface_judge import function_of, judge
from tests.numpy.surface.surface_lines import ONE, TWO
from xjit import tree

ALL = [np.dtype(code) for code in "?bhilBHILefdFD"]
FEW = [np.dtype(code) for code in "?blLefdF"]
OTHERS = [np.dtype(code) for code in "?bLefF"]
# What NumPy's functions take for no number of its own; elsewhere bfloat16 counts as a float.
FOREIGN = [
    *("gradient(a, axis=0)", "nan_to_num(a)", "i0(v)", "a.conj()", "s.conj()", "linalg.norm(v, 3)", "linalg.norm(a)"),
    *(
        "linalg.vector_norm(a, axis=0, ord=-1)",
        "linalg.matrix_norm(t)",
        "sum(a, axis=0)",
        "mean(a)",
        "max(a)",
        "argmin(a)",
    ),
    *("where(m, a, v)", "cumsum(a, 1)", "sort(a)", "concatenate([a, h])", "modf(a)", "fmax.accumulate(v)", "a @ a.T"),
]
# Functions that round otherwise than NumPy: in units in the last place, of the modulus for complex numbers.
ULP = 8.0

# Calls whose answer NumPy changed, with kinds of element types, and the release whose answer xjit gives.
CHANGED = [
    (r"round\(|around\(", "bc", "2.4"),  # memory order
    (r"round\(|around\(", "iu", "2.4"),  # the operand itself
    (r"quantile|percentile", "f", "2.4"),  # interpolation of float16
]

# Results of a length that only the run knows, for which the judge of graphs has no word.
OF_RUN_LENGTH = [(r"ix_\(v", "b")]

# What is refused although NumPy has an answer: a pattern of calls, kinds of element types, words of the message.
REFUSED = [
    (r"real_if_close\(a\)", "c", "the elements of a complex array decide the type of the result"),
    (r"histogram_bin_edges", "c", "numpy.histogram_bin_edges: complex numbers are not supported"),
    (r"polymul|polydiv", "biufc", "depends on the elements"),
]
REFUSED_PAIRS = [
    (r"polymul", "biufc", "depends on the elements"),
    (r"^v\[b\]|^a\[:, w\]", "b", "boolean mask: the shape of the result depends"),
]


def small(dtype: np.dtype, shape: tuple[int, ...], seed: int) -> Any:
    """Small numbers, negative ones and fractions among them where the type has them."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape) == 1)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0 if dtype.kind == "u" else -5, 9, shape)).astype(dtype)
    values = np.rint(rng.normal(size=shape) * 16) / 8 + 1
    if dtype.kind == "c":
        values = values + 1j * np.rint(rng.normal(size=shape) * 16) / 8
    return np.asarray(values).astype(dtype)


@functools.cache
def arrays(first: np.dtype, second: np.dtype) -> dict[str, Any]:
    """The arrays that calls name, as ``surface_calls`` explains them."""
    a, mask = small(first, (3, 4), 3), small(np.dtype(bool), (3, 4), 5)
    return {
        "a": a,
        "t": small(first, (2, 3, 4), 4),
        "v": a[1].copy(),
        "e": small(first, (0, 4), 6),
        "s": small(first, (), 7),
        "q": small(first, (3, 3), 8) + (4 * np.eye(3)).astype(first),
        "h": np.asfortranarray(small(first, (3, 4), 9)),
        "o": np.sort(small(first, (4,), 10)),
        "b": small(second, (3, 4), 11),
        "w": small(second, (4,), 12),
        "r": small(second, (), 13),
        "m": mask,
        "n": mask[0].copy(),
        "i": np.array([1, 0, -1, 2]),
    }


def grouped(table: str) -> dict[str, list[str]]:
    """The lines of a table by what they begin with."""
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, table.splitlines())):
        found.setdefault(re.split(r"[(\[ ]", line)[0], []).append(line)
    return found


def older(release: str) -> bool:
    """Return whether the installed NumPy has the rules before that release."""
    return bool(np.lib.NumpyVersion(np.__version__) < f"{release}.0")


def changed(call: str, dtype: np.dtype) -> bool:
    """Return whether a later NumPy than the installed one has the answer that xjit gives, or graphs have none."""
    if any(re.search(pattern, call) and dtype.kind in kinds for pattern, kinds in OF_RUN_LENGTH):
        return True
    return any(
        re.search(pattern, call) and dtype.kind in kinds and older(release) for pattern, kinds, release in CHANGED
    )


def check(call: str, first: np.dtype, second: np.dtype, refused: list[tuple[str, str, str]], by: np.dtype) -> None:
    """One call on one pair of element types; ``by`` is the type that refusals are listed for."""
    if changed(call, by):
        return
    words = [text for pattern, kinds, text in refused if re.search(pattern, call) and by.kind in kinds]
    try:
        message = judge(call, arrays(first, second), ULP)
        assert not message or any(word in message for word in words), f"refused: {message}"
    except AssertionError as error:
        error.add_note(f"{call} of {first} and {second}")
        raise


@pytest.mark.parametrize("name", grouped(ONE))
def test_one_element_type(name: str) -> None:
    """Each line on all element types, its other alternatives on a few."""
    for line in grouped(ONE)[name]:
        for number, call in enumerate(calls(line)):
            for dtype in FEW if number else ALL:
                check(call, dtype, np.dtype(np.float64), REFUSED, dtype)


@pytest.mark.parametrize("name", grouped(TWO))
def test_two_element_types(name: str) -> None:
    for line, first in itertools.product(grouped(TWO)[name], ALL):
        for second in [*OTHERS, first] if first.char not in "?bLefF" else OTHERS:
            check(line, first, second, REFUSED_PAIRS, second)


@pytest.mark.parametrize("call", FOREIGN)
def test_bfloat16(call: str) -> None:
    foreign = np.dtype(ml_dtypes.bfloat16)
    check(call, foreign, foreign, [], foreign)


# ---- the same through compiled code


def sampled(step: int) -> list[Any]:
    """The first call of every so many lines of the table, the element types in turn."""
    lines = [line for lines in grouped(ONE).values() for line in lines][::step]
    types = itertools.cycle("dfblLFeD?")
    return [pytest.param(next(calls(line)), np.dtype(code), id=f"{line}-{code}") for line, code in zip(lines, types)]  # noqa: B905


def same(call: str, dtype: np.dtype, run: Any) -> None:
    """Compiled or not, a program returns NumPy's objects."""
    function, operands = function_of(call, arrays(dtype, dtype))
    with np.errstate(all="ignore"):
        wanted = function(*operands)
    gots, structure = tree.flatten(run(function, operands))
    wants, wanted_structure = tree.flatten(wanted)
    assert structure == wanted_structure
    for got, want in zip(gots, wants, strict=True):
        assert type(got) is type(want)
        if isinstance(want, np.ndarray | np.generic):
            assert (got.dtype, got.shape, writable(got)) == (want.dtype, want.shape, writable(want))
            assert_close(np.asarray(got), np.asarray(want), ULP)


def refused(call: str, dtype: np.dtype) -> bool:
    return bool(judge(call, arrays(dtype, dtype), ULP))


@pytest.mark.parametrize(("call", "dtype"), sampled(6))
def test_a_sample_uncompiled(call: str, dtype: np.dtype) -> None:
    _sample(call, dtype, run_uncompiled)


@pytest.mark.parametrize(("call", "dtype"), sampled(17))
def test_a_sample_compiled(call: str, dtype: np.dtype) -> None:
    _sample(call, dtype, run_serial)


@pytest.mark.filterwarnings("ignore")
def _sample(call: str, dtype: np.dtype, run: Any) -> None:
    function, operands = function_of(call, arrays(dtype, dtype))
    if not (changed(call, dtype) or refused(call, dtype)) and _numpy_takes(function, operands):
        same(call, dtype, run)


def _numpy_takes(function: Any, operands: Any) -> bool:
    with np.errstate(all="ignore"):
        try:
            function(*operands)
        except Exception:
            return False
    return True
