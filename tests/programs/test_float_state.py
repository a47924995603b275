"""The floating-point state of threads: kernels neither change it nor are disturbed by it, and nothing traps."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from scipy import special

import xjit

ON_GLIBC = platform.system() == "Linux" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
# Of the GNU C library on x86-64.
UPWARD, TO_NEAREST = 0x800, 0
ENVIRONMENT_BYTES, MXCSR_AT = 32, 28
CONTROL_BITS = 0xFFC0
"""Flush to zero, rounding, masks of exceptions, subnormals are zeros: all but the flags that arithmetic leaves."""
FLUSHING = 0x8040

# Enough elements that all threads take part.
MANY = 400_000
SMALLEST = {np.float32: 2.0**-149, np.float64: 2.0**-1074}


def functions(x: Any) -> Any:
    """Arithmetic and vector functions whose arguments and results are subnormal, infinite and NaN here and there."""
    return x * 0.5, np.exp(x), np.log(x), np.sin(x), np.tanh(x), np.expm1(x), 1.0 / x, np.sqrt(x), special.erf(x)


def hostile(dtype: Any) -> np.ndarray[Any, Any]:
    """Zeros, subnormals, numbers that overflow, domain errors, infinities, NaN, signalling ones among them."""
    limits = np.finfo(dtype)
    some = [0.0, -0.0, 1.0, -1.0, 700.0, -745.0, -100.0, -103.9, np.inf, -np.inf, np.nan, limits.max, limits.tiny]
    subnormal = [SMALLEST[dtype] * n for n in (1, 2, 3, 1000)]
    values = np.array([*some, *subnormal, *(-value for value in subnormal)], dtype)
    signalling = np.array([0x7FA00000], np.uint32).view(np.float32)
    bits = signalling if dtype is np.float32 else np.array([0x7FF4 << 48], np.uint64).view(np.float64)
    return np.resize(np.concatenate([values, bits]), MANY)


@pytest.fixture(scope="module")
def compiled() -> Callable[..., Any]:
    return xjit.jit(functions)


@pytest.fixture(params=[1, None], ids=["one thread", "all threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    with xjit.threads(request.param):
        yield


def libm() -> Any:
    return ctypes.CDLL(ctypes.util.find_library("m"))


def control_word() -> int:
    """The control bits of the vector unit of this thread."""
    environment = (ctypes.c_ubyte * ENVIRONMENT_BYTES)()
    assert libm().fegetenv(environment) == 0
    return int.from_bytes(bytes(environment[MXCSR_AT : MXCSR_AT + 4]), "little") & CONTROL_BITS


@contextmanager
def rounding(mode: int) -> Iterator[None]:
    """This thread rounds so in here."""
    library = libm()
    before = library.fegetround()
    assert library.fesetround(mode) == 0
    try:
        yield
    finally:
        assert library.fesetround(before) == 0


@pytest.mark.skipif(not ON_GLIBC, reason="the layout of the state is that of another system")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_control_word_of_the_calling_thread_stays(
    compiled: Callable[..., Any], dtype: Any, threads: None
) -> None:
    before = control_word()
    assert before & FLUSHING == 0
    assert libm().fegetround() == TO_NEAREST
    for _ in range(3):
        compiled(hostile(dtype))
        assert control_word() == before
    with rounding(UPWARD):
        upward = control_word()
        assert upward != before
        compiled(hostile(dtype))
        assert control_word() == upward
        assert libm().fegetround() == UPWARD
    assert control_word() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_numbers_are_kept_by_every_thread(dtype: Any, threads: None) -> None:
    smallest = dtype(SMALLEST[dtype])
    x = np.resize(np.arange(1, 1000, dtype=dtype) * smallest, MANY)
    halves = xjit.jit(lambda x: (x * 0.5, x + 0.0, np.sin(x), x * 3.0, np.minimum(x, 1.0)))
    for _ in range(3):
        expected = x * dtype(0.5), x, x, x * dtype(3), x
        assert all(np.array_equal(found, right) for found, right in zip(halves(x), expected, strict=True))
        # NumPy on this thread counts them too, before and after.
        assert smallest * dtype(1) == smallest != 0
        assert np.array_equal(x + x, dtype(2) * x)
    vanishing = {np.float32: -100.0, np.float64: -740.0}[dtype]
    power = xjit.jit(np.exp)(np.full(MANY, vanishing, dtype))
    assert np.all((power > 0) & (power < np.finfo(dtype).tiny))


def test_threads_that_come_later_count_subnormal_numbers(compiled: Callable[..., Any]) -> None:
    found = []

    def work() -> None:
        compiled(hostile(np.float64))
        found.append((float(np.float64(5e-324) * 1.0), float(compiled(np.full(4, 1e-323))[0][0])))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [(5e-324, 5e-324)] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_do_not_depend_on_the_flags_before(compiled: Callable[..., Any], dtype: Any, threads: None) -> None:
    x = hostile(dtype)
    first = compiled(x)
    with np.errstate(all="ignore"):
        _ = np.array([1e300, -1.0, 0.0]) / np.array([1e-300, 0.0, 0.0])
    assert [part.tobytes() for part in compiled(x)] == [part.tobytes() for part in first]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_raised_where_numpy_would_raise(compiled: Callable[..., Any], dtype: Any, threads: None) -> None:
    x = hostile(dtype)
    with np.errstate(all="ignore"):
        expected = functions(x)
    with np.errstate(all="raise"):
        results = compiled(x)
        # What the kernel left behind does not raise in NumPy, whose own errors do.
        quiet = np.array([1.0, 2.0], dtype)
        assert (quiet + quiet).tolist() == [2.0, 4.0]
        assert np.sqrt(quiet)[0] == 1.0
        with pytest.raises(FloatingPointError, match="divide by zero"):
            quiet / dtype(0)
        with pytest.raises(FloatingPointError, match="invalid"):
            np.log(-quiet)
        compiled(x)
        assert np.exp(dtype(0)) == 1.0
    for found, right in zip(results, expected, strict=True):
        assert np.array_equal(np.isnan(found), np.isnan(right))
        assert np.array_equal(np.isinf(found), np.isinf(right))


def test_seterr_of_the_whole_program_leaves_kernels_alone(compiled: Callable[..., Any]) -> None:
    before = np.seterr(all="raise")
    try:
        compiled(hostile(np.float64))
        assert np.geterr() == dict.fromkeys(before, "raise")
        with pytest.raises(FloatingPointError):
            np.array([1e300]) * 1e300
    finally:
        np.seterr(**before)


def test_no_warning_is_given(compiled: Callable[..., Any], recwarn: pytest.WarningsRecorder) -> None:
    with np.errstate(all="warn"):
        compiled(hostile(np.float32))
    assert list(recwarn) == []
