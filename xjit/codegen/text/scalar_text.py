"""The text of one primitive in the kernel language, by the class of its operands.

add f32 f32     ->  a + b
exp f64         ->  exp_f64(a)
cast f32 -> s8  ->  to_i8(a)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from xjit.types import BOOL, FLOAT32, FLOAT64, INT64, NAMES, DType, dtype_class, is_signed, real_dtype

# A constant in the kernel language.
_INTEGER = re.compile(r"[iu]\d+\((-?\d+)\)")
_KINDS = {"pred": "b1", "s": "i", "u": "u", "f": "f", "c": "c"}


def kind(dtype: DType) -> str:
    """The kernel language's name of an element type.

    >>> import numpy as np
    >>> kind(np.dtype(np.int16)), kind(np.dtype(np.bool_))
    ('i16', 'b1')
    """
    name = NAMES[dtype]
    return "b1" if name == "pred" else _KINDS[name[0]] + name[1:]


def call_text(name: str, args: tuple[tuple[str, DType], ...], dtype: DType, variant: str = "") -> str:
    """The text of a primitive on operands given as (text, type).

    Functions may have variants; that of ``encode`` and ``decode`` is the narrow float, whose bits are integers here.
    """
    texts = tuple(text for text, _ in args)
    if name == "cast":
        return cast_text(texts[0], args[0][1], dtype)
    if name == "cast_in_range":
        return f"{kind(dtype)}({texts[0]})"
    if name == "bitcast":
        return f"as_{kind(dtype)}({texts[0]})"
    if name == "encode":
        return _encode(texts[0], args[0][1], variant)
    if name == "decode":
        return f"{variant}_to_f32({texts[0]})"
    letter = dtype_class(args[-1][1])
    rule = _RULES.get((name, letter)) or _RULES.get((name, "*"))
    if rule is not None:
        return rule(texts, args[-1][1])
    function = f"{name}_{kind(args[0][1])}" + (f"_{variant}" if variant else "")
    return f"{function}({', '.join(texts)})"


def cast_text(text: str, source: DType, target: DType) -> str:
    """A numeric conversion: integers wrap, floats saturate to integers, complex numbers lose their imaginary part."""
    if source == target:
        return text
    if dtype_class(source) == "C" and dtype_class(target) != "C":
        return cast_text(f"re({text})", real_dtype(source), target)
    if dtype_class(target) == "C" and dtype_class(source) != "C":
        part = real_dtype(target)
        return f"cplx({cast_text(text, source, part)}, {kind(part)}(0))"
    if target == BOOL:
        return f"({text} != {kind(source)}(0))"
    if dtype_class(source) == "F" and dtype_class(target) == "I":
        return f"to_{kind(target)}({text})"
    return f"{kind(target)}({text})"


def _encode(text: str, source: DType, name: str) -> str:
    """Rounds once to a narrow float: wide sources go to f32 by rounding to odd, which a second rounding forgives."""
    if source == FLOAT64:
        text = f"f64_to_f32_odd({text})"
    elif dtype_class(source) == "I" and source.itemsize >= 4:
        wide = "i64" if is_signed(source) else "u64"
        text = f"{wide}_to_f32_odd({wide}({text}))"
    elif dtype_class(source) == "C":
        return _encode(f"re({text})", real_dtype(source), name)
    elif source != FLOAT32:
        text = f"f32({text})"
    return f"f32_to_{name}({text})"


def constant_text(value: Any, dtype: DType) -> str:
    """A typed constant.

    >>> import numpy as np
    >>> constant_text(np.float32(0.1), np.dtype(np.float32)), constant_text(np.float64("inf"), np.dtype(np.float64))
    ('f32(0.1)', 'as_f64(u64(9218868437227405312))')
    """
    name = kind(dtype)
    letter = dtype_class(dtype)
    if letter == "C":
        part = value.real.dtype
        return f"cplx({constant_text(value.real, part)}, {constant_text(value.imag, part)})"
    if letter == "F":
        if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
            bits = int(value.view(f"u{dtype.itemsize}"))
            return f"as_{name}(u{dtype.itemsize * 8}({bits}))"
        return f"{name}({float(value)!r})" if name == "f64" else f"{name}({value.item()!r})"
    return f"{name}({int(value)})"


Rule = Callable[[tuple[str, ...], DType], str]


def _infix(symbol: str) -> Rule:
    return lambda texts, dtype: f"({texts[0]} {symbol} {texts[1]})"


def _call(name: str) -> Rule:
    return lambda texts, dtype: f"{name}({', '.join(texts)})"


def _division(function: str, instruction: str) -> Rule:
    """Through floats, ``idiv_i32(x0, x1)``; compilers multiply by constants or shift: ``sdiv(x0, i32(7))``."""

    def text(texts: tuple[str, ...], dtype: DType) -> str:
        operands = ", ".join(texts)
        known = _INTEGER.fullmatch(texts[1])
        if known and (dtype.itemsize < INT64.itemsize or int(known[1]).bit_count() == 1):
            return f"{'s' if is_signed(dtype) else 'u'}{instruction}({operands})"
        if dtype.itemsize <= 2:
            return f"{kind(dtype)}({function}_short({', '.join(f'i32({one})' for one in texts)}))"
        return f"{function}_{kind(dtype)}({operands})"

    return text


def _absolute(texts: tuple[str, ...], dtype: DType) -> str:
    return f"select({texts[0]} < {kind(dtype)}(0), -{texts[0]}, {texts[0]})" if is_signed(dtype) else texts[0]


def _chosen_truth(texts: tuple[str, ...], dtype: DType) -> str:
    """One of two truth values, by arithmetic where one of them is known: compilers make no jumps of it."""
    condition, one, other = texts
    if one == "b1(1)":
        return f"({condition} | {other})"
    if other == "b1(0)":
        return f"({condition} & {one})"
    if one == "b1(0)":
        return f"(({condition} ^ b1(1)) & {other})"
    if other == "b1(1)":
        return f"(({condition} ^ b1(1)) | {one})"
    return f"select({condition}, {one}, {other})"


def _invert(texts: tuple[str, ...], dtype: DType) -> str:
    return f"(~{texts[0]})"


_RULES: dict[tuple[str, str], Rule] = {
    **{("add", c): _infix("+") for c in "IFC"},
    **{("sub", c): _infix("-") for c in "IFC"},
    **{("mul", c): _infix("*") for c in "IFC"},
    **{("div", c): _infix("/") for c in "FC"},
    **{("neg", c): (lambda texts, dtype: f"(-{texts[0]})") for c in "IFC"},
    **{(name, "P"): _infix(symbol) for name, symbol in (("add", "|"), ("mul", "&"), ("max", "|"), ("min", "&"))},
    **{(name, c): _infix(s) for name, s in (("and", "&"), ("or", "|"), ("xor", "^")) for c in "PI"},
    **{
        (name, "*"): _infix(symbol)
        for name, symbol in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
    },
    ("not", "P"): lambda texts, dtype: f"({texts[0]} ^ b1(1))",
    ("not", "I"): _invert,
    ("abs", "F"): _call("fabs"),
    ("abs", "I"): _absolute,
    ("muladd", "F"): _call("muladd"),
    ("muladd", "I"): lambda texts, dtype: f"({texts[2]} + {texts[0]} * {texts[1]})",
    **{("max", c): _call("fmax") for c in "FI"},
    **{("min", c): _call("fmin") for c in "FI"},
    ("select", "P"): _chosen_truth,
    ("select", "*"): _call("select"),
    **{(name, "F"): _call(name) for name in ("sqrt", "rint", "floor", "ceil", "trunc", "round_away", "copysign")},
    ("idiv", "I"): _division("idiv", "div"),
    ("irem", "I"): _division("irem", "rem"),
    **{(name, "I"): _call(name) for name in ("shl", "lshr", "ashr")},
    ("popcount", "I"): _call("ctpop"),
    ("clz", "I"): _call("ctlz"),
    ("real", "C"): _call("re"),
    ("imag", "C"): _call("im"),
    ("complex", "F"): _call("cplx"),
    **{(name, "F"): _call(name) for name in ("radd", "radd8", "rmul", "rmul8")},
    **{(name, "F"): _call(name) for name in ("keep_min", "keep_max")},
    ("draw_f64", "*"): lambda texts, dtype: f"call_f64_f64x{len(texts) - 2}({', '.join(texts)})",
    ("draw_s64", "*"): lambda texts, dtype: f"call_i64_f64x{len(texts) - 2}({', '.join(texts)})",
    ("draw_trials", "*"): lambda texts, dtype: (
        f"call_i64_f64_i64x2({', '.join(texts[:-1])}, {texts[1]} + {texts[-1]})"
    ),
    ("draw_bounded", "*"): lambda texts, dtype: f"call_i64_i64x5({', '.join(texts)}, i64(0), i64(0))",
}
