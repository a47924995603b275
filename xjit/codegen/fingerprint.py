"""The name of the compiler itself, for the keys of what it makes."""

from __future__ import annotations

import functools
from pathlib import Path

from xjit.llvm.digests import digest, versions

COMPILER_FILES = (
    *("called_forms.py", "emit*.py", "numba_*.py", "extremes.py", "inline_functions.py", "kinds.py"),
    *("lane_trees.py", "llvm_pipeline.py", "searches.py", "step_loads.py", "tables.py", "wide_forms.py"),
    *("../alignment.py", "../llvm/objects.py", "../llvm/targets.py", "../llvm/vector_width.py", "../numerics.py"),
)
"""What decides the machine code of a text: an object is never taken for that of another compiler."""


@functools.cache
def compiler() -> str:
    """Names the compiler: the versions, and the text of our own modules."""
    folder = Path(__file__).parent
    files = sorted(path for pattern in COMPILER_FILES for path in folder.glob(pattern))
    texts = [file.read_text(encoding="utf-8") for file in files]
    return digest(versions(), *texts)
