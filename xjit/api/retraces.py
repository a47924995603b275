"""Why a function had to be traced again, in words."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from xjit.dataclass import dataclass, field
from xjit.errors import RetraceWarning
from xjit.ir.source_location import stack_level
from xjit.types import NAMES, array_type

# The retrace for one cause at which a warning names it. New shapes are no cause: they find their kernels again.
WARNING_AT = 8
# How many reasons are kept, the latest ones.
KEPT_REASONS = 100


@dataclass(eq=False)
class Retraces:
    """The reasons of all retraces of one function; the eighth for one cause warns."""

    name: str
    reasons: list[str] = field(default_factory=list)
    causes: Counter[str] = field(default_factory=Counter)

    def note(self, reason: str, cause: str) -> None:
        """Records a retrace; ``cause`` is empty for those that are to be expected, ``reason`` for a first trace."""
        if not reason:
            return
        self.reasons = [*self.reasons[1 - KEPT_REASONS :], reason]
        if not cause:
            return
        self.causes[cause] += 1
        if self.causes[cause] == WARNING_AT:
            text = f"{self.name} was traced {WARNING_AT} times again because {reason}; pass it as an array argument"
            warnings.warn(text, RetraceWarning, stacklevel=stack_level())


def difference(
    labels: Sequence[str], old: Sequence[Hashable], new: Sequence[Hashable], same_structure: bool
) -> tuple[str, str]:
    """The first difference of two signatures in words, and its cause ("" for shapes)."""
    if not same_structure:
        return "the arguments are nested in another way", "the nesting of the arguments"
    for label, before, after in zip(labels, old, new, strict=False):
        if before != after:
            expected = _is_array(before) and _is_array(after)
            text = f"{label} changed from {describe(before)} to {describe(after)}"
            return text, "" if expected else f"the type of {label}"
    return "an earlier trace was dropped", ""


def _is_array(signature: Any) -> bool:
    return isinstance(signature, tuple) and len(signature) == 3 and isinstance(signature[0], np.dtype)


def describe(signature: Any) -> str:
    """A leaf's signature as text, such as ``f64[2,3]``."""
    if _is_array(signature):
        dtype, shape, strides = signature
        packed = 0 in shape or array_type(dtype, shape).strides == strides
        return f"{NAMES[dtype]}[{','.join(map(str, shape))}]" + ("" if packed else f" with strides {strides}")
    if isinstance(signature, tuple) and signature and isinstance(signature[0], type):
        return " ".join([signature[0].__name__, *map(repr, signature[1:])])
    return repr(signature)
