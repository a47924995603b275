"""Heads of blocks, errors and their handlers, and ends of loops in programs of NumPy's functions."""

from __future__ import annotations

LOOPS = """
for i in range(<few>):
for i in range(len(x)):
for i in range(3):
for i in range(t % 4):
for i, v in enumerate(x):
for row in a:
for row in a.T:
for i, row in enumerate(a):
for i in q:
for i in np.unique(q):
for u, v in zip(x, y):
for u in w:
while t < <few>:
while s > 1 and t < 8:
while np.any(x > <number>):
while True:
"""
BRANCHES = """
if s > <number>:
if t > <few>:
if x[<row>] > <number>:
if x.sum() > 0:
if (x > 0).any():
if m[<row>]:
if np.all(a > <number>):
if k > 1:
if t % 2:
if m.any() and s > 0:
if not g.all():
if w.size > 4:
if w.ndim == 1:
if np.array_equal(x, y):
if np.allclose(x, y):
if a[<row>].sum() > x[<row>]:
if (v := x.max()) > 1:
if e.size:
if p.max() > q.max():
with np.errstate(all="ignore"):
"""
RAISING = (
    *("x[len(x) + t] = 1", "s = np.max(e)", "t = t // (t - t)", "w = np.linalg.inv(np.zeros((2, 2)))"),
    *("w = x + a[:, :3]", "w = a.reshape(5, -1)", "w = np.concatenate([x, a])", "x[[0, 99]] = 1", "pass"),
    *("np.add(x, a, out=x)", "w = x[m[:-1]]", "s = float(x)", "x[0:2] = [1, 2, 3]", "w = x[t + 4]"),
    *("if s > 1: raise ValueError(f'large {t}')", "assert s < 1", "w = a[3]", "s = 1 / (t - t)", "w = p ** -1"),
    *("p += 0.5", "p[0] = np.nan", "x[q[0] * 9] += 1", "w = x @ a", "if x: pass", "s = x.item()", "s = x[0] / 0"),
)
HANDLERS = (
    *("except ValueError as error:", "except ZeroDivisionError:", "except (ValueError, IndexError) as error:"),
    *("except (ZeroDivisionError, ValueError, IndexError):", "except Exception as error:", "except ArithmeticError:"),
    "except (AssertionError, LookupError, TypeError) as error:",
)
ENDS = ("s > 1", "x[0] > 1", "t > 3", "m[0]", "x.sum() > 5", "s < -1", "np.all(x > 0)", "out")
