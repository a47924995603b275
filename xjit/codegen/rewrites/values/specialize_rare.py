"""Run a block as if no argument were rare, and again where one was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.lowering.variants import has_fast_path, is_frequent, is_vector_function
from xjit.codegen.rewrites.analysis.directions import rereads
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import (
    Accumulate,
    Block,
    Carry,
    Check,
    Const,
    Fold,
    If,
    Kernel,
    Let,
    Loop,
    Prim,
    Statement,
    Value,
    Var,
    While,
)
from xjit.ir.loops.walk import Change, blocks, parts, renamed, statements, values, with_blocks
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, DType


@dataclass(frozen=True, slots=True)
class SpecializeRare:
    """Run a loop with functions that are right for usual arguments only, and again where one was not usual.

    before      for b in 0 .. n by 4:
                  for i in b .. min(b + 4, n):
                    v = sin(x[i])
                    out[i] = v
                    t = add(t, v)
    after       for b in 0 .. n by 4:                   SpecializeRare("i", "far")
                  carry far: pred = False
                  t_kept = t
                  for i in b .. min(b + 4, n):
                    far = or(far, sin_is_far(x[i]))
                    v = sin_near(x[i])
                    out[i] = v
                    t = add(t, v)
                  if far:
                    t = t_kept
                    for i_rare in b .. min(b + 4, n):
                      v_rare = sin_rare(x[i_rare])
                      out[i_rare] = v_rare
                      t = add(t, v_rare)

    Such code is vector code; blocks of some hundred iterations make a second run rare.
    """

    loop: str
    flag: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that call no such function, or may not run twice: that read what they write, or branch."""
        path, loop = found(kernel, self.loop)
        if not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} already")
        called = (part for one in statements(loop.body) for value in values(one) for part in parts(value))
        if not any(map(is_varied, called)):
            raise RefusedError(f"the loop over {self.loop} calls no function with rare arguments")
        for one in statements(loop.body):
            if isinstance(one, If | While | Check):
                raise RefusedError(f"the loop over {self.loop} decides by values, which are wrong in its first run")
        reason = rereads(known_before(kernel, path), loop.body, loop)
        if reason:
            raise RefusedError(f"the loop over {self.loop} may not run twice: {reason}")
        return with_statements(kernel, loop, tuple(self._twice(loop, Names(kernel))))

    def _twice(self, loop: Loop, taken: Names) -> Iterator[Statement]:
        yield Carry(self.flag, Const(Literal.of(False, BOOL)))
        kept = sorted(_changed(loop).items())
        before = {name: taken.fresh(f"{name}_kept") for name, _ in kept}
        for name, dtype in kept:
            yield Let(before[name], Var(name, dtype))
        yield replace(loop, body=tuple(self._near(loop.body)))
        (again,) = renamed((loop,), taken.copies((loop,), "rare"))
        often = _called_often(loop)
        (again,) = Change(value=lambda value: _rare(value, often)).block((again,))
        given = tuple(name for name, _ in kept), tuple(Var(before[name], dtype) for name, dtype in kept)
        yield If(Var(self.flag, BOOL), (*((Fold(*given),) if kept else ()), again))

    def _near(self, block: Block) -> Iterator[Statement]:
        """Yield the statements with the forms for usual arguments, each behind the question for others."""
        near = Change(value=lambda value: _variant(value, "near"))
        for one in block:
            if blocks(one):
                yield with_blocks(one, tuple(tuple(self._near(inner)) for inner in blocks(one)))
                continue
            for value in values(one):
                for part in parts(near.whole(value)):
                    if isinstance(part, Prim) and part.variant == "near":
                        yield Accumulate(self.flag, "or", replace(part, variant="is_far", dtype=BOOL))
            yield near.statement(one)


def is_varied(value: Value) -> bool:
    """Return whether a value calls a function that has a form for usual arguments only."""
    if not isinstance(value, Prim) or value.variant or not value.operands:
        return False
    return has_fast_path(value.name, value.operands[0].dtype)


def _called_often(loop: Loop) -> frozenset[tuple[str, DType]]:
    """The vector functions that occur in a loop more than once: to inline them there again costs more than a call."""
    computed = (part for one in statements(loop.body) for value in values(one) for part in parts(value))
    calls = (part for part in computed if isinstance(part, Prim) and part.operands)
    uses = Counter((call.name, call.operands[0].dtype) for call in calls)
    return frozenset(key for key, times in uses.items() if times > 1 and is_vector_function(*key))


def _rare(value: Value, often: frozenset[tuple[str, DType]]) -> Value:
    """A call as the second run makes it: inlined where many arguments are rare if some are."""
    if not isinstance(value, Prim) or value.variant or not value.operands:
        return value
    key = value.name, value.operands[0].dtype
    varied = has_fast_path(*key)
    is_called = not is_frequent(*key) if varied else key in often
    return replace(value, variant="rare") if is_called else value


def _variant(value: Value, variant: str) -> Value:
    return replace(value, variant=variant) if isinstance(value, Prim) and is_varied(value) else value


def _changed(loop: Loop) -> dict[str, DType]:
    """The scalars that a loop changes and does not give, with their types."""
    outer = changed((loop,))
    found: dict[str, DType] = {}
    for one in statements(loop.body):
        if isinstance(one, Accumulate) and one.name in outer:
            found[one.name] = one.value.dtype
        elif isinstance(one, Fold):
            found |= {name: value.dtype for name, value in zip(one.names, one.values, strict=True) if name in outer}
    return found
