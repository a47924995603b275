"""Add narrow integers up in few bits, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.exchange import with_accumulates
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Accumulate, Carry, Const, Kernel, Let, Loop, Prim, Statement, Value, Var
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, INT16, INT32, DType, dtype_class


@dataclass(frozen=True, slots=True)
class BlockIntegers:
    """Add integers that were narrow up in the least type that holds the sum of a block: more of them fit a vector.

    before        for j in b .. e:
                    v = cast[s64](x[j])
                    s = add(s, v)
    after         carry s_block: s16 = 0                BlockIntegers("j")
                  for j in b .. e:
                    v = cast[s64](x[j])
                    s_block = add(s_block, cast[s16](v))
                  s = add(s, cast[s64](s_block))

    As many truth values as a block has add up to an s16, as many integers of 16 bits to an s32.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that may be longer than a block, and those without such sums."""
        path, loop = found(kernel, self.loop)
        steps = narrow_sums(loop)
        if not steps:
            raise RefusedError(f"the loop over {self.loop} adds no integers that were narrow")
        if not known_before(kernel, path).at_most(loop.stop, loop.start + numerics.BLOCK):
            raise RefusedError(f"the loop over {self.loop} may be longer than a block")
        taken = Names(kernel)
        names = [taken.fresh(f"{one.name}_block") for one, _ in steps]
        return with_statements(kernel, loop, tuple(_in_parts(loop, steps, names)))


def _in_parts(loop: Loop, steps: Sequence[tuple[Accumulate, DType]], names: Sequence[str]) -> Iterator[Statement]:
    parts = {one.name: Var(name, dtype) for (one, dtype), name in zip(steps, names, strict=True)}
    for part in parts.values():
        yield Carry(part.name, Const(Literal.of(0, part.dtype)))

    def narrow(one: Accumulate) -> Accumulate:
        if one.name not in parts:
            return one
        part = parts[one.name]
        return replace(one, name=part.name, value=Prim("cast", (one.value,), part.dtype))

    yield replace(loop, body=with_accumulates(loop.body, narrow))
    for one, _ in steps:
        yield Accumulate(one.name, one.reducer, Prim("cast", (parts[one.name],), one.value.dtype))


def narrow_sums(loop: Loop) -> list[tuple[Accumulate, DType]]:
    """The sums in a loop of integers that were narrow, with the type that holds the sum of a block."""
    named = {one.name: one.value for one in loop.body if isinstance(one, Let)}
    found = []
    for one in loop.body:
        if isinstance(one, Accumulate) and one.reducer == "add" and dtype_class(one.value.dtype) == "I":
            narrow = _narrow_type(named.get(one.value.name, one.value) if isinstance(one.value, Var) else one.value)
            if narrow is not None and narrow.itemsize < one.value.dtype.itemsize:
                found.append((one, narrow))
    return found


def _narrow_type(value: Value) -> DType | None:
    match value:
        case Prim("cast", (operand,)) if operand.dtype == BOOL:
            return INT16
        case Prim("cast", (operand,)) if dtype_class(operand.dtype) == "I" and operand.dtype.itemsize <= 2:
            return INT32
    return None
