"""The name of the compiler itself, for the keys of what it makes."""

from __future__ import annotations

import functools
from pathlib import Path

from xjit.llvm.digests import digest, versions

COMPILER_FILES = (
    *(
        "lowering/called_forms.py",
        "cpu/emit*.py",
        "front_end/numba_*.py",
        "cpu/extremes.py",
        "language/inline_functions.py",
        "language/scalar_types.py",
    ),
    *(
        "cpu/lane_trees.py",
        "cpu/llvm_pipeline.py",
        "cpu/searches.py",
        "cpu/step_loads.py",
        "cpu/tables.py",
        "cpu/wide_forms.py",
    ),
    *("../alignment.py", "../llvm/objects.py", "../llvm/targets.py", "../llvm/vector_width.py", "../numerics.py"),
    *("../llvm/elf.py", "../runtime/loading/linking.py", "../runtime/loading/image.py"),
)
"""The key of all that decides the machine code of a text: no object is taken for that of another compiler."""


@functools.cache
def compiler() -> str:
    """Names the compiler: the versions, and the text of our own modules."""
    folder = Path(__file__).parents[1]
    files = sorted(path for pattern in COMPILER_FILES for path in folder.glob(pattern))
    texts = [file.read_text(encoding="utf-8") for file in files]
    return digest(versions(), *texts)
