"""The loop nest under construction: open loops, what is known inside each, and fresh names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xjit import numerics
from xjit.codegen.language.scalar_types import KINDS
from xjit.dataclass import dataclass, field
from xjit.ir.index_map import Index, axes_of
from xjit.ir.loops.intexpr import Integer, IntExpr, as_int, constant, word
from xjit.ir.loops.nodes import If, Loop, LoopKind, Statement, Value
from xjit.machine import Machine


@dataclass(eq=False)
class Scope:
    """One open loop (or the kernel's prologue, or a block loop without axes)."""

    variable: str | None
    axes: frozenset[int]
    statements: list[Statement] = field(default_factory=list)
    known: dict[Any, Any] = field(default_factory=dict)


@dataclass(eq=False)
class LoopBuilder:
    """Open scopes, the innermost last; values are put into the outermost scope that has what they depend on.

    The loops of different sections have words of their own, whatever their variables are called. What depends on no
    loop goes into the scope with the number ``outermost``. With ``varying`` floats of the program are words too.
    ``axes`` are the strides of each of the kernel's arguments, ``written`` says which it stores into; ``loops`` are
    the names of those that are written. ``facts`` are expressions of words that are not negative
    for all shapes that have the kernel. ``in_one_memory`` are the pairs of arguments of which the first is stored
    over the second.
    """

    machine: Machine
    varying: bool = False
    axes: dict[str, list[IntExpr]] = field(default_factory=dict)
    written: dict[str, bool] = field(default_factory=dict)

    scopes: list[Scope] = field(default_factory=lambda: [Scope(None, frozenset())])
    words: dict[Any, tuple[str, int]] = field(default_factory=dict)
    section: int = 0
    outermost: int = 0
    loops: set[str] = field(default_factory=set)
    facts: list[IntExpr] = field(default_factory=list)
    in_one_memory: frozenset[tuple[str, str]] = frozenset()
    _names: dict[str, int] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """A new name: the stem and a running number. The language's own names, such as b1 and u8, are passed over."""
        number = self._names.get(stem, 0)
        while f"{stem}{number}" in KINDS:
            number += 1
        self._names[stem] = number + 1
        return f"{stem}{number}"

    def word(self, key: Any, value: int, stem: str) -> IntExpr:
        """A table word; equal keys of one section share one."""
        own = (self.section, key)
        if own not in self.words:
            self.words[own] = (self.fresh(stem), value)
        return word(self.words[own][0])

    def constant(self, key: Any, value: int) -> IntExpr:
        """The word of a number of the program, one in all sections: LLVM then sees that two limits are the same."""
        own = (None, ("constant", key))
        if own not in self.words:
            self.words[own] = (self.fresh("n"), value)
        return word(self.words[own][0])

    def row(self, extent: int) -> IntExpr:
        """The length of rows that follow each other without gaps, the same in all sections; a short one's number."""
        if extent <= numerics.TINY:
            return constant(extent)
        own = (None, ("row", extent))
        if own not in self.words:
            self.words[own] = (self.fresh("row"), extent)
        return word(self.words[own][0])

    def extent(self, variable: str, value: int) -> IntExpr:
        """The length of a loop."""
        return self.word(("extent", variable), value, "n")

    @property
    def inner(self) -> Scope:
        """The innermost open scope."""
        return self.scopes[-1]

    def open(self, variable: str, axes: tuple[int, ...] = ()) -> Scope:
        """Opens a loop."""
        self.scopes.append(Scope(variable, frozenset(axes)))
        return self.inner

    def leave_to(self, scope: Scope) -> list[Scope]:
        """Takes the scopes inside of one away for a while, so that something can be written before them."""
        place = self.scopes.index(scope) + 1
        hidden = self.scopes[place:]
        del self.scopes[place:]
        return hidden

    def close(self, start: Integer, stop: Integer, kind: LoopKind = LoopKind.SERIAL, step: int = 1) -> bool:
        """Close the innermost loop and put it into the one around it, if it does anything; return whether it does."""
        scope = self.scopes.pop()
        assert scope.variable is not None
        if not scope.statements:
            return False
        loop = Loop(scope.variable, as_int(start), as_int(stop), tuple(scope.statements), kind, step)
        self.inner.statements.append(loop)
        return True

    def open_if(self) -> Scope:
        """Opens a block under a condition: values that depend on the loops around are computed inside of it."""
        axes = frozenset[int]().union(*(scope.axes for scope in self.scopes))
        self.scopes.append(Scope(None, axes))
        return self.inner

    def close_if(self, condition: Value) -> None:
        """Close the innermost block, which runs where the condition holds."""
        block = self.scopes.pop()
        self.inner.statements.append(If(condition, tuple(block.statements)))

    def scope_for(self, index: Index) -> Scope:
        """The innermost scope whose axes the index depends on."""
        return self.scope_of_axes(axes_of(index))

    def scope_of_axes(self, axes: frozenset[int]) -> Scope:
        """The innermost scope that runs over one of the axes."""
        return next((scope for scope in reversed(self.scopes) if scope.axes & axes), self.scopes[self.outermost])

    def innermost(self, scopes: Iterable[Scope]) -> Scope:
        """The innermost of some open scopes."""
        return max(scopes, key=self.scopes.index)

    def known(self, key: Any) -> Any:
        """The value that some open scope knows under this key, or None."""
        for scope in reversed(self.scopes):
            found = scope.known.get(key)
            if found is not None:
                return found
        return None

    @property
    def variables(self) -> list[str]:
        """The variables of all open loops, the outermost first."""
        return [scope.variable for scope in self.scopes if scope.variable is not None]


@dataclass(eq=False)
class Element:
    """A computed element: as a plain value, and for narrow floats as the bits that memory holds."""

    plain: Value | None
    bits: Value | None
    scope: Scope
