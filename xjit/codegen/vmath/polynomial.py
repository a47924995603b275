"""Polynomials of the kernel language, made from their coefficients."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.language.inline_functions import InlineFunction, function_of, register
from xjit.codegen.language.intrinsics import f32, f64, fma

_WORDS = {"f32": f32, "f64": f64, "fma": fma}


def horner(coefficients: Sequence[float], kind: str) -> str:
    """Expression in ``x`` of the polynomial with these coefficients, lowest power first, as nested ``fma``.

    >>> horner((1.0, 0.5), "f32")
    'fma(f32(0.5), x, f32(1.0))'
    """
    *rest, text = (f"{kind}({coefficient!r})" for coefficient in coefficients)
    for coefficient in reversed(rest):
        text = f"fma({text}, x, {coefficient})"
    return text


def polynomial(name: str, kind: str, coefficients: Sequence[float]) -> InlineFunction:
    """Registers the inline function ``name(x)`` that evaluates a polynomial in arithmetic of ``kind``."""
    text = f"def {name}(x):\n    return {horner(coefficients, kind)}\n"
    return register(name, function_of(name, text, _WORDS), f"{kind}({kind})")


def estrin(coefficients: Sequence[float], kind: str) -> str:
    """Expression of the same polynomial as a balanced tree, over ``x`` and its powers ``x2`` to ``x16``.

    It needs a few multiplications more and a fraction of the time from x to the result (Estrin 1960), which
    counts in functions so long that a processor overlaps few of their evaluations.

    >>> estrin((1.0, 0.5, 0.25), "f64")
    'fma(f64(0.25), x2, fma(f64(0.5), x, f64(1.0)))'
    """
    texts, power = [f"{kind}({coefficient!r})" for coefficient in coefficients], 1
    while len(texts) > 1:
        x = "x" if power == 1 else f"x{power}"
        pairs = [f"fma({high}, {x}, {low})" for low, high in zip(texts[::2], texts[1::2], strict=False)]
        texts, power = pairs + texts[len(pairs) * 2 :], power * 2
    return texts[0]


def balanced_polynomial(name: str, kind: str, coefficients: Sequence[float]) -> InlineFunction:
    """Registers the inline function ``name(x)`` that evaluates a polynomial as a balanced tree."""
    powers = [f"    x{2 * p} = {'x' if p == 1 else f'x{p}'} * {'x' if p == 1 else f'x{p}'}" for p in (1, 2, 4, 8)]
    used = [line for p, line in zip((1, 2, 4, 8), powers, strict=True) if len(coefficients) > 2 * p]
    text = "\n".join((f"def {name}(x):", *used, f"    return {estrin(coefficients, kind)}", ""))
    return register(name, function_of(name, text, _WORDS), f"{kind}({kind})")
