"""Functions that kernels call by name: compiled once to LLVM IR, inlined into the kernels that use them.

How such a module is written::

    from xjit.codegen.inline_functions import inline
    from xjit.codegen.intrinsics import as_f64, f64, fma, rint, select, shl, u64

    LOG2E = 1.4426950408889634          # module constants: plain Python floats (f64), ints and bools

    @inline("f64(f64)")
    def exp2_f64(x):
        k = rint(x)
        r = x - k
        p = fma(r, 0.2402265069591007, 0.6931471805599453)
        return fma(p, r, 1.0) * scale_f64(k)     # calls another inline function by its plain name

* ``@inline(signature)`` registers the function under its own name, which must be unique in the process; names end
  in the element type (``exp_f32``, ``exp_f64``).  ``register(name, function, signature)`` does the same without
  the decorator, for functions made in a loop.
* Types of a signature are ``b1 i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64 c128``.
* The body is the kernel language of :mod:`xjit.codegen.intrinsics`: intrinsics, operators, calls of other inline
  functions and module constants, all found through the function's own globals (import them, do not qualify them).
* Operands of one operator have ONE type.  An integer literal takes the type of the other operand; a float literal
  or a float constant is always f64, so write ``f32(0.5)`` in f32 code.  Nothing is widened: ``i32 + i32`` is i32.
* No ``if`` and no loops where speed matters: ``select``.  No ``min``, ``max``, ``abs``, ``//``, ``%``, ``**``, ``math``.
* The decorated object stays callable from Python: it runs the same text uncompiled on NumPy scalars.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SIGNATURE = re.compile(r"^\s*(\w+)\s*\(([\w\s,]*)\)\s*$")


def parse_signature(signature: str) -> tuple[str, tuple[str, ...]]:
    """Splits ``"f64(f64, i64)"`` into its result and its arguments.

    >>> parse_signature("f64(f64, i64)")
    ('f64', ('f64', 'i64'))
    """
    match = SIGNATURE.match(signature)
    if match is None:
        raise ValueError(f"a signature is written like 'f64(f64,i64)'; got {signature!r}")
    arguments = tuple(part.strip() for part in match[2].split(",") if part.strip())
    return match[1], arguments


class InlineFunction:
    """A registered function: callable from Python uncompiled, and by its name from kernels compiled."""

    __slots__ = ("__weakref__", "arguments", "function", "name", "result")

    def __init__(self, name: str, function: Callable[..., Any], signature: str) -> None:
        self.name = name
        self.function = function
        self.result, self.arguments = parse_signature(signature)

    def __call__(self, *arguments: Any) -> Any:
        """Runs the function uncompiled."""
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"<inline function {self.name}: {self.result}({', '.join(self.arguments)})>"


_REGISTRY: dict[str, InlineFunction] = {}


def register(name: str, function: Callable[..., Any], signature: str) -> InlineFunction:
    """Makes ``function`` known to kernels as ``name``; a second registration under one name is an error."""
    if name in _REGISTRY:
        raise ValueError(f"an inline function named {name} is registered already")
    entry = InlineFunction(name, function, signature)
    _REGISTRY[name] = entry
    return entry


def inline(signature: str) -> Callable[[Callable[..., Any]], InlineFunction]:
    """Decorator form of :func:`register`; the name is the function's own."""

    def decorate(function: Callable[..., Any]) -> InlineFunction:
        return register(function.__name__, function, signature)

    return decorate
