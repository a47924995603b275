"""Jump over what a loop chooses between, where the next turn waits for the choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xjit.codegen.rewrites.analysis.scalars import scalars_of
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, replace
from xjit.ir.loops.nodes import Block, Carry, Fold, If, Kernel, Let, Loop, Prim, Statement, Value, Var, While
from xjit.ir.loops.walk import defined, inside_out, integers, loads, statements, values
from xjit.types import dtype_class


@dataclass(frozen=True, slots=True)
class ChooseByJump:
    """Take floats that a loop carries from one turn to the next behind a jump instead of choosing them.

    before      while more:
                  large = (3.0 < u)
                  v = select(large, 0.0, u)
                  w = select(large, (t - d), t)
                  u = (v + w)
    after       while more:                     ChooseByJump()
                  large = (3.0 < u)
                  carry v: f64 = u
                  carry w: f64 = t
                  if large, by a jump:
                    v, w = 0.0, (t - d)
                  u = (v + w)

    A choice of a float waits for its condition, and with that takes as long as three additions or more. Processors
    guess jumps, and go on with the value that they guess: no comparison is in the chain from turn to turn. Where half
    of the guesses are wrong that is still no slower, as long as the condition follows from the last turn, too; others
    are known ahead of the choice. The smaller or the larger one of two floats is one instruction, and stays.
    """

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where no loop without loops in it waits for floats that it chooses."""
        found = inside_out(kernel.body, _jumping)
        if found is kernel.body:
            raise RefusedError("no turn of a loop waits for a choice of floats in the last one")
        return replace(kernel, body=found)


def _jumping(loop: Statement) -> Statement:
    if not isinstance(loop, While) or any(isinstance(one, Loop | While) for one in statements(loop.body)):
        return loop
    waiting, body = _waiting(loop.body), loop.body
    for choice in filter(None, map(_choice, loop.body)):
        if dtype_class(choice.chosen.dtype) != "F" or not any(one is choice.let for one in body):
            continue
        if {choice.let.name, choice.condition.name} <= waiting and not choice.is_extreme(body):
            body = _with_jump(body, choice)
    return loop if body is loop.body else replace(loop, body=body)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A value that is ``chosen`` where a condition holds, and the other one elsewhere."""

    let: Let
    condition: Var
    chosen: Value
    other: Value

    def is_extreme(self, body: Block) -> bool:
        """Return whether this is the smaller or the larger one of two numbers."""
        for one in body:
            match one:
                case Let(name, Prim("lt" | "le" | "gt" | "ge", operands)) if name == self.condition.name:
                    return set(operands) == {self.chosen, self.other}
        return False

    def may_be_earlier(self, late: set[str]) -> bool:
        """Return whether the values load nothing, and read none of the names that are given or changed later."""
        found = {name for value in values(self.let) for name in scalars_of(value)}
        found = found.union(*(expr.names() for expr in integers(self.let)))
        return not (found & late or any(True for _ in loads((self.let,))))


def _choice(one: Statement) -> _Choice | None:
    """The choice that a statement names."""
    match one:
        case Let(value=Prim("select", (Var() as condition, chosen, other))):
            return _Choice(one, condition, chosen, other)
    return None


def _waiting(body: Block) -> set[str]:
    """The names of values that follow from themselves in the turn before: each reaches itself."""
    readers = dict[str, set[str]]()
    for target, sources in _flows(body):
        for source in sources:
            readers.setdefault(source, set()).add(target)
    return {name for name in readers if name in _reached(name, readers)}


def _flows(body: Block) -> Iterator[tuple[str, set[str]]]:
    """Yield each scalar that a body gives or changes, with those that its value is made of."""
    for one in statements(body):
        if isinstance(one, Let | Carry):
            yield one.name, scalars_of(one.value)
        elif isinstance(one, Fold):
            yield from ((name, scalars_of(value)) for name, value in zip(one.names, one.values, strict=True))


def _reached(name: str, readers: Mapping[str, set[str]]) -> set[str]:
    found, stack = set[str](), [name]
    while stack:
        for one in readers.get(stack.pop(), ()):
            if one not in found:
                found.add(one)
                stack.append(one)
    return found


def _with_jump(body: Block, first: _Choice) -> Block:
    """The body with a jump for all choices by the condition of one of them that may be made as early as that."""
    place = next(number for number, one in enumerate(body) if one is first.let)
    late = {name for one in statements(body[place:]) for name in (*defined(one), *getattr(one, "names", ()))}
    others = (one for one in map(_choice, body[place + 1 :]) if one is not None and one.condition == first.condition)
    together = [first, *(one for one in others if one.may_be_earlier(late))]
    rest = (one for one in body[place:] if not any(one is each.let for each in together))
    carries = (Carry(one.let.name, one.other) for one in together)
    taken = Fold(tuple(one.let.name for one in together), tuple(one.chosen for one in together))
    return (*body[:place], *carries, If(first.condition, (taken,), jumps=True), *rest)
