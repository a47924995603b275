"""Hashes that name a compiled result: of texts, of Python functions, of the compiler itself."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib import metadata
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
def compiler() -> str:
    """Names the compiler: versions of Python, Numba, llvmlite and xjit, and the text of our own modules."""
    versions = [platform.python_version(), *(_version(name) for name in ("numba", "llvmlite", "xjit"))]
    files = sorted(Path(__file__).parent.glob("*.py"))
    return digest(*versions, *(file.read_text(encoding="utf-8") for file in files))


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "none"


def code_text(code: CodeType) -> str:
    """What a code object does, without its file name and line numbers."""
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    parts: list[Any] = [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars]
    return repr(parts)
