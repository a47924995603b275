"""Statements on arrays that programs are composed of, by what they are about.

``x``, ``y``, ``p``, ``q`` and ``m`` are lines of ``n`` floats, numbers of some type, integers, positions below four
and truth values; ``a``, ``b`` and ``g`` are tables of three rows, ``c`` is one of three axes, ``z`` has none and
``e`` no elements; ``w`` is a view of something. ``<number>`` is a float, ``<few>`` a small whole number, ``<axis>``
one of a table, ``<row>`` a row of it, ``<part>`` a slice, ``<positions>`` are places with repetitions.
"""

from __future__ import annotations

from tests.fuzz.arrays.function_lines import CHOICES, DIFFERENCES, PRODUCTS, REDUCTIONS, RUNNING, SEARCHES, SHAPES

STORES = """
x[q] = y
x[q] += 1
x[q] = x[q] * <number>
x[<positions>] = <number>
x[<positions>] *= 2
x[<positions>] = [1, 2, 3]
a[<row>] = x[:4]
a[q[:3] % 3, q[:3]] = <number>
a[q[:3] % 3, q[:3]] += x[:3]
a[[0, 2]] = a[[2, 0]]
a[:, q[:2]] *= 2
a[[0, 1, 0], 1:] = b[:, 1:]
a[[2, 0]][:, 1] = <number>
a[a > <number>] = s
a[g] += <number>
a[g] = np.arange(12.0)[:g.sum()]
a[:, a[0] > <number>] = 0
a[a[:, 0] > <number>] = <number>
x[m] = y[m]
x[~m] = x[m].sum()
x[m] *= -1
c[0, a > <number>] = s
c[:, <row>, ::2] = <number>
c[..., 0] += c[..., -1]
c[:, q[:2] % 3] = <number>
np.add.at(x, q, y)
np.add.at(x, q, 1)
np.add.at(a, (q[:3] % 3, q[:3]), <number>)
np.maximum.at(x, q, y)
np.subtract.at(p, q, q)
np.multiply.at(a, [0, 0, 2], 2)
np.add.at(a, (slice(None), [0, 0]), 1)
np.put(x, <positions>, [<number>, 2])
np.put(a, [5, 5, 1], x[:3])
np.put_along_axis(a, np.argmax(a, axis=1, keepdims=True), <number>, axis=1)
np.place(x, m, [<number>, 1.0])
np.putmask(a, g, b)
np.copyto(a, b, where=g, casting="unsafe")
np.copyto(x[1:], x[:-1])
np.fill_diagonal(a, <number>)
x.flat[<few>] = s
a.flat[::5] = <number>
x[np.argsort(x, kind="stable")] = np.arange(len(x))
x[...] = x[q]
p[q] = q
p[p < 0] += 5
"""
OUTPUTS = """
np.add(x, y, out=x, where=m)
np.multiply(a, 2, out=a, where=g)
np.sqrt(np.abs(x), out=x)
np.sum(a, axis=0, out=a[0])
np.sum(a, axis=1, out=a[:, 0])
np.clip(a, -1, <number>, out=a)
np.maximum(x[1:], x[:-1], out=x[1:])
np.add(x[:-1], x[1:], out=x[:-1])
np.add(x, x[::-1], out=x)
np.less(x, y, out=m)
np.negative(a.T, out=a.T)
np.floor(x, out=x)
np.divide(x, y, out=np.zeros_like(x), where=y != 0, casting="unsafe")
w = np.divide(x, p, out=np.zeros(len(x)), where=p != 0)
w = np.add(a, b, dtype=np.float64)
w = np.subtract(a, b, out=a)
w = np.logical_and(m, x, out=m)
w, v = np.divmod(p, 3)
w, v = np.modf(x)
np.divmod(p, 4, out=(p, q))
np.multiply(x[:3], a[:, :1], out=c[0, :, :3])
np.add(a, a[0], out=a)
np.add(a, a[:, :1], a)
np.mean(a, axis=1, out=x[:3])
np.take(x, q, out=x, mode="clip")
np.minimum(c, a, out=c)
np.cumsum(x[::-1], out=x[::-1])
np.power(x, 2, out=x)
np.copysign(x, y, out=x)
np.square(x, out=x[::-1])
a += a.T[:3, :3].sum()
a[:, :3] += a[:, :3].T
a[:2] -= a[1:]
a *= a[<row>]
x -= x[<row>]
x /= x.max()
"""
INTEGERS = """
w, v = divmod(p, 3)
w, v = divmod(p, -4)
t, k = divmod(t, 3)
p = p // 2
p = p % -3
w = p // q
w = p % (q - 1)
p = p << 1
p = p >> q
w = p ^ q
w = ~p
p &= 7
p |= q
w = np.gcd(p, q)
w = np.left_shift(1, q)
w = p ** 2
w = np.power(q, 3)
p = p.astype(np.int8)
w = p.astype(np.uint8) + np.uint8(<few>)
w = np.fmod(p, 3)
w = np.right_shift(p, q)
p += q
p -= 1
p *= 3
p //= 2
t = t // k if k else -1
t = -7 // (abs(t) + 1)
t = int(p[<row>]) << 2
t = p[<row>]
t = t - p[<row>] * 2
t = abs(t) % 6
s = p[<row>] / 2
w = np.packbits(m)
w = p * 100
w = p.astype(np.int16) * 1000
w = np.bitwise_or.reduce(p)
w = -q.astype(np.uint16)
p = np.abs(p)
w = np.float32(p)
w = np.sign(p) * q
"""
VIEWS = """
w = a[1:, ::2]
w = a.T
w = a.T[1:]
w = a.reshape(-1)
w = a.ravel()
w = c[0]
w = c[:, <row>]
w = c.transpose(2, 0, 1)[0]
w = c.reshape(6, 4)
w = c.reshape(2, -1)[0]
w = a[::-1]
w = a[:, None]
w = np.swapaxes(c, 0, 2)
w = x[:4].reshape(2, 2)
w = x[<part>]
w = np.diagonal(a)
w = np.moveaxis(c, 0, -1)
w = np.expand_dims(x, 0)
w = np.array_split(x, 2)[0]
v, w = np.array_split(a, 2)
w = a.view()
w = np.squeeze(x[None])
w = np.lib.stride_tricks.sliding_window_view(x, 3)
w = np.broadcast_to(x, (2, len(x)))
w = np.flip(a)
w = np.rot90(a)
w = np.asarray(x)
w = np.atleast_2d(x)
w = x.real
w = a if m[0] else b
w = [x, y][t % 2]
w = w.T
w = w[1:]
w = w[..., 0]
w = w.ravel()
w = w.copy()
w[...] = <number>
w[0] = <number>
w[-1:] = w[:1]
w += 1
w *= w
w -= w.mean()
w.flat[0] = <number>
w[w > <number>] = 0
np.add(w, 1, out=w)
w.fill(<number>)
x[:2] = w.sum()
v = w
v[:1] += <number>
"""
SMALL = """
z[...] = s
z += <number>
z *= z
s = z[()]
s = z + x[<row>]
s = float(z)
w = np.where(z > 0, x, 0)
np.add(z, 1, out=z)
w = z[None]
w = z * x
w = np.sum(z)
z = np.asarray(s)
z = np.array(<number>)
z = x.max() + z
s = e.sum()
s = e.max(initial=<number>)
w = np.cumsum(e)
e = np.concatenate([e, x[:0]])
e = x[x > 99]
w = np.zeros((0, 4)).sum(axis=0)
w = a[:0].max(axis=1)
w = a[3:] + b[:0]
e += 1
w = np.sort(e)
w = x[5:2]
for v in e: s = v
w = np.mean(e) if e.size else 0.0
t = e.size
w = np.outer(e, x)
e[...] = <number>
w = a[:, 4:] @ b[:, 4:].T
"""
TYPES = """
x = x.astype(np.float32)
w = np.float32(s) * x
w = np.float32(2) * a
w = a.astype(int)
w = x.astype(np.float16)
w = p / 2
w = x + 1j * y
w = (x + 1j).imag
w = np.abs(x - 2j)
w = np.isnan(x / x)
w = np.nan_to_num(x / x)
w = x.astype(bool)
w = np.array([s, t])
w = np.array([x[0], 1, <number>])
w = np.array([[s, t], [1, 2]])
w = np.asarray(a, dtype=np.float32)
w = np.array(a, copy=True)
w = m + m
w = m * <number>
w = m + p
w = a > b
w = a == a
w = -x
w = p.astype(float)
w = np.rint(x)
w = np.round(x, 1)
w = np.trunc(a)
w = np.hypot(x, y)
w = np.exp(-np.abs(x))
w = np.log1p(np.abs(a))
w = np.sign(x)
w = np.signbit(-x)
s = np.float32(s) + 1
s = s * np.float64(2)
s = np.sqrt(abs(s))
s = x[<row>] * p[<row>]
t = np.int32(t) + 1
w = x ** 2 + x ** 0.5
w = x.view(np.int64) if x.dtype == float else p
"""
TEXTS = """
print(s, t)
print(x[:2], a.shape)
print(f"{s:.2f} {t}")
print(w)
print(x.dtype, p.sum())
txt += f"{x[0]:.1f};"
txt = str(t)
txt += str(a[<row>])
txt = f"{s!r:>8}"
txt += repr(x[:2])
print(x.tolist()[:2])
print(m.any(), q.max())
"""
NUMBERS = """
s += x[<row>]
s = x.sum()
s = s * 0.5
s = a[<row>, <row>]
s = a[<row>].max()
s = max(s, <number>)
s = float(x.mean())
s = <number>
t += 1
t = len(w)
t = int(s) % 4
t = q[<row>]
t = int(q[<row>])
out.append(s)
out.append(x[<row>])
out.append(w)
out.append(a[<row>].copy())
out.append(t)
w = np.array(out[:2])
x += s
x = x * s
a = a + s
a[<row>] -= s
a, b = b, a
x, y = y, x
x, w = w, x
"""
HELPERS = """
x = scaled(x, <number>)
scaled(a, 2)
s, w = lowest(a)
s, w = lowest(x)
w = first_above(x, <number>)
t = count_above(x, <number>)
w = count_above(a, <number>)
w = normed(a)
w = normed(x)
w = smoothed(x, 2)
a = smoothed(a, 1)
w = safe(x, t)
w = safe(a, 9)
s = ratio(t, k)
s = ratio(s, x[<row>])
shifted(x)
shifted(a)
shifted(w)
"""
THEMES = (
    *(CHOICES, PRODUCTS, RUNNING, DIFFERENCES, SEARCHES, STORES, OUTPUTS, REDUCTIONS, INTEGERS, VIEWS, SHAPES, SMALL),
    *(TYPES, TEXTS, NUMBERS, HELPERS, STORES, VIEWS, OUTPUTS),
)
