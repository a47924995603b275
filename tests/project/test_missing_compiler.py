"""Without Numba, or with one that does not work, functions run through NumPy, and one warning says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300

PROGRAM = """
import glob, sys, tempfile, warnings
import numpy as np
import xjit

def increased(x): return x + 1.5
def decreased(x): return x - 1.5

reports = set(glob.glob(tempfile.gettempdir() + "/xjit-report-*"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for function in (increased, decreased, lambda x: np.sin(x) * 2.0):
        compiled = xjit.jit(function)
        for x in (np.ones(3), np.ones(3), np.ones(4, np.float32)):
            np.testing.assert_allclose(compiled(x), function(x), rtol=1e-6)
for warning in caught:
    assert warning.filename == "<string>"
    print(warning.category.__name__, warning.message)
print(set(glob.glob(tempfile.gettempdir() + "/xjit-report-*")) - reports)
try:
    xjit.jit(strict=True)(increased)(np.ones(3))
except xjit.TargetError as error:
    print("strict:", error)
"""

CHANGED = """
import numba.core.typeinfer
del numba.core.typeinfer.TypeInferer
"""


def printed(preparation: str, folder: Path) -> list[str]:
    settings = {"XJIT_CACHE_DIR": str(folder), "TMPDIR": str(folder.parent), "XJIT_STRICT": "0"}
    run = subprocess.run(
        [sys.executable, "-c", preparation + PROGRAM],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def told_once(found: str, fix: str) -> list[str]:
    return [
        f"FallbackWarning all functions run through NumPy: xjit: {found}",
        f"  fix: {fix}",
        "set()",
        f"strict: xjit: {found}",
        f"  fix: {fix}",
    ]


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_a_missing_package_is_told_once(package: str, tmp_path: Path) -> None:
    lines = printed(f"import sys; sys.modules[{package!r}] = None", tmp_path / "cache")
    reason = f"ModuleNotFoundError: import of {package} halted; None in sys.modules"
    assert lines == told_once(f"{package} cannot be imported: {reason}", f"pip install {package}")


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_a_package_that_does_not_fit_is_told_once(package: str, tmp_path: Path) -> None:
    folder = tmp_path / package
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('NumPy 1.99 or less is needed')")
    lines = printed(f"import sys; sys.path.insert(0, {str(tmp_path)!r})", tmp_path / "cache")
    reason = f"{package} cannot be imported: ImportError: NumPy 1.99 or less is needed"
    assert lines == told_once(reason, f"pip install --force-reinstall {package}")


def test_a_package_that_does_not_work_is_told_once(tmp_path: Path) -> None:
    lines = printed(CHANGED, tmp_path / "cache")
    told = [line for line in lines if line.startswith("FallbackWarning")]
    assert [line.split(":")[0] for line in told] == [
        "FallbackWarning this version of Numba is not as expected, kernels compile more slowly",
        "FallbackWarning all functions run through NumPy",
    ]
    assert "does not work here" in told[1]
    assert "set()" in lines
