"""Set-up of every test: strict mode, a cache folder of this run, seeded random numbers.

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


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers seeded from the test's own name: the same in every run, different in every test."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
