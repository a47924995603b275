"""Statements of NumPy's functions that return new arrays, by what they compute."""

from __future__ import annotations

CHOICES = """
x = np.select([x > <number>, m], [y, x * 2], <number>)
x = np.select([m, x > 0], [0.5, x], default=x)
a = np.select([a > <number>, g, b == 1], [a, 0, b])
a = np.where(a > <number>, a, a[:, :1])
x = np.where(x > s, np.where(m, <number>, x), y)
x = np.choose(q % 2, [x, y])
x = np.piecewise(x, [x < 0, x >= 1], [lambda v: -v, <number>])
a = np.where([True, False, True, False], a, <number>)
m = np.isin(q, [0, <few>])
x = np.clip(x, None, <number>)
x = np.where(m, *[x, <number>])
g = np.isclose(a, b) | g
y = np.fmax(x, y)
m = np.logical_xor(m, x > <number>)
s = np.where(m, x, y)[<row>]
w = x[np.where(m)]
w = a[np.nonzero(a > <number>)]
w = np.compress(m, x)
w = np.extract(g, a)
w = np.argwhere(g)
"""
PRODUCTS = """
s = np.einsum("i,i", x, y)
w = np.einsum("ij->j", a)
w = np.einsum("ij,kj->ik", a, b)
w = np.einsum("ij->ji", a)
w = np.einsum("ijk,jk->i", c, a)
w = np.tensordot(a, b, axes=([1], [1]))
w = np.tensordot(c, a, 2)
w = a @ b.T
w = np.dot(a.T, b)
w = a @ a[<row>]
w = np.inner(a, b)
w = np.outer(x, y)
w = np.cross(a[:, :3], b[:, 1:])
w = np.kron(x[:2], y[:3])
s = np.vdot(x, y)
w = np.matmul(c, b.T)
s = np.trace(a)
w = np.linalg.norm(a, axis=<axis>)
w = np.convolve(x, [1, <number>, 0.5], "same")
w = np.correlate(x, y[:3])
w = np.matmul(a, b.T, out=np.zeros((3, 3), a.dtype))
"""
RUNNING = """
x = np.cumsum(x)
w = np.cumsum(a, axis=<axis>)
w = a.cumprod(<axis>)
w = np.add.accumulate(a, <axis>)
x = np.maximum.accumulate(x)
w = np.minimum.accumulate(c, axis=<axis>)
np.cumsum(x, out=x)
np.cumsum(a, axis=<axis>, out=a)
w = np.cumsum(p, dtype=float)
w = np.cumsum(a)
m = np.logical_or.accumulate(m)
w = np.subtract.accumulate(x)
w = np.add.reduceat(x, [0, 2, 1])
w = np.nancumsum(y)
w = x.cumsum()[::-1]
w = np.cumsum(m)
w = np.multiply.accumulate(p[:4])
w = np.add.accumulate(a[::-1], 0)[::-1]
x[1:] = np.cumsum(x)[:-1]
"""
DIFFERENCES = """
w = np.diff(x)
w = np.diff(a, axis=<axis>)
w = np.diff(x, prepend=<number>)
w = np.diff(x, n=2)
w = np.diff(m)
w = np.diff(p, append=t)
x = np.gradient(x)
w = np.gradient(a, axis=<axis>)
w, v = np.gradient(a)
w = np.gradient(x, 0.5)
w = np.ediff1d(a)
s = np.trapezoid(x)
s = np.interp(s, [0.0, 1.0, 2.0], x[:3])
w = np.interp(x, [0.0, 1.0, 2.0], [1.0, -1.0, 0.5])
x[1:] -= x[:-1].copy()
x[1:] -= x[:-1]
a[:, 1:] = np.diff(a, axis=1)
"""
SEARCHES = """
w = np.searchsorted(np.sort(x), y)
w = np.searchsorted([0.0, 1.0, 2.5], x, side="right")
w = np.digitize(x, [-1.0, 0.5, 2.0])
w = np.bincount(q)
w = np.bincount(q, weights=x, minlength=5)
w = np.histogram(x, bins=[-2, 0, 1, 4])[0]
w = np.unique(q)
w, v = np.unique(q, return_counts=True)
w, v = np.unique(p, return_inverse=True)
w = np.argsort(x, kind="stable")
w = np.argsort(-a, axis=<axis>, kind="stable")
w = np.argmax(a, axis=<axis>)
w = np.argmin(a, axis=1, keepdims=True)
w = np.lexsort((p, q))
w = np.sort(a, axis=<axis>)
a.sort(axis=<axis>)
x[::-1].sort()
w = np.take_along_axis(a, np.argsort(a, axis=1, kind="stable"), axis=1)
w = np.take(x, q, mode="clip")
w = a.take([0, -1, 2], axis=0)
t = int(np.argmax(m))
t = int(np.searchsorted(np.sort(x), <number>))
w = np.flatnonzero(x > <number>)
w = np.partition(x, 2)[2]
s = np.median(x)
w = np.median(a, axis=<axis>)
w = np.percentile(a, 30, axis=<axis>)
s = np.quantile(x, 0.25)
"""
REDUCTIONS = """
w = a.sum(axis=<axis>, keepdims=True)
w = a.max(axis=<axis>, initial=<number>)
w = a.min(axis=<axis>, where=g, initial=9)
s = np.sum(a, where=g)
s = a.mean(where=a > -99)
w = np.any(a > <number>, axis=<axis>)
w = np.all(g, axis=<axis>, keepdims=True)
s = np.any(g, where=a > 0)
m = m & m.all(where=x > 0)
t = int(np.prod(q[:3], initial=2))
w = np.std(a, axis=<axis>, ddof=1)
w = np.var(x)
w = np.ptp(a, axis=<axis>)
w = np.count_nonzero(a, axis=<axis>)
w = np.add.reduce(c, axis=(0, 2))
w = c.max(axis=(0, -1))
w = np.logical_and.reduce(g)
w = np.maximum.reduce([x, y])
w = np.average(a, axis=<axis>, weights=[1, 2, 3] if a.sum(axis=<axis>).size == 4 else None)
s = np.nanmax(x)
w = np.nanmean(a, axis=<axis>)
w = c.mean(axis=(1, 2), keepdims=True)
a -= a.mean(axis=<axis>, keepdims=True)
x = x / np.abs(x).max()
s = np.sum(x > <number>)
t = int(m.sum())
w = np.sum(p, dtype=np.int8)
w = a.argmax(axis=<axis>)
w = np.logical_or.reduce(c > <number>, axis=<axis>)
w = np.multiply.reduce(a, axis=<axis>, initial=2)
w = np.sum([x, y], axis=0)
s = max(a[:, <row>])
s = min(x.min(), y.max())
w = np.array([row.sum() for row in a])
w = np.linalg.norm(x)
"""
SHAPES = """
w = np.concatenate([a, b], axis=<axis>)
w = np.stack([x, y])
w = np.stack((a, b), axis=-1)
w = np.vstack([a, a[:1]])
w = np.column_stack([x, y])
w = np.tile(x, 2)
w = np.repeat(a, 2, axis=<axis>)
w = np.repeat(x, q)
w = np.pad(x, 1)
w = np.pad(a, ((1, 0), (0, 2)), mode="edge")
a = np.roll(a, <few>, axis=<axis>)
x = np.roll(x, t)
w = np.tril(a)
w = np.triu(a, 1)
w = np.diag(x)
w = np.diag(a)
w = np.insert(x, <few>, <number>)
w = np.delete(x, [0, 2])
w = np.append(x, s)
w = np.resize(x, (3, 3))
w, v = np.meshgrid(x[:3], y[:2])
w = np.block([[a, b], [b, a]])
w = np.indices((2, 3))
w = np.r_[x, 0.5, y]
w = np.c_[x, y]
w = np.fliplr(a)
w = np.broadcast_arrays(x[:4], a)[0]
w = np.split(a, [1], axis=<axis>)[1]
w = x[:, None] - y
w = a[..., None] * x[:2]
w = np.arange(t, t + 4)
w = np.linspace(0, s, 5)
w = np.full_like(a, t)
w = np.zeros_like(p, dtype=float)
w = np.eye(3)[q % 3]
w = np.ix_([0, 2], [1, 3]); w = a[w]
w = a[np.ix_([0, 2], [1, 0])]
w = np.unravel_index(a.argmax(), a.shape); s = a[w]
"""
