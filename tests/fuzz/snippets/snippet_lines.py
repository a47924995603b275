"""Statements that programs are composed of, by what they are about, and heads of blocks.

``<at>`` is a position in an array, ``<row>`` one below three, ``<number>`` a float, ``<part>`` a slice, ``<few>`` a
small whole number, ``<where>`` a condition.
"""

from __future__ import annotations

ARRAYS = """
x[<at>] = <number>
x[<part>] *= <number>
x[<part>] = x[<part>][::-1]
x[x > <number>] = <number>
x += <number>
x = x + <number>
x = x[::-1]
x = np.where(x > s, x, <number>)
x[:] = 0
x[:<few>] = x[-<few>:]
x[1:] = x[:-1]
x = x.reshape(-1, 2).ravel() if x.size % 2 == 0 else x
y = np.cumsum(x)
y = np.sort(x)
s = x.sum()
s = x[<at>]
t = x.argmax()
np.clip(x, -1, 1, out=x)
np.add(x, 1, out=x, where=b)
np.multiply(x, 2, out=y[:len(x)] if len(y) >= len(x) else None)
x, o.v = o.v + x.sum(), x
x, y = y, x
"""
VIEWS = """
y = x[<part>]
y = x[::2].copy()
y = x
y += s
y -= y.mean()
y[<row>] = <number>
y[0] += <number>
y = [x, y][t % 2]
y = a[<row>]
y = a[:, <row>]
w = a[<row>]
w = a.ravel()
w = a.T[1]
w *= 2
w[0] = <number>
w[...] = s
s = y[0]
y, w = w, y
del y; y = x[1:]
"""
MATRICES = """
a[<row>] = y[0]
a[<row>, 1] += <number>
a[:, <row>] = x[<row>]
a = a.T
a = a @ a.T
a -= a.mean(0)
a[a > <number>] = <number>
a[1:] += a[:-1]
a[<row>], a[0] = a[0].copy(), a[<row>].copy()
s = a.max()
s = a[<row>, <row>]
a = np.vstack([a, a[:1]])
s = sum(sum(row) for row in a)
"""
INTEGERS = """
q[<row>] += t
q[<row>] = k
q += 1
q = q[::-1]
q = q * 2**40
q = np.argsort(x)
q //= 2
np.add.at(x, q[:3] % 4, <number>)
y = q * <number>
t = q[<row>]
t = int(q[<row>])
t = q.sum()
t = t + 2**53
t = t << 3
t = t & 7
t = t ^ k
t = -t
t = t * t + k
t = t % 5
t = k // 2
t, k = divmod(t, 3)
t = int(s * 3)
k = k + 1
"""
MASKS = """
b = x > 0
b[<row>] = not b[<row>]
b = ~b
b &= x < 1
y = x[b]
y = x[x > 0]
x[b] = <number>
x[~b] += 1
t = int((x > 0).sum())
t = np.count_nonzero(b)
s = float(b.any() and not b.all())
y = x[np.where(x > <number>)[0]]
q = np.nonzero(x > <number>)[0]
t = len(np.flatnonzero(b))
q = np.where(b)[0]; s = x[q[0]] if len(q) else 0.0
ys = np.unique(q); t = ys.size
"""
NUMBERS = """
s += <number>
s = float(x[<at>])
s = s * 2 if s > 0 else -s
s = abs(s) + t
s = max(s, <number>)
s = min(x)
s = sum(x[:3])
s = round(s, 2)
s = round(float(s))
s = s / 0.5
s = np.inf if s > 2 else s
s = math.sqrt(abs(s))
s = np.sqrt(abs(s))
s = math.floor(s)
s = s // 1
s = s % 1.5
s, t = t, s
s = s if s == s else 0.0
s, m = divmod(float(s), 2)
s = bool(s) + 0.5
s = -1 < s < 1
t = int(bool(t))
m = s
s = m + 1
"""
NOTHING = """
best = None
best = <number>
best = x[<at>]
best = x
best = t
s, best = <number>, s
if best is None: best = <number>
if best is not None and s > 0: best = s
best = s if best is None else best
s = s if best is None else s + 1
best = None if s > 0 else t
t = 0 if best is None else t + 1
"""
LISTS = """
out.append(<number>)
out.append(t)
out.append(x[<row>])
out.append((t, s))
out.append(x.copy())
out.append(y)
out.append(best)
out.insert(0, t)
if out: out.pop()
if len(out) > 2: del out[0]
out = out[1:]
out = [v for v in x if v > <number>]
out = [i for i, v in enumerate(x) if v > s]
out = sorted(x.tolist())
out = [u * v for u, v in zip(x, reversed(x))]
out[-1:] = [t]
t = len(out)
l[0] = <number>
l[<row>] = t
l.append(t)
l = l + [s]
l += [k]
s = l[0]
s = sum(l)
s = l.pop() if len(l) > 3 else s
l.sort()
l.reverse()
l = sorted(l, reverse=True)
t = l.index(max(l))
y = np.array(l)
lz = lz[1:] + lz[:1]
lz = [v * 2 for v in lz]
lz[t % 3] = s
lz[<row>] += s
s = lz[t % 3]
"""
TABLES = """
d["a"] = <number>
d["n"] = d.get("n", 0) + 1
d[t] = s
d[k] = t
d[int(q[<row>])] = s
d[q[<row>]] = <number>
d["x"] = x
d["x"] = x.copy()
s = d["a"]
s = d.get(t, 0.0)
if "n" in d: t = d["n"]
if t in d: s += 1
d.pop("n", None)
if t in d: del d[t]
d = dict(d)
d = {**d, "z": s}
d = {i: v for i, v in enumerate(l)}; d["a"] = s
d[t] = d.get(t, 0) + 1
d.setdefault("h", []).append(t)
t = max(d.values()) if "x" not in d and "h" not in d else 0
d = {key: v for key, v in sorted(d.items(), key=str)}
"""
OBJECTS = """
o.n += 1
o.n = t
o.v += <number>
o.v[0] = s
o.v = x
o.v = o.v * 2
o.v, x = x, o.v
o.best = s
if o.best is None or s > o.best: o.best = s
s = o.mean
o.step(<number>)
s = o.step(s)
t = o.n
o.more = s
s = getattr(o, "more", 0.5)
K.total += 1
K.total = t
s = K.total + s
"""
RECORDS = """
st = st._replace(n=st.n + 1) if s > 0 else st
st = Pair(s, t)
s = st.v
dc.n += t
dc.p = (t, s)
dc.arr[<row>] = s
dc = Cell(s, t)
s = dc.n
tup = (s, t, best)
tup = tup + (t,)
s = tup[0]
first, *rest = x
s, t = tup[0], tup[1]
dq.append(s)
dq.appendleft(t)
if dq: s = dq.popleft()
"""
CALLS = """
s = help1(s, t)
s = help1(x[0], x[1])
s = help1(s, w=<number>)
s = help2(x, <number>)
y = help2(x, x)
help3(x, t)
help3(y)
s, t = help4(x)
s = help5(s, t, <number>)
s = help5(*l, low=s)
s = help5(**{"low": t})
s = help6(x)
inc(t)
inc(s)
s = clos(s)
g = [help1, lambda u, v: u - v][k % 2]; s = g(s, t)
s = fun(s)
fun = (lambda u: u + t) if s > 0 else (lambda u: u * 2)
y = np.array([fun(v) for v in x])
"""
GLOBALS = """
D["c"] = t
D["v"] = s
t = D["c"]
C = s
s = C
L.append(t)
L[0] = s
s = L[-1]
s = s * SCALE
y = x * WEIGHTS[k % 3]
"""
DRAWS = """
s = rng.random()
x += rng.normal(size=x.shape)
t = int(rng.integers(0, 6))
rng.shuffle(x)
y = rng.permutation(x)
s = rng.choice(x)
s = rng.uniform(0, 2) if s > 0 else s
"""
TEXTS = """
print(t, s)
print("x", x[:2])
print(f"{s:.3f}", best is None)
txt += f"{t}"
txt = "%.2f" % s
txt += "p" if s > 0 else "n"
txt = f"{t:>4}|{k!r}"
txt = txt.upper()[:6]
txt = ",".join(str(i) for i in range(t % 4))
t = len(txt)
"""
SMALL = """
z[...] = s
z += t
s = z[()]
s = z * 2
s = z.item()
c = c * (1 + 1j) + s
c = complex(s, t)
s = c.real
s = abs(c)
y = (x + 1j * x[::-1]).imag
f32 *= np.float32(1.5)
f32[0] = s
s = f32[1]
f32 = f32 + s
s = np.float32(s)
u8 += 100
u8[0] = 300 % 256
t = u8[0]
t = int(u8[1]) + t
u8 = u8 + u8
u8 = q[:5].astype(np.uint8)
q = q.astype(np.int16)
e = x[5:5]
s += e.sum()
e = x[x > 99]
for v in e: s = v
"""
CHECKS = """
assert t < 1000
assert x.ndim == 1, "a line"
assert np.isfinite(s), f"not finite: {s}"
s = first if (first := x[0]) > 0 else s
if isinstance(s, float): t += 1
if isinstance(t, int): s = s + 0.5
if not isinstance(best, (int, float)): best = 0
if s > 1e6 or s < -1e6: s = 0.0
if t > 10**6: raise ValueError(f"large {t}")
seen.add(t)
seen.add(int(s))
t = len(seen)
if t in seen: t = -1
seen.discard(k)
seen = seen | {t, k}
"""
COUNTS = """
t += 1
t -= 1
s += x[<at>]
s *= 0.5
cnt += 1
if x[<at>] > s: s, t = x[<at>], <row>
flag = not flag
flag = flag or s > 1
if flag: t += 1
"""
THEMES = (
    *(ARRAYS, VIEWS, MATRICES, INTEGERS, MASKS, NUMBERS, NOTHING, LISTS, TABLES, OBJECTS, RECORDS, CALLS, GLOBALS),
    *(DRAWS, TEXTS, SMALL, CHECKS, COUNTS),
)
LOOPS = """
for i in range(<few>):
for i in range(len(x)):
for i in range(t % 4):
for i, v in enumerate(x):
for i, v in enumerate(reversed(l)):
for v in y:
for v in sorted(x):
for row in a:
for i in range(len(x) - 1, 0, -1):
for i in q:
for v in l:
for key in list(d):
for key, v in list(d.items()):
for u, v in zip(x, y):
for i in np.flatnonzero(x > <number>):
while t < <few>:
while s > 1 and t < 8:
while abs(s) > 0.1:
while not flag:
while True:
"""
BRANCHES = """
if s > <number>:
if t > <few>:
if x[<at>] > <number>:
if x.sum() > 0:
if (x > 0).any():
if b[<row>]:
if best is None:
if best is not None:
if k > 1:
if t:
if flag:
if not s > 0:
if len(out) > 1:
if s > 0 and t > 1 or x[0] < 0:
if 0 < s < <number>:
if (m := x.max()) > 1:
if isinstance(s, float):
if o.best is None:
if y is x:
with np.errstate(all="ignore"):
"""
RAISING = (
    *("if s > 1: raise ValueError('big')", "if t < 0: raise KeyError(t)", "x[k + 3] = 1", "pass", "s = d['zz']"),
    *("t = l.index(s)", "s = x[t]", "assert s < 1", "s = float(txt)"),
)
HANDLERS = (
    *("except ValueError as error:", "except (KeyError, IndexError) as error:", "except Exception as error:"),
    "except (AssertionError, LookupError) as error:",
)
ENDS = ("s > 1", "x[0] > 1", "t > 3", "best is not None", "out", "b[0]", "flag", "s < -1")
