"""Set-up of every test: strict mode, a cache folder of this run, seeded random numbers; runs of a part of all cases.

Nothing here reads the clock or a random seed, so a run can be repeated exactly.
"""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
import zlib

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
        help="run the Kth of every N cases of a test function (K/N); tests of fewer cases than N run whole",
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
    """Keep the Kth of every N cases of each test function, as `--xjit-part=K/N` asks.

    Cases are counted in the order of a hash of their names: neighbours differ in their last parameter only, and every
    Nth of them would often be of one dtype.
    """
    part, parts = map(int, config.getoption("--xjit-part").split("/"))
    if parts == 1:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=lambda one: zlib.crc32(one.nodeid.encode())):
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {item for own in cases.values() for item in (own if len(own) < parts else own[part - 1 :: parts])}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers seeded from the test's own name: the same in every run, different in every test."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
