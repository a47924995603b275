"""Primitives on NumPy scalars, by the text that they have in a kernel: what the loop IR's executor computes with."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from xjit.codegen.language import inline_functions, intrinsics
from xjit.codegen.text.scalar_text import call_text
from xjit.types import DType


def primitive(name: str, variant: str, operands: Sequence[Any], dtype: DType) -> Any:
    """The result of a primitive, with the bits that uncompiled kernel text has.

    >>> import numpy as np
    >>> primitive("max", "", (np.float32(2), np.float32("nan")), np.dtype(np.float32))
    np.float32(nan)
    """
    types = tuple(operand.dtype for operand in operands)
    return _function(name, variant, types, dtype)(*operands)


@functools.lru_cache(maxsize=1024)
def _function(name: str, variant: str, types: tuple[DType, ...], dtype: DType) -> Any:
    names = [f"x{number}" for number in range(len(types))]
    text = names[0] if name == "copy" else call_text(name, tuple(zip(names, types, strict=True)), dtype, variant)
    source = f"def kernel({', '.join(names)}):\n    return {text}\n"
    scope = intrinsics.namespace() | inline_functions.namespace(source)
    exec(compile(source, "<primitive>", "exec"), scope)
    return scope["kernel"]
