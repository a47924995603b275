"""Module, arguments and first values around the statements of a composed program."""

from __future__ import annotations

AROUND = """
import collections
import dataclasses
import math

D = {"c": 1, "v": 0.5}
C = 1.0
L = [1.0, 2]
SCALE = 1.5
WEIGHTS = np.array([0.5, 1.0, -2.0])

class K:
    total = 0

Pair = collections.namedtuple("Pair", "v n")

@dataclasses.dataclass
class Cell:
    v: float
    n: int
    p: tuple = (0, 0.0)
    arr: object = None
    def __post_init__(self):
        if self.arr is None:
            self.arr = np.zeros(4)

class Body:
    def __init__(self, v):
        self.v = v
        self.n = 0
        self.best = None
    @property
    def mean(self):
        return self.v.mean()
    def step(self, u):
        self.n += 1
        if u > 0:
            self.v[0] += u
            return self.v[0]
        return self.n

def help1(u, v=1, *, w=0.5):
    if u > v:
        return u * w
    return v

def help2(u, v):
    r = 0.0
    for e in u:
        if e < 0:
            continue
        r += e
    return r + v

def help3(u, v=2):
    for i in range(len(u)):
        if i == v:
            return
        u[i] += 1

def help4(u):
    best = None
    at = 0
    for i, e in enumerate(u):
        if best is None or e > best:
            best, at = e, i
    return best, at

def help5(*rest, **named):
    return len(rest) + named.get("low", 0.25) + (rest[0] if rest else 0)

def help6(u):
    def inner(lo, hi):
        if hi - lo < 2:
            return u[lo]
        mid = (lo + hi) // 2
        return max(inner(lo, mid), inner(mid, hi))
    return inner(0, len(u))
"""
EXACT, DRAWN = 'values({0} + r, "float64", {1})', "np.random.default_rng([{0}, r]).standard_normal({1})"
ARGUMENTS = """
def arguments(k, r):
    n = (8, 9, 11)[k]
    x = {x}
    a = {a}
    q = values({2} + r, "int64", (n,)) % 4
    b = values({3} + r, "bool", (n,))
    z = np.array(0.5 * r - 0.25)
    f32 = values({4} + r, "float32", (5,))
    u8 = values({5} + r, "uint8", (5,)) * np.uint8(20)
    held = Body({v})
    return x, a, q, b, [1.5, 2.0, 0.25], {{"a": 1.0}}, held, (1, 2, 0)[k], z, f32, u8, np.random.default_rng(r)
"""
SIGNATURE = "def f(x, a, q, b, l, d, o, k, z, f32, u8, rng):"
FIRST = """
best, out, y, w, txt, tup = None, [], x, a[0], "", (1.0, 2, None)
seen, lz, flag, c, e, first, rest, m = set(), [0.0, 1.0, 2.0], False, 1 + 0j, x[:0], 0.0, [], 0.0
dq, st, dc, fun, cnt = collections.deque(), Pair(0.0, 1), Cell(1.0, 2), abs, 0
def inc(v):
    nonlocal cnt
    cnt += v
def clos(v):
    return v + cnt
"""
STARTS = ("s, t = 0.5, 2", "s, t = x[1], 2", "s, t = x[1], int(q[1])", "s, t = float(x[1]), int(q[1])",
          "s, t = float(x.sum()), k", "s, t = x[1], q[2]")  # fmt: skip
RESULTS = (
    *("x", "y", "w", "a", "q", "b", "l", "d", "s", "t", "best", "out", "z", "txt", "tup", "c", "f32", "u8", "e"),
    *("first", "m", "seen", "lz", "dq", "st", "dc", "cnt", "k", "flag"),
)
ALWAYS = ("x", "s", "t")
SHOWN = {"seen": "sorted(seen)", "dq": "list(dq)", "dc": "(dc.v, dc.n, dc.p, dc.arr)", "st": "(st.v, st.n)"}
