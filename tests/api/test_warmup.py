"""Functions are compiled for arguments that are described, and nothing is computed."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ShapeDtype
from xjit.api.descriptions import example
from xjit.errors import FallbackWarning

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300


def spread(x: Any, factor: Any) -> Any:
    return np.sqrt(x * x + 1.0).sum(axis=-1) * factor


def ready(function: Any, *arguments: Any, **named: Any) -> bool:
    """Return whether a call finds all that it needs."""
    before = function.stats()
    function(*arguments, **named)
    after = function.stats()
    return (after.traces, after.compiles) == (before.traces, before.compiles)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (100, 200), (3, 4, 500)])
@pytest.mark.parametrize("dtype", [np.float32, ">f8", "c16", np.int8, bool])
def test_examples_look_like_the_arrays_described(shape: tuple[int, ...], dtype: Any, order: Any) -> None:
    made, wanted = example(ShapeDtype(shape, dtype, order)), np.zeros(shape, np.dtype(dtype).newbyteorder("="), order)
    assert type(made) is np.ndarray
    assert (made.shape, made.dtype, made.strides) == (wanted.shape, wanted.dtype, wanted.strides)
    assert not made.any()


def test_what_is_described_is_compiled(rng: np.random.Generator) -> None:
    function = xjit.jit(spread)
    function.warmup(ShapeDtype((40, 30)), 0.5)
    function.warmup(ShapeDtype((40, 30), np.float32, "F"), factor=2)
    assert function.stats().traces == 2
    x = rng.standard_normal((40, 30))
    assert ready(function, x, 0.25)
    assert ready(function, np.asfortranarray(x.astype(np.float32)), factor=3)
    assert not ready(function, x.T, 0.25)
    np.testing.assert_allclose(function(x, 0.25), spread(x, 0.25))


def test_arguments_are_described_inside_of_containers_and_by_other_records(rng: np.random.Generator) -> None:
    function = xjit.jit(lambda model, names: model["w"] * 2.0 + sum(model["rest"]))
    record = types.SimpleNamespace(shape=(5,), dtype=np.dtype("f8"))
    names = ("a", "b")
    function.warmup({"w": record, "rest": [ShapeDtype(5), ShapeDtype((5,))]}, names)
    x = rng.standard_normal(5)
    assert ready(function, {"w": x, "rest": [x, x]}, names)


def test_arrays_themselves_are_not_computed_with() -> None:
    function = xjit.jit(lambda a: np.linalg.inv(a) + 1.0)
    function.warmup(np.zeros((3, 3)))  # singular
    assert ready(function, np.eye(3))
    with pytest.raises(np.linalg.LinAlgError):
        function(np.zeros((3, 3)))


def test_a_second_warmup_finds_the_first() -> None:
    function = xjit.jit(spread)
    for _ in range(3):
        function.warmup(ShapeDtype(10), 1.0)
    assert function.stats().traces == 1


def test_descriptions_explain_too() -> None:
    function, x = xjit.jit(spread), np.zeros((300, 20))
    described = ShapeDtype(x.shape)
    assert function.source(described, 1.0) == function.source(x, 1.0)
    assert function.graph(described, 1.0) == function.graph(x, 1.0)
    assert str(function.explain(described, 1.0)) == str(function.explain(x, 1.0))


@pytest.mark.skipif(sys.platform == "win32", reason="address space counts as memory")
def test_nothing_of_the_size_of_the_data_is_made() -> None:
    function = xjit.jit(lambda x, y: (x - x.mean(axis=1, keepdims=True)) @ y + 1.0)
    function.warmup(ShapeDtype((1 << 21, 1 << 20)), ShapeDtype((1 << 20, 1 << 19)))  # 16 and 4 TiB
    assert function.stats().traces == 1


def test_what_cannot_be_compiled_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    calls = []

    def unsupported(x: Any) -> Any:
        calls.append(type(x))
        return np.unique(x)

    function = xjit.jit(unsupported)
    with pytest.warns(FallbackWarning, match="unsupported runs through NumPy"):
        function.warmup(ShapeDtype(4))
    assert np.ndarray not in calls
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function.warmup(ShapeDtype(4))
        assert function(np.array([1.0, 1.0, 2.0, 2.0])).tolist() == [1.0, 2.0]


def test_strict_functions_raise() -> None:
    with pytest.raises(xjit.CaptureError):
        xjit.jit(strict=True)(lambda x: np.trim_zeros(x)).warmup(ShapeDtype(4))


def test_what_was_refused_before_is_raised_under_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    function = xjit.jit(lambda x: hash(x[0] * 1j))
    monkeypatch.setenv("XJIT_STRICT", "0")
    with pytest.warns(FallbackWarning):
        function(np.zeros(4))
    monkeypatch.setenv("XJIT_STRICT", "1")
    with pytest.raises(xjit.CaptureError):
        function.warmup(ShapeDtype(4))


def test_calls_of_a_kind_that_was_compiled_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    function = xjit.jit(lambda x: hash(x[0] * 1j) if len(x) == 4 else x + 1.0)
    with pytest.warns(FallbackWarning):
        for _ in range(20):  # by then calls with one line of floats are not looked at any more
            function(np.zeros(4))
    function.warmup(ShapeDtype(5))
    before = function.stats().fallbacks
    assert function(np.zeros(6)).tolist() == [1.0] * 6
    assert function.stats().fallbacks == before


def test_mistakes_of_the_program_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    with pytest.raises(xjit.ShapeError):
        xjit.jit(lambda x, y: x + y).warmup(ShapeDtype(3), ShapeDtype(4))
    with pytest.raises(KeyError):
        xjit.jit(lambda x: {}["missing"]).warmup(ShapeDtype(3))


@pytest.mark.parametrize(("arguments", "reason"), [(((2,), "f8", "K"), "order"), (((2, -1),), "at least 0")])
def test_impossible_descriptions_are_refused(arguments: Any, reason: str) -> None:
    with pytest.raises(xjit.ArgumentError, match=reason):
        ShapeDtype(*arguments)


SHIPPING = """
import sys
import numpy as np
import xjit

@xjit.jit
def spread(x, factor):
    return np.sqrt(x * x + 1.0).sum(axis=-1) * factor

if sys.argv[1] == "make":
    spread.warmup(xjit.ShapeDtype((50, 60)), 0.5)
np.testing.assert_allclose(spread(np.ones((50, 60)), 1.0), np.full(50, np.sqrt(2.0) * 60))
print(spread.stats().compiles, "numba" in sys.modules)
"""


def test_shipped_kernels_are_found_by_other_users(tmp_path: Path) -> None:
    script, shipped, own = tmp_path / "program.py", tmp_path / "shipped", tmp_path / "own"
    script.write_text(SHIPPING)

    def printed(way: str, **settings: str) -> str:
        command = [sys.executable, str(script), way]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()

    assert printed("make", XJIT_CACHE_DIR=str(shipped)) == "1 True"
    before = sorted(path.stat().st_mtime_ns for path in shipped.iterdir())
    assert printed("use", XJIT_CACHE_DIR=str(own), XJIT_SHIPPED_DIR=str(shipped)) == "0 False"
    assert sorted(path.stat().st_mtime_ns for path in shipped.iterdir()) == before
    assert list(own.iterdir()) == []
