"""Hashes that name a compiled result: of texts, of Python functions, of the versions that made it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.machinery
import os
import platform
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any


def _sha256() -> Any:
    """The interpreter's own SHA-256: to load OpenSSL's takes longer than it saves with data as small as ours."""
    for name in ("_sha2", "_sha256", "hashlib"):  # the second one before Python 3.12
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).sha256
    raise ImportError("this interpreter has no SHA-256")


sha256: Callable[[bytes], Any] = _sha256()


def digest(*parts: str) -> str:
    """SHA-256 over the parts; where one part ends and the next begins matters.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    state = sha256(b"")
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(f"{len(data)}:".encode())
        state.update(data)
    name: str = state.hexdigest()
    return name


@functools.cache
def versions() -> str:
    """The versions that machine code depends on: of Python, Numba and llvmlite."""
    return "\n".join((platform.python_version(), _version("numba"), _version("llvmlite")))


def _version(package: str) -> str:
    # Neither package is imported for this, and reading the file takes a hundredth of what importlib.metadata does.
    origin = _origin(package)
    if origin is None:
        return "none"
    try:
        with open(os.path.join(os.path.dirname(origin), "_version.py"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return _distribution_version(package)


def _origin(package: str) -> str | None:
    """The file of a package, loaded or not; None for one that is missing."""
    if package in sys.modules:
        return getattr(sys.modules[package], "__file__", None)
    found = importlib.machinery.PathFinder.find_spec(package)
    if found is None:  # a finder of another kind may know
        from importlib import util

        found = util.find_spec(package)
    return None if found is None else found.origin


def _distribution_version(package: str) -> str:
    from importlib import metadata

    return metadata.version(package)


def code_text(code: CodeType) -> str:
    """Return what a code object does, without its file name and line numbers."""
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    parts: list[Any] = [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars]
    return repr(parts)
