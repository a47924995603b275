"""Hashes that name a compiled result: of texts, of Python functions, of the versions that made it."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import platform
from pathlib import Path
from types import CodeType
from typing import Any


def digest(*parts: str) -> str:
    """SHA-256 over the parts; where one part ends and the next begins matters.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    state = hashlib.sha256()
    for part in parts:
        data = part.encode()
        state.update(f"{len(data)}:".encode())
        state.update(data)
    return state.hexdigest()


@functools.cache
def versions() -> str:
    """The versions that machine code depends on: of Python, Numba and llvmlite."""
    return "\n".join((platform.python_version(), _version("numba"), _version("llvmlite")))


def _version(package: str) -> str:
    # Neither package is imported for this, and reading the file takes a hundredth of what importlib.metadata does.
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return "none"
    written = Path(spec.origin).with_name("_version.py")
    return written.read_text(encoding="utf-8") if written.exists() else _distribution_version(package)


def _distribution_version(package: str) -> str:
    from importlib import metadata

    return metadata.version(package)


def code_text(code: CodeType) -> str:
    """Return what a code object does, without its file name and line numbers."""
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    parts: list[Any] = [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars]
    return repr(parts)
