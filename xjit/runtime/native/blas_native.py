"""Products of matrices as kernels that call BLAS: the text of an adaptor for each routine and element type.

``gemm_f64`` and its like have the signature of a kernel.  Number ``i`` of a stack of products is computed from the
operands moved on by ``i`` times their step.  Their table:

    0 .. 2    the first operand, the second one, the result
    3         the routine of BLAS
    4 .. 6    steps in bytes of the three
    7         1 where BLAS may use several threads: then the limit of the calling thread is made known to it
              2 where it would and must not, as threads of ours share the products
    8 ..      gemm: transposed, transposed, rows, columns, summed, leading distances of the three
              syrk: transposed, rows, summed, leading distance of the matrix, which is both operands
              gemv: order, rows, columns, leading distance, step of the vector (the matrix is transposed)
              dot:  length, steps of both

An integer of BLAS is ``$INT``.  Results that are sums of nothing but -0.0 become 0.0, as NumPy's do.
"""

from __future__ import annotations

from string import Template

from xjit.runtime.native.native_parts import OWN_LIMIT_TEXT, WORDS_TEXT
from xjit.runtime.native.native_text import expand
from xjit.runtime.native.solvers_native import GESV_TEXT, GETRF_TEXT, POTRF_TEXT, SHARED_TEXT, TRSM_TEXT, TURN_TEXT

_MATRICES = r"""
define void @gemm_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %first_turned = call i32 @flag(ptr %table, i64 8)
  %second_turned = call i32 @flag(ptr %table, i64 9)
  %rows = call $INT @count(ptr %table, i64 10)
  %columns = call $INT @count(ptr %table, i64 11)
  %summed = call $INT @count(ptr %table, i64 12)
  %first_distance = call $INT @count(ptr %table, i64 13)
  %second_distance = call $INT @count(ptr %table, i64 14)
  %result_distance = call $INT @count(ptr %table, i64 15)
  $BEGIN
  for %i from %low below %high
    %first = call ptr @moved(ptr %table, i64 0, i64 %i)
    %second = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void %routine(i32 101, i32 %first_turned, i32 %second_turned, $INT %rows, $INT %columns, $INT %summed,
        $ONE, ptr %first, $INT %first_distance, ptr %second, $INT %second_distance,
        $ZERO, ptr %result, $INT %result_distance)
  end %i
  $END
}

define void @syrk_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %turned = call i32 @flag(ptr %table, i64 8)
  %size = call i64 @word(ptr %table, i64 9)
  %rows = call $INT @count(ptr %table, i64 9)
  %summed = call $INT @count(ptr %table, i64 10)
  %distance = call $INT @count(ptr %table, i64 11)
  $BEGIN
  for %i from %low below %high
    %matrix = call ptr @moved(ptr %table, i64 0, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void %routine(i32 101, i32 121, i32 %turned, $INT %rows, $INT %summed, $ONE, ptr %matrix, $INT %distance,
        $ZERO, ptr %result, $INT %rows)
    for %p below %size                                  ; the routine fills the upper half
      %beyond = add i64 %p, 1
      %row = mul i64 %p, %size
      for %q from %beyond below %size
        %there = add i64 %row, %q
        %down = mul i64 %q, %size
        %here = add i64 %down, %p
        %upper = getelementptr $ELEMENT, ptr %result, i64 %there
        %lower = getelementptr $ELEMENT, ptr %result, i64 %here
        %element = load $ELEMENT, ptr %upper, align 4
        store $ELEMENT %element, ptr %lower, align 4
      end %q
    end %p
  end %i
  $END
}

define void @gemv_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %order = call i32 @flag(ptr %table, i64 8)
  %rows = call $INT @count(ptr %table, i64 9)
  %columns = call $INT @count(ptr %table, i64 10)
  %distance = call $INT @count(ptr %table, i64 11)
  %step = call $INT @count(ptr %table, i64 12)
  $BEGIN
  for %i from %low below %high
    %matrix = call ptr @moved(ptr %table, i64 0, i64 %i)
    %vector = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void %routine(i32 %order, i32 112, $INT %rows, $INT %columns, $ONE, ptr %matrix, $INT %distance,
        ptr %vector, $INT %step, $ZERO, ptr %result, $INT 1)
  end %i
  $END
}
"""

_DOT = r"""
define void @dot_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %length = call $INT @count(ptr %table, i64 8)
  %first_step = call $INT @count(ptr %table, i64 9)
  %second_step = call $INT @count(ptr %table, i64 10)
  $BEGIN
  for %i from %low below %high
    %first = call ptr @moved(ptr %table, i64 0, i64 %i)
    %second = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
$SUM
  end %i
  $END
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

# The limit on threads that holds until the products of this call are done.
_BEGIN = """%held = alloca i64
  call void @begin(ptr %table, ptr %held)"""
_END = """call void @finish(ptr %held)
  ret void"""

_SHARED = r"""
; ---- set from Python
@blas_begin = global ptr null      ; void (i64 limit, ptr held): the library uses no more threads from here on
@blas_end   = global ptr null      ; void (ptr held): up to here

; Makes the limit of the calling thread known, where it has one and the library may use several; or that it is one.
define internal void @begin(ptr %table, ptr %held) {
entry:
  store i64 0, ptr %held
  %threads = call i64 @word(ptr %table, i64 7)
  %shared = icmp eq i64 %threads, 2
  br i1 %shared, label %tell, label %look
look:
  %alone = icmp eq i64 %threads, 0
  br i1 %alone, label %done, label %ask
ask:
  %own = call i64 @own_limit()
  %unset = icmp eq i64 %own, 0
  br i1 %unset, label %done, label %tell
tell:
  %limit = phi i64 [ 1, %entry ], [ %own, %ask ]
  %function = load ptr, ptr @blas_begin
  call void %function(i64 %limit, ptr %held)
  br label %done
done:
  ret void
}

define internal void @finish(ptr %held) {
entry:
  %began = load i64, ptr %held
  %free = icmp eq i64 %began, 0
  br i1 %free, label %done, label %tell
tell:
  %function = load ptr, ptr @blas_end
  call void %function(ptr %held)
  br label %done
done:
  ret void
}

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
  %slot = add i64 %which, 4
  %place = call ptr @stepped(ptr %table, i64 %which, i64 %slot, i64 %i)
  ret ptr %place
}

; The same, with its step in slot %slot.
define internal ptr @stepped(ptr %table, i64 %which, i64 %slot, i64 %i) alwaysinline {
  %start = call ptr @pointer(ptr %table, i64 %which)
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
    """All adaptors, of solvers too, for a BLAS whose integers have 64 bits (``long``) or 32."""
    parts = [WORDS_TEXT, OWN_LIMIT_TEXT, _SHARED, SHARED_TEXT, _LONG_COUNT if long else _SHORT_COUNT]
    for name, real in (("f32", "float"), ("f64", "double")):
        names = {"NAME": name, "REAL": real, "ELEMENT": real, "ONE": f"{real} 1.0", "ZERO": f"{real} 0.0"}
        parts.append(_typed(_MATRICES + _DOT.replace("$SUM", _REAL_SUM.strip("\n")), names))
        parts.append(_typed(POTRF_TEXT + TRSM_TEXT, names))
    for name, real, one in (("c64", "float", "f32"), ("c128", "double", "f64")):
        element = f"<2 x {real}>"
        names = {"NAME": name, "REAL": real, "ELEMENT": element, "ONE": f"ptr @one_{one}", "ZERO": "ptr @zero"}
        parts.append(_typed(_MATRICES + _DOT.replace("$SUM", _COMPLEX_SUM.strip("\n")) + TRSM_TEXT, names))
    parts.append(_typed(TURN_TEXT + GETRF_TEXT + GESV_TEXT, {"NAME": "f64", "ELEMENT": "double", "UNIT": "1.0"}))
    unit = "<double 1.0, double 0.0>"
    parts.append(_typed(TURN_TEXT + GESV_TEXT, {"NAME": "c128", "ELEMENT": "<2 x double>", "UNIT": unit}))
    return expand("".join(parts), INT="i64" if long else "i32", BEGIN=_BEGIN, END=_END)


def _typed(text: str, names: dict[str, str]) -> str:
    return Template(text).safe_substitute(names)
