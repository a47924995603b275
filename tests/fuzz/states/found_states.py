"""Short programs that carry a state, to which random ones were shrunk: each failed once."""

from __future__ import annotations

ARGUMENTS = """
def arguments(k, r):
    x = values(7 + r, "float64", (5,))
    y = values(1 + r, "int64", (4,))
    z = values(3 + r, "float64", (3, 4))
    return x, y, z, np.int64(r), (1, 3)[r % 2]

def f(x, y, z, q, t):
"""

FOUND: dict[str, str] = {
    "entries of Python's and of NumPy's in a list that turns of a known number read": """
    for i in range(t):
        u = [1]
        for v in y:
            p = u[-1] / 2
            if u[-1] < v:
                u.append(v)
    return u, p, sum(u)
""",
    "rows are appended in turns behind one that only the run ends with": """
    h = [y]
    for i in range(2):
        h.append(h[-1] * 0.5)
        if h[1].max() > q:
            break
    return np.array(h), len(h)
""",
    "a line and its step": """
    a, p = np.linspace(x[0], 5, retstep=True)
    b, c = np.linspace(0, t, 7, retstep=True)
    return a, p, b, c, np.linspace(1, 3, 4, retstep=True)
""",
}
