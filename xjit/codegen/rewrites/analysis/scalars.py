"""Scalars that blocks change and read, and what may be combined in any order."""

from __future__ import annotations

from xjit.codegen.rewrites.record import RefusedError
from xjit.ir.loops.nodes import Accumulate, Barrier, Block, Const, Fold, Statement, Value, Var
from xjit.ir.loops.walk import names, parts, statements, values
from xjit.ir.scalar_expr import Literal
from xjit.ops.whole_arrays.reduce import REDUCERS
from xjit.types import DType, dtype_class

IDEMPOTENT = frozenset(("or", "and", "min", "max"))
"""Reducers that may take a value twice."""


def changed(block: Block) -> set[str]:
    """The scalars that a block changes and does not give."""
    found: set[str] = set()
    for one in statements(block):
        if isinstance(one, Accumulate):
            found.add(one.name)
        elif isinstance(one, Fold):
            found.update(one.names)
    return found - names(block) if found else found


def counted(block: Block) -> set[str]:
    """The scalars that a block changes and does not give, and that differ if it runs twice: totals, no extremes."""
    steps = [one for one in statements(block) if isinstance(one, Accumulate | Fold)]
    found = (one for one in steps if not (isinstance(one, Accumulate) and one.reducer in IDEMPOTENT))
    return changed(tuple(found)) - names(block)


def scalars_of(value: Value) -> set[str]:
    """The scalars that a value reads."""
    return {part.name for part in parts(value) if isinstance(part, Var)}


def read(block: Block) -> set[str]:
    """The scalars that a block reads and does not give; what an Accumulate changes is not read by it."""
    found = {name for one in statements(block) for value in values(one) for name in scalars_of(value)}
    return found - names(block)


def is_exact(statement: Accumulate) -> bool:
    """Return whether elements may be combined in any order without another result."""
    reducer = REDUCERS.get(statement.reducer)
    if reducer is None:
        return False
    return not reducer.reassociates or dtype_class(statement.value.dtype) in "PI"


def identity(reducer: str, dtype: DType) -> Const | None:
    """The identity of a reducer, for sums of floats the negative zero; None if no such value is known."""
    found = REDUCERS.get(reducer)
    if found is None:
        return None
    value = found.identity(dtype)
    return Const(Literal.of(-value if reducer == "add" and dtype_class(dtype) in "FC" else value, dtype))


def start_of(one: Accumulate) -> Const:
    """The start of a sum of some of the elements of a reduction."""
    return Const(Literal.of(REDUCERS[one.reducer].identity(one.value.dtype), one.value.dtype))


def last_word(reducer: str, dtype: DType) -> Const | None:
    """The value that no further element changes; None if there is none, as for floats, of which NaN has it."""
    found = REDUCERS.get(reducer)
    if found is None or found.last_word is None or dtype_class(dtype) not in "PI":
        return None
    return Const(Literal.of(found.last_word(dtype), dtype))


def disorder(one: Block, other: Block, own: frozenset[str] = frozenset()) -> str:
    """Why two blocks may not change their order for the sake of scalars but ``own``; nothing if they may."""
    if any(isinstance(statement, Barrier) for statement in (*statements(one), *statements(other))):
        return "barriers keep their places"
    first, second = changed(one), changed(other)
    for name in sorted((first & (second | read(other)) | second & read(one)) - own):
        if name in read(one) | read(other):
            return f"{name} is changed and read"
        if not _are_exact(name, one, other):
            return f"{name} is rounded in the order of the loops"
    return ""


def reordering(block: Block) -> str:
    """Why the iterations of a loop over a block may not change their order for the sake of scalars."""
    return disorder(block, block)


def see_that_no_line_ends(block: Block, loop: str) -> None:
    """Refuses where elements are added in an order along a loop that is to have other iterations."""
    for one in statements(block):
        if isinstance(one, Accumulate) and one.order is not None and loop in one.order.line.names():
            raise RefusedError(f"{one.name} takes elements {one.order.grouping.value} along {loop}")


def lane_order(block: Block) -> str:
    """Why lanes may not run a block for the sake of scalars; they may accumulate into one as the statement allows."""
    for name in sorted(changed(block)):
        if name in read(block):
            return f"{name} is changed and read"
        if not _are_exact(name, block, in_lanes=True):
            return f"{name} is rounded, or changed, in order"
    return ""


def _are_exact(name: str, *blocks: Block, in_lanes: bool = False) -> bool:
    """Return whether a scalar is only accumulated, by one reducer that is exact, or in lanes if those are meant."""
    found: list[Statement] = [
        one
        for block in blocks
        for one in statements(block)
        if (isinstance(one, Accumulate) and one.name == name) or (isinstance(one, Fold) and name in one.names)
    ]
    known = [one for one in found if isinstance(one, Accumulate) and (is_exact(one) or (in_lanes and one.lanes > 0))]
    return len(known) == len(found) and len({one.reducer for one in known}) == 1
