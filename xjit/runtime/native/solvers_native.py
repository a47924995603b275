"""Factors, determinants and systems of equations as kernels that call LAPACK and BLAS: the text of their adaptors.

They follow those of products (:mod:`xjit.runtime.native.blas_native`), and so do their tables: number ``i`` of a
stack is computed from row-major matrices moved on by ``i`` times their step:

    0 .. 2    the matrices, the right sides, the result; without right sides a status, or the matrices again
    3         the routine
    4 .. 6    steps in bytes of the three
    7         1 where the library may use several threads
    8 ..      potrf: 1 for lower factors, size, 1 where there is a status, 1 where that is a mark
              trsm:  side, triangle, transposed, diagonal, rows, columns, size of the matrix
              getrf: size
              gesv:  size, columns of the right sides, 1 where these are given, else they are the unit matrix, 1 where
                     its status is a mark;
                     its status is pointer 3, and what follows stands a slot further

LAPACK works on columns. A lower triangle is transposed for it and back again: then it does what it does for NumPy.
Matrices to be eliminated are copied to the stack by columns, as NumPy copies them to the heap.
A matrix without a factor sets the status, or gives NaN; the determinant of a singular one is 0. A mark is an element:
1 where the only matrix has failed, and what stands for the result is 0; else 0.
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
  %marks_word = call i64 @word(ptr %table, i64 11)
  %marks = icmp ne i64 %marks_word, 0
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
    br i1 %marks, label %marked, label %plain
plain:
    br i1 %reports, label %report, label %fill
report:
    %status = call ptr @pointer(ptr %table, i64 1)
    store i8 1, ptr %status
    br label %done
marked:
    for %z below %elements
      %zero_place = getelementptr $ELEMENT, ptr %result, i64 %z
      store $ELEMENT zeroinitializer, ptr %zero_place
    end %z
    %mark = call ptr @pointer(ptr %table, i64 1)
    store $ELEMENT 1.0, ptr %mark
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
    br i1 %marks, label %unmarked, label %done
unmarked:
    %clear = call ptr @pointer(ptr %table, i64 1)
    store $ELEMENT zeroinitializer, ptr %clear
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

# Writes a row-major matrix by columns; in memory that need not be aligned to its elements.
TURN_TEXT = r"""
define internal void @turn_$NAME(ptr %matrix, ptr %result, i64 %rows, i64 %columns) {
entry:
  for %r below %rows
    for %c below %columns
      %own = call i64 @at(i64 %r, i64 %c, i64 %columns)
      %turned = call i64 @at(i64 %c, i64 %r, i64 %rows)
      %from = getelementptr $ELEMENT, ptr %matrix, i64 %own
      %to = getelementptr $ELEMENT, ptr %result, i64 %turned
      %element = load $ELEMENT, ptr %from, align 4
      store $ELEMENT %element, ptr %to, align 4
    end %c
  end %r
  ret void
}
"""

GESV_TEXT = r"""
define void @gesv_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 4)
  %n = call i64 @word(ptr %table, i64 9)
  %columns = call i64 @word(ptr %table, i64 10)
  %given_word = call i64 @word(ptr %table, i64 11)
  %given = icmp ne i64 %given_word, 0
  %marks_word = call i64 @word(ptr %table, i64 12)
  %marks = icmp ne i64 %marks_word, 0
  %n_count = call $INT @count(ptr %table, i64 9)
  %column_count = call $INT @count(ptr %table, i64 10)
  %size = alloca $INT
  store $INT %n_count, ptr %size
  %many = alloca $INT
  store $INT %column_count, ptr %many
  %info = alloca $INT
  %elements = mul i64 %n, %n
  %solutions = mul i64 %n, %columns
  %factors = alloca $ELEMENT, i64 %elements
  %right_sides = alloca $ELEMENT, i64 %solutions
  %pivots = alloca $INT, i64 %n
  for %i from %low below %high
    %matrix = call ptr @stepped(ptr %table, i64 0, i64 5, i64 %i)
    %right = call ptr @stepped(ptr %table, i64 1, i64 6, i64 %i)
    %result = call ptr @stepped(ptr %table, i64 2, i64 7, i64 %i)
    call void @turn_$NAME(ptr %matrix, ptr %factors, i64 %n, i64 %n)
    for %p below %n
      for %q below %columns
        %row_place = call i64 @at(i64 %p, i64 %q, i64 %columns)
        %column_place = call i64 @at(i64 %q, i64 %p, i64 %n)
        %own = getelementptr $ELEMENT, ptr %right, i64 %row_place
        %side = getelementptr $ELEMENT, ptr %right_sides, i64 %column_place
        %value = load $ELEMENT, ptr %own, align 4
        %diagonal = icmp eq i64 %p, %q
        %unit = select i1 %diagonal, $ELEMENT $UNIT, $ELEMENT zeroinitializer
        %chosen = select i1 %given, $ELEMENT %value, $ELEMENT %unit
        store $ELEMENT %chosen, ptr %side
      end %q
    end %p
    call void %routine(ptr %size, ptr %many, ptr %factors, ptr %size, ptr %pivots, ptr %right_sides, ptr %size,
        ptr %info)
    %code = load $INT, ptr %info
    %failed = icmp ne $INT %code, 0
    br i1 %failed, label %singular, label %solved
singular:
    %status = call ptr @pointer(ptr %table, i64 3)
    br i1 %marks, label %marked, label %noted
noted:
    store i8 1, ptr %status
    br label %done
marked:
    for %z below %solutions
      %zero_place = getelementptr $ELEMENT, ptr %result, i64 %z
      store $ELEMENT zeroinitializer, ptr %zero_place, align 4
    end %z
    store $ELEMENT $UNIT, ptr %status, align 4
    br label %done
solved:
    call void @turn_$NAME(ptr %right_sides, ptr %result, i64 %columns, i64 %n)
    br i1 %marks, label %unmarked, label %done
unmarked:
    %clear = call ptr @pointer(ptr %table, i64 3)
    store $ELEMENT zeroinitializer, ptr %clear, align 4
    br label %done
done:
  end %i
  ret void
}
"""

GETRF_TEXT = r"""
define void @getrf_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 3)
  %n = call i64 @word(ptr %table, i64 8)
  %n_count = call $INT @count(ptr %table, i64 8)
  %size = alloca $INT
  store $INT %n_count, ptr %size
  %info = alloca $INT
  %elements = mul i64 %n, %n
  %factors = alloca double, i64 %elements
  %pivots = alloca $INT, i64 %n
  %exp = load ptr, ptr @c_exp
  %log = load ptr, ptr @c_log
  for %i from %low below %high
    %matrix = call ptr @moved(ptr %table, i64 0, i64 %i)
    %result = call ptr @moved(ptr %table, i64 2, i64 %i)
    call void @turn_$NAME(ptr %matrix, ptr %factors, i64 %n, i64 %n)
    call void %routine(ptr %size, ptr %size, ptr %factors, ptr %size, ptr %pivots, ptr %info)
    %code = load $INT, ptr %info
    %failed = icmp ne $INT %code, 0
    br i1 %failed, label %singular, label %factored
singular:
    store double 0.0, ptr %result
    br label %done
factored:
    for %k below %n, i1 %odd = false then %odd.after, double %sum = 0.0 then %sum.after
      %pivot_place = getelementptr $INT, ptr %pivots, i64 %k
      %pivot = load $INT, ptr %pivot_place
      %number = sext $INT %pivot to i128
      %k_wide = sext i64 %k to i128
      %own_number = add i128 %k_wide, 1
      %exchanged = icmp ne i128 %number, %own_number
      %diagonal_place = call i64 @at(i64 %k, i64 %k, i64 %n)
      %diagonal = getelementptr double, ptr %factors, i64 %diagonal_place
      %value = load double, ptr %diagonal
      %negative = fcmp olt double %value, 0.0
      %magnitude = call double @llvm.fabs.f64(double %value)
      %logarithm = call double %log(double %magnitude)
      %turned = xor i1 %exchanged, %negative
      %odd.after = xor i1 %odd, %turned
      %sum.after = fadd double %sum, %logarithm
    end %k
    %size_found = call double %exp(double %sum)
    %sign = select i1 %odd, double -1.0, double 1.0
    %determinant = fmul double %sign, %size_found
    store double %determinant, ptr %result
    br label %done
done:
  end %i
  ret void
}
"""

SHARED_TEXT = r"""
declare double @llvm.fabs.f64(double)

; ---- set from Python: the functions of the C library
@c_exp = global ptr null
@c_log = global ptr null

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

@triangle = internal constant [1 x i8] c"L"

; The number of an element of a square matrix.
define internal i64 @at(i64 %row, i64 %column, i64 %size) alwaysinline {
  %before = mul i64 %row, %size
  %place = add i64 %before, %column
  ret i64 %place
}
"""
