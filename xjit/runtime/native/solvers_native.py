"""Cholesky factors and triangular systems as kernels that call LAPACK and BLAS: the text of their adaptors.

They follow those of products (:mod:`xjit.runtime.native.blas_native`), and so do their tables: number ``i`` of a
stack is computed from row-major matrices moved on by ``i`` times their step:

    0 .. 2    the matrices, the right sides, the result; without right sides a status, or the matrices again
    3         the routine
    4 .. 6    steps in bytes of the three
    7         1 where the library may use several threads
    8 ..      potrf: 1 for lower factors, size, 1 where there is a status
              trsm:  side, triangle, transposed, diagonal, rows, columns, size of the matrix

LAPACK works on columns. A lower triangle is transposed for it and back again: then it does what it does for NumPy.
A matrix without a factor sets the status, or gives NaN.
"""

from __future__ import annotations

POTRF_TEXT = r"""
define void @potrf_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %lower_word = call i64 @word(ptr %table, i64 8)
  %lower = icmp ne i64 %lower_word, 0
  %n = call i64 @word(ptr %table, i64 9)
  %count = call $INT @count(ptr %table, i64 9)
  %size = alloca $INT
  store $INT %count, ptr %size
  %info = alloca $INT
  %elements = mul i64 %n, %n
  $BEGIN
  for %i from %low below %high
    %matrix = call ptr @moved(ptr %table, i64 0, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    for %r below %n
      for %c below %n
        %here = call i64 @at(i64 %r, i64 %c, i64 %n)
        %across = call i64 @at(i64 %c, i64 %r, i64 %n)
        %source = select i1 %lower, i64 %across, i64 %here
        %from = getelementptr $ELEMENT, ptr %matrix, i64 %source
        %to = getelementptr $ELEMENT, ptr %result, i64 %here
        %element = load $ELEMENT, ptr %from
        store $ELEMENT %element, ptr %to
      end %c
    end %r
    call void %routine(ptr @triangle, ptr %size, ptr %result, ptr %size, ptr %info)
    %code = load $INT, ptr %info
    %failed = icmp ne $INT %code, 0
    br i1 %failed, label %none, label %found
none:
    %reports_word = call i64 @word(ptr %table, i64 10)
    %reports = icmp ne i64 %reports_word, 0
    br i1 %reports, label %report, label %fill
report:
    %status = call ptr @pointer(ptr %table, i64 1)
    store i8 1, ptr %status
    br label %done
fill:
    for %k below %elements
      %place = getelementptr $ELEMENT, ptr %result, i64 %k
      store $ELEMENT 0x7FF8000000000000, ptr %place
    end %k
    br label %done
found:
    for %p below %n
      %beyond = add i64 %p, 1
      for %q from %beyond below %n
        %upper_place = call i64 @at(i64 %p, i64 %q, i64 %n)
        %lower_place = call i64 @at(i64 %q, i64 %p, i64 %n)
        %upper = getelementptr $ELEMENT, ptr %result, i64 %upper_place
        %under = getelementptr $ELEMENT, ptr %result, i64 %lower_place
        %factor = load $ELEMENT, ptr %upper
        %above = select i1 %lower, $ELEMENT 0.0, $ELEMENT %factor
        %below = select i1 %lower, $ELEMENT %factor, $ELEMENT 0.0
        store $ELEMENT %above, ptr %upper
        store $ELEMENT %below, ptr %under
      end %q
    end %p
    br label %done
done:
  end %i
  $END
}
"""

TRSM_TEXT = r"""
define void @trsm_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %bytes = call i64 @word(ptr %table, i64 6)
  %side = call i32 @flag(ptr %table, i64 8)
  %triangle = call i32 @flag(ptr %table, i64 9)
  %turned = call i32 @flag(ptr %table, i64 10)
  %diagonal = call i32 @flag(ptr %table, i64 11)
  %rows = call $INT @count(ptr %table, i64 12)
  %columns = call $INT @count(ptr %table, i64 13)
  %size = call $INT @count(ptr %table, i64 14)
  $BEGIN
  for %i from %low below %high
    %matrix = call ptr @moved(ptr %table, i64 0, i64 %i)
    %right = call ptr @moved(ptr %table, i64 1, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void @llvm.memcpy.p0.p0.i64(ptr %result, ptr %right, i64 %bytes, i1 false)
    call void %routine(i32 101, i32 %side, i32 %triangle, i32 %turned, i32 %diagonal, $INT %rows, $INT %columns,
        $ONE, ptr %matrix, $INT %size, ptr %result, $INT %columns)
  end %i
  $END
}
"""

SHARED_TEXT = r"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

@triangle = internal constant [1 x i8] c"L"

; The number of an element of a square matrix.
define internal i64 @at(i64 %row, i64 %column, i64 %size) alwaysinline {
  %before = mul i64 %row, %size
  %place = add i64 %before, %column
  ret i64 %place
}
"""
