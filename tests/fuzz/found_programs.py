"""Short programs that random ones were shrunk to, or that were written against the compiler: each failed once."""

from __future__ import annotations

ARGUMENTS = """
def arguments(k, r):
    x = values(7 + r, "float64", (5,))
    y = values(1 + r, "int64", (4,))
    z = values(3 + r, "float64", (3, 4))
    e = values(2, "float64", (0, 5))
    return x, y, z, e, np.int64(r)

def f(x, y, z, e, q):
"""

COMPILED = {
    "rows of a list that the run makes, turned and as they are": """
    h = [x]
    while h[-1][0] < 50 and len(h) < 4:
        h.append(h[-1] * 2 + 1)
    a = np.array(h)
    return a.T, a, a.T[1:], np.transpose(a, (1, -2))
""",
    "None on one way of a branch, and integers of Python's behind it": """
    b = 0.5 * q
    for i in range(len(x)):
        if x[i] > 1:
            b = None
        elif b is None:
            b = i
    return x
""",
    "chosen rows as a column, and as a line again": """
    a = z[z.ravel()[: len(z)] > -5]
    return a.reshape(-1, 1).ravel()
""",
    "a condition behind a sum, in front of running sums of what that needs": """
    u = np.abs(np.arange(32) + 0j * q).astype(int)
    v = np.repeat(x[0] + u, u)
    return v[19], np.array([i for i in u if i])
""",
    "an array of one element as one of chosen elements": """
    a = x[x > -99]
    a[0] = x[:1]
    return a
""",
    "an array of one number and its whole": """
    return np.full(1, q)[:], np.full(1, 0.5 * q)[...], np.full((1, 1), q).T
""",
    "a view of an argument whose elements a loop reads, and returned": """
    x[1:] -= 0.25
    a = x[1:]
    s = 0.0
    i = 0
    while i < len(a) and s < 1000:
        s += a[i]
        i += 1
    return a, s
""",
    "rows of a changed argument that a loop reads, and returned": """
    z[1:] -= 0.25
    a = z[1:]
    w = 0
    while w < 3 and (w < 2 or a[w % 2, 0] < 100):
        w += 1
    return a, w
""",
    "elements that a mask has chosen are left by a loop": """
    for j in range(int(x[0]) + 9):
        v = x[~(x > 1)]
    return v
""",
    "a product that is stored by a number of the run": """
    x[q] = np.dot(y, y)
    y[0] = 3
    return y[0]
""",
    "a window of the run in an array without elements": """
    e[::2, int(y[0]):] += 0
    return e
""",
    "arrays that exchange their names in a long loop": """
    a, b = z[0], z[1].copy()
    for i in range(300):
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        a, b = b, a
    return a + b
""",
    "arguments that exchange their names in a long loop": """
    a, b = z[0].copy(), z[1].copy()
    for i in range(301):
        a, b = b, a
        a[0] = i
    return a, b
""",
    "arrays of the function's that exchange their names while a condition holds": """
    a, b = np.zeros(9), np.arange(9.0)
    while b[1] < 20:
        b[1:-1] = a[:-2] + 1
        b[0] = a[1]
        a, b = b, a
    return a, b
""",
    "a loop that ends by an error behind a write": """
    x[2] = 1
    w = 0
    while x[w] > -99:
        x += q
        w += 1
    return x
""",
    "a loop over a local array that ends by an error between writes": """
    a = np.zeros(9)
    x[0] = 100
    for i in range(300):
        a[i // 30] += 5.0
        x[1] += a[1]
    x[1] = 3
    return a
""",
    "an error at a position that a loop has made, between writes": """
    z[0, 0] = x[0]
    for i in range(300):
        x[i % 5] += 1
    z[1, 0] = 5
    x[1] = x[int(x[2]) + 20]
    z[2, 0] = 6
""",
    "the integers of a range whose ends are NumPy's": """
    k = j = n = 0
    for i in range(y[0] + 9, -1, -1):
        x[0] += i
    for j in reversed(range(y[0] + 9)):
        x[1] -= j
    for k in range(y[0], y[0] + 70, 2):
        x[2] -= k
    for n, v in enumerate(x, y[1]):
        x[3] += n
    return i, j, k, n
""",
    "functions that return the very array, of constants": """
    a = np.full(4, 0.25)
    b = np.zeros(x.shape)
    return np.ascontiguousarray(a), a, b.real, b, np.asarray(a)
""",
    "an error at a position that was written, behind a write to another array": """
    y[2] = 1
    z[1] = 0.25
    x[int(y[1]) + 3] = 5
""",
    "an error of elements that nobody reads": """
    x[y]
    z[1, 0] = 5
""",
    "an error of elements that are replaced at once": """
    x[1::2] = x[int(y[0]):]
    x[...] = 1.5
""",
    "an error of a window without elements": """
    e[::2, int(y[0] < 0):] += np.arange(5.0)
""",
    "a column of a window without elements is added to a row": """
    z[1] += z[q + 2 : 2, -3]
""",
    "elements that a mask has chosen in a window of another array": """
    z[1:1, -3] = z[:, :2][z[:, :2] == 99]
""",
    "an error in an arm that has written": """
    if x[0] < 99:
        x[1] = 5
        x[int(y[0]) + 7] = 4
    else:
        x[2] = 3
""",
    "elements that a mask has chosen are stored where there are none": """
    z[0, 0] = 7
    x[5:] = x[x < 2]
    z[0, 1] = 8
""",
    "a length of the run is stored where there are no elements": """
    e[0:, 2] = np.zeros(q)
""",
    "elements that a mask has chosen are stored where there are none in a loop": """
    for i in range(300):
        x[0] += 1
        x[5:] = y[y > i]
""",
    "elements that a mask has chosen are stored where there are none in an arm": """
    if x.sum() < 99:
        e[:, 0] = x[x < 2]
    else:
        x[1] = 5
""",
    "an error of what a loop replaces": """
    for i in range(3):
        x[::2] = x[int(x[0] < 99)::-1]
        x[...] = 2
    return x
""",
    "rows of an array of constants are written behind a loop over them": """
    for row in np.ones((2, 3)):
        for element in row:
            element *= 1
    for i in range(3):
        try:
            row[i] = 0.5
        except IndexError:
            row = 1
    return row
""",
    "arrays exchange their names behind windows that an arm has made": """
    for i in range(2):
        if x.sum() < 99:
            parts = []
            for j in range(5):
                parts.append(z[j:])
    a, b = z, z.copy()
    for j in range(int(x[1] < 99) + 1):
        a, b = b, a
    return a
""",
    "elements that a mask has chosen are written where they are not zero": """
    a = z[z == z]
    a[np.where(a)] = 5
    b = y[y > 1]
    return a, np.where(b), b[np.where(b)]
""",
    "elements that a mask has chosen are assigned to at positions": """
    y[y < 3][[0]] = 1
    return y
""",
}
"""The bodies of programs that are compiled whole, errors of the run left out."""

REFUSED = {
    "windows of an array that another arm writes to are joined": """
    h = []
    a = y[:600] * 1
    for i in range(len(x)):
        if x[i] > 1:
            h.append(a[i % 4 :])
        elif i % 3 == 0:
            a[:1] += 1
    return np.concatenate(h) if h else a
""",
    "a row that a loop has chosen across memory, in another shape": """
    for i, r in enumerate(z.T):
        if np.any(r):
            z.T[i] = 1.5
            break
    return r.reshape(1, -1)
""",
    "a column that a loop may have chosen, in another shape": """
    w = 0
    while np.sum(x) > -99 and w < 5:
        a = z[:, 0][None]
        w += 2
    return a.reshape(a.T.shape)
""",
    "elements that a mask chooses are set to others of the same array": """
    y[:] = np.array([5, 1, 2, 0])
    y[y < 3] = y[::-1][:3]
    return y
""",
    "the iterator of a window of the run is written to": """
    x[q:].flat[1] = 2.0
""",
    "the iterator of a window of the run is assigned to": """
    x[q:].flat = 2.0
    return x
""",
    "the real part of a window of the run is written to": """
    x[q:].real[1] = 2.0
""",
    "a comprehension reads a name that an arm may leave without a value": """
    if x[0] < 99:
        a = 3
    return [a for j in range(2)]
""",
    "the shape of a window of the run is assigned to": """
    w = x[q:]
    w.shape = (-1, 1)
    return w
""",
    "a view that an arm has made is left by a branch": """
    w = 1
    while w < 2 + int(q):
        z[2::-1, 2] *= z[1, -1]
        w += 1
    if z[1, 1]:
        x = z[w:][0]
        z = x
    return z
""",
    "a number, or a list with a row of an array that is written, is returned behind a loop": """
    np.multiply(z > 2, abs(z), out=z)
    w = 0
    while w < 2:
        w += 1
        if x[1] < 99:
            return 1
    return [z[w]]
""",
}
"""The bodies of programs that NumPy runs, with a warning that says why."""
