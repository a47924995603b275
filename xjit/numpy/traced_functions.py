"""Traced functions of NumPy by name: the module of one is loaded when a program asks for it."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from xjit import jobs

# By module the names of NumPy's functions; behind "=" the name of ours, where it is another one.
_MODULES = {
    "xjit.numpy.reducing.axis_reductions": "sum prod min max amin=min amax=max any all argmin argmax",
    "xjit.numpy.arrays.shaping": """
        reshape ravel transpose swapaxes moveaxis squeeze expand_dims atleast_1d atleast_2d atleast_3d
        broadcast_to
    """,
    "xjit.numpy.methods": """
        matrix_transpose=matrix_transposed linalg.matrix_transpose=matrix_transposed real angle imag
    """,
    "xjit.numpy.arrays.joining": "concatenate stack hstack vstack column_stack dstack append",
    "xjit.numpy.reducing.scans": "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod",
    "xjit.numpy.selecting.selection": "where select clip round around=round",
    "xjit.numpy.selecting.gathering": "take take_along_axis",
    "xjit.numpy.arrays.creation": """
        zeros ones empty full zeros_like ones_like empty_like full_like array asarray asanyarray=asarray
        ascontiguousarray asfortranarray copy astype
    """,
    "xjit.numpy.arrays.sequences": "arange eye identity",
    "xjit.numpy.algebra.matmul": "dot",
    "xjit.numpy.selecting.flat_positions": "unravel_index ravel_multi_index",
    "xjit.numpy.reducing.moments": "mean var std",
    "xjit.numpy.reducing.nans": "nansum nanprod nanmax nanmin nanargmax nanargmin nanmean nanvar nanstd",
    "xjit.numpy.reducing.averages": "ptp count_nonzero average",
    "xjit.numpy.reducing.covariance": "cov corrcoef",
    "xjit.numpy.arrays.turning": "rollaxis flip fliplr flipud rot90 roll",
    "xjit.numpy.arrays.splitting": "split array_split hsplit vsplit dsplit unstack",
    "xjit.numpy.arrays.repeating": "tile resize",
    "xjit.numpy.selecting.picking": "delete insert compress extract",
    "xjit.numpy.arrays.padding": "pad",
    "xjit.numpy.arrays.sliding": "lib.stride_tricks.sliding_window_view",
    "xjit.numpy.arrays.packing": "packbits unpackbits",
    "xjit.numpy.analysis.differences": "diff ediff1d gradient trapezoid unwrap",
    "xjit.numpy.arrays.diagonals": "diagonal trace diag diagflat tri tril triu",
    "xjit.numpy.arrays.grids": "meshgrid broadcast_arrays ix_",
    "xjit.numpy.analysis.polynomials": "vander polyval convolve correlate",
    "xjit.numpy.analysis.polynomial_arithmetic": "polyadd polysub polymul polyder polyint poly",
    "xjit.numpy.analysis.polynomial_fits": "polyfit",
    "xjit.numpy.selecting.searching": "searchsorted digitize",
    "xjit.numpy.reducing.sorting": "sort argsort partition argpartition lexsort isin sort_complex",
    "xjit.numpy.arrays.evenly_spaced": "linspace logspace geomspace",
    "xjit.numpy.reducing.histograms": "histogram histogram_bin_edges histogram2d histogramdd",
    "xjit.numpy.reducing.order_statistics": "median quantile percentile nanmedian nanquantile nanpercentile",
    "xjit.numpy.algebra.transforms": """
        fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fftn fft.ifftn fft.fft2 fft.ifft2 fft.rfftn
        fft.irfftn fft.rfft2 fft.irfft2 fft.fftshift fft.ifftshift fft.fftfreq fft.rfftfreq
    """,
    "xjit.numpy.algebra.linear_algebra": """
        linalg.solve linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.qr linalg.svd linalg.svdvals
        linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals linalg.lstsq linalg.pinv linalg.matrix_rank
        linalg.cond linalg.tensorinv linalg.tensorsolve
    """,
    "xjit.numpy.algebra.outer_products": "inner outer vdot tensordot kron cross",
    "xjit.numpy.algebra.subscripts": "einsum",
    "xjit.numpy.algebra.norms": """
        linalg.norm linalg.matrix_norm linalg.vector_norm linalg.matrix_power linalg.multi_dot linalg.outer
        linalg.cross linalg.trace linalg.diagonal linalg.matmul linalg.tensordot linalg.vecdot
    """,
    "xjit.numpy.selecting.choosing": "choose piecewise",
    "xjit.numpy.reducing.comparing": """
        isclose allclose array_equal array_equiv isreal iscomplex isposinf isneginf real_if_close nan_to_num
    """,
    "xjit.numpy.analysis.interpolation": "interp fix sinc",
    "xjit.numpy.analysis.bessel": "i0",
    "xjit.numpy.arrays.blocks": "block",
    "xjit.numpy.limited.finding": "nonzero argwhere flatnonzero",
    "xjit.numpy.limited.repeats": "repeat",
    "xjit.numpy.limited.bin_counts": "bincount",
    "xjit.numpy.limited.sets": "unique union1d intersect1d setdiff1d setxor1d",
    "xjit.numpy.rules.data_dependent": """
        unique_all unique_counts unique_inverse unique_values trim_zeros roots polydiv
    """,
}

# The same of SciPy's, which is looked for among the modules that the program has imported, and never imported here.
_OF_SCIPY = (
    (
        "scipy.ndimage",
        "xjit.numpy.analysis.scipy_filters",
        """uniform_filter uniform_filter1d maximum_filter maximum_filter1d minimum_filter minimum_filter1d
        correlate1d convolve1d""",
    ),
    ("scipy.ndimage", "xjit.numpy.analysis.scipy_stencils", "correlate convolve"),
    ("scipy.signal", "xjit.numpy.analysis.scipy_signal", "convolve2d correlate2d lfilter"),
)


class _TracedFunctions(Mapping[Any, Callable[..., Any]]):
    """Our functions by NumPy's, and by those of SciPy, which are not listed. Releases of NumPy without one of the
    names leave it out.
    """

    def __init__(self) -> None:
        rows = ((module, row.partition("=")) for module, text in _MODULES.items() for row in text.split())
        places = ((of_numpy, module, own or of_numpy.rpartition(".")[2]) for module, (of_numpy, _, own) in rows)
        self._places = {_of_numpy(name): (module, own) for name, module, own in places if _of_numpy(name) is not None}
        self._found: dict[Any, Callable[..., Any]] = {}

    def __getitem__(self, function: Any) -> Callable[..., Any]:
        found = self._found.get(function)
        if found is None:
            module, name = self._places.get(function) or _place_of_scipy(function)
            found = self._found[function] = getattr(jobs.module(module), name)
        return found

    def __contains__(self, function: object) -> bool:
        return function in self._places

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _place_of_scipy(function: Any) -> tuple[str, str]:
    """The module and the name of our function for one of SciPy's; KeyError if there is none."""
    name = getattr(function, "__name__", "")
    for public, module, names in _OF_SCIPY:
        if name in names.split() and getattr(sys.modules.get(public), name, None) is function:
            return module, name
    raise KeyError(function)


def _of_numpy(name: str) -> Any:
    try:
        return operator.attrgetter(name)(np)
    except AttributeError:
        return None


@functools.cache
def traced_functions() -> Mapping[Any, Callable[..., Any]]:
    """The function of ours for each of NumPy's."""
    return _TracedFunctions()
