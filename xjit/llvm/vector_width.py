"""The width of vectors: what the setting asks for or, by default, what is best for the processor.

Processors with AVX-512 come in two kinds.  The first of them run slower for a while after 512-bit multiplications;
LLVM prefers 256 bits there, and for Intel's later ones too, which pay nothing for 512 bits.
"""

from __future__ import annotations

import re
from collections.abc import Collection

WIDTHS = ("128", "256", "512")
WIDEST = 512
ANY_WIDTH = '"min-legal-vector-width"="0"'
"""LLVM's mark of functions that need no vectors of a certain width, lost where one without it is inlined."""

_DEFINITION = re.compile(r"^(define [^\n{]*\))", re.MULTILINE)

_GAIN = frozenset(
    (
        *("knl", "knm", "icelake-client", "tigerlake", "rocketlake"),
        *("icelake-server", "sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids"),
        *("znver4", "znver5", "znver6"),
    )
)
_PAY = frozenset(("skylake-avx512", "cascadelake", "cooperlake", "cannonlake"))
# Came with the processors that do not pay, of both makers.
_SIGN_OF_GAIN = "+avx512vbmi2"


def best_bits(cpu: str, features: Collection[str]) -> str:
    """The width that is best for a processor with AVX-512, by LLVM's name of it or else by its features.

    >>> best_bits("cascadelake", ())
    '256'
    """
    gains = cpu in _GAIN or (cpu not in _PAY and _SIGN_OF_GAIN in features)
    return "512" if gains else "256"


def preference(setting: str, cpu: str, features: Collection[str]) -> tuple[str, ...]:
    """The features that make LLVM's vectors as wide as a setting says on a processor of x86.

    ValueError for a setting that is neither empty nor a width.
    """
    if setting not in ("", *WIDTHS):
        raise ValueError(f"XJIT_VECTOR_BITS is empty, 128, 256 or 512; got {setting!r}")
    if "+avx512f" in features:
        return _words(setting or best_bits(cpu, features))
    return _words("128") if setting == "128" and "+avx" in features else ()


def preferred_bits(features: Collection[str]) -> int:
    """The width that a processor with AVX-512 uses where its features say what to prefer.

    >>> preferred_bits(("-prefer-128-bit", "+prefer-256-bit"))
    256
    """
    return next((int(bits) for bits in ("128", "256") if f"+prefer-{bits}-bit" in features), WIDEST)


def register_bits(features: Collection[str]) -> int:
    """The width of the registers that vector code fills on a processor with these features.

    >>> register_bits(("+avx", "+avx2")), register_bits(("+avx", "+prefer-128-bit")), register_bits(("+neon",))
    (256, 128, 128)
    """
    has = WIDEST if "+avx512f" in features else 256 if "+avx" in features else 128
    return min(has, preferred_bits(features))


def kept_to(bits: int, text: str) -> str:
    """The IR text of functions, marked so that LLVM uses no wider registers, unless these are the widest.

    What it prefers decides how many elements a vector has; were these converted to wider ones, the vector would be
    wider too.

    >>> kept_to(256, "define void @f()")
    'define void @f() "min-legal-vector-width"="0"'
    """
    return text if bits == WIDEST else _DEFINITION.sub(rf"\1 {ANY_WIDTH}", text)


def stack_aligned(bits: int, text: str) -> str:
    """The IR text of functions, marked so that registers of this width are kept on the stack in whole cache lines.

    >>> stack_aligned(512, "define void @f()")
    'define void @f() alignstack(64)'
    """
    return _DEFINITION.sub(rf"\1 alignstack({bits // 8})", text)


def _words(bits: str) -> tuple[str, ...]:
    """LLVM's words for a width; of two preferences the narrower one holds."""
    return tuple(f"{'+' if bits == width else '-'}prefer-{width}-bit" for width in ("128", "256"))
