"""Loops that write slices between numbers of the run: well-known kernels beside NumPy, arguments included."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

Loop = Callable[..., Any]


def in_python(lower: int, upper: int, body: Callable[..., Any], state: Any) -> Any:
    for i in range(lower, upper):
        state = body(i, state)
    return state


def triangular_solve(loop: Loop, L: Any, b: Any) -> Any:
    def body(i: Any, x: Any) -> Any:
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
        return x

    return loop(0, b.shape[0], body, np.zeros(b.shape[0]))


def cholesky(loop: Loop, A: Any) -> Any:
    def row(i: Any, A: Any) -> Any:
        def column(j: Any, A: Any) -> Any:
            A[i, j] -= A[i, :j] @ A[j, :j]
            A[i, j] /= A[j, j]
            return A

        A = loop(0, i, column, A)
        A[i, i] = np.sqrt(A[i, i] - A[i, :i] @ A[i, :i])
        return A

    return loop(0, A.shape[0], row, A)


def lu(loop: Loop, A: Any) -> Any:
    def body(i: Any, A: Any) -> Any:
        A[i + 1 :, i] /= A[i, i]
        A[i + 1 :, i + 1 :] -= np.outer(A[i + 1 :, i], A[i, i + 1 :])
        return A

    return loop(0, A.shape[0], body, A)


def durbin(loop: Loop, r: Any) -> Any:
    def body(k: Any, state: Any) -> Any:
        y, alpha, beta = state
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
        return y, alpha, beta

    first = np.zeros(r.shape[0])
    first[0] = -r[0]
    return loop(1, r.shape[0], body, (first, -r[0], np.float64(1.0)))


def gram_schmidt(loop: Loop, A: Any) -> Any:
    def body(k: Any, state: Any) -> Any:
        A, Q, R = state
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])
        return A, Q, R

    rows, columns = A.shape
    return loop(0, columns, body, (A, np.zeros((rows, columns)), np.zeros((columns, columns))))


def rank_update(loop: Loop, C: Any, A: Any) -> Any:
    def row(i: Any, C: Any) -> Any:
        C[i, : i + 1] *= 1.2
        return loop(0, A.shape[1], lambda k, C: added(i, k, C), C)

    def added(i: Any, k: Any, C: Any) -> Any:
        C[i, : i + 1] += 1.5 * A[i, k] * A[: i + 1, k]
        return C

    return loop(0, A.shape[0], row, C)


def reversals(loop: Loop, x: Any) -> Any:
    def body(i: Any, x: Any) -> Any:
        x[i:] = x[i:][::-1]
        x[i::2] += 1.0
        x[: i + 1] = x[i]
        x[i::-3] *= 0.5
        return x

    return loop(0, x.shape[0], body, x)


def views(loop: Loop, x: Any) -> Any:
    def body(i: Any, state: Any) -> Any:
        x, total = state
        seen, rest = x[:i], x[i:][1:]
        x[0] += 1.0
        total = total + seen.sum()
        seen *= 0.5
        rest[:2] = total
        rest[-1:] -= 1.0
        return x, total + x.sum()

    return loop(0, x.shape[0], body, (x, np.float64(0.0)))


def matrices(size: int) -> dict[str, tuple[Any, ...]]:
    source = np.random.default_rng(size)
    A, x = source.standard_normal((size, size)), source.standard_normal(size)
    positive = A @ A.T + size * np.eye(size)
    return {
        "triangular_solve": (triangular_solve, np.tril(A) + size * np.eye(size), x),
        "cholesky": (cholesky, positive),
        "lu": (lu, positive),
        "durbin": (durbin, np.linspace(1, 2, size) / (4 * size)),
        "gram_schmidt": (gram_schmidt, A + np.eye(size)),
        "rank_update": (rank_update, positive, A),
        "reversals": (reversals, x),
        "views": (views, x),
    }


@pytest.mark.parametrize("size", (1, 2, 9, 17))
@pytest.mark.parametrize("name", matrices(1))
def test_kernels_give_what_numpy_gives(name: str, size: int) -> None:
    kernel, *given = matrices(size)[name]
    compiled = xjit.xjit(lambda *arrays: kernel(xjit.fori_loop, *arrays), strict=True)
    ours, numpys = copy.deepcopy(given), copy.deepcopy(given)
    found, wanted = compiled(*ours), kernel(in_python, *numpys)
    for one, two in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-11)


def leaves(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_no_turns_give_what_was_there() -> None:
    compiled = xjit.xjit(lambda L, b: triangular_solve(xjit.fori_loop, L, b), strict=True)
    assert compiled(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


def test_a_value_of_another_length_is_refused_when_the_program_runs() -> None:
    def stored(x: Any, y: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            x[i:] = y[2 * i :]
            return x

        return xjit.fori_loop(0, 3, body, x)

    compiled = xjit.xjit(stored, strict=True)
    with pytest.raises(ValueError, match="could not broadcast input array"):
        compiled(np.zeros(4), np.arange(4.0))


def test_only_the_window_moves() -> None:
    compiled = xjit.xjit(lambda A: lu(xjit.fori_loop, A), strict=True)
    text = str(compiled.source(np.eye(40)))
    turn = text[text.index("while ") :] if "while " in text else text
    stores = [line.split("(")[1].split(",")[0] for line in turn.splitlines() if "    st(" in line and "i0" in line]
    assert len(set(stores)) == 1, "what is divided and subtracted goes where it was, and nothing is copied"


def _of_floats(x: Any) -> None:
    found = np.unique(x)
    found[found[0] :] = 1


def test_errors_of_windows_name_the_line() -> None:
    with pytest.raises(TypeError, match=r"slice indices must be integers.*\n  at .*, in _of_floats"):
        xjit.jit(_of_floats, strict=True)(np.ones(3))


@pytest.mark.parametrize("bound", [2.0, 3.5, np.float64(2), np.bool_(True)])
def test_known_floats_are_no_bounds_of_windows(bound: Any) -> None:
    def read(x: Any) -> Any:
        return x[x > 0][bound:]

    def written(x: Any) -> Any:
        x[x > 0][:bound:2] = 0
        return x

    for function in (read, written):
        with pytest.raises(TypeError, match="slice indices must be integers"):
            function(np.ones(3))
        with pytest.raises(TypeError, match="slice indices must be integers"):
            xjit.jit(function, strict=True)(np.ones(3))
