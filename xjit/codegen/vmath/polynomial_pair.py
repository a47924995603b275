"""Two polynomials in one evaluation, for functions with a form near zero and another one away from it."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.language.inline_functions import InlineFunction, function_of, register
from xjit.codegen.language.intrinsics import f32, f64, fma, select

_WORDS = {"f32": f32, "f64": f64, "fma": fma, "select": select}


def nested(terms: Sequence[str], variable: str) -> str:
    """Expression of the sum of ``terms[k] * variable**k`` as nested ``fma``.

    >>> nested(("a", "b", "c"), "z")
    'fma(fma(c, z, b), z, a)'
    """
    *rest, text = terms
    for term in reversed(rest):
        text = f"fma({text}, {variable}, {term})"
    return text


def polynomial_pair(
    name: str, kind: str, first: Sequence[float], second: Sequence[float], *, halves: bool = False
) -> InlineFunction:
    """Registers ``name(which, x)``: the first polynomial at x where ``which``, else the second.

    The coefficients are selected, which is quicker than to evaluate both: multiplications are what a processor
    can do fewest of.  ``halves`` evaluates even and odd powers apart, for long ones, where waiting counts.
    """
    count = max(len(first), len(second))
    padded = ([*coefficients, *[0.0] * (count - len(coefficients))] for coefficients in (first, second))
    terms = [f"select(which, {kind}({a!r}), {kind}({b!r}))" for a, b in zip(*padded, strict=True)]
    body = f"    return {nested(terms, 'x')}\n"
    if halves:
        even, odd = nested(terms[::2], "square"), nested(terms[1::2], "square")
        body = f"    square = x * x\n    return fma({odd}, x, {even})\n"
    text = f"def {name}(which, x):\n{body}"
    return register(name, function_of(name, text, _WORDS), f"{kind}(b1,{kind})")
