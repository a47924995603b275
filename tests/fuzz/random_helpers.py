"""Functions beside a random program: early returns, loops, closures, recursion, exceptions, containers."""

from __future__ import annotations

HELPERS = (
    "def h0(u, v):\n    u[0] += v\n    return u",
    "def h1(u, v):\n    if v > 1:\n        return u * v\n    return u",
    "def h2(u, v):\n    total = 0\n    for one in u:\n        total = total + one\n    return total",
    "def h3(u, v):\n    return u[1:] if v > 0 else u[:1]",
    "def h4(u, v=2):\n    u *= v\n    return u.sum(), u",
    "def h5(u, v):\n    w = u.copy()\n    w[::2] = v\n    return w",
    "def h6(u, v):\n    i = 0\n    while i < len(u) and i < 4:\n        u[i] = i\n        i += 1\n    return i",
    "def h7(u, v):\n    def inner(w):\n        return w + v\n    return inner(u)",
    "def h8(u, v):\n    for i in range(len(u)):\n        if u[i].sum() > v:\n            return i\n    return -1",
    "def h9(u, v):\n    global C\n    C += 1\n    return u + C",
    "def h10(u, v):\n    for i in range(len(u)):\n        for j in range(i):\n"
    "            if u[j].sum() > v:\n                return u[j:i]\n    return u",
    "def h11(u, v):\n    if v <= 0:\n        return u\n    return h11(u, v - 1) * 0.5",
    "def h12(u, v, *, w=1):\n    u = u + w\n    u[0] = v\n    return u",
    "def h13(u, v):\n    if np.any(u > v):\n        raise ValueError('large')\n    return u.max(initial=0)",
    "def h14(u, v):\n    count = 0\n    def step(w):\n        nonlocal count\n        count += 1\n"
    "        return w + count\n    return step(u) + step(u)",
    "def h15(u, v):\n    try:\n        return u[int(v)]\n    except IndexError:\n        return u[0]",
    "def h16(u, v):\n    i = 0\n"
    "    while np.abs(u).sum() > v and i < 5:\n        u = u // 2\n        i += 1\n    return u",
    "def h17(u, v):\n    for one in u:\n        yield one * v",
    "def h18(u, v):\n    return {'first': u[:1], 'rest': (u[1:], v)}",
    "def h19(u, v):\n    u[1:], u[:-1] = u[:-1], u[1:]\n    return u[::-1]",
    "def h20(u, v):\n    return (lambda w: w[::2])(u)",
    "def h21(u, v):\n    assert v > 0, v\n    return sum(one for one in u if np.all(one > v))",
    "h22 = lambda u, v: u * v if v else u",
)
