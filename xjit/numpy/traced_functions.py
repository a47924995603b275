"""Traced functions of NumPy by name: the module of one is loaded when a program asks for it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from xjit import jobs

# By module the names of NumPy's functions; behind "=" the name of ours, where it is another one.
_MODULES = {
    "xjit.numpy.reductions": "sum prod min max amin=min amax=max any all argmin argmax",
    "xjit.numpy.shaping": """
        reshape ravel transpose swapaxes moveaxis squeeze expand_dims atleast_1d atleast_2d atleast_3d
        broadcast_to
    """,
    "xjit.numpy.methods": """
        matrix_transpose=matrix_transposed linalg.matrix_transpose=matrix_transposed real angle imag
    """,
    "xjit.numpy.joining": "concatenate stack hstack vstack column_stack dstack append",
    "xjit.numpy.scans": "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod",
    "xjit.numpy.selection": "where select clip round around=round",
    "xjit.numpy.gathering": "take take_along_axis",
    "xjit.numpy.creation": """
        zeros ones empty full zeros_like ones_like empty_like full_like array asarray asanyarray=asarray
        ascontiguousarray asfortranarray copy astype
    """,
    "xjit.numpy.sequences": "arange eye identity",
    "xjit.numpy.linear": "dot",
    "xjit.numpy.flat_positions": "unravel_index ravel_multi_index",
    "xjit.numpy.moments": "mean var std",
    "xjit.numpy.nans": "nansum nanprod nanmax nanmin nanargmax nanargmin nanmean nanvar nanstd",
    "xjit.numpy.statistics": "ptp count_nonzero average",
    "xjit.numpy.covariance": "cov corrcoef",
    "xjit.numpy.turning": "rollaxis flip fliplr flipud rot90 roll",
    "xjit.numpy.splitting": "split array_split hsplit vsplit dsplit unstack",
    "xjit.numpy.repeating": "tile repeat resize",
    "xjit.numpy.picking": "delete insert compress extract",
    "xjit.numpy.padding": "pad",
    "xjit.numpy.packing": "packbits unpackbits",
    "xjit.numpy.differences": "diff ediff1d gradient trapezoid unwrap",
    "xjit.numpy.diagonals": "diagonal trace diag diagflat tri tril triu",
    "xjit.numpy.grids": "meshgrid broadcast_arrays ix_",
    "xjit.numpy.polynomials": "vander polyval convolve correlate",
    "xjit.numpy.polynomial_arithmetic": "polyadd polysub polymul polyder polyint poly",
    "xjit.numpy.polynomial_fits": "polyfit",
    "xjit.numpy.searching": "searchsorted digitize",
    "xjit.numpy.sorting": "sort argsort partition argpartition lexsort isin sort_complex",
    "xjit.numpy.evenly_spaced": "linspace logspace geomspace",
    "xjit.numpy.histograms": "histogram histogram_bin_edges histogram2d histogramdd bincount",
    "xjit.numpy.quantiles": "median quantile percentile nanmedian nanquantile nanpercentile",
    "xjit.numpy.fft": """
        fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fftn fft.ifftn fft.fft2 fft.ifft2 fft.rfftn
        fft.irfftn fft.rfft2 fft.irfft2 fft.fftshift fft.ifftshift fft.fftfreq fft.rfftfreq
    """,
    "xjit.numpy.linear_algebra": """
        linalg.solve linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.qr linalg.svd linalg.svdvals
        linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals linalg.lstsq linalg.pinv linalg.matrix_rank
        linalg.cond linalg.tensorinv linalg.tensorsolve
    """,
    "xjit.numpy.products": "inner outer vdot tensordot kron cross",
    "xjit.numpy.subscripts": "einsum",
    "xjit.numpy.matrices": """
        linalg.norm linalg.matrix_norm linalg.vector_norm linalg.matrix_power linalg.multi_dot linalg.outer
        linalg.cross linalg.trace linalg.diagonal linalg.matmul linalg.tensordot linalg.vecdot
    """,
    "xjit.numpy.choosing": "choose piecewise",
    "xjit.numpy.comparing": """
        isclose allclose array_equal array_equiv isreal iscomplex isposinf isneginf real_if_close nan_to_num
    """,
    "xjit.numpy.interpolation": "interp fix sinc",
    "xjit.numpy.bessel": "i0",
    "xjit.numpy.blocks": "block",
    "xjit.numpy.data_dependent": """
        nonzero argwhere flatnonzero unique unique_all unique_counts unique_inverse unique_values union1d
        intersect1d setdiff1d setxor1d trim_zeros roots polydiv
    """,
}


class _TracedFunctions(Mapping[Any, Callable[..., Any]]):
    """Our functions by NumPy's. Releases of NumPy without one of the names leave it out."""

    def __init__(self) -> None:
        rows = ((module, row.partition("=")) for module, text in _MODULES.items() for row in text.split())
        places = ((of_numpy, module, own or of_numpy.rpartition(".")[2]) for module, (of_numpy, _, own) in rows)
        self._places = {_of_numpy(name): (module, own) for name, module, own in places if _of_numpy(name) is not None}
        self._found: dict[Any, Callable[..., Any]] = {}

    def __getitem__(self, function: Any) -> Callable[..., Any]:
        found = self._found.get(function)
        if found is None:
            module, name = self._places[function]
            found = self._found[function] = getattr(jobs.module(module), name)
        return found

    def __contains__(self, function: object) -> bool:
        return function in self._places

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _of_numpy(name: str) -> Any:
    try:
        return operator.attrgetter(name)(np)
    except AttributeError:
        return None


@functools.cache
def traced_functions() -> Mapping[Any, Callable[..., Any]]:
    """The function of ours for each of NumPy's."""
    return _TracedFunctions()
