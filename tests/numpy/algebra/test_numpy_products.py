"""Products of vectors, matrices and labelled axes, and norms, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Traced
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit as jit
from xjit.errors import CaptureError

DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "f2", "f4", "f8", "c8", "c16"]

PAIRS = """
inner(a, b)
inner(a, 2)
inner(2.5, b)
outer(a, b)
outer(a, 2)
vdot(a, b)
vdot(a, a)
tensordot(a, b, 0)
tensordot(a, b, 1)
tensordot(a, b)
tensordot(a, a)
tensordot(a, b, (0, 0))
tensordot(a, b, ([0, 1], [0, 1]))
tensordot(a, b, ([-1], [-1]))
tensordot(a, b, ([1, 0], [1, 0]))
tensordot(a, b, ([0, 0], [0, 0]))
tensordot(a, b, ([5], [1]))
tensordot(a, b, 7)
kron(a, b)
kron(b, a)
kron(a, 2)
kron(2, b)
cross(a, b)
cross(a, b, axisc=0)
cross(a, b, axis=0)
cross(a, b, axis=7)
cross(a, b[0])
cross(a, b, 0, -1)
vecdot(a, b)
vecdot(a, b, axis=0)
vecdot(a, b, keepdims=True)
vecdot(a, b[0])
matmul(a, b)
"""

MATRICES = """
matvec(a, b[0])
matvec(a, b)
vecmat(a[:, 0], b)
vecmat(a, b)
"""

LINALG = """
np.linalg.outer(a, b)
np.linalg.outer(a[0], b[0])
np.linalg.cross(a, b)
np.linalg.cross(a, b, axis=0)
np.linalg.trace(a)
np.linalg.trace(a, offset=1, dtype=np.float64)
np.linalg.diagonal(a)
np.linalg.diagonal(a, offset=-1)
np.linalg.matmul(a, b)
np.linalg.tensordot(a, b)
np.linalg.tensordot(a, b, axes=1)
np.linalg.vecdot(a, b)
np.linalg.matrix_transpose(a)
np.linalg.matrix_power(a, 0)
np.linalg.matrix_power(a, 1)
np.linalg.matrix_power(a, 2)
np.linalg.matrix_power(a, 3)
np.linalg.matrix_power(a, 6)
np.linalg.matrix_power(a, 1.5)
np.linalg.multi_dot([a, b])
np.linalg.multi_dot([a, b, a])
np.linalg.multi_dot([a[0], b, a])
np.linalg.multi_dot([a[0], b, a, b[:, 0]])
np.linalg.multi_dot([a, b, a, b, a[:, 1]])
np.linalg.multi_dot([a])
np.linalg.multi_dot([a, b, 3])
"""

NORMS = """
np.linalg.norm(a)
np.linalg.norm(a, 1)
np.linalg.norm(a, 0)
np.linalg.norm(a, 3)
np.linalg.norm(a, 0.5)
np.linalg.norm(a, -1)
np.linalg.norm(a, np.inf)
np.linalg.norm(a, -np.inf)
np.linalg.norm(a, "fro")
np.linalg.norm(a, "x")
np.linalg.norm(a, keepdims=True)
np.linalg.norm(a, axis=0)
np.linalg.norm(a, 2, axis=-1)
np.linalg.norm(a, 1, axis=0, keepdims=True)
np.linalg.norm(a, 3, axis=1)
np.linalg.norm(a, axis=(0, 1))
np.linalg.norm(a, 1, axis=(1, 0))
np.linalg.norm(a, "f", axis=(0, 1), keepdims=True)
np.linalg.norm(a, axis=(0, 0))
np.linalg.norm(a, axis=(0, 1, 2))
np.linalg.norm(a, axis=5)
np.linalg.norm(a, axis="x")
np.linalg.vector_norm(a)
np.linalg.vector_norm(a, ord=1, axis=0)
np.linalg.vector_norm(a, axis=(0, 1), keepdims=True)
np.linalg.vector_norm(a, keepdims=True, ord=np.inf)
np.linalg.matrix_norm(a)
np.linalg.matrix_norm(a, ord=1)
np.linalg.matrix_norm(a, ord=-np.inf, keepdims=True)
"""

ONE = """
einsum("ij", a)
einsum("ji", a)
einsum("ij->ji", a)
einsum("ii", a)
einsum("ii->i", a)
einsum("ij->i", a)
einsum("ij->j", a)
einsum("ij->", a)
einsum("i...->...", a)
einsum("...i->...", a)
einsum("...", a)
einsum("...ij->...ji", a)
einsum("ijk->kj", a)
einsum("ijk->kij", a)
einsum("iij->j", a)
einsum("iij->ji", a)
einsum("iii->i", a)
einsum(a, [0, 1], [1, 0])
einsum(a, [-1, 0], [0])
einsum(a, [0, 60], [0])
einsum(a, [True, 0], [0])
einsum(a, [0, ...], [...])
einsum("i", a)
einsum("", a)
einsum("ij->k", a)
einsum("ij->ii", a)
einsum("i$", a)
einsum("i.j", a)
einsum("ij->i", a, dtype=np.complex128)
einsum("ij->i", a, dtype=np.int8)
einsum("ij->i", a, dtype=np.float32, casting="unsafe")
einsum("ij->ji", a, order="C")
"""

TWO = """
einsum("ij,ij->ij", a, b)
einsum("ij,ij->ji", a, b)
einsum("ij,ij", a, b)
einsum("ij,ij->i", a, b)
einsum("ij,ij->j", a, b)
einsum("ij,kj->ik", a, b)
einsum("ij,kj->ki", a, b)
einsum("ij,kj", a, b)
einsum("ij,ik->jk", a, b)
einsum("ij,ik->ijk", a, b)
einsum("ij,ik->kji", a, b)
einsum("ij,kl->ijkl", a, b)
einsum("ij,kl->", a, b)
einsum("ij,kl->ik", a, b)
einsum("ij,jk", a, b)
einsum("ij,jk,kl", a, b, a)
einsum("ij,kj,kl->il", a, b, b)
einsum("ij,kj,ij->k", a, b, a)
einsum("i...,j...->ij...", a, b)
einsum("...j,...j->...", a, b)
einsum("...j,kj", a, b)
einsum("ij,->ij", a, 2)
einsum("ij,j->i", a, b[0])
einsum("ij,j->ij", a, b[0])
einsum("ij,i->j", a, b[:, 0])
einsum("ij,ij->ij", a, b[:1])
einsum("ij,ij->i", a[:, :1], b)
einsum(a, [0, 1], b, [2, 1])
einsum(a, [0, 1], b, [2, 1], [2, 0])
einsum(" i j , k j -> i k ", a, b)
einsum("ij", a, b)
einsum("ij,jk,kl", a, b)
einsum("iJ,kJ->kJi", a, b)
einsum("ij,kj->ik", a, b, order="F")
"""

CUBES = """
einsum("bij,bkj->bik", a, b)
einsum("bij,bkj->bki", a, b)
einsum("bij,bij->b", a, b)
einsum("bij,bij->bi", a, b)
einsum("bij,bj->bi", a, b[:, 0])
einsum("ijk,lk->ijl", a, b[0])
einsum("ijk,ijl->kl", a, b)
einsum("...ij,...kj->...ik", a, b)
einsum("...ij,kj->...ik", a, b[0])
einsum("ijk->", a)
einsum("ijk,ijk->", a, b)
einsum("aij,bij,cij->abc", a, b, a)
tensordot(a, b, ([0, 2], [0, 2]))
tensordot(a, b, ([1, 2], [1, 2]))
inner(a, b)
kron(a, b)
vecdot(a, b)
vecdot(a, b, axis=1)
vecdot(a, b[:1])
matvec(a, b[:, 0])
matvec(a, b[0, 0])
vecmat(a[..., 0], b)
cross(a, b)
np.linalg.norm(a)
np.linalg.norm(a, axis=(2, 0))
np.linalg.norm(a, 1, axis=(2, 0))
np.linalg.norm(a, axis=1)
np.linalg.vector_norm(a, axis=(2, 0))
np.linalg.vector_norm(a, axis=(2, 0), keepdims=True)
np.linalg.matrix_norm(a)
np.linalg.matrix_power(a[:, :, :2], 3)
np.linalg.trace(a)
np.linalg.diagonal(a, offset=1)
"""

SINCE_2_2 = hasattr(np, "matvec")


def pairs(one: str, other: str, *shape: int) -> tuple[Any, Any]:
    return array(one, *shape), array(other, *shape, seed=11)


def ulp(dtype: str) -> float:
    kind = np.dtype(dtype)
    return 0.0 if kind.kind in "biu" else 64.0 if kind.itemsize == 2 else 24.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype: str) -> None:
    for shape in ((3, 3), (2, 3)):
        check_lines(PAIRS + LINALG + (MATRICES if SINCE_2_2 else ""), [pairs(dtype, dtype, *shape)], ulp=ulp(dtype))
        check_lines(TWO, [pairs(dtype, dtype, *shape)], ulp=ulp(dtype))
    check_lines(ONE, [array(dtype, 3, 3), array(dtype, 2, 3), array(dtype, 2, 2, 3)], ulp=ulp(dtype), views=True)


def test_mixed_types_ranks_and_sizes() -> None:
    mixed = [pairs("i4", "f4", 3, 3), pairs("f4", "f8", 3, 2), pairs("f8", "c8", 2, 3), pairs("?", "i2", 3, 3)]
    few = [
        pairs("f8", "f8"),
        pairs("f4", "f4", 3),
        pairs("f8", "f8", 0),
        pairs("f8", "f8", 0, 3),
        pairs("f8", "f8", 3, 0),
    ]
    both = [(array("f8", 3), array("f8", 3, 3)), (array("f8", 3, 3), array("f8", 3)), (array("f8"), array("f8", 3))]
    check_lines(PAIRS + TWO, [*mixed, *few, *both], ulp=24)
    special = np.array([[np.inf, 1.0, -0.0, np.nan]])
    scales = [
        (one.astype(code), np.array(by, code))
        for one in (special, special[0], special[:, :1], special[None])
        for code in "efdF"
        for by in (0, -1)
    ]
    check_lines("dot(a, b)\ndot(b, a)\ninner(a, b)\ninner(b, a)", scales)
    check_lines(ONE, [array("f8"), array("f8", 3, 0), array("i4", 0), np.float32(2), array("f8", 3, 3, 3)], ulp=8)


def test_layouts() -> None:
    squares = [(x, y) for x in layouts(array("f8", 3, 3)) for y in layouts(array("f8", 3, 3, seed=2))[:3]]
    check_lines(TWO, squares, ulp=24)
    check_lines(PAIRS, squares[:6], ulp=24)
    check_lines(ONE, [one for one in layouts(array("f8", 3, 3)) if one.flags.forc], ulp=8, views=True)
    cubes = [(x, array("f8", 2, 2, 3, seed=2)) for x in layouts(array("f8", 2, 2, 3))]
    kept = (
        CUBES
        if SINCE_2_2
        else "\n".join(line for line in CUBES.splitlines() if "vec(" not in line and "mat(" not in line)
    )
    check_lines(kept, cubes, ulp=24)


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms(dtype: str) -> None:
    found = [array(dtype, *shape) for shape in ((), (4,), (0,), (2, 3), (3, 3), (0, 3))]
    check_lines(NORMS, found, ulp=600 if dtype == "f2" else 24)


def test_without_a_trace() -> None:
    check_eager(PAIRS + TWO, *pairs("f8", "f8", 3, 3), ulp=24)
    check_eager(ONE, array("f8", 3, 3), ulp=8)


def test_compiled() -> None:
    check_compiled(PAIRS + LINALG, *pairs("f8", "f8", 3, 3), ulp=24)
    check_compiled(ONE, array("i4", 3, 3))
    check_compiled(TWO, np.asfortranarray(array("f4", 3, 3)), array("f4", 3, 3, seed=4), ulp=24)
    check_compiled(NORMS, array("f8", 2, 3), ulp=24)


def test_large_contractions() -> None:
    x, y, z = array("f4", 40, 300), array("f4", 300, 50), array("f4", 40, 50)
    for text in ("ij,jk->ik", "ij,jk->ki", "ij,jk,ik->", "ij,jk,ik->i"):
        got = jit(lambda a, b, c, t=text: np.einsum(t, a, b, *([c] if t.count(",") == 2 else [])))(x, y, z)
        want = np.einsum(text, *(one.astype("f8") for one in (x, y, z)[: text.count(",") + 1]))
        np.testing.assert_allclose(got, want, rtol=2e-5)


def test_diagonals_of_einsum_can_be_written_to() -> None:
    x = array("f8", 3, 3)
    jit(lambda a: np.einsum("ii->i", a))(x)[:] = 7
    np.testing.assert_array_equal(np.diagonal(x), [7, 7, 7])
    assert not jit(lambda a: np.diagonal(a))(x).flags.writeable


def test_refusals() -> None:
    x = array("f8", 3, 3)
    for words, call in {
        r"numpy\.einsum: out=": lambda xp, a: np.einsum("ij->i", a, out=np.zeros(3)),
        r"numpy\.vecdot: axes=": lambda xp, a: np.vecdot(a, a, axes=[(0,), (0,), ()]),
    }.items():
        with pytest.raises(CaptureError, match=words):
            Traced(call, [x])


def test_einsum_multiplies_bfloat16_as_matmul_does() -> None:
    """NumPy's own einsum takes this type only where it hands the product over to matmul."""
    a = np.array([[1.0, 2.0], [3.0, 129.0]], ml_dtypes.bfloat16)
    for text, expected in (
        ("ij,jk->ik", [[7.0, 260.0], [390.0, 16647.0]]),
        ("ij,ij->i", [5.0, 16650.0]),
        ("ii->", 130.0),
    ):
        found = jit(lambda one, text=text: np.einsum(text, *[one] * (text.count(",") + 1)))(a)
        assert found.dtype == a.dtype
        assert np.array_equal(found.astype(float), np.array(expected).astype(a.dtype).astype(float)), text
