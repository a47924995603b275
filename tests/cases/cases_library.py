"""Cases of NumPy's functions that are library steps; what they give is written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import xjit.numpy as xnp
from tests.helpers.harness import Case, array
from xjit.ops.define.core import apply
from xjit.ops.for_numpy import numpy_linalg

X = array("f64", [[3, 1, 2], [5, 7, 6]])
WAVE = array("f32", [1, 2, 3, 4])
SPECTRUM = array("c64", [10, -2 + 2j, -2, -2 - 2j])
MATRIX = array("f64", [[4, 2], [2, 5]])
ROOT = array("f64", [[2, 0], [1, 2]])


def case(name: str, function: Any, arrays: Any, expected: Any, ulp: float = 0) -> Case:
    """A case of the record that one function of the NumPy surface applies."""
    return Case(f"numpy_{name}", function, arrays, expected, ulp)


def _sorting_cases() -> list[Case]:
    line, edges, wanted = array("f64", [1, 2, 2, 3]), array("f64", [2, 0.5, 4]), array("s64", [1, 0, 4])
    rows, order = array("f64", [[1, 2, 3], [5, 6, 7]]), array("s64", [[1, 2, 0], [0, 2, 1]])
    turned = line[::-1], edges, array("s64", [3, 2, 1, 0])
    keys = array("s32", [1, 0, 1]), array("s32", [1, 1, 0])
    return [
        case("sort", lambda a: xnp.sort(a), (X,), rows),
        case("sort", lambda a: xnp.sort(a, 0), (X[:, ::-1],), array("f64", [[2, 1, 3], [6, 7, 5]])),
        case("argsort", lambda a: xnp.argsort(a), (X,), order),
        case("partition", lambda a: xnp.partition(a, (0, 1, 2)), (X,), rows),
        case("argpartition", lambda a: xnp.argpartition(a, (0, 1, 2)), (X,), order),
        case("searchsorted", lambda a, b: xnp.searchsorted(a, b), (line, edges), wanted),
        case("searchsorted", lambda a, b, c: xnp.searchsorted(a, b, sorter=c), turned, wanted),
        case("lexsort", lambda a, b: xnp.lexsort((a, b)), keys, array("s64", [2, 1, 0])),
        case("isin", lambda a: xnp.isin(a, [7, 1]), (X,), array("pred", [[0, 1, 0], [0, 1, 0]])),
        case("digitize", lambda a, b: xnp.digitize(a, b), (edges, line), array("s64", [3, 0, 4])),
    ]


def _transform_cases() -> list[Case]:
    return [
        case("fft", lambda a: xnp.fft.fft(a), (WAVE,), SPECTRUM, 4),
        case("ifft", lambda a: xnp.fft.ifft(a), (SPECTRUM,), array("c64", WAVE), 4),
        case("rfft", lambda a: xnp.fft.rfft(a, norm="ortho"), (WAVE,), SPECTRUM[:3] / 2, 4),
        case("irfft", lambda a: xnp.fft.irfft(a), (SPECTRUM[:3],), WAVE, 4),
    ]


def _solver_cases() -> list[Case]:
    small = array("f64", [[-4]]), (array("f64", -1), array("f64", math.log(4)))
    fit = array("f64", [1, 2]), array("f64", []), array("s32", 2), array("f64", _values_of_a_line())
    return [
        case("solve", lambda a, b: xnp.linalg.solve(a, b), (MATRIX, array("f64", [8, 12])), array("f64", [1, 2]), 4),
        case("inv", lambda a: xnp.linalg.inv(a), (MATRIX,), array("f64", [[5, -2], [-2, 4]]) / 16, 4),
        case("det", lambda a: xnp.linalg.det(a), (MATRIX,), array("f64", 16), 4),
        case("slogdet", lambda a: tuple(xnp.linalg.slogdet(a)), (small[0],), small[1], 4),
        case("cholesky", lambda a: xnp.linalg.cholesky(a), (MATRIX,), ROOT, 4),
        case(
            "lstsq",
            lambda a, b: xnp.linalg.lstsq(a, b),
            (array("f64", [[1, 0], [1, 1]]), array("f64", [1, 3])),
            fit,
            16,
        ),
    ]


def _values_of_a_line() -> list[float]:
    """The singular values of [[1, 0], [1, 1]]: roots of those of its square [[2, 1], [1, 1]]."""
    return [math.sqrt((3 + math.sqrt(5)) / 2), math.sqrt((3 - math.sqrt(5)) / 2)]


def _factor_cases() -> list[Case]:
    unit, stretched, turn = np.eye(2), array("f64", [[3, 0], [0, 2]]), array("c128", [[0, -4], [1, 0]])
    ends = array("f64", [(9 - math.sqrt(17)) / 2, (9 + math.sqrt(17)) / 2])
    low = array("f64", [[2, 0], [0, 3]]), (array("f64", [2, 3]), unit)
    twice = array("c128", [[2 + 1j, 0], [0, 2 + 1j]]), (array("c128", [2 + 1j, 2 + 1j]), array("c128", unit))
    thin = array("f64", [[1, 2, 3], [2, 4, 6], [1, 0, 0]])
    return [
        case("qr", lambda a: xnp.linalg.qr(a, "r"), (stretched,), stretched, 4),
        case("svd", lambda a: xnp.linalg.svdvals(a), (stretched[::-1],), array("f64", [3, 2]), 4),
        case("eigh", lambda a: tuple(xnp.linalg.eigh(a)), (low[0],), low[1], 4),
        case("eigvalsh", lambda a: xnp.linalg.eigvalsh(a), (MATRIX,), ends, 4),
        case("eig", lambda a: tuple(xnp.linalg.eig(a)), (twice[0],), twice[1], 4),
        case("eigvals", lambda a: xnp.linalg.eigvals(a), (turn,), array("c128", [2j, -2j]), 4),
        case("pinv", lambda a: xnp.linalg.pinv(a), (stretched[:1],), array("f64", [[1 / 3], [0]]), 4),
        case("matrix_rank", lambda a: xnp.linalg.matrix_rank(a), (thin,), array("s64", 2)),
        case("cond", lambda a: xnp.linalg.cond(a), (stretched,), array("f64", 1.5), 4),
    ]


_PARAMS: dict[str, dict[str, Any]] = {
    "cholesky": {"upper": False},
    "svd": {"full_matrices": True, "compute_uv": False, "hermitian": False},
    "eigh": {"UPLO": "L"},
    "eigvalsh": {"UPLO": "L"},
    "lstsq": {"rcond": None},
}
"""Params of the records with which they are applied as above."""


def _handled_cases() -> list[Case]:
    """The same with what says whether there is a result; and where there is none."""
    plain = [one for one in (*_solver_cases(), *_factor_cases()) if _record(one).tried is not None]
    found = [_handled(one, "tried", _with_truth(one.expected)) for one in plain]
    marked = [one for one in plain if _record(one).marked is not None]
    elements = [np.append(one.expected, one.expected.dtype.type(0)) for one in marked]
    found += [_handled(one, "marked", flat) for one, flat in zip(marked, elements, strict=True)]
    for one in marked:
        arrays = tuple(-np.ones_like(array) for array in one.arrays)
        none = np.zeros_like(one.expected)
        found.append(_handled(one, "tried", (none, array("pred", 0)), arrays))
        found.append(_handled(one, "marked", np.append(none, none.dtype.type(1)), arrays))
    return found


def _record(plain: Case) -> Any:
    return getattr(numpy_linalg, plain.op.removeprefix("numpy_").upper())


def _with_truth(expected: Any) -> tuple[Any, ...]:
    return (*(expected if isinstance(expected, tuple) else (expected,)), array("pred", 1))


def _handled(plain: Case, kind: str, expected: Any, arrays: Any = None) -> Case:
    name = plain.op.removeprefix("numpy_")
    text = f"lambda *operands: apply(records.{name.upper()}.{kind}, *operands, **{_PARAMS.get(name, {})})"
    return case(
        f"{kind}_{name}",
        eval(text, {"apply": apply, "records": numpy_linalg}),
        plain.arrays if arrays is None else arrays,
        expected,
        plain.ulp,
    )


def _statistics_cases() -> list[Case]:
    nan = math.nan
    rows, line = array("f32", [[3, nan, 1], [nan, nan, nan]]), array("f64", [0, 1, 2, 4])
    shares, counts = array("f64", [0.25, 1]), (array("s64", [1, 2]), array("f64", [0, 1, 4]))
    grid = array("f64", [[1, 0], [1, 2]]), array("s64", [0, 1, 4]), array("f64", [0, 2, 4])
    return [
        case("quantile", lambda a, q: xnp.quantile(a, q), (line, shares), array("f64", [0.75, 4])),
        case("nanmedian", lambda a: xnp.nanmedian(a, 1), (rows,), array("f32", [2, nan])),
        case("nanquantile", lambda a: xnp.nanquantile(a, 0.25, 1), (rows,), array("f32", [1.5, nan])),
        case("histogram", lambda a: xnp.histogram(a, [0, 1.0, 4]), (line[:3],), counts),
        case("histogramdd", lambda a: xnp.histogram2d(a, a, [[0, 1, 4], 2]), (line,), grid),
        case("bincount", lambda a: xnp.bincount(a, minlength=3), (array("u8", [2, 0, 2]),), array("s64", [1, 0, 2])),
    ]


CASES = [
    *_sorting_cases(),
    *_transform_cases(),
    *_solver_cases(),
    *_factor_cases(),
    *_handled_cases(),
    *_statistics_cases(),
]
