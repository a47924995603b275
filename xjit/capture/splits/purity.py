"""Purity of functions that are called as they stand: what another call of them would change."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from xjit.capture.guarding.guards import is_generator
from xjit.ops.effects.step_functions import call_method, filled, padded, updated

# Libraries whose functions depend on their arguments alone and write to none of them, as far as they are not told to.
_OF_TEXT = ("string", "struct", "_struct", "textwrap", "_statistics")
_PURE = frozenset({"math", "cmath", "numpy", "scipy", "operator", "builtins", "re", "statistics", *_OF_TEXT})
_CHANGING_NAMES = """
    print input open exec eval compile setattr delattr breakpoint __import__ globals vars locals next iter
    save savez savez_compressed savetxt tofile dump load loadtxt genfromtxt fromfile memmap
    seterr seterrcall setbufsize set_printoptions shuffle
    setitem delitem iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor imatmul
"""
CHANGING = frozenset(_CHANGING_NAMES.split())
_WRITING_NAMES = "sort partition fill put itemset resize byteswap setfield setflags tofile dump"
WRITING_METHODS = frozenset(_WRITING_NAMES.split())
"""Methods of arrays that change them, or something outside."""
_CLOCKS = frozenset({"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "process_time"})


def repeats(function: Any) -> bool:
    """Return whether nobody would notice another call of a function.

    >>> repeats(np.unique), repeats(print), repeats(np.random.rand)
    (True, False, False)
    >>> repeats(np.ndarray.reshape), repeats(np.ndarray.sort)
    (True, False)
    >>> repeats(np.random.default_rng)
    True
    """
    if getattr(type(function), "repeats", False) is True:
        return True
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return False
    if isinstance(function, types.MethodDescriptorType):
        return function.__objclass__ is np.ndarray and function.__name__ not in WRITING_METHODS
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    if isinstance(function, np.ufunc) or any(function is one for one in _REPEATED):
        return True
    top = module.partition(".")[0]
    return top in _PURE and not module.startswith("numpy.random") and name not in CHANGING


_REPEATED = (filled, padded, updated, np.random.default_rng)


def only_reads(function: Any) -> bool:
    """Return whether a function neither changes a list of numbers that it gets, nor keeps it in what it returns.

    >>> only_reads(sum), only_reads(np.array), only_reads(list.append), only_reads(tuple)
    (True, True, False, False)
    """
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    top = module.partition(".")[0]
    return (top == "numpy" and repeats(function)) or (top in _READERS and name in _READING)


_READERS = frozenset({"builtins", "_operator", "math", "statistics"})
_READING_NAMES = "len sum min max sorted any all bool print str repr getitem mean fsum median"
_READING = frozenset(_READING_NAMES.split())


def may_keep(function: Any) -> bool:
    """Return whether a function may keep the arrays that it gets, or write to them, as far as anybody knows.

    >>> may_keep(print), may_keep(np.unique), may_keep([].append)
    (False, False, True)
    """
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    known = module.startswith("xjit.") or (module, name) == ("builtins", "print")
    known |= module == "_operator" and name not in ("setitem", "delitem")
    return not (known or repeats(function) or draws(function) or is_clock(function))


def draws(function: Any) -> bool:
    """Return whether a function draws random numbers whose type and shape its arguments decide.

    >>> draws(np.random.rand), draws(np.random.default_rng(1).normal), draws(np.random.default_rng)
    (True, True, False)
    """
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    return is_generator(type(owner)) and name in _DRAWING


def shuffles(function: Any) -> bool:
    """Return whether a function is the one of a generator that shuffles an array in place."""
    owner = getattr(function, "__self__", None)
    return is_generator(type(owner)) and getattr(function, "__name__", "") == "shuffle"


_DRAWING_NAMES = """
    beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers
    laplace logistic lognormal logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f normal pareto permutation permuted poisson power rand randint randn random
    random_integers random_sample ranf rayleigh sample standard_cauchy standard_exponential standard_gamma
    standard_normal standard_t triangular uniform vonmises wald weibull zipf
"""
_DRAWING = frozenset(_DRAWING_NAMES.split())


def is_clock(function: Any) -> bool:
    """Return whether a function tells the time: a number of the type that it has at any time."""
    return getattr(function, "__module__", None) == "time" and getattr(function, "__name__", "") in _CLOCKS


def is_typed_by_arguments(function: Any) -> bool:
    """Return whether the types of a function's arguments alone decide those of its results, lengths included.

    Of methods that are called by their names these are draws, of those that have such results at all.

    >>> is_typed_by_arguments(np.median), is_typed_by_arguments(np.delete), is_typed_by_arguments(float)
    (True, False, True)
    """
    if isinstance(function, np.ufunc) or draws(function) or is_clock(function):
        return True
    if any(function is one for one in (filled, updated, call_method)):
        return True
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    known = (names for start, names in _TYPED.items() if f"{module}.".startswith(f"{start}."))
    return any(name in names for names in known) or (module.startswith("scipy.ndimage") and name not in _FINDING)


_OF_BUILTINS = "bool int float complex len isinstance callable hasattr"
_OF_OPERATOR = "is_ is_not contains not_ truth eq ne lt le gt ge"
_OF_NUMPY = """
    allclose argmax argmin argpartition argsort array_equal average clip column_stack concatenate convolve
    copy corrcoef correlate cov cross cumprod cumsum diff digitize dot dstack einsum flip fliplr flipud
    full_like gradient hstack inner interp isclose isin kron lexsort matmul max mean median min nan_to_num
    nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
    nanvar ones_like outer partition percentile polyval prod ptp quantile roll rot90 round searchsorted sort
    stack std sum take take_along_axis tensordot trace trapezoid tril triu unwrap var vdot vstack zeros_like
"""
_OF_LINEAR_ALGEBRA = """
    cho_solve cholesky cond det eigh eigvalsh expm inv lu lu_factor lu_solve matrix_norm matrix_power norm
    pinv qr slogdet solve solve_banded solve_triangular svd svdvals toeplitz vector_norm
"""
_OF_SIGNALS = """
    convolve convolve2d correlate correlate2d detrend fftconvolve filtfilt hilbert lfilter medfilt medfilt2d
    oaconvolve periodogram savgol_filter sepfir2d sosfilt sosfiltfilt spectrogram stft welch wiener
"""
_OF_TRANSFORMS = (
    "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 hfft ihfft dct idct dst idst fftshift ifftshift"
)
_TYPED = {
    module: frozenset(names.split())
    for module, names in (
        ("builtins", _OF_BUILTINS),
        ("_operator", _OF_OPERATOR),
        ("numpy", _OF_NUMPY),
        ("numpy.linalg", _OF_LINEAR_ALGEBRA),
        ("scipy.linalg", _OF_LINEAR_ALGEBRA),
        ("scipy.signal", _OF_SIGNALS),
        ("scipy.spatial.distance", "cdist pdist squareform"),
        ("scipy.integrate", "trapezoid simpson cumulative_trapezoid cumulative_simpson"),
        ("numpy.fft", _OF_TRANSFORMS),
        ("scipy.fft", _OF_TRANSFORMS),
    )
}
_FINDING = frozenset({"find_objects", "labeled_comprehension", "value_indices"})
