"""The iterations that statements inside of loops run through, however those loops are cut into blocks and parts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import known_inside
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, minimum, substitute, terms, variable
from xjit.ir.loops.nodes import Block, LetInt, Loop, Statement
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import blocks

Index = tuple[IntExpr, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """From where to before where some statements run along each axis, and by which variables each of them counts."""

    bounds: tuple[tuple[IntExpr, IntExpr], ...]
    places: tuple[tuple[Statement, Index], ...]

    def index_of(self, statement: Statement) -> Index:
        """The variables of the loops around a statement that are axes, the outermost first."""
        return next(index for one, index in self.places if one is statement)


def coverage(block: Block, wanted: Collection[Statement], known: Ranges) -> Coverage | None:
    """The iterations that run one of some statements in a block, each once; None if that is not known.

    Loops from ``a`` to ``m`` and from ``m`` to ``e`` run from ``a`` to ``e``; a loop over blocks around one over the
    elements of a block runs through its own bounds.
    """
    named: list[LetInt] = []
    found: Coverage | None = None
    for one in block:
        if isinstance(one, LetInt):
            known = known_inside(known, one, {})
            named.append(one)
        if not _has(one, wanted):
            continue
        own = _of_statement(one, wanted, known)
        found = own if found is None or own is None else _joined(found, own, known)
        if found is None:
            return None
    for one in reversed(named):
        found = None if found is None else _without(found, one)
    return found


def own_elements(index: Index, variables: Index) -> bool:
    """Return whether an index names another element for all other values of some variables."""
    return all(any(_is_linear(expr, one, variables) for expr in index) for one in variables)


def _is_linear(expr: IntExpr, own: IntExpr, variables: Index) -> bool:
    """Return whether an expression is a multiple of a variable and something without any of the variables."""
    rest = expr
    for coefficient, product in terms(expr):
        if product == own:
            rest = rest - own * coefficient
    return rest != expr and not rest.names() & {str(one) for one in variables}


def _has(statement: Statement, wanted: Collection[Statement]) -> bool:
    return any(statement is one for one in wanted) or any(
        _has(one, wanted) for inner in blocks(statement) for one in inner
    )


def _of_statement(one: Statement, wanted: Collection[Statement], known: Ranges) -> Coverage | None:
    if any(one is other for other in wanted):
        return Coverage((), ((one, ()),))
    if not isinstance(one, Loop):
        return None
    inner = coverage(one.body, wanted, known_inside(known, one, {}))
    return None if inner is None else _around(one, inner)


def _around(loop: Loop, inner: Coverage) -> Coverage | None:
    """The iterations of a loop around others: an axis of its own, or the blocks of one of theirs."""
    counter = variable(loop.variable)
    for axis, pair in enumerate(inner.bounds):
        if pair == (counter, minimum(counter + loop.step, loop.stop)):
            bounds = (*inner.bounds[:axis], (loop.start, loop.stop), *inner.bounds[axis + 1 :])
            return replace(inner, bounds=bounds) if _is_free(bounds, loop) else None
    if loop.step != 1 or not _is_free(inner.bounds, loop):
        return None
    places = tuple((one, (counter, *index)) for one, index in inner.places)
    return Coverage(((loop.start, loop.stop), *inner.bounds), places)


def _is_free(bounds: tuple[tuple[IntExpr, IntExpr], ...], loop: Loop) -> bool:
    return not any(loop.variable in expr.names() for pair in bounds for expr in pair)


def _joined(one: Coverage, other: Coverage, known: Ranges) -> Coverage | None:
    """The iterations of two statements, the second of which begins along one axis where the first ends."""
    if len(one.bounds) != len(other.bounds):
        return None
    differ = [axis for axis, pair in enumerate(one.bounds) if pair != other.bounds[axis]]
    if len(differ) != 1:
        return None
    (axis,) = differ
    (start, middle), (begin, stop) = one.bounds[axis], other.bounds[axis]
    if begin != middle or not (known.at_most(start, middle) and known.at_most(middle, stop)):
        return None
    bounds = (*one.bounds[:axis], (start, stop), *one.bounds[axis + 1 :])
    return Coverage(bounds, (*one.places, *other.places))


def _without(found: Coverage, named: LetInt) -> Coverage:
    meaning = {named.name: named.expr}
    return replace(found, bounds=tuple((substitute(a, meaning), substitute(b, meaning)) for a, b in found.bounds))
