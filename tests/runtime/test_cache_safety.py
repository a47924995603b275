"""Files in the cache folder that somebody has changed, exchanged or damaged never reach the processor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xjit.codegen.cpu import llvm_pipeline
from xjit.errors import CacheWarning
from xjit.runtime import configured_cache
from xjit.runtime.loading import loader
from xjit.runtime.loading.cache_entry import seal, unseal
from xjit.runtime.loading.disk_cache import DiskCache
from xjit.runtime.native import native_code

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300

PROGRAM = """
import sys, warnings
import numpy as np
from xjit import xjit

def plus(x): return x + 1.5
def minus(x): return x - 2.5
x = np.arange(5.0)
large = np.arange(2_000_000.0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for function in (plus, minus):
        compiled = xjit(function)
        for argument in (x, large):
            assert np.array_equal(compiled(argument), function(argument)), function
    np.testing.assert_allclose(xjit(lambda a, b: np.exp(a @ b) + 1.0)(x, x), np.exp(x @ x) + 1.0)
print(len(caught), *{warning.category.__name__ for warning in caught})
"""


def run_program(folder: Path) -> str:
    environment = {**os.environ, "XJIT_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", PROGRAM]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled") / "cache"
    assert run_program(folder) == "0"
    return folder


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xjc"))


def rotated(paths: list[Path]) -> None:
    """Puts the content of each file into the next one."""
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)


def one_for_all(paths: list[Path]) -> None:
    """Puts the content of the smallest entry, a kernel, in the place of all others."""
    content = min((path.read_bytes() for path in paths), key=len)
    for path in paths:
        path.write_bytes(content)


def emptied(paths: list[Path]) -> None:
    for path in paths:
        path.write_bytes(b"")


def cut_off(paths: list[Path]) -> None:
    for path in paths:
        path.write_bytes(path.read_bytes()[:-16])


@pytest.mark.parametrize("change", [rotated, one_for_all, emptied, cut_off])
def test_changed_entries_are_made_anew_with_one_warning(
    filled: Path, tmp_path: Path, change: Callable[[list[Path]], None]
) -> None:
    folder = tmp_path / "cache"
    shutil.copytree(filled, folder)
    assert len(entries(folder)) > 5
    change(entries(folder))
    assert run_program(folder) == "1 CacheWarning"
    assert run_program(folder) == "0"


STRANGER = """declare void @no_such_function()
define void @{name}() {{
  call void @no_such_function()
  ret void
}}
"""


def object_of(text: str) -> bytes:
    target = llvm_pipeline.host()
    return bytes(llvm_pipeline.target_machine(target).emit_object(llvm_pipeline.parse(text, target)))


def test_kernel_that_needs_an_unknown_symbol_is_not_loaded(tmp_path: Path) -> None:
    shelf = DiskCache(tmp_path / "cache").shelf("kernel")
    stored = loader.StoredObject(object_of(STRANGER.format(name="kernel")), "kernel", ("no_such_function",))
    shelf.put("0a1b", loader.pack(stored))
    with pytest.warns(CacheWarning):
        assert configured_cache.from_disk(shelf, "0a1b") is None
    assert entries(tmp_path / "cache") == []


ANSWER = "define i64 @answer() {\n  ret i64 42\n}\n"


@pytest.fixture
def store(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


@pytest.mark.parametrize("found", [STRANGER.format(name="answer"), "define i64 @other() {\n  ret i64 1\n}\n"])
def test_runtime_code_that_does_not_fit_is_made_anew(
    store: DiskCache, monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    monkeypatch.setattr(native_code, "_stores", [store.shelf("runtime")])
    stored = loader.StoredObject(object_of(found), "", ("no_such_function",))
    store.put("runtime", native_code.object_key(ANSWER, {}), loader.pack(stored))
    with pytest.warns(CacheWarning):
        assert native_code.NativeModule(ANSWER).function("answer")
    kept = store.get("runtime", native_code.object_key(ANSWER, {}))
    assert kept is not None
    assert loader.unpack(kept) != stored


def test_seal_covers_kind_key_and_content() -> None:
    content = seal("kernel", "0a1b", b"code")
    assert unseal("kernel", "0a1b", content) == b"code"
    assert unseal("kernel", "0a1c", content) is None
    assert unseal("runtime", "0a1b", content) is None
    assert unseal("kernel", "0a1b", content + b"x") is None
    assert unseal("kernel", "0a1b", b"") is None
