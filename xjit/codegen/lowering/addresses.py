"""Addresses of elements: index vectors times strides, the part that an inner loop does not change named before it.

a[i, j + 1] with strides (n, 1), inside of both loops:

    for i in range(lo, hi):
        a_at0 = i * n
        for j in range(m):
            ... ld(a, a_at0 + j + 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from xjit.codegen.text.integer_text import IntegerText
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Atom, IntExpr, as_int, constant, terms, variable
from xjit.ir.loops.nodes import Buffer


@dataclass(slots=True)
class Frame:
    """A block that is being written: its lines, the integers given in it, the bases of addresses named in it."""

    lines: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    bases: dict[tuple[str, IntExpr], str] = field(default_factory=dict)


@dataclass(slots=True)
class Addresses:
    """Finds the addresses of elements in blocks, the innermost last. The names ``taken`` the kernel gives itself."""

    buffers: Mapping[str, Buffer]
    integers: IntegerText
    frames: list[Frame]
    taken: Set[str] = frozenset()
    _count: dict[str, int] = field(default_factory=dict)

    def of(self, name: str, index: tuple[IntExpr, ...]) -> str:
        """The text of the distance of an element from the first one of its buffer."""
        place = as_int(0)
        for at, stride in zip(index, self.buffers[name].strides, strict=True):
            place = place + at * stride
        by_depth: dict[int, IntExpr] = {}
        rest = 0
        for coefficient, product in terms(place):
            if product is None:
                rest = coefficient
                continue
            depth = self._depth(product)
            by_depth[depth] = by_depth.get(depth, constant(0)) + product * coefficient
        found = constant(0)
        previous = 0
        for depth in sorted(by_depth):
            if not _is_simple(found):
                found = self._named(name, found, previous)
            found, previous = found + by_depth[depth], depth
        if (name, found) in self.frames[previous].bases:
            found = variable(self.frames[previous].bases[name, found])
        return self.integers.of(found + rest)

    def named(self, stem: str, expr: IntExpr) -> IntExpr:
        """A name for an integer, given in the innermost block that gives a part of it."""
        return self._known(stem, stem, expr, self._depth(expr))

    def _depth(self, expr: IntExpr) -> int:
        """The innermost block that gives one of the names of an expression; words are given by that of the kernel."""
        names = expr.names()
        inside = (depth for depth in reversed(range(len(self.frames))) if names & self.frames[depth].given)
        return next(inside, 1)

    def _named(self, buffer: str, expr: IntExpr, depth: int) -> IntExpr:
        """A name for a part of addresses, given in the block in which it is known."""
        return self._known(buffer, f"{buffer}_at", expr, depth)

    def _known(self, key: str, stem: str, expr: IntExpr, depth: int) -> IntExpr:
        """The name of an expression in a block, which gives it if it does not yet."""
        frame = self.frames[depth]
        found = frame.bases.get((key, expr))
        if found is None:
            found = frame.bases[key, expr] = self._fresh(key, stem)
            frame.lines.append(f"{found} = {self.integers.of(expr)}")
            frame.given.add(found)
            self.integers.give_behind(found, expr)
        return variable(found)

    def _fresh(self, key: str, stem: str) -> str:
        """The stem with the next number that makes a new name."""
        while True:
            number = self._count.get(key, 0)
            self._count[key] = number + 1
            if f"{stem}{number}" not in self.taken:
                return f"{stem}{number}"


def _is_simple(expr: IntExpr) -> bool:
    """Return whether an expression is nothing, or one name: to name it again saves no work."""
    found = terms(expr)
    return not found or (len(found) == 1 and abs(found[0][0]) == 1 and _is_name(found[0][1]))


def _is_name(product: IntExpr | None) -> bool:
    return product is not None and product.kind in (Atom.VARIABLE, Atom.WORD)
