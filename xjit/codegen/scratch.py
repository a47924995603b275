"""The scratch of a kernel: memory on the stack for what loops keep for each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from xjit.codegen.scopes import Nest
from xjit.ir.loops import Alloc
from xjit.types import DType


@dataclass(eq=False)
class Scratch:
    """All buffers of scratch of one kernel, in the order in which they were taken."""

    nest: Nest
    allocs: list[Alloc] = field(default_factory=list)

    def take(self, extent: str, dtype: DType) -> str:
        """The name of a new buffer of so many elements."""
        name = self.nest.fresh("m")
        self.allocs.append(Alloc(name, extent, dtype))
        return name
