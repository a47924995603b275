"""The word ``first``: the place of a value in memory that is known to be there, as after its row's extreme was found.

32 elements are compared at a time, the last 32 again where less is left, and the search ends with the first of them
that has the value.  Fewer elements than that are two groups that overlap, so that no branch depends on the place::

    first(p, start, stop, v) = start + trailing_zeros(equal(p[start : start + 16]) |
                                                      equal(p[stop - 16 : stop]) << (stop - start - 16))

Of NaN the first one is looked for, one by one: they are rare.
"""

from __future__ import annotations

import re
from string import Template

from xjit.codegen.language.scalar_types import FLOATS, INTEGERS, KINDS

TYPES = (*INTEGERS, *FLOATS)
"""The types of elements."""

_DECLARATION = re.compile(r"^declare [^\n]*@\"?first_(\w+?)\"?\(", re.MULTILINE)
_LLVM = {"f32": "float", "f64": "double"}
_HEAD = """
declare i32 @llvm.cttz.i32(i32, i1)
declare i64 @llvm.smin.i64(i64, i64)

define i64 @first_$kind(ptr %p, i64 %start, i64 %stop, $type %v) nounwind memory(argmem: read) {
  %n = sub i64 %stop, %start
  %many = icmp sge i64 %n, 32
"""
_OF_FLOATS = """
  %is_nan = fcmp uno $type %v, %v
  br i1 %is_nan, label %nan, label %known
nan:
  %k = phi i64 [ %start, %0 ], [ %k1, %nan ]
  %kp = getelementptr $type, ptr %p, i64 %k
  %kx = load $type, ptr %kp, align $bytes
  %k1 = add nsw i64 %k, 1
  %k_is = fcmp uno $type %kx, %kx
  %k_end = icmp sge i64 %k1, %stop
  %k_done = or i1 %k_is, %k_end
  br i1 %k_done, label %nan_found, label %nan
nan_found:
  ret i64 %k
known:
"""
_GROUPS = """
  br i1 %many, label %groups, label %below32
groups:
  %last = sub nsw i64 %stop, 32
  %v0 = insertelement <32 x $type> poison, $type %v, i32 0
  %vs = shufflevector <32 x $type> %v0, <32 x $type> poison, <32 x i32> zeroinitializer
  br label %group
group:
  %i = phi i64 [ %start, %groups ], [ %next, %more ]
  %ip = getelementptr $type, ptr %p, i64 %i
  %x = load <32 x $type>, ptr %ip, align $bytes
  %is = $equal <32 x $type> %x, %vs
  %mask = bitcast <32 x i1> %is to i32
  %any = icmp ne i32 %mask, 0
  %end = icmp eq i64 %i, %last
  %done = or i1 %any, %end
  br i1 %done, label %found, label %more
more:
  %forth = add nsw i64 %i, 32
  %next = call i64 @llvm.smin.i64(i64 %forth, i64 %last)
  br label %group
found:
  %zeros = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %place = zext i32 %zeros to i64
  %result = add nsw i64 %i, %place
  ret i64 %result
"""
_PAIR = """
below$twice:
  %fits$lanes = icmp sge i64 %n, $lanes
  br i1 %fits$lanes, label %pair$lanes, label %below$lanes
pair$lanes:
  %from$lanes = sub nsw i64 %stop, $lanes
  %w$lanes = insertelement <$lanes x $type> poison, $type %v, i32 0
  %ws$lanes = shufflevector <$lanes x $type> %w$lanes, <$lanes x $type> poison, <$lanes x i32> zeroinitializer
  %ap$lanes = getelementptr $type, ptr %p, i64 %start
  %bp$lanes = getelementptr $type, ptr %p, i64 %from$lanes
  %a$lanes = load <$lanes x $type>, ptr %ap$lanes, align $bytes
  %b$lanes = load <$lanes x $type>, ptr %bp$lanes, align $bytes
  %a_is$lanes = $equal <$lanes x $type> %a$lanes, %ws$lanes
  %b_is$lanes = $equal <$lanes x $type> %b$lanes, %ws$lanes
  %a_bits$lanes = bitcast <$lanes x i1> %a_is$lanes to i$lanes
  %b_bits$lanes = bitcast <$lanes x i1> %b_is$lanes to i$lanes
  %a_word$lanes = zext i$lanes %a_bits$lanes to i32
  %b_word$lanes = zext i$lanes %b_bits$lanes to i32
  %far$lanes = sub nsw i64 %n, $lanes
  %shift$lanes = trunc i64 %far$lanes to i32
  %moved$lanes = shl i32 %b_word$lanes, %shift$lanes
  %both$lanes = or i32 %a_word$lanes, %moved$lanes
  %zeros$lanes = call i32 @llvm.cttz.i32(i32 %both$lanes, i1 false)
  %place$lanes = zext i32 %zeros$lanes to i64
  %result$lanes = add nsw i64 %start, %place$lanes
  ret i64 %result$lanes
"""
_ONE_BY_ONE = """
below8:
  br label %one
one:
  %j = phi i64 [ %start, %below8 ], [ %j1, %one ]
  %jp = getelementptr $type, ptr %p, i64 %j
  %jx = load $type, ptr %jp, align $bytes
  %j1 = add nsw i64 %j, 1
  %j_is = $equal $type %jx, %v
  %j_end = icmp sge i64 %j1, %stop
  %j_done = or i1 %j_is, %j_end
  br i1 %j_done, label %one_found, label %one
one_found:
  ret i64 %j
}
"""


def called_in(text: str) -> tuple[str, ...]:
    """The types whose searches unoptimised IR text declares."""
    return tuple(sorted(set(_DECLARATION.findall(text))))


def definition(kind: str) -> str:
    """LLVM assembly of the search among elements of a type."""
    is_float = kind in FLOATS
    parts = (_HEAD, _OF_FLOATS if is_float else "", _GROUPS)
    pairs = (Template(_PAIR).safe_substitute(lanes=lanes, twice=2 * lanes) for lanes in (16, 8))
    return Template("".join((*parts, *pairs, _ONE_BY_ONE))).substitute(
        kind=kind,
        type=_LLVM.get(kind, f"i{KINDS[kind].bits}"),
        bytes=KINDS[kind].bytes,
        equal="fcmp oeq" if is_float else "icmp eq",
    )
