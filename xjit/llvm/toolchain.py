"""Numba and llvmlite as packages that may be missing or may not fit the rest of an installation."""

from __future__ import annotations

from typing import Any

from xjit import jobs
from xjit.errors import MissingCompilerError


def imported(package: str) -> Any:
    """A module of Numba or llvmlite; MissingCompilerError that says why it cannot be imported."""
    name = package.partition(".")[0]
    try:
        jobs.module(name)
        return jobs.module(package)
    except (MemoryError, RecursionError):
        raise  # says nothing about the package
    except Exception as error:
        raise unusable(name, "cannot be imported", error) from error


def unusable(package: str, what: str, error: Exception) -> MissingCompilerError:
    """The error that says what is wrong with a package."""
    missing = isinstance(error, ModuleNotFoundError) and error.name == package
    return MissingCompilerError(
        f"xjit: {package} {what}: {type(error).__name__}: {error}",
        fix=f"pip install {'' if missing else '--force-reinstall '}{package}",
    )
