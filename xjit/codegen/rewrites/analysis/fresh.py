"""Names that a kernel has not given yet."""

from __future__ import annotations

from xjit.ir.loops.nodes import Block, Kernel
from xjit.ir.loops.walk import integers, names, statements


class Names:
    """The names of a kernel, and those that a rewrite adds."""

    def __init__(self, kernel: Kernel) -> None:
        self.taken = names(kernel.body) | {argument.buffer.name for argument in kernel.arguments}
        for argument in kernel.arguments:
            self.taken.update(*[expr.words() for expr in (*argument.buffer.extents, *argument.buffer.strides)])
        for one in statements(kernel.body):
            self.taken.update(*[expr.words() for expr in integers(one)])

    def fresh(self, name: str) -> str:
        """The name, or that with a number behind it if it is taken."""
        found, number = name, 2
        while found in self.taken:
            found, number = f"{name}_{number}", number + 1
        self.taken.add(found)
        return found

    def copies(self, block: Block, suffix: str, only: frozenset[str] | None = None) -> dict[str, str]:
        """Names for a copy of a block, by those that the block gives; ``only`` these, if that is said."""
        given = names(block) if only is None else names(block) & only
        return {name: self.fresh(f"{name}_{suffix}") for name in sorted(given)}
