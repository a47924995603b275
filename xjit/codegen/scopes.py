"""The loop nest under construction: open loops, what is known inside each, and fresh names."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from xjit.codegen.kinds import KINDS
from xjit.dataclass import dataclass, field
from xjit.ir.index import Index, axes_of
from xjit.ir.loops import Assign, Base, Bound, Call, For, If, LoopKind, Offset, Statement, Term, Value, Word
from xjit.types import BOOL


@dataclass(eq=False)
class Scope:
    """One open loop (or the kernel's prologue, or a block loop without axes).

    ``counter`` is what the loop counts where its body gets the variable from that.
    """

    variable: str | None
    axes: frozenset[int]
    statements: list[Statement] = field(default_factory=list)
    known: dict[Any, Any] = field(default_factory=dict)
    counter: str = ""


@dataclass(eq=False)
class Nest:
    """Open scopes, the innermost last; values are put into the outermost scope that has what they depend on.

    The loops of different sections have words of their own, whatever their variables are called. What depends on no
    loop goes into the scope with the number ``outermost``. With ``varying`` floats of the program are words too.
    """

    varying: bool = False

    scopes: list[Scope] = field(default_factory=lambda: [Scope(None, frozenset())])
    words: dict[Any, tuple[Word, int]] = field(default_factory=dict)
    section: int = 0
    outermost: int = 0
    _names: dict[str, int] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """A new name: the stem and a running number. The language's own names, such as b1 and u8, are passed over."""
        number = self._names.get(stem, 0)
        while f"{stem}{number}" in KINDS:
            number += 1
        self._names[stem] = number + 1
        return f"{stem}{number}"

    def word(self, key: Any, value: int, stem: str) -> str:
        """The name of a table word; equal keys of one section share one."""
        own = (self.section, key)
        if own not in self.words:
            self.words[own] = (Word(self.fresh(stem), len(self.words)), value)
        return self.words[own][0].name

    def extent(self, variable: str, value: int) -> str:
        """The name of the length of a loop."""
        return self.word(("extent", variable), value, "n")

    @property
    def inner(self) -> Scope:
        """The innermost open scope."""
        return self.scopes[-1]

    def open(self, variable: str, axes: tuple[int, ...] = ()) -> Scope:
        """Opens a loop."""
        self.scopes.append(Scope(variable, frozenset(axes)))
        return self.inner

    def open_pairs(self, variable: str, axes: tuple[int, ...], last: str) -> Scope:
        """Opens a loop over pairs of steps, of which the last one begins at ``last`` at the latest."""
        scope = self.open(variable, axes)
        scope.counter = self.fresh("k")
        scope.statements.append(Bound(variable, scope.counter, scope.counter, last))
        return scope

    def leave_to(self, scope: Scope) -> list[Scope]:
        """Takes the scopes inside of one away for a while, so that something can be written before them."""
        place = self.scopes.index(scope) + 1
        hidden = self.scopes[place:]
        del self.scopes[place:]
        return hidden

    def close(self, start: str, stop: str, kind: LoopKind = LoopKind.SERIAL, step: int = 1) -> None:
        """Closes the innermost loop and puts it into the one around it."""
        scope = self.scopes.pop()
        assert scope.variable is not None
        counter = scope.counter or scope.variable
        self.inner.statements.append(For(counter, start, stop, kind, tuple(scope.statements), step))

    def only_if(self, conditions: Iterable[Value | None], start: int) -> None:
        """Does the statements of the innermost loop from this one on only if one of the conditions holds."""
        flag, statements = self.fresh("go"), self.inner.statements
        known = [condition for condition in conditions if condition is not None]
        either = functools.reduce(lambda one, other: Call("or", (one, other), BOOL), known)
        statements[start:] = [Assign(flag, either), If(flag, tuple(statements[start:]))]

    def scope_for(self, index: Index) -> Scope:
        """The innermost scope whose axes the index depends on."""
        return self.scope_of_axes(axes_of(index))

    def scope_of_axes(self, axes: frozenset[int]) -> Scope:
        """The innermost scope that runs over one of the axes."""
        return next((scope for scope in reversed(self.scopes) if scope.axes & axes), self.scopes[self.outermost])

    def known(self, key: Any) -> Any:
        """What some open scope knows under this key, or None."""
        for scope in reversed(self.scopes):
            found = scope.known.get(key)
            if found is not None:
                return found
        return None

    def offset(self, key: Any, stem: str, strides: dict[str, str | int], start: str = "") -> Offset:
        """The address of an access in the innermost loop: a hoisted base and the term of the innermost variable.

        ``strides`` maps loop variables to distances; variables that do not move it are left out. ``start`` names a
        table word to begin at.
        """
        terms: list[Term] = [Term(start, 1)] if start else []
        for depth, scope in enumerate(self.scopes):
            stride = strides.get(scope.variable, 0) if scope.variable is not None else 0
            if stride == 0:
                continue
            assert scope.variable is not None
            if terms:
                terms = [Term(self._base(key, stem, tuple(terms), depth - 1), 1)]
            terms.append(Term(scope.variable, stride))
        return Offset(tuple(terms))

    def _base(self, key: Any, stem: str, terms: tuple[Term, ...], depth: int) -> str:
        """A name for the sum of terms, defined in the scope of its innermost variable."""
        if len(terms) == 1 and terms[0].stride == 1:
            return terms[0].variable
        last = terms[-1].variable
        scope = next(scope for scope in self.scopes[: depth + 1] if scope.variable == last)
        name = scope.known.get(("base", key, terms))
        if name is None:
            name = scope.known["base", key, terms] = self.fresh(f"{stem}_at")
            scope.statements.append(Base(name, Offset(terms)))
        assert isinstance(name, str)
        return name


@dataclass(eq=False)
class Held:
    """A computed element: as a plain value, and for narrow floats as the bits that memory holds."""

    plain: Value | None
    bits: Value | None
    scope: Scope
