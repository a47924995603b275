"""Functions that nothing captures, classes and arguments of programs that Python has a part in."""

from __future__ import annotations

import random

MODULES = ("array", "bisect", "collections", "dataclasses", "io", "itertools", "json", "math", "time")
IMPORTS = (
    *(f"import {name}" for name in MODULES),
    *(f"from scipy import {name}" for name in ("ndimage", "special", "stats")),
)
READERS = (
    "def e0(u, v):\n    return eval('float(np.sum(u)) + 1', {'np': np, 'u': u})",
    "def e1(u, v):\n    return eval('u.ravel()[0] * v', {'u': u, 'v': v})",
    "def e2(u, v):\n    return len(eval('u', {'u': u})) + int(v)",
    "def e3(u, v):\n    seen = globals().setdefault('L', [])\n"
    "    seen.append(float(np.sum(u)))\n    return len(seen)",
    "def e4(u, v):\n    exec('w = u.max()', {'u': u}, found := {})\n    return found['w']",
    "def e5(u, v):\n    if eval('v > 1', {'v': v}):\n        print('above', float(u.sum()))\n"
    "        return 1\n    return 0.5",
    "def e6(u, v):\n    return float(eval('u + v', {'u': u, 'v': v}).sum())",
)
WRITERS = (
    "def f0(u, v):\n    exec('u[0] = v', {'u': u, 'v': v})",
    "def f1(u, v):\n    exec('u += v', {'u': u, 'v': v})\n    return u",
    "def f2(u, v):\n    w = eval('u', {'u': u})\n    w[-1] = v\n    return float(w.sum())",
)
RAISERS = (
    "def r0(u, v):\n    if float(u.sum()) > 3:\n        raise ValueError('large')\n    return v",
    "def r1(u, v):\n    return eval('raised(v)', {'raised': int, 'v': 'no' if u.max() > 2 else '3'})",
    "def r2(u, v):\n    u[0] = 1\n    if eval('v > 1', {'v': v}):\n        raise ValueError(v)\n"
    "    u[0] = 2\n    return u[0]",
    "def r3(u, v):\n    print('before')\n    return json.loads('[1' if u[0].sum() > 1 else '1')",
)
CLASSES = (
    """class Body:
    made = 0
    def __init__(self, pos, vel):
        self.pos, self.vel = pos, vel
        self.count = 0
        self.log, self.table = [], {}
    def step(self, dt):
        self.pos += self.vel * dt
        self.count += 1
        return self.pos.sum()
    @property
    def energy(self):
        self.count += 1
        return (self.pos * self.pos).sum()
    @energy.setter
    def energy(self, value):
        self.vel = self.vel * value
    def __setitem__(self, key, value):
        self.pos[key] = value
        self.last = value
    def __getitem__(self, key):
        return self.pos[key]
    def __len__(self):
        return len(self.pos)
    def __call__(self, value):
        self.count += 2
        return self.pos.max() + value""",
    """@dataclasses.dataclass
class Cell:
    first: object
    second: object = 1
    def total(self):
        return self.first.sum() + self.second""",
    """@dataclasses.dataclass(frozen=True)
class Frozen:
    first: object
    second: object = 1""",
    """class Pair(collections.namedtuple('Pair', 'left right')):
    pass""",
    "def method(o, v):\n    o.count += 1\n    o.pos = o.pos * v\n    return o.pos.sum()",
)
KEPT = ("O = Body(np.arange(4.0), 1)", "L = [1, 2.0]", "D = {'k': 1.0, 'n': 2}", "H = np.random.default_rng(5)")
"""Objects that live as long as the module of a program."""
GIVEN = (
    ("body", "Body(values({} + r, 'float64', (n,)), 0.5)"),
    ("body", "Body(x, values({} + r, 'float64', (n,)))"),
    ("body", "Body(x, 2)"),
    ("pair", "Pair(x, r)"),
    ("pair", "Pair(values({} + r, 'float64', (n,)), 0.5)"),
    ("cell", "Cell(x, r)"),
    ("cell", "Cell(values({} + r, 'float64', (n, 2)), 1.5)"),
    ("table", "{{'k': 1.0, 'n': r}}"),
    ("table", "{{'k': x, 'n': 0}}"),
    ("rows", "[1.5, r]"),
    ("rows", "[x.sum(), x]"),
    ("gen", "np.random.default_rng({} + r)"),
    ("gen", "np.random.RandomState({} + r)"),
    ("kept", "O"),
)


def around(rng: random.Random) -> list[str]:
    """Return the lines of imports, functions, classes and what the module keeps."""
    texts = [*IMPORTS, *rng.sample(READERS, 2), rng.choice(WRITERS), rng.choice(RAISERS), *CLASSES]
    texts += [text for text in KEPT if rng.random() < 0.4]
    return [line for text in texts for line in text.split("\n")]


def given(rng: random.Random, outer: list[str]) -> dict[str, str]:
    """Return names of objects that the program is called with, and what makes them."""
    found: dict[str, str] = {}
    for name, text in rng.sample(GIVEN, rng.choice((0, 1, 1, 2))):
        if text != "O" or any(line.startswith("O = ") for line in outer):
            found.setdefault(name, text.format(rng.randrange(20)))
    return found
