"""Module, arguments and first values around the statements of programs of NumPy's functions."""

from __future__ import annotations

AROUND = """
def scaled(u, v):
    u *= v
    return u

def lowest(u):
    if u.ndim > 1:
        return u.min(), u.argmin(axis=1)
    return u.min(), u.argsort(kind="stable")

def first_above(u, v):
    for e in u:
        if e > v:
            return e
    return v

def count_above(u, v):
    return (u > v).sum(axis=-1)

def normed(u):
    size = np.sqrt((u * u).sum(axis=-1, keepdims=True))
    return u / np.where(size == 0, 1, size)

def smoothed(u, v):
    u = u.astype(float)
    for i in range(v):
        u[1:-1] = (u[:-2] + u[2:]) * 0.5
    return u

def safe(u, v):
    try:
        return u[v]
    except IndexError:
        return u[-1]

def ratio(u, v):
    try:
        return u / v
    except ZeroDivisionError:
        return 0.0

def shifted(u):
    u[1:] = u[:-1]
    u[:1] = 0
"""
ARGUMENTS = """
def arguments(k, r):
    n = (6, 8, 5)[k]
    x = {x}
    y = {y}
    p = {p}
    q = values({0} + r, "int64", (n,)) % 4
    m = values({1} + r, "bool", (n,))
    a = {a}
    b = {b}
    g = values({2} + r, "bool", (3, 4))
    c = {c}
    z = np.array({z})
    return x, y, p, q, m, a, b, g, c, z, {e}, (1, 2, 0)[k]
"""
SIGNATURE = "def f(x, y, p, q, m, a, b, g, c, z, e, k):"
GIVEN = {"x": "(n,)", "y": "(n,)", "p": "(n,)", "a": "(3, 4)", "b": "(3, 4)", "c": "(2, 3, 4)"}
DTYPES = {
    "x": ("float64",) * 8 + ("float32", "int64"),
    "y": ("float64", "float64", "float32", "int64", "int32", "uint8", "bool", "float16"),
    "p": ("int64", "int64", "int32", "int16", "int8"),
    "a": ("float64", "float64", "float64", "float32", "int64", "int32"),
    "b": ("float64", "float64", "float32", "int64", "int16", "bool"),
    "c": ("float64", "float64", "float32", "int64"),
}
LAYOUTS = ("C",) * 8 + ("F", "every second", "backwards", "turned")
ZEROS = ("0.5 * r - 0.25", "r", "np.float32(r)", "r > 0")
EMPTY = ("x[:0]", "np.zeros(0)", "np.zeros(0, np.int64)", "np.zeros(0, np.float32)")
SHARED = ("x[::-1]", "x", "x[...]")
FIRST = """
w, v, out, txt = x.copy(), a[0], [], ""
"""
STARTS = (
    "s, t = 0.5, 2",
    "s, t = x[1], 2",
    "s, t = float(x.sum()), k",
    "s, t = x[1], q[2]",
    "s, t = z[()], int(q[1])",
)
RESULTS = ("x", "y", "p", "q", "m", "a", "b", "g", "c", "z", "e", "w", "v", "s", "t", "k", "out", "txt")
ALWAYS = ("x", "s", "t", "w")
