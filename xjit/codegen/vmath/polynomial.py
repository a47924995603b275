"""Polynomials of the kernel language, made from their coefficients."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.inline_functions import InlineFunction, register
from xjit.codegen.intrinsics import f32, f64, fma

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
    scope = dict(_WORDS)
    exec(compile(f"def {name}(x):\n    return {horner(coefficients, kind)}\n", f"<{name}>", "exec"), scope)
    return register(name, scope[name], f"{kind}({kind})")
