"""Layouts of arrays, and calls whose results depend on them, besides those of ``surface_lines``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def turned(x: Any) -> Any:
    """The last axis varies slowest."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -1, 0)), 0, -1) if x.ndim else x


def apart(x: Any) -> Any:
    """With gaps along every axis."""
    found = np.zeros([2 * size for size in x.shape], x.dtype)[(*[slice(None, None, 2)] * x.ndim, ...)]
    found[...] = x
    return found


def backwards(x: Any) -> Any:
    """From the last element to the first."""
    back = (*[slice(None, None, -1)] * x.ndim, ...)
    return x[back].copy()[back]


def repeated(x: Any, axis: int) -> Any:
    """The first element along an axis in place of all."""
    return np.broadcast_to(np.take(x, [0], axis), x.shape) if x.size and x.ndim else x


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": np.asarray,
    "column-major": lambda x: x.copy("F"),
    "turned": turned,
    "apart": apart,
    "turned and apart": lambda x: turned(apart(turned(x).T)).T if x.ndim > 1 else apart(x),
    "backwards": backwards,
    "repeated rows": lambda x: repeated(x, 0),
    "repeated columns": lambda x: repeated(x, -1),
    "empty": lambda x: x[:0] if x.ndim else x,
}

MORE = """
    power(t, 0)
    t ** 0
    t ** 1
    t ** 2
    t ** 3
    t ** -1
    t ** 0.5
    t ** 1.5
    t ** -0.5
    t ** 7
    t ** 20
    a ** v
    clip(t.reshape(4, -1), 1, 2)
    count_nonzero(t, axis=1)
    count_nonzero(t, axis=(0, 2))
    t.imag
    t.real
    imag(t)
    gradient(t)
    sort(t)
    sort(t, axis=1)
    partition(t, 1, axis=1)
    argsort(t, axis=1)
    nan_to_num(t)
    t.copy()
    copy(t)
    inner(t, 2)
    dot(t, s)
    ravel(t[..., 1])
    ravel(t[:, 1])
    t[..., 1].ravel()
    t[:, ::2].reshape(-1)
    meshgrid(v, o, copy=False)
    meshgrid(v, o, copy=False, sparse=True)
    broadcast_arrays(a, v)
    broadcast_arrays(a, a)
    broadcast_arrays(t, s)
    zeros_like(t)
    array(t)
    array(t, copy=None)
    asarray(t)
    where(t > 1, t, 0)
    a.astype('f4')
    t.astype('f4')
    cumsum(t, axis=1)
    sum(t, axis=1)
    mean(t, axis=1)
    t.sum(1)
    max(t, axis=1)
    argmax(t, axis=1)
    median(t, axis=1)
    std(t, axis=1)
    fft.fft(t, axis=1)
    roll(t, 1, axis=1)
    flip(t)
    round(t)
    round(t, 1)
    fix(t)
    angle(t)
    real(t)
    isreal(t)
    isclose(t, 1)
    take(t, [0], axis=1)
    diff(t, axis=1)
    concatenate([t, t], axis=1)
    stack([t, t])
    repeat(t, 2, axis=1)
    tile(t, 2)
    pad(t, 1)
    pad(t, 1, mode='edge')
    a.T
    t.mT
    linalg.norm(t, axis=1)
    matmul(t, t.mT)
    einsum('ijk->kji', t)
    einsum('ijk,ijk->ik', t, t)
    tensordot(t, t, 3)
    trapezoid(t, axis=1)
    interp(t, [0, 1], [2, 3])
    select([t > 1], [t])
    piecewise(t, [t > 1], [1, 2])
    digitize(t, [0, 1, 2])
    searchsorted([0, 1, 2], t)
    clip(t, 1, 2)
    clip(t, None, 2)
    clip(t, a[0], 2)
    positive(t)
    conj(t)
    sinc(t)
    i0(t)
    delete(t, 0, axis=1)
    insert(t, 0, 1, axis=1)
    append(t, t, axis=1)
    vander(v)
    t.flatten()
    t.flatten('K')
    t.ravel('K')
    t.ravel('A')
    t.ravel('F')
    t.reshape(4, 6, order='A')
    t.reshape(4, 6, order='F')
    reshape(t, (4, 6), copy=True)
    squeeze(t)
    nanmean(t, axis=1)
    nansum(t, axis=1)
    nanmax(t, axis=1)
    nancumsum(t, axis=1)
    cross(t[..., :3], a[0, :3])
    modf(t)
    frexp(t)
    divmod(t, 2)
    swapaxes(t, 0, 1)
    t[::-1]
    t[None]
    t[1]
    t[..., 0]
    t[:, [0, 1]]
    t[[0, 1]]
    take_along_axis(t, np.argsort(t, axis=1), 1)
    percentile(t, 30, axis=1)
    quantile(t, [0.1, 0.5], axis=1)
    average(t, axis=1)
    var(t, axis=(0, 2))
    ptp(t, axis=1)
    all(t, axis=1)
    cumulative_sum(t, axis=1)
    add.accumulate(t, axis=1)
    linalg.inv(q)
    linalg.solve(q, q)
    linalg.qr(q)
    linalg.svd(q)
    linalg.eigh(q)
    linalg.cholesky(q @ q.T)
    linalg.pinv(q)
    linalg.lstsq(q, q[0])[0]
    fft.fftshift(t)
    fft.rfft(t, axis=1)
    fft.irfft(t, axis=1)
"""
