"""Call functions instead of inlining them."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.lowering.variants import has_called_form, with_fast_path
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Kernel, Prim, Statement, Value
from xjit.ir.loops.walk import Change, blocks


@dataclass(frozen=True, slots=True)
class Call:
    """Call the functions in the body of a loop, outside of further loops, which compiles faster than inlined ones.

    before      for i in 0 .. n:
                  v = sin(w[i])
                  for j in 0 .. m:
                    out[i, j] = (sin(x[i, j]) + v)
    after       for i in 0 .. n:                        Call("i", "rare")
                  v = sin_rare(w[i])
                  for j in 0 .. m:
                    out[i, j] = (sin(x[i, j]) + v)

    The variant ``rare`` is for one element, of functions with rare arguments; ``called`` for a register of them.
    """

    loop: str
    variant: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that call no such function."""
        _, loop = found(kernel, self.loop)
        body = tuple(one if blocks(one) else self._called(one) for one in loop.body)
        if body == loop.body:
            raise RefusedError(f"the loop over {self.loop} calls no function that has the form {self.variant}")
        return with_statements(kernel, loop, (replace(loop, body=body),))

    def _called(self, one: Statement) -> Statement:
        return Change(value=self._variant).statement(one)

    def _variant(self, value: Value) -> Value:
        if not isinstance(value, Prim) or value.variant or not value.operands:
            return value
        key = value.name, value.operands[0].dtype
        has_form = bool(with_fast_path((key,))) if self.variant == "rare" else has_called_form(*key)
        return replace(value, variant=self.variant) if has_form else value
