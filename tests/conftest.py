"""Set-up of every test: strict mode, a cache folder of this run, seeded random numbers; runs of a part of all cases.

Nothing here reads the clock or a random seed, so a run can be repeated exactly.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
# Chosen by hand with --hypothesis-profile=fuzz: new seeds on every run, many more examples.
settings.register_profile("fuzz", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("deterministic")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--xjit-cache-dir",
        default=None,
        help="keep compiled kernels in this folder instead of a fresh one (to test with a warm cache)",
    )
    parser.addoption(
        "--xjit-part",
        default="1/1",
        help="run part K of N (K/N) of all tests; each has every Nth case of each test function",
    )
    parser.addoption(
        "--xjit-whole",
        default=0,
        type=int,
        help="with --xjit-part, run test functions of at most so many cases whole",
    )
    parser.addoption(
        "--xjit-share",
        default="1/1",
        help="run share K of N (K/N), which together run each test once: for processes side by side",
    )


def pytest_configure(config: pytest.Config) -> None:
    os.environ["XJIT_STRICT"] = "1"
    chosen = config.getoption("--xjit-cache-dir")
    if chosen is None:
        folder = tempfile.mkdtemp(prefix="xjit-test-cache-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    else:
        folder = os.path.abspath(chosen)
        os.makedirs(folder, mode=0o700, exist_ok=True)
    os.environ["XJIT_CACHE_DIR"] = folder
    # Tests look at traces: with the tracer loaded no first call is served by a program from a warm cache.
    importlib.import_module("xjit.api.dispatcher")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what `--xjit-part` and `--xjit-share` ask for."""
    part = _in_part(config.getoption("--xjit-part"), config.getoption("--xjit-whole"), items)
    kept = _in_share(config.getoption("--xjit-share"), part)
    if len(kept) < len(items):
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept


# Test functions of fewer cases than this are in parts by a hash: single tests would all be in the first one.
FEW = 12


def _in_part(part: str, whole: int, items: list[pytest.Item]) -> list[pytest.Item]:
    """The Kth of every N cases of each test function, for `K/N`, and functions of at most `whole` cases.

    Cases are counted in the order of a hash of their names: neighbours differ in their last parameter only, and every
    Nth of them would often be of one dtype. Parts of different N fit: 2/6 and 4/6 are two thirds of 2/2.
    """
    which, parts = map(int, part.split("/"))
    cases: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=_hash):
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept: set[pytest.Item] = set()
    for name, own in cases.items():
        begin = 0 if len(own) >= FEW else zlib.crc32(name.encode())
        kept.update(own if len(own) <= whole else own[(which - 1 - begin) % parts :: parts])
    return [item for item in items if item in kept]


def _in_share(share: str, items: list[pytest.Item]) -> list[pytest.Item]:
    """Share K of N by a hash of the names, for `K/N`: costs are spread evenly over thousands of tests."""
    which, shares = map(int, share.split("/"))
    return [item for item in items if _hash(item) % shares == which - 1]


def _hash(item: pytest.Item) -> int:
    return zlib.crc32(item.nodeid.encode())


def pytest_collection_finish() -> None:
    """Write no bytecode from here on: of a module that a test writes twice within a second the first would stay."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.fixture(autouse=True)
def _settings_stay() -> Iterator[None]:
    """Check that a test leaves the settings as they were: all tests after it would run with others."""
    before = _settings()
    yield
    assert _settings() == before


def _settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("XJIT_")}


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers seeded from the test's own name: the same in every run, different in every test."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
