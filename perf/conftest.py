"""Options of the suite's tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says how long to measure."""
    parser.addoption("--budget", type=float, default=3.0, help="seconds of measuring per program and size")
