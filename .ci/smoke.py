"""A short check of an installed xjit, with nothing but its own dependencies: several programs against NumPy.

python smoke.py           compile what is needed
python smoke.py --warm    fail when anything had to be compiled, because the cache folder should have it
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from xjit import xjit


def chain(a, b, c):
    return (a + b) * c - a / 3.0


def standard_scores(x):
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def waves(x):
    return np.where(x > 0.0, np.sin(x) * np.cos(x), np.tanh(x)) + np.log(np.abs(x) + 1.0)


def integers(i):
    return (i[:, ::2] * 7 + 3) // 5 - (i[:, 1::2] % 4)


def total(x):
    return np.sqrt(np.sum(x * x))


def programs():
    """Yield function, arguments and relative tolerance (0: equal bits)."""
    rng = np.random.default_rng(7)
    for dtype, tolerance in ((np.float32, 2e-6), (np.float64, 1e-14)):
        a, b, c = (rng.standard_normal((67, 130)).astype(dtype) for _ in range(3))
        yield chain, (a, b, c), 0.0
        yield chain, (a.T, b.T, c.T), 0.0
        yield chain, (a, b[0], c[:, :1]), 0.0
        yield standard_scores, (a,), 4 * tolerance
        yield softmax, (a,), tolerance
        yield waves, (a,), tolerance
        yield total, (a,), tolerance
    yield integers, (rng.integers(-1000, 1000, (40, 50)),), 0.0


def check(function, compiled, arguments, tolerance):
    """Compare one call with NumPy."""
    expected, found = function(*arguments), compiled(*arguments)
    assert type(found) is type(expected), (function.__name__, type(found), type(expected))
    assert found.dtype == expected.dtype and found.shape == expected.shape, function.__name__
    if tolerance == 0.0:
        assert found.tobytes() == expected.tobytes(), function.__name__
    else:
        np.testing.assert_allclose(
            found, expected, rtol=tolerance, atol=tolerance, err_msg=function.__name__, strict=True
        )


def run_readme():
    """Run the code of the README, which compares its results with NumPy itself."""
    text = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    space = {"__name__": "readme"}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        with contextlib.redirect_stdout(io.StringIO()):
            name = f"README.md, block {len(linecache.cache)}"
        linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)  # as code in files has
        with lenient() if "print(f" in block else contextlib.nullcontext():
            exec(compile(block, name, "exec"), space)


@contextlib.contextmanager
def lenient():
    """In here calls in Python are neither refused nor told of: a block of the README is about them."""
    with mock.patch.dict(os.environ, XJIT_STRICT="0"), warnings.catch_warnings(), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")
        yield


def main():
    run_readme()
    compiled = {}
    for function, arguments, tolerance in programs():
        compiled.setdefault(function, xjit(function))
        check(function, compiled[function], arguments, tolerance)
    records = [function.stats() for function in compiled.values()]
    compiles = sum(record.compiles for record in records)
    fallbacks = sum(record.fallbacks for record in records)
    print(
        f"smoke: Python {sys.version.split()[0]}, NumPy {np.__version__}: {len(compiled)} functions right, "
        f"{compiles} compiles, {fallbacks} fallbacks"
    )
    assert fallbacks == 0
    if "--warm" in sys.argv:
        assert compiles == 0, "the cache folder should have had everything"
    else:
        assert compiles > 0 or "XJIT_DEBUG" in os.environ, "nothing was compiled"


if __name__ == "__main__":
    main()
