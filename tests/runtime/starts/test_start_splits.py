"""First calls of a second process of functions that are split, or draw random numbers: the same calls of Python in
their order, the same streams, the same warnings, unless what is called has changed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.helpers.second_process import run

SETTINGS = {"XJIT_STRICT": "0", "XJIT_TRIALS": "0"}

REPORT = """

def outcome(function, arguments):
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("always")
        found = function(*arguments())
    return found, out.getvalue(), [(one.category.__name__, one.lineno, str(one.message)) for one in caught]


def same(found, wanted):
    assert type(found) is type(wanted), (found, wanted)
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other)
    elif isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype and found.flags.writeable
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    else:
        assert found == wanted or abs(found - wanted) <= 1e-12 * abs(wanted), (found, wanted)


def report(functions, arguments):
    told, made = [], [xjit(function) for function in functions]
    for function, compiled in zip(functions, made):
        for number in range(3):
            found, text, warned = outcome(compiled, arguments)
            wanted, expected, _ = outcome(function, arguments)
            same(found, wanted)
            assert text == expected, (text, expected)
            assert not (number and warned)
            told.append(warned)
    with open(sys.argv[0] + ".told", "a") as file:
        file.write(f"{told}\\n")
    traced = "xjit.api.dispatcher" in sys.modules
    assert traced or not {"xjit.capture.capture", "numba", "llvmlite"} & sys.modules.keys()
    sys.stdout.write("traced 0" if traced else "started 0")
    assert all(compiled.stats().fallbacks == 0 for compiled in made)
"""

HEAD = """
import contextlib
import io
import sys
import warnings
import numpy as np
from scipy import ndimage, optimize
from xjit import xjit
"""

SPLITS = (
    HEAD
    + REPORT
    + """
SCALE = 2.0


def noted(value):
    print("noted", value)


def shifted(x):
    return x + SCALE


def printing(x, n):
    y = shifted(np.exp(-x))
    print("largest", y.max(), n)
    return y * 2.0


def formatted(x, n):
    y = x * SCALE
    text = f"{y.sum():.3f} of {n}"
    print(text)
    print("%d and %.2f" % (n, y[0]))
    return y - y.mean(), text


def labelled(x, n):
    labels, count = ndimage.label(np.sin(x * 5.0) > 0.2)
    return np.where(labels > 1, labels, 0) * 2, count


def fitted(x, n):
    def error(p):
        return ((p[0] * x + p[1] - SCALE) ** 2).mean()

    found = optimize.minimize(error, x[:2], method="Nelder-Mead", options={"maxiter": 20})
    return found.x, float(found.fun)


def telling(x, n):
    total = x.sum()
    for k in range(3):
        noted(total * k)
    return total


def unique(x, n):
    values, places = np.unique(np.floor(x * 3.0), return_inverse=True)
    return values[places] + n


def drawing(x, n):
    rng = np.random.default_rng(n)
    return x + rng.normal(0.0, x.max(), x.shape), rng.permutation(5)


def stored(x, n):
    out = np.zeros(6)
    out[:] = x
    print("stored")
    out[n] = 5.0
    print("and again")
    return out


def caught(x, n):
    a = np.outer(x < 5.0, x < 5.0) * float(n)
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return a - 1.0


def looping(x, n):
    while x.max() > 0.1:
        x = x * 0.5
        print(x[1])
    return x


if "global" in sys.argv:
    SCALE = 3.0
if "helper" in sys.argv:
    def shifted(x):
        return x - SCALE
if "told" in sys.argv:
    def noted(value):
        print(value)
if "library" in sys.argv:
    ndimage.label = lambda mask: (mask.astype(int), 7)
if "module" in sys.argv:
    class ndimage:
        label = staticmethod(lambda mask: (mask.astype(int), 8))
if "print" in sys.argv:
    def print(*args):
        pass
if "builtin" in sys.argv:
    import builtins
    _print = print
    builtins.print = lambda *args, **kwargs: _print("=>", *args, **kwargs)

FUNCTIONS = [printing, formatted, labelled, fitted, telling, unique, drawing, stored, caught, looping]
chosen = [one for one in FUNCTIONS if one.__name__ in sys.argv] or FUNCTIONS
report(chosen, lambda: (np.linspace(0.1, 1.0, 6), 3))
"""
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, and with a cache that has its records."""
    folder = tmp_path_factory.mktemp("splits")
    assert run(folder, folder / "cache", text=SPLITS, **SETTINGS)[0] == "traced"
    return folder


def again(kept: Path, tmp_path: Path, *words: str, text: str = SPLITS, **environment: str) -> str:
    """Return how the first call goes in another process, on a copy of the cache."""
    shutil.copytree(kept / "cache", tmp_path / "cache")
    return run(kept, tmp_path / "cache", *words, text=text, **{**SETTINGS, **environment})[0]


NAMES = ("printing", "formatted", "labelled", "fitted", "telling", "unique", "drawing", "stored", "caught", "looping")


@pytest.mark.parametrize("name", NAMES)
def test_a_second_process_calls_the_same(kept: Path, tmp_path: Path, name: str) -> None:
    assert again(kept, tmp_path, name) == "started"


def test_warnings_are_those_of_the_first_process(kept: Path, tmp_path: Path) -> None:
    told = kept / "program.py.told"
    told.unlink(missing_ok=True)
    run(kept, tmp_path / "empty", text=SPLITS, **SETTINGS)
    assert again(kept, tmp_path) == "started"
    first, second = told.read_text(encoding="utf-8").splitlines()
    assert first == second and "FallbackWarning" in first and "prints" in first


CHANGES = (
    *("printing global", "printing helper", "printing print", "printing builtin", "formatted global"),
    *("labelled library", "labelled module", "telling told"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_another_thing_is_traced(kept: Path, tmp_path: Path, change: str) -> None:
    assert again(kept, tmp_path, *change.split()) == "traced"


def test_what_a_callback_reads_is_read_at_the_call(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, "fitted", "global") == "started"


def test_a_callback_of_other_text_is_traced(kept: Path, tmp_path: Path) -> None:
    before, after = "p[0] * x + p[1]", "p[0] * x - p[1]"
    assert SPLITS.count(before) == 1
    assert again(kept, tmp_path, "fitted", text=SPLITS.replace(before, after)) == "traced"


@pytest.mark.parametrize("trials", ["0", "1"])
def test_trials_give_each_call_to_one_side(kept: Path, tmp_path: Path, trials: str) -> None:
    assert again(kept, tmp_path, "telling", XJIT_TRIALS=trials) == "started"


GENERATORS = (
    HEAD
    + REPORT
    + """
RNG = np.random.default_rng(5)


def walks(rng, x):
    position = np.zeros(4)
    for _ in range(5):
        position += np.cos(rng.uniform(0.0, 3.0, 4))
    return position * x, rng.integers(0, 10, 3)


def rejected(rng, x):
    total = 0.0
    while total < 2.0:
        if rng.random() < 0.5:
            total += rng.exponential(x[1])
    return total


def permuted(rng, x):
    return x[rng.permutation(4)] + 1.0


def from_outside(rng, x):
    return x * RNG.standard_normal(4)


def checked(rng, x):
    return rng.normal(0.0, x, 4)


def arguments():
    global RNG
    RNG = np.random.default_rng(5)
    if "old" in sys.argv:
        return np.random.RandomState(2), np.arange(4.0)
    if "other bits" in sys.argv:
        return np.random.Generator(np.random.MT19937(3)), np.arange(4.0)
    return np.random.default_rng(2), np.arange(4.0)


if "old" in sys.argv:
    walks = permuted
FUNCTIONS = [walks, rejected, permuted, from_outside, checked]
chosen = [one for one in FUNCTIONS if one.__name__ in sys.argv] or FUNCTIONS
report(chosen, arguments)
"""
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program that draws, and with a cache that has its records."""
    folder = tmp_path_factory.mktemp("draws")
    assert run(folder, folder / "cache", text=GENERATORS, **SETTINGS)[0] == "traced"
    return folder


@pytest.mark.parametrize("name", ["walks", "rejected", "permuted", "from_outside", "checked"])
def test_a_second_process_draws_the_same(drawn: Path, tmp_path: Path, name: str) -> None:
    assert again(drawn, tmp_path, name, text=GENERATORS) == "started"


def test_the_bit_generator_is_no_part_of_the_program(drawn: Path, tmp_path: Path) -> None:
    assert again(drawn, tmp_path, "walks", "other bits", text=GENERATORS) == "started"


def test_the_class_of_the_generator_is(drawn: Path, tmp_path: Path) -> None:
    assert again(drawn, tmp_path, "permuted", "old", text=GENERATORS) == "traced"


NUMBERS = (
    HEAD
    + REPORT
    + """

def scaled(x, factor, weight):
    return x * factor + abs(weight)


report([scaled], lambda: (np.arange(4.0), np.float32(2.5), 1.0 + 2.0j))
"""
)


def test_numbers_of_numpy_and_complex_ones(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path / "cache", text=NUMBERS, **SETTINGS)[0] == "traced"
    assert run(tmp_path, tmp_path / "cache", text=NUMBERS, **SETTINGS)[0] == "started"
