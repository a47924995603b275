"""Short programs with calls in Python, lengths of data or objects, to which random ones were shrunk: each failed."""

from __future__ import annotations

ARGUMENTS = """
import bisect
import dataclasses
import heapq

@dataclasses.dataclass
class Cell:
    content: object

class Walker:
    def __init__(self):
        self.count, self.place = 0, 1.0

    def step(self):
        self.count += 1
        self.place = self.place * 0.5

O = Walker()

def reader(u, v):
    exec('w = u.max()', {'u': u}, found := {})
    return found['w'] + v

def arguments(k, r):
    x = values(7 + r, "float64", (5,)) + 0.13
    y = values(1 + r, "int64", (4 * k,))
    z = values(2 + r, "float64", (4, 3))
    return x, y, z, np.int64(r)

def f(x, y, z, q):
"""

FOUND = {
    "places in lists that the run sorts, and in one that it leaves to Python": """
    low = [v for v in x.tolist() if v > q]
    heapq.heapify(low)
    return bisect.bisect(sorted(x.tolist()), 1.5), bisect.bisect_left(sorted(z.ravel().tolist()), q), low
""",
    "a row that a generator chooses is written to": """
    a, b = np.random.default_rng(q).choice(z), np.random.RandomState(q).choice(z[0])
    a[0] = 7
    return a, b
""",
    "elements of a column that is cut, as lines": """
    a = int(z[0, 0] < 1)
    b = np.moveaxis(z[:, :1] * 2, 0, -1)[a : a + 2].reshape(-1, 1)
    return np.squeeze(b), b
""",
    "a handler of an error of a step in Python, behind one that prints": """
    print(q)
    try:
        p = {1.0: 2}[float(x[0])]
    except KeyError:
        p = 0
    return p
""",
    "counts of what the run sorts are reduced by a step in Python": """
    y = np.tile(np.round(x).astype(np.int8), 2)
    a, b = np.unique(y, return_inverse=True)
    a, c = np.unique(b, return_counts=True)
    d = c.max(initial=q)
    return np.flatnonzero(np.bincount(np.abs(y)))
""",
    "places where elements that a mask has chosen of no rows are true": """
    z = y[:0].reshape(0, 2)
    a = z[z == z]
    b = np.where(a)
    a[b] = 3
    return len(b), b, a
""",
    "elements at positions in a list of what a mask has chosen are written": """
    a = x[x < 5]
    a[[0, 1]] = 1
    return a
""",
    "a position outside of what a mask has chosen is written": """
    x[x < 3][[1, 17]] = 1
    return x
""",
    "all elements that a mask has chosen are written by a truth value": """
    a = x[x < 5]
    a[True] = 7
    return a
""",
    "a number of Python's is rounded to decimals as Python does it": """
    p = round(float(x.max()), 1)
    return p, round(x.max(), 1), round(int(x.max()), -1), round(float(x[0]), 2)
""",
    "a handler of the function's catches what the compiler says": """
    for i in range(2):
        try:
            p = reader(x, i)
        except (ValueError, TypeError):
            continue
    return p
""",
    "a view is cut at a place that is known of a remainder": """
    i = x.argmax() % 1
    return x[i:], x
""",
    "a view is cut at a place that is known of a remainder, with one more axis": """
    a = np.atleast_2d(x)
    i = int(abs(x).max()) % 3 + 1
    return a[:i]
""",
    "an object of the module is read by a loop for the first time, and assigned": """
    w = 0
    while x[0] + 4 > w:
        O.count += 1
        for i in range(2):
            O.step()
        w += 1
    return w, O.count
""",
    "an object of the module is read by a branch for the first time, and assigned": """
    if x[0] > 2:
        O.step()
    for i in range(q):
        if x[i] > 0:
            O.count += 2
    return O.place
""",
    "an error of a loop comes before one that is known while tracing": """
    for i in range(max(q, 0) + 1):
        y[i] -= 1
    return y[2 * len(x)], q
""",
    "a number is searched for among elements that a mask has chosen": """
    a = x[x < 5]
    return np.searchsorted(np.sort(a), 1.5), np.interp(1.5, np.sort(a), np.sort(a)), np.isin(1.5, a)
""",
    "elements that a mask has chosen are turned and reshaped": """
    return x[x < 5].swapaxes(0, -1), x[x == x].reshape(5, -1)
""",
    "positions that only the run knows are written by a function": """
    a = np.flatnonzero(x > 1)
    np.putmask(a.swapaxes(0, -1), a.swapaxes(0, -1) > 1.5, x.max())
    return a
""",
    "parts of an array are read behind a write to it": """
    a = x * 2
    b = np.split(a, np.flatnonzero(x > 1))
    a[0] = 9
    return b[0].sum(), b
""",
    "a window without elements is added to two": """
    i = 0
    while i < 5 and x[i] < 99:
        i += 1
    return x[i:] + np.arange(2.0)
""",
    "elements that a mask has not chosen are turned around and added to two": """
    a = x[x > 99]
    return a[5::-1] + np.arange(2.0)
""",
    "draws end a loop": """
    w = 0
    while np.random.rand() < 0.7 and w < 6:
        w += 1
        x[0] += 1
    return w
""",
    "an error of what a length of a float makes comes behind a write": """
    y[1:-1] = np.prod(y)
    x[2:] = np.arange(q % 3.0) * np.sum(y)
""",
    "a condition that fails between draws": """
    a = x[x > 2]
    b = np.random.normal(size=len(a))
    a[0:] = np.zeros(0)
    return np.random.randint(5), b
""",
    "turns make objects of a class with an equality, of elements that a mask chooses": """
    for i in range(2):
        parts = []
        for one in x:
            parts.append(x[x > one])
        whole = np.concatenate(parts)
        cell = Cell(whole)
    cell.first = x
    return cell.content
""",
    "different elements of none are an array of their own": """
    a, b = np.unique(x[:0]), np.unique(y[:0], return_counts=True)
    return np.unique(y), a, b, x[:0]
""",
}
