"""Calls of steps in Python as data: terms over operands and constants, of which a function is written.

np.unique(x + 1, return_counts=True)      call k0(p0, return_counts=k1)
print("least", x[:n].min())               call k0(k1, call k2(p0))
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any, Literal

from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """An operand or a constant by its ``number``, a container of ``terms``, or what is done with them.

    A dict has keys and values in turn. A ``call`` has its function first, and ``names`` for the last arguments. A
    ``cut`` is an array up to so many elements along each of its first axes.
    """

    kind: Literal["operand", "constant", "tuple", "list", "dict", "call", "cut"]
    number: int = 0
    terms: tuple[Term, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A term over so many ``operands``, with its constants."""

    term: Term
    operands: int
    constants: tuple[Any, ...]

    def function(self) -> Callable[..., Any]:
        """The function of the operands. ValueError for a term over others, or one without the terms that it needs.

        >>> call = Term("call", terms=(Term("constant"), Term("operand"), Term("constant", 1)), names=("base",))
        >>> Expression(call, 1, (int, 8)).function()("17")
        15
        """
        parameters = ", ".join(f"p{number}" for number in range(self.operands))
        names = {f"k{number}": value for number, value in enumerate(self.constants)}
        text = f"lambda {parameters}: {self._text(self.term)}"
        made: Callable[..., Any] = eval(compile(text, "<xjit call>", "eval"), names)
        return made

    def _text(self, term: Term) -> str:
        if term.kind in ("operand", "constant"):
            return self._name(term)
        parts = list(map(self._text, term.terms))
        if term.kind == "dict":
            pairs = zip(parts[::2], parts[1::2], strict=True)
            return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
        if term.kind == "call":
            return _call_text(parts, term.names)
        if term.kind == "cut":
            array, *sizes = parts
            return f"{array}[{', '.join(f':{size}' for size in sizes)}]" if sizes else array
        listed = ", ".join(parts)
        return f"[{listed}]" if term.kind == "list" else f"({listed}{',' * bool(parts)})"

    def _name(self, term: Term) -> str:
        count = self.operands if term.kind == "operand" else len(self.constants)
        if not 0 <= term.number < count:
            raise ValueError(f"{term.kind} {term.number} of {count}")
        return f"{'p' if term.kind == 'operand' else 'k'}{term.number}"


def _call_text(parts: list[str], names: tuple[str, ...]) -> str:
    function, *given = parts
    if len(names) > len(given):
        raise ValueError(f"{len(names)} names for {len(given)} arguments")
    rest = len(given) - len(names)
    listed = given[:rest]
    for name, text in zip(names, given[rest:], strict=True):
        plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
        listed.append(f"{name}={text}" if plain else f"**{{{name!r}: {text}}}")
    return f"{function}({', '.join(listed)})"


def call_of(function: Any, operands: int) -> Expression:
    """The call of a function of so many operands, in their order."""
    given = (Term("operand", number) for number in range(operands))
    return Expression(Term("call", terms=(Term("constant"), *given)), operands, (function,))
