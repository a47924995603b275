"""Results that take the memory of a value nobody reads any more: when, when not, and that answers stay right."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import one_kernel_for_each, run_parallel, run_uncompiled
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.rewrites.storage.write_over import WriteOver
from xjit.ir.loops.nodes import Kernel

Function = Callable[..., Any]

RNG = np.random.default_rng(5)
A = RNG.normal(size=(40, 40))
B = RNG.normal(size=(40, 40))
C = RNG.normal(size=40)
WIDE = RNG.normal(size=(40, 600))
NUMBERS = np.arange(900).reshape(30, 30)


def layer(a: Any, b: Any, c: Any) -> Any:
    return np.tanh(a @ b + c)


def two_layers(a: Any, b: Any, c: Any) -> Any:
    return np.tanh(np.tanh(a @ b + c) @ b + c)


def softmax_of_product(a: Any, b: Any) -> Any:
    score = a @ b
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def weighted_score(a: Any, b: Any) -> Any:
    """The last pass over a row reads the score, which the exponentials must not have overwritten by then."""
    score = a @ b
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return score * weight / weight.sum(axis=1, keepdims=True)


def log_softmax(a: Any, b: Any) -> Any:
    score = a @ b
    shifted = score - score.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def two_results(a: Any, b: Any) -> Any:
    product = a @ b
    return product * 2.0, product + 1.0


def with_sums(a: Any, b: Any) -> Any:
    product = a @ b
    return np.exp(product), product.sum(axis=1), product.max(axis=1)


def softmax_and_likeliest(a: Any, b: Any) -> Any:
    """The place of the extreme is looked up when the pass that stores the quotients is over."""
    score = a @ b
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    share = weight / weight.sum(axis=1, keepdims=True)
    return share, share.argmax(axis=1), (share * score).argmin(axis=1)


def doubled_and_largest(a: Any) -> Any:
    ordered = np.sort(a, axis=0)
    return ordered * 2.0, (ordered * 2.0).argmax(axis=1), ordered.argmin(axis=1)


def kept_beside_other_rows(a: Any, b: Any) -> Any:
    """Values that wait for the second pass, whose first row is made of others."""
    root = np.tanh(a)
    return b - b.max(axis=1, keepdims=True), root.argmax(axis=1), root * root.sum(axis=1, keepdims=True)


def kept_for_a_sum(a: Any) -> Any:
    root = np.tanh(a)
    return a - a.max(axis=1, keepdims=True), (root * root.sum(axis=1, keepdims=True)).sum(axis=1)


def running_and_likeliest(a: Any) -> Any:
    return np.maximum.accumulate(a, axis=1), a - a.max(axis=1, keepdims=True), np.tanh(a).argmax(axis=1)


def read_again(a: Any, b: Any) -> Any:
    product = a @ b
    return np.sqrt(np.abs(product)) @ (product + 1.0)


def explained(function: Function, *arrays: Any) -> Any:
    return xjit.jit(function).explain(*arrays)


# ---- what the plan says


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        pytest.param(layer, (A, B, C), id="layer"),
        pytest.param(softmax_of_product, (A, B), id="softmax"),
        pytest.param(log_softmax, (A, B), id="three passes over a row"),
        pytest.param(two_results, (A, B), id="one of two results"),
        pytest.param(with_sums, (A, B), id="with reductions"),
        pytest.param(lambda a, b: -(a.T @ b) * 2.0, (A, B), id="transposed operand"),
        pytest.param(lambda a, b: np.maximum(a[:, :30] @ b[:30], 0.0), (A, B), id="views as operands"),
        pytest.param(lambda a, b: (a @ b + 1.0).reshape(1600), (A, B), id="a view of the result"),
    ],
)
def test_results_take_the_memory_of_the_product(function: Function, arrays: tuple[Any, ...]) -> None:
    found = explained(function, *arrays)
    assert found.kernels[-1].overwritten == ("dot_general",)
    results = function(*arrays)
    assert found.temporary_bytes == 0
    assert found.peak_bytes == sum(one.nbytes for one in (results if isinstance(results, tuple) else (results,)))
    assert "in place of dot_general" in str(found)


def test_chains_of_products_need_one_buffer_beside_the_result() -> None:
    found = explained(two_layers, A, B, C)
    assert [kernel.overwritten for kernel in found.kernels] == [("dot_general",)] * 2
    assert found.temporary_bytes == A.nbytes and found.peak_bytes == 2 * A.nbytes


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        pytest.param(lambda a, b: (a @ b).T + a, (A, B), id="read at another position"),
        pytest.param(lambda a, b: (a @ b)[::-1] + a, (A, B), id="read backward"),
        pytest.param(lambda a, b: (a @ b)[:20] * 2.0, (A, B), id="read in part"),
        pytest.param(lambda a, b: (lambda p: p + p.T)(a @ b), (A, B), id="read at two positions"),
        pytest.param(lambda a, b, c: (a @ c)[:, None] * b, (A, B, C), id="broadcast"),
        pytest.param(lambda a, b: (a @ b)[np.argsort(a[:, 0])] * 2.0, (A, B), id="gathered"),
        pytest.param(lambda a, b: (a @ b).astype(np.float32), (A, B), id="another type"),
        pytest.param(lambda a, b: a @ b > 0.0, (A, B), id="smaller elements"),
        pytest.param(lambda a, b: (lambda p: (p, p + 1.0))(a @ b), (A, B), id="the product is a result"),
        pytest.param(lambda a, b: (lambda p: (p[1:], p + 1.0))(a @ b), (A, B), id="a view of the product too"),
        pytest.param(lambda a, b: np.sin(a @ b), (A, B), id="strips that run twice"),
        pytest.param(lambda a, b: np.diff(a @ b, axis=0, append=a[:1]), (A, B), id="read at the neighbour"),
        pytest.param(weighted_score, (A, B), id="read again by a later pass"),
        pytest.param(lambda a, b: np.exp(a + b), (A, B), id="arguments"),
    ],
)
def test_memory_that_is_read_otherwise_is_left_alone(function: Function, arrays: tuple[Any, ...]) -> None:
    found = explained(function, *arrays)
    assert all(kernel.overwritten == () for kernel in found.kernels)


def test_what_a_later_kernel_reads_is_left_alone() -> None:
    found = explained(read_again, A, B)
    assert sum(len(kernel.overwritten) for kernel in found.kernels) == 1
    assert found.temporary_bytes == 2 * A.nbytes


@pytest.mark.parametrize(
    ("function", "arrays", "name"),
    [
        pytest.param(lambda a: np.sort(a, axis=1) * 2.0, (A,), "numpy_sort", id="sort"),
        pytest.param(lambda a: np.fft.fft(a) * 2j, (A,), "numpy_fft", id="Fourier transform"),
        pytest.param(lambda a: 1.0 - np.linalg.inv(a), (A,), "numpy_inv", id="inverse"),
        pytest.param(lambda n: np.gcd(n, n) + 1, (NUMBERS,), "numpy_gcd", id="ufunc"),
        pytest.param(lambda n: np.gcd.accumulate(n) + 1, (NUMBERS,), "numpy_gcd_accumulate", id="fold"),
    ],
)
@pytest.mark.parametrize("repeats", [1, 20])
def test_results_take_the_memory_of_what_libraries_make(
    function: Function, arrays: tuple[Any, ...], name: str, repeats: int
) -> None:
    arrays = tuple(np.tile(array, (repeats, 1, 1)) if repeats > 1 else array for array in arrays)
    before = [array.copy() for array in arrays]
    compiled = xjit.jit(function)
    found = compiled.explain(*arrays)
    assert found.kernels[-1].overwritten == (name,) and found.temporary_bytes == 0
    for _ in range(2):
        np.testing.assert_allclose(compiled(*arrays), function(*arrays), rtol=1e-12, atol=1e-12)
    for array, one in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, one)


# ---- code


def test_loops_that_work_in_place_are_vector_code_without_checks() -> None:
    source = xjit.jit(layer).source(A, B, C)
    assert "ldw(a0" in source and "st(a0" in source and len(re.findall(r"ptr_f64", source)) == 2
    module = compile_kernel(source, keep_ir=True)
    assert re.search(r"store <\d+ x double>", module.llvm_ir)
    assert "memcheck" not in module.llvm_ir


# ---- answers


PROGRAMS = {
    "layer": (layer, (A, B, C)),
    "two layers": (two_layers, (A, B, C)),
    "softmax": (softmax_of_product, (A, B)),
    "weighted score": (weighted_score, (A, B)),
    "log-softmax": (log_softmax, (A, B)),
    "two results": (two_results, (A, B)),
    "with sums": (with_sums, (A, B)),
    "read again": (read_again, (A, B)),
    "softmax and likeliest": (softmax_and_likeliest, (A, WIDE)),
    "doubled and largest": (doubled_and_largest, (WIDE,)),
    "kept beside other rows": (kept_beside_other_rows, (A, B)),
    "kept for a sum": (kept_for_a_sum, (A,)),
    "running and likeliest": (running_and_likeliest, (A,)),
    "rare arguments": (lambda a, b: np.sin(1e9 * (a @ b)), (A, B)),
    "transposed": (lambda a, b: (a @ b).T + a, (A, B)),
    "twice the same": (lambda a, b: (lambda p: (p, p))(np.exp(a @ b)), (A, B)),
    "and a view": (lambda a, b: (lambda p: (p, p[1:], p.T))(np.exp(a @ b)), (A, B)),
    "and an argument": (lambda a, b: (a, np.exp(a @ b), b[::2]), (A, B)),
    "reshaped": (lambda a, b: np.exp(a @ b).reshape(20, 80), (A, B)),
    "half precision": (lambda a, b: np.maximum(a @ b, 0.0), (A.astype(np.float16), B.astype(np.float16))),
    "columns": (lambda a, b: (lambda p: (np.exp(p), p.sum(axis=0)))(a @ b), (A, B)),
    "deviations": (lambda a, b: (lambda p: p - p.mean(axis=0))(a @ b), (A, B)),
    "a running sum": (lambda a, b: (lambda p: (np.cumsum(p, axis=1), p * 2.0))(a @ b), (A, B)),
}


def assert_right(found: Any, expected: Any) -> None:
    found, expected = (one if isinstance(one, tuple) else (one,) for one in (found, expected))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.strides == other.strides
        # The product in single precision is the library's, whose sums round by the processor; half precision follows.
        rounding = 1e-3 if other.dtype == np.float16 else 1e-7
        np.testing.assert_allclose(one, other, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("run", [run_uncompiled, run_parallel, lambda f, arrays: xjit.jit(f)(*arrays)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_numpys_and_arguments_stay(name: str, run: Any) -> None:
    function, arrays = PROGRAMS[name]
    before = [array.copy() for array in arrays]
    assert_right(run(function, arrays), function(*arrays))
    for array, one in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, one)


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_right_with_a_kernel_for_each_operation(name: str) -> None:
    function, arrays = PROGRAMS[name]
    with one_kernel_for_each():
        assert_right(run_parallel(function, arrays), function(*arrays))


def test_results_of_calls_are_apart() -> None:
    function = xjit.jit(layer)
    first = function(A, B, C)
    kept = first.copy()
    second = function(B, A, C)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, kept)


def test_large_products_are_written_into_recycled_memory() -> None:
    a = RNG.normal(size=(300, 300))
    function = xjit.jit(layer)
    first = function(a, a, a[0])
    assert first.flags.owndata and first.base is None and first.flags.writeable
    np.testing.assert_allclose(first, layer(a, a, a[0]), rtol=1e-12, atol=1e-12)
    address = first.ctypes.data
    assert address % 64 == 0
    del first
    assert function(a, a, a[0]).ctypes.data == address


@pytest.mark.parametrize("size", [40, 260])
def test_threads_that_share_a_program_do_not_share_memory(size: int) -> None:
    function = xjit.jit(two_layers)
    rng = np.random.default_rng(7)
    arrays = [rng.normal(size=(size, size)) / size for _ in range(4)]
    expected = [two_layers(a, a, a[0]) for a in arrays]
    function(arrays[0], arrays[0], arrays[0][0])
    wrong: list[int] = []

    def work(number: int) -> None:
        a = arrays[number]
        for _ in range(20):
            if not np.allclose(function(a, a, a[0]), expected[number], rtol=1e-10, atol=1e-12):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(arrays))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_part_of_what_a_library_makes_is_overwritten_and_the_others_stay() -> None:
    symmetric = A + A.T

    def program(a: Any) -> Any:
        values, vectors = np.linalg.eigh(a)
        return 2.0 * vectors, values

    found = xjit.jit(program).explain(symmetric)
    assert len(found.kernels[-1].overwritten) == 1 and found.temporary_bytes == 0
    assert_right(xjit.jit(program)(symmetric), program(symmetric))


def test_scalars_outside_of_loops_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No loop says which of two scalars is touched first: pairs of them would each look at the whole kernel."""
    tried: list[tuple[str, str]] = []

    def apply(self: WriteOver, kernel: Kernel) -> Kernel:
        tried.append((self.result, self.over))
        return whole(self, kernel)

    def sums(x: Any) -> Any:
        found = []
        for k in range(40):
            found.append(np.sin(x[k : k + 3]).sum() * (k + 1))
            if k % 7 == 0:
                x = x + 0.001 * np.tanh(found[k])
        total = 0.0
        for k in range(40):
            total = total + found[k] * found[k * 7 % 40]
        return total, x

    whole = WriteOver.apply
    monkeypatch.setattr(WriteOver, "apply", apply)
    for mine, theirs in zip(xjit.xjit(sums)(C[:50].repeat(2)), sums(C[:50].repeat(2)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert len(tried) < 10
