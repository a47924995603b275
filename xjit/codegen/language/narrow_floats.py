"""Floats of 8 and 16 bits: kernels hold them as f32 in registers and as u8 or u16 in memory.

For each format ``T`` of :data:`FORMATS` there are two inline functions, branch-free on integer bits:

* ``T_to_f32(bits)``, exact;
* ``f32_to_T(x)``, rounded once to nearest even, subnormals included; beyond the largest number infinity or,
  where the format has none, NaN; NaN stays NaN.

Processors that convert floats of 16 bits themselves have words of these names
(:mod:`xjit.codegen.cpu.emit_conversions`).

``f64_to_f32_odd``, ``i64_to_f32_odd`` and ``u64_to_f32_odd`` round an inexact value to the neighbour whose last
bit is set.  A second rounding to at most 22 bits then sees on which side of a tie the value lay, so that
``f32_to_f16(f64_to_f32_odd(x))`` is rounded once (Boldo and Melquiond 2008), which ``f32_to_f16(f32(x))`` is not.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language import intrinsics
from xjit.codegen.language.inline_functions import function_of, inline, register
from xjit.codegen.language.intrinsics import as_f32, as_u32, ashr, f32, f64, fabs, i64, lshr, select, shl, u32, u64
from xjit.dataclass import dataclass

F32_FRACTION_BITS, F32_BIAS = 23, 127
F32_SIGN, F32_MAGNITUDE = 1 << 31, (1 << 31) - 1
F32_INFINITY, F32_NAN = 0x7F800000, 0x7FC00000


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """A binary format: sign, ``exponent_bits``, ``fraction_bits``, value ``2**(exponent - bias) * 1.fraction``.

    ``family`` says what the highest codes mean: ``ieee`` infinity and NaN; ``fn`` only the very highest is NaN;
    ``fnuz`` all are numbers, and the code that would be -0 is the one NaN.
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    family: str

    @property
    def bits(self) -> int:
        """The size in memory."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def storage(self) -> str:
        """The element type that holds the code."""
        return f"u{self.bits}"

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.bits - 1)

    @property
    def largest(self) -> int:
        """Code of the largest number."""
        return {"ieee": self.infinity - 1, "fn": self.sign - 2, "fnuz": self.sign - 1}[self.family]

    @property
    def infinity(self) -> int:
        """Code of infinity, where there is one: all exponent bits."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def nan(self) -> int:
        """Code of a quiet NaN."""
        quiet = self.infinity | 1 << (self.fraction_bits - 1)
        return {"ieee": quiet, "fn": self.sign - 1, "fnuz": self.sign}[self.family]

    @property
    def overflow(self) -> int:
        """Code of what is too large."""
        return self.infinity if self.family == "ieee" else self.nan

    @property
    def has_exponents_of_f32(self) -> bool:
        """True if the code is the upper part of an f32."""
        return self.exponent_bits == 8 and self.bias == F32_BIAS


FORMATS: dict[str, NarrowFormat] = {
    form.name: form
    for form in (
        NarrowFormat("f16", 5, 10, 15, "ieee"),
        NarrowFormat("bf16", 8, 7, 127, "ieee"),
        NarrowFormat("f8e5m2", 5, 2, 15, "ieee"),
        NarrowFormat("f8e4m3fn", 4, 3, 7, "fn"),
        NarrowFormat("f8e4m3b11fnuz", 4, 3, 11, "fnuz"),
        NarrowFormat("f8e4m3fnuz", 4, 3, 8, "fnuz"),
        NarrowFormat("f8e5m2fnuz", 5, 2, 16, "fnuz"),
    )
}
"""The formats by the names used in function names."""


def decoder_text(form: NarrowFormat) -> str:
    """Source of ``T_to_f32``."""
    shift = F32_FRACTION_BITS - form.fraction_bits
    rebias = (F32_BIAS - form.bias) << F32_FRACTION_BITS
    lines = [
        f"def {form.name}_to_f32(bits):",
        "    code = u32(bits)",
        f"    magnitude = code & u32({form.sign - 1:#x})",
        f"    sign = shl(code & u32({form.sign:#x}), u32({32 - form.bits}))",
        f"    wide = shl(magnitude, u32({shift}))",
    ]
    if not form.has_exponents_of_f32:
        one = rebias + (1 << F32_FRACTION_BITS)
        is_subnormal = f"magnitude < u32({1 << form.fraction_bits:#x})"
        lines += [
            # An exponent of zero counts as one without the leading digit: put that digit in and subtract it.
            f"    small = as_u32(as_f32(wide + u32({one:#x})) - as_f32(u32({one:#x})))",
            f"    number = select({is_subnormal}, small, wide + u32({rebias:#x}))",
            f"    special = wide | u32({F32_NAN if form.family == 'fnuz' else F32_INFINITY:#x})",
            f"    number = select({_is_special(form)}, special, number)",
            "    return as_f32(number | sign)",
        ]
    else:
        lines += ["    return as_f32(wide | sign)"]
    return "\n".join(lines) + "\n"


def _is_special(form: NarrowFormat) -> str:
    return {
        "ieee": f"magnitude >= u32({form.infinity:#x})",
        "fn": f"magnitude == u32({form.nan:#x})",
        "fnuz": f"code == u32({form.nan:#x})",
    }[form.family]


def encoder_text(form: NarrowFormat) -> str:
    """Source of ``f32_to_T``."""
    if form.has_exponents_of_f32:
        return _upper_part_text(form)
    shift = F32_FRACTION_BITS - form.fraction_bits
    rebias = (F32_BIAS - form.bias) << form.fraction_bits
    smallest_normal = (F32_BIAS - form.bias + 1) << F32_FRACTION_BITS
    aligner = smallest_normal + (shift << F32_FRACTION_BITS)
    lines = [
        f"def f32_to_{form.name}(x):",
        "    bits = as_u32(x)",
        f"    magnitude = bits & u32({F32_MAGNITUDE:#x})",
        # Half of the last place, less one bit if the last digit is even: ties go to even.
        f"    half = u32({(1 << (shift - 1)) - 1:#x}) + (lshr(magnitude, u32({shift})) & u32(1))",
        f"    code = lshr(magnitude + half, u32({shift}))",
        # The last place of the aligner is the last place of subnormal codes: the addition rounds.
        f"    small = as_u32(as_f32(magnitude) + as_f32(u32({aligner:#x}))) - u32({aligner:#x})",
        f"    code = select(magnitude < u32({smallest_normal:#x}), small, code - u32({rebias:#x}))",
    ]
    lines += [
        f"    code = select(code > u32({form.largest:#x}), u32({form.overflow:#x}), code)",
        f"    code = select(magnitude > u32({F32_INFINITY:#x}), u32({form.nan:#x}), code)",
        f"    sign = lshr(bits, u32({32 - form.bits})) & u32({form.sign:#x})",
    ]
    if form.family == "fnuz":
        lines += [f"    return {form.storage}(select(code == u32(0), u32(0), code | sign))"]
    else:
        lines += [f"    return {form.storage}(code | sign)"]
    return "\n".join(lines) + "\n"


def _upper_part_text(form: NarrowFormat) -> str:
    """Source of ``f32_to_T`` where the code is the upper part of an f32: what is too large rounds to infinity."""
    shift = F32_FRACTION_BITS - form.fraction_bits
    quiet = 1 << (form.fraction_bits - 1)
    lines = [
        f"def f32_to_{form.name}(x):",
        "    bits = as_u32(x)",
        f"    upper = lshr(bits, u32({shift}))",
        f"    rounded = lshr(bits + (u32({(1 << (shift - 1)) - 1:#x}) + (upper & u32(1))), u32({shift}))",
        f"    return {form.storage}(select(x == x, rounded, upper | u32({quiet:#x})))",
    ]
    return "\n".join(lines) + "\n"


def _register(name: str, text: str, signature: str) -> None:
    register(name, function_of(name, text, intrinsics.namespace()), signature)


for _form in FORMATS.values():
    _register(f"{_form.name}_to_f32", decoder_text(_form), f"f32({_form.storage})")
    _register(f"f32_to_{_form.name}", encoder_text(_form), f"{_form.storage}(f32)")


@inline("f32(f64)")
def f64_to_f32_odd(x: Any) -> Any:
    """x rounded to odd: exact, or the neighbour whose last bit is set."""
    nearest = f32(x)
    back = f64(nearest)
    # One less in bits is one step towards zero, which undoes rounding away from it (also to infinity).
    toward_zero = as_u32(nearest) - u32(fabs(back) > fabs(x))
    return as_f32(toward_zero | u32(back != x))


@inline("f32(i64)")
def i64_to_f32_odd(x: Any) -> Any:
    """x rounded to odd: exact, or the neighbour whose last bit is set."""
    # Above 2**53 the last 11 bits go into one sticky bit first, so that f64 is exact.
    kept = shl(ashr(x, i64(11)), i64(11))
    sticky = kept | select(kept != x, i64(1 << 11), i64(0))
    exact_in_f64 = u64(x + i64(1 << 53)) < u64(1 << 54)
    return f64_to_f32_odd(f64(select(exact_in_f64, x, sticky)))


@inline("f32(u64)")
def u64_to_f32_odd(x: Any) -> Any:
    """x rounded to odd: exact, or the neighbour whose last bit is set."""
    kept = shl(lshr(x, u64(11)), u64(11))
    sticky = kept | select(kept != x, u64(1 << 11), u64(0))
    return f64_to_f32_odd(f64(select(x < u64(1 << 53), x, sticky)))
