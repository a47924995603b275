"""Products of matrices, which run among the kernels: the bits are those of NumPy's matmul.

Operands that are vectors have thousands of elements here, and matrices have more than registers hold: others are
summed in loops.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.native_entries import is_native
from xjit.programs import blas_calls
from xjit.programs.blas_calls import on_one_thread
from xjit.programs.kernel_runs import Segment
from xjit.runtime.native import native_code
from xjit.runtime.native.blas_native import products_text
from xjit.runtime.native.native_code import NativeModule
from xjit.runtime.parallel.blas_limits import NativeLimits, limited
from xjit.runtime.spec import RunStep
from xjit.runtime.steps import blas_steps
from xjit.runtime.steps.blas_steps import Products, blas_products

TYPES = ("f4", "f8", "c8", "c16")
needs_blas = pytest.mark.skipif(blas_products() is None, reason="the library behind NumPy's products is not known")

PACKAGED = np.show_config(mode="dicts")["Build Dependencies"]["blas"].get("name") == "scipy-openblas"


@pytest.mark.skipif(not (PACKAGED and native_code.supported()), reason="NumPy is linked to a library of the system")
def test_the_library_that_comes_with_numpy_is_known() -> None:
    assert blas_products() is not None


def numbers(type: str, *shape: int) -> Any:
    rng = np.random.default_rng([*shape, len(type)])
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if type[0] == "c" else values).astype(type)


def multiply(a: Any, b: Any) -> Any:
    return a @ b


def assert_same_bits(got: Any, expected: Any) -> None:
    assert type(got) is type(expected) and got.dtype == expected.dtype and got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


Function = Callable[..., Any]
Operands = Callable[[str], tuple[Any, Any]]

NATIVE: dict[str, Operands] = {
    "matrices": lambda t: (numbers(t, 7, 5), numbers(t, 5, 6)),
    "first by columns": lambda t: (numbers(t, 5, 7).T, numbers(t, 5, 6)),
    "second by columns": lambda t: (numbers(t, 7, 5), numbers(t, 6, 5).T),
    "both by columns": lambda t: (numbers(t, 5, 7).T, numbers(t, 6, 5).T),
    "part of a matrix": lambda t: (numbers(t, 7, 9)[1:, 2:7], numbers(t, 5, 8)[:, 1:7]),
    "matrix, vector": lambda t: (numbers(t, 83, 61), numbers(t, 61)),
    "matrix by columns, vector": lambda t: (numbers(t, 61, 83).T, numbers(t, 61)),
    "matrix, vector with gaps": lambda t: (numbers(t, 83, 61), numbers(t, 183)[::3]),
    "vector, matrix": lambda t: (numbers(t, 83), numbers(t, 83, 61)),
    "vector, matrix by columns": lambda t: (numbers(t, 83), numbers(t, 61, 83).T),
    "one row": lambda t: (numbers(t, 1, 18), numbers(t, 18, 3)),
    "one column": lambda t: (numbers(t, 7, 18), numbers(t, 18, 1)),
    "one element": lambda t: (numbers(t, 1, 18), numbers(t, 18, 1)),
    "stacks": lambda t: (numbers(t, 4, 7, 5), numbers(t, 4, 5, 6)),
    "stacks of stacks": lambda t: (numbers(t, 2, 3, 4, 5), numbers(t, 2, 3, 5, 6)),
    "stack with gaps": lambda t: (numbers(t, 8, 7, 5)[::2], numbers(t, 4, 5, 6)),
    "stack by columns": lambda t: (numbers(t, 4, 5, 7).swapaxes(1, 2), numbers(t, 4, 5, 6)),
    "stack of rows": lambda t: (numbers(t, 4, 1, 18), numbers(t, 4, 18, 3)),
    "large": lambda t: (numbers(t, 64, 80), numbers(t, 80, 77)),
    "large matrix, vector": lambda t: (numbers(t, 200, 150), numbers(t, 150)),
    "stack of large ones": lambda t: (numbers(t, 3, 64, 70), numbers(t, 3, 70, 66)),
}

FOR_NUMPY: dict[str, Operands] = {
    "reversed vector": lambda t: (numbers(t, 5000)[::-1], numbers(t, 5000)),
    "columns with gaps": lambda t: (numbers(t, 7, 10)[:, ::2], numbers(t, 5, 6)),
    "rows that overlap": lambda t: (np.lib.stride_tricks.sliding_window_view(numbers(t, 9), 5), numbers(t, 5, 6)),
    "outer product": lambda t: (numbers(t, 17, 1), numbers(t, 1, 18)),
    "stacks with gaps inside": lambda t: (numbers(t, 2, 6, 4, 5)[:, :3], numbers(t, 2, 3, 5, 6)),
    "no rows": lambda t: (numbers(t, 0, 5), numbers(t, 5, 6)),
}


@needs_blas
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", NATIVE)
def test_products_are_native(name: str, type: str) -> None:
    function, operands = xjit.jit(multiply), NATIVE[name](type)
    for _ in range(2):
        assert_same_bits(function(*operands), operands[0] @ operands[1])
    assert is_native(function)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", FOR_NUMPY)
def test_others_are_left_to_numpy(name: str, type: str) -> None:
    function, operands = xjit.jit(multiply), FOR_NUMPY[name](type)
    for _ in range(2):
        assert_same_bits(function(*operands), operands[0] @ operands[1])
    assert not is_native(function) or 0 in (operands[0] @ operands[1]).shape


@pytest.mark.parametrize("type", ["?", "i4", "u8", "f2"])
def test_types_that_blas_lacks(type: str) -> None:
    a, b = (np.arange(12).reshape(shape).astype(type) for shape in ((3, 4), (4, 3)))
    assert_same_bits(xjit.jit(multiply)(a, b), a @ b)


OWN_TRANSPOSE: dict[str, Function] = {
    "second": lambda a: a @ a.T,
    "first": lambda a: a.T @ a,
    "part": lambda a: a[1:, 2:5].T @ a[1:, 2:5],
}


@needs_blas
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", OWN_TRANSPOSE)
def test_a_matrix_with_itself_transposed(name: str, type: str, order: Any) -> None:
    """NumPy has a routine for it, whose results are symmetric bit for bit."""
    function, a = OWN_TRANSPOSE[name], np.asarray(numbers(type, 9, 7), order=order)
    compiled = xjit.jit(function)
    with np.errstate(all="ignore"):  # on some processors NumPy warns of lanes that no element is in
        expected = function(a)
    for _ in range(2):
        found = compiled(a)
        assert_same_bits(found, expected)
        assert found.tobytes() == np.ascontiguousarray(found.swapaxes(-1, -2)).tobytes()
    assert is_native(compiled)


@needs_blas
def test_views_are_read_in_place() -> None:
    function = xjit.jit(lambda a, b: (a.T @ b[1:, :4], (a * 2.0).T @ b[1:, 1:5]))
    a, b = numbers("f8", 5, 4), numbers("f8", 6, 6)
    for _ in range(2):
        for got, expected in zip(function(a, b), (a.T @ b[1:, :4], (a * 2.0).T @ b[1:, 1:5]), strict=True):
            assert_same_bits(got, expected)
    assert is_native(function)


def test_a_view_that_something_else_reads_is_made_as_well() -> None:
    function = xjit.jit(lambda a: (a.T @ a[::-1], a.T, np.sort(a.T)))
    a = numbers("f8", 5, 5)
    product, view, in_order = function(a)
    assert_same_bits(product, a.T @ a[::-1])
    assert view.base is a and view.strides == (8, 40)
    np.testing.assert_array_equal(in_order, np.sort(a.T))


@needs_blas
@pytest.mark.parametrize("type", TYPES)
def test_dot_products(type: str) -> None:
    function = xjit.jit(multiply)
    v, w = numbers(type, 5000), numbers(type, 10_000)[::2]
    for _ in range(2):
        assert_same_bits(function(v, w), v @ w)


@needs_blas
def test_products_and_kernels_are_one_program() -> None:
    function = xjit.jit(lambda a, b, v: (a @ b + v) ** 2 @ b * 2.0)
    a, b, v = numbers("f8", 7, 5), numbers("f8", 5, 5), numbers("f8", 5)
    assert_same_bits(function(a, b, v), (a @ b + v) ** 2 @ b * 2.0)
    assert is_native(function)


@needs_blas
def test_products_between_other_steps() -> None:
    def between(a: Any) -> Any:
        earlier = a @ a
        return earlier @ np.sort(earlier + a @ (a + 1.0), axis=1), a.T @ earlier

    function, a = xjit.jit(between), numbers("f8", 6, 6)
    for _ in range(2):
        for got, expected in zip(function(a), between(a), strict=True):
            assert_same_bits(got, expected)


@needs_blas
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_stacks(threads: int) -> None:
    a, b = numbers("f8", 500, 24, 24), numbers("f8", 500, 24, 24)
    with xjit.threads(threads):
        function = xjit.jit(multiply)
        assert_same_bits(function(a, b), a @ b)
        assert is_native(function)


LARGE_STACKS: dict[str, Operands] = {
    "matrices": lambda t: (numbers(t, 9, 100, 300), numbers(t, 9, 300, 100)),
    "stacks of stacks": lambda t: (numbers(t, 2, 5, 64, 300), numbers(t, 2, 5, 300, 129)),
    "vectors": lambda t: (numbers(t, 8, 1, 300), numbers(t, 8, 300, 200)),
}


@needs_blas
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", LARGE_STACKS)
def test_members_of_large_stacks_are_computed_on_one_thread_each(name: str, type: str) -> None:
    a, b = LARGE_STACKS[name](type)
    with xjit.threads(1):
        alone = limited(np.matmul, a, b)
    for threads in (1, 2, 3):
        with xjit.threads(threads):
            function = xjit.jit(multiply)
            assert_same_bits(function(a, b), alone)
        assert is_native(function)


@needs_blas
def test_a_large_stack_with_itself_transposed_is_shared() -> None:
    a = numbers("f4", 12, 40, 90)
    with xjit.threads(1):
        alone = limited(np.matmul, a, a.swapaxes(1, 2))
    assert_same_bits(xjit.jit(lambda a: a @ a.swapaxes(1, 2))(a), alone)


@needs_blas
def test_the_library_starts_no_threads_for_members_that_threads_share(told: list[int]) -> None:
    a, b = numbers("f4", 20, 70, 70), numbers("f4", 20, 70, 70)
    with xjit.threads(None):
        xjit.jit(multiply)(a, b)
    assert set(told) == {1, 8} and told[-1] == 8, "lowered to one thread, and put back"
    del told[:]
    with xjit.threads(None):
        xjit.jit(multiply)(a[:7], b[:7])
    assert not told, "few members use the library's threads"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@needs_blas
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_share_large_stacks() -> None:
    function, a = xjit.jit(multiply), numbers("f4", 20, 70, 70)
    expected = function(a, a)
    child = os.fork()
    if not child:
        os._exit(0 if function(a, a).tobytes() == expected.tobytes() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert_same_bits(function(a, a), expected)


@needs_blas
def test_loops_share_large_stacks() -> None:
    a = numbers("f4", 16, 64, 80) / np.float32(9)
    b = numbers("f4", 16, 64, 64) / np.float32(9)

    def repeated(a: Any, b: Any) -> Any:
        return xjit.fori_loop(0, 3, lambda _, x: b @ x, a)

    with xjit.threads(1):
        expected = limited(lambda: b @ (b @ (b @ a)))
    with xjit.threads(2):
        assert_same_bits(xjit.jit(repeated)(a, b), expected)


def test_every_matrix_of_a_stack_with_one_matrix_is_a_single_product() -> None:
    function = xjit.jit(multiply)
    a, b = numbers("f8", 4, 7, 5), numbers("f8", 5, 4)
    np.testing.assert_allclose(function(a, b), a @ b, rtol=1e-14)
    assert not function.explain(a, b).kernels, "nothing is copied"


def test_without_blas_numpy_multiplies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_steps, "blas_library", lambda: None)
    assert blas_steps._found() is None
    monkeypatch.setattr(blas_steps, "blas_products", lambda: None)
    function, a = xjit.jit(multiply), numbers("f8", 6, 6)
    assert_same_bits(function(a, a), a @ a)
    assert not is_native(function)


@pytest.mark.parametrize("type", TYPES)
def test_small_products_stay_on_one_thread(type: str) -> None:
    """Up to these sizes OpenBLAS starts no threads, so that there is no limit to obey."""
    limits = {"gemm": 2**18, "syrk": 0, "gemv": 4095 if type in ("c8", "c16") else 9215, "dot": 10_000}
    assert all(on_one_thread(routine, np.dtype(type)) <= limit for routine, limit in limits.items())


@needs_blas
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(("size", "limited"), [((91, 89), "complex"), ((60, 60), ""), ((96, 97), "both")])
def test_products_with_vectors_obey_the_limit_where_several_threads_may_start(
    type: str, size: tuple[int, int], limited: str, told: list[int]
) -> None:
    function, matrix, vector = xjit.jit(multiply), numbers(type, *size), numbers(type, size[1])
    with xjit.threads(3):
        np.testing.assert_allclose(function(matrix, vector), matrix @ vector, rtol=1e-3, atol=1e-3)
    assert bool(told) == (limited == "both" or (limited == "complex" and type in ("c8", "c16")))


@needs_blas
def test_large_products_obey_the_limit_on_threads(told: list[int]) -> None:
    function, small, large = xjit.jit(multiply), numbers("f8", 6, 6), numbers("f8", 80, 80)
    with xjit.threads(None):
        assert_same_bits(function(large, large), large @ large)
        assert not told
    with xjit.threads(3):
        function(small, small)
        assert not told
        function(large, large)
    assert told == [3, 8], "lowered, and put back"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The numbers of threads that a library of eight threads is told; the products are those of NumPy's library."""
    told: list[int] = []
    functions = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: 8), ctypes.CFUNCTYPE(None, ctypes.c_int32)(told.append)
    limits = NativeLimits(*(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions))
    monkeypatch.setattr(blas_steps, "blas_limits", lambda: limits)
    made = blas_steps._found()
    monkeypatch.setattr(blas_steps, "blas_products", lambda: made)
    yield told
    assert functions, "native code calls them until here"


def test_what_short_integers_do_not_hold_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_calls, "LARGEST_COUNT", 5)
    monkeypatch.setattr(blas_steps, "blas_products", lambda: Products({}, long=False))
    function, a = xjit.jit(multiply), numbers("f8", 6, 6)
    assert_same_bits(function(a, a), a @ a)
    assert not is_native(function)


@pytest.mark.parametrize("long", [False, True])
def test_integers_have_the_width_of_the_library(long: bool) -> None:
    """A routine that reads its arguments as the library would, called for a stack of two; -0.0 becomes 0.0."""
    count = ctypes.c_int64 if long else ctypes.c_int32
    kind = ctypes.CFUNCTYPE(ctypes.c_double, count, ctypes.c_void_p, count, ctypes.c_void_p, count)
    seen: list[tuple[Any, ...]] = []

    @kind
    def routine(*arguments: Any) -> float:
        seen.append(arguments)
        return 2.5 if len(seen) > 1 else -0.0

    address = ctypes.cast(routine, ctypes.c_void_p).value
    result = np.ones(2)
    table = (ctypes.c_int64 * 11)(1000, 2000, result.ctypes.data, address, 80, 160, 8, 0, 2**32 + 7, 3, -2)
    adaptor = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    adaptor(NativeModule(products_text(long)).function("dot_f64"))(0, 2, ctypes.addressof(table))
    length = 2**32 + 7 if long else 7
    assert seen == [(length, 1000, 3, 2000, -2), (length, 1080, 3, 2160, -2)]
    assert result.tolist() == [0.0, 2.5] and not np.signbit(result[0])


@needs_blas
@pytest.mark.parametrize("type", TYPES)
def test_a_stack_with_itself_transposed(type: str) -> None:
    function, a = xjit.jit(lambda a: a @ a.swapaxes(1, 2)), numbers(type, 4, 6, 5)
    for _ in range(2):
        with np.errstate(all="ignore"):
            expected = a @ a.swapaxes(1, 2)
        assert_same_bits(function(a), expected)
    assert is_native(function)


@needs_blas
@pytest.mark.parametrize(("size", "released"), [(6, False), (80, True)])
def test_the_interpreter_is_free_while_large_products_are_computed(
    size: int, released: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs: list[RunStep] = []
    step = Segment.step

    def noted(self: Segment, *arguments: Any, **others: Any) -> Any:
        made = step(self, *arguments, **others)
        programs.append(made[0])
        return made

    monkeypatch.setattr(Segment, "step", noted)
    a = numbers("f8", size, size)
    xjit.jit(multiply)(a, a)
    assert [one.heavy for one in programs] == [released]


@needs_blas
def test_heads_of_a_product_are_read_in_place() -> None:
    def heads(x: Any, w: Any) -> Any:
        each = (x @ w).reshape(x.shape[0], 4, 3).swapaxes(0, 1)
        return each @ each.swapaxes(1, 2)

    function, x, w = xjit.jit(heads), numbers("f8", 7, 5), numbers("f8", 5, 12)
    for _ in range(2):
        assert_same_bits(function(x, w), heads(x, w))
    assert is_native(function)
    assert not function.explain(x, w).kernels, "nothing is copied"


@pytest.mark.parametrize("layout", ["by columns", "with gaps", "part"])
def test_other_layouts_are_reshaped_before(layout: str) -> None:
    def heads(x: Any) -> Any:
        each = x.reshape(8, 4, 3).swapaxes(0, 1)
        return each @ each.swapaxes(1, 2)

    x = {
        "by columns": numbers("f8", 12, 8).T,
        "with gaps": numbers("f8", 16, 12)[::2],
        "part": numbers("f8", 8, 15)[:, :12],
    }
    function = xjit.jit(heads)
    for _ in range(2):
        np.testing.assert_allclose(function(x[layout]), heads(x[layout]), rtol=1e-13, atol=1e-13)
