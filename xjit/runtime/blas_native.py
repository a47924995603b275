"""Products of small matrices as kernels that call BLAS: the text of an adaptor for each routine and element type.

``gemm_f64`` and its like have the signature of a kernel.  Number ``i`` of a stack of products is computed from the
operands moved on by ``i`` times their step.  Their table:

    0 .. 2    the first operand, the second one, the result
    3         the routine of BLAS
    4 .. 6    steps in bytes of the three
    7 ..      gemm: transposed, transposed, rows, columns, summed, leading distances of the three
              gemv: order, rows, columns, leading distance, step of the vector (the matrix is transposed)
              dot:  length, steps of both

An integer of BLAS is ``$INT``.  Results that are sums of nothing but -0.0 become 0.0, as NumPy's do.
"""

from __future__ import annotations

from string import Template

from xjit.runtime.native_text import WORDS_TEXT, expand

_MATRICES = r"""
define void @gemm_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %first_turned = call i32 @flag(ptr %table, i64 7)
  %second_turned = call i32 @flag(ptr %table, i64 8)
  %rows = call $INT @count(ptr %table, i64 9)
  %columns = call $INT @count(ptr %table, i64 10)
  %summed = call $INT @count(ptr %table, i64 11)
  %first_distance = call $INT @count(ptr %table, i64 12)
  %second_distance = call $INT @count(ptr %table, i64 13)
  %result_distance = call $INT @count(ptr %table, i64 14)
  for %i from %low below %high
    %first = call ptr @moved(ptr %table, i64 0, i64 %i)
    %second = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void %routine(i32 101, i32 %first_turned, i32 %second_turned, $INT %rows, $INT %columns, $INT %summed,
        $ONE, ptr %first, $INT %first_distance, ptr %second, $INT %second_distance,
        $ZERO, ptr %result, $INT %result_distance)
  end %i
  ret void
}

define void @gemv_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %order = call i32 @flag(ptr %table, i64 7)
  %rows = call $INT @count(ptr %table, i64 8)
  %columns = call $INT @count(ptr %table, i64 9)
  %distance = call $INT @count(ptr %table, i64 10)
  %step = call $INT @count(ptr %table, i64 11)
  for %i from %low below %high
    %matrix = call ptr @moved(ptr %table, i64 0, i64 %i)
    %vector = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void %routine(i32 %order, i32 112, $INT %rows, $INT %columns, $ONE, ptr %matrix, $INT %distance,
        ptr %vector, $INT %step, $ZERO, ptr %result, $INT 1)
  end %i
  ret void
}
"""

_DOT = r"""
define void @dot_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %length = call $INT @count(ptr %table, i64 7)
  %first_step = call $INT @count(ptr %table, i64 8)
  %second_step = call $INT @count(ptr %table, i64 9)
  for %i from %low below %high
    %first = call ptr @moved(ptr %table, i64 0, i64 %i)
    %second = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
$SUM
  end %i
  ret void
}
"""

_REAL_SUM = r"""
    %found = call $REAL %routine($INT %length, ptr %first, $INT %first_step, ptr %second, $INT %second_step)
    %sum = fadd $REAL %found, 0.0
    store $REAL %sum, ptr %result
"""

_COMPLEX_SUM = r"""
    call void %routine($INT %length, ptr %first, $INT %first_step, ptr %second, $INT %second_step, ptr %result)
    %imaginary = getelementptr $REAL, ptr %result, i64 1
    %re = load $REAL, ptr %result
    %im = load $REAL, ptr %imaginary
    %re_sum = fadd $REAL %re, 0.0
    %im_sum = fadd $REAL %im, 0.0
    store $REAL %re_sum, ptr %result
    store $REAL %im_sum, ptr %imaginary
"""

_SHARED = r"""
@one_f32 = internal constant [2 x float] [float 1.0, float 0.0]
@one_f64 = internal constant [2 x double] [double 1.0, double 0.0]
@zero = internal constant [2 x double] zeroinitializer

define internal i32 @flag(ptr %table, i64 %slot) alwaysinline {
  %value = call i64 @word(ptr %table, i64 %slot)
  %flag = trunc i64 %value to i32
  ret i32 %flag
}

; The place of operand or result number %which in product number %i.
define internal ptr @moved(ptr %table, i64 %which, i64 %i) alwaysinline {
  %start = call ptr @pointer(ptr %table, i64 %which)
  %slot = add i64 %which, 4
  %step = call i64 @word(ptr %table, i64 %slot)
  %distance = mul i64 %i, %step
  %place = getelementptr i8, ptr %start, i64 %distance
  ret ptr %place
}
"""

_LONG_COUNT = r"""
define internal i64 @count(ptr %table, i64 %slot) alwaysinline {
  %value = call i64 @word(ptr %table, i64 %slot)
  ret i64 %value
}
"""

_SHORT_COUNT = r"""
define internal i32 @count(ptr %table, i64 %slot) alwaysinline {
  %value = call i32 @flag(ptr %table, i64 %slot)
  ret i32 %value
}
"""


def products_text(long: bool) -> str:
    """All adaptors, for a BLAS whose integers have 64 bits (``long``) or 32."""
    parts = [WORDS_TEXT, _SHARED, _LONG_COUNT if long else _SHORT_COUNT]
    for name, real in (("f32", "float"), ("f64", "double")):
        names = {"NAME": name, "REAL": real, "ONE": f"{real} 1.0", "ZERO": f"{real} 0.0"}
        parts.append(_typed(_MATRICES + _DOT.replace("$SUM", _REAL_SUM.strip("\n")), names))
    for name, real, one in (("c64", "float", "f32"), ("c128", "double", "f64")):
        names = {"NAME": name, "REAL": real, "ONE": f"ptr @one_{one}", "ZERO": "ptr @zero"}
        parts.append(_typed(_MATRICES + _DOT.replace("$SUM", _COMPLEX_SUM.strip("\n")), names))
    return expand("".join(parts), INT="i64" if long else "i32")


def _typed(text: str, names: dict[str, str]) -> str:
    return Template(text).safe_substitute(names)
