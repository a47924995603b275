"""Sorts of lines as kernels that call NumPy's own routines: the text of their adaptors.

They have the signature of a kernel.  Line ``i`` of a packed array is copied into the result and sorted there.  Their
table:

    0, 1      the lines, the result
    2, 3      the routine of NumPy, which returns 0 unless memory is short, and another one for lines it leaves
    4, 5      bytes and elements of a line

``order_lines`` puts the positions of the elements of a line in the order of these.  ``sort_first`` and
``order_first`` sort the first elements of the only line; their table:

    0, 1, 2   the line, the number of its elements, the result
    3, 4      routines of NumPy, as above
    5, 6, 7   bytes of an element and of the number, elements that there is room for

``sort_lines`` takes elements as the routine orders them.  ``sort_signed_f32`` and its like are stable: a line that
has zeros of both signs, the only equal elements that differ, they give to the other routine, which has to be.
"""

from __future__ import annotations

from string import Template

from xjit.runtime.native.native_parts import WORDS_TEXT
from xjit.runtime.native.native_text import expand

_SHARED = r"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; The result of a line that a routine has sorted, and what the routine said.
define internal { ptr, i32 } @sorted(ptr %table, i64 %i, i64 %slot) {
entry:
  %routine = call ptr @pointer(ptr %table, i64 %slot)
  %bytes = call i64 @word(ptr %table, i64 4)
  %count = call i64 @word(ptr %table, i64 5)
  %distance = mul i64 %i, %bytes
  %lines = call ptr @pointer(ptr %table, i64 0)
  %results = call ptr @pointer(ptr %table, i64 1)
  %line = getelementptr i8, ptr %lines, i64 %distance
  %result = getelementptr i8, ptr %results, i64 %distance
  call void @llvm.memcpy.p0.p0.i64(ptr %result, ptr %line, i64 %bytes, i1 false)
  %said = call i32 %routine(ptr %result, i64 %count, ptr null)
  %first = insertvalue { ptr, i32 } poison, ptr %result, 0
  %both = insertvalue { ptr, i32 } %first, i32 %said, 1
  ret { ptr, i32 } %both
}
"""

_LINES = r"""
define void @sort_lines(i64 %low, i64 %high, ptr %table) {
entry:
  for %i from %low below %high
    %made = call { ptr, i32 } @sorted(ptr %table, i64 %i, i64 2)
    %said = extractvalue { ptr, i32 } %made, 1
    %left = icmp ne i32 %said, 0
    br i1 %left, label %other, label %done
other:
    %again = call { ptr, i32 } @sorted(ptr %table, i64 %i, i64 3)
    br label %done
done:
  end %i
  ret void
}
"""

_ORDERS = r"""
; Put the positions of the elements of a line in order, by %routine or, unless that does it, by %other.
define internal void @ordered(ptr %line, ptr %result, i64 %count, ptr %routine, ptr %other) {
entry:
  call void @count_up(ptr %result, i64 %count)
  %said = call i32 %routine(ptr %line, ptr %result, i64 %count, ptr null)
  %left = icmp ne i32 %said, 0
  br i1 %left, label %again, label %done
again:
  call void @count_up(ptr %result, i64 %count)
  %last = call i32 %other(ptr %line, ptr %result, i64 %count, ptr null)
  br label %done
done:
  ret void
}

define internal void @count_up(ptr %result, i64 %count) {
entry:
  for %i below %count
    %place = call ptr @place(ptr %result, i64 %i)
    store i64 %i, ptr %place
  end %i
  ret void
}

define void @order_lines(i64 %low, i64 %high, ptr %table) {
entry:
  %lines = call ptr @pointer(ptr %table, i64 0)
  %results = call ptr @pointer(ptr %table, i64 1)
  %routine = call ptr @pointer(ptr %table, i64 2)
  %other = call ptr @pointer(ptr %table, i64 3)
  %bytes = call i64 @word(ptr %table, i64 4)
  %count = call i64 @word(ptr %table, i64 5)
  for %i from %low below %high
    %distance = mul i64 %i, %bytes
    %line = getelementptr i8, ptr %lines, i64 %distance
    %before = mul i64 %i, %count
    %result = call ptr @place(ptr %results, i64 %before)
    call void @ordered(ptr %line, ptr %result, i64 %count, ptr %routine, ptr %other)
  end %i
  ret void
}

; The number of the first elements, which is not beyond what there is room for.
define internal i64 @first_count(ptr %table) {
entry:
  %place = call ptr @pointer(ptr %table, i64 1)
  %bytes = call i64 @word(ptr %table, i64 6)
  %room = call i64 @word(ptr %table, i64 7)
  %long = icmp eq i64 %bytes, 8
  br i1 %long, label %eight, label %four
eight:
  %count8 = load i64, ptr %place
  br label %found
four:
  %half = load i32, ptr %place
  %count4 = sext i32 %half to i64
  br label %found
found:
  %count = phi i64 [ %count8, %eight ], [ %count4, %four ]
  %none = icmp slt i64 %count, 0
  %some = select i1 %none, i64 0, i64 %count
  %beyond = icmp sgt i64 %some, %room
  %within = select i1 %beyond, i64 %room, i64 %some
  ret i64 %within
}

define void @order_first(i64 %low, i64 %high, ptr %table) {
entry:
  %line = call ptr @pointer(ptr %table, i64 0)
  %result = call ptr @pointer(ptr %table, i64 2)
  %routine = call ptr @pointer(ptr %table, i64 3)
  %other = call ptr @pointer(ptr %table, i64 4)
  %count = call i64 @first_count(ptr %table)
  call void @ordered(ptr %line, ptr %result, i64 %count, ptr %routine, ptr %other)
  ret void
}

define void @sort_first(i64 %low, i64 %high, ptr %table) {
entry:
  %line = call ptr @pointer(ptr %table, i64 0)
  %result = call ptr @pointer(ptr %table, i64 2)
  %routine = call ptr @pointer(ptr %table, i64 3)
  %item = call i64 @word(ptr %table, i64 5)
  %count = call i64 @first_count(ptr %table)
  %bytes = mul i64 %count, %item
  call void @llvm.memcpy.p0.p0.i64(ptr %result, ptr %line, i64 %bytes, i1 false)
  %said = call i32 %routine(ptr %result, i64 %count, ptr null)
  %left = icmp ne i32 %said, 0
  br i1 %left, label %again, label %done
again:
  %other = call ptr @pointer(ptr %table, i64 4)
  call void @llvm.memcpy.p0.p0.i64(ptr %result, ptr %line, i64 %bytes, i1 false)
  %last = call i32 %other(ptr %result, i64 %count, ptr null)
  br label %done
done:
  ret void
}
"""

_SIGNED = r"""
; Whether a line has zeros of both signs: the first element of the sorted line that is not negative says whether there
; is any, by halving, and the line itself which, as routines may exchange one zero for the other.
define internal i1 @has_both_zeros_$NAME(ptr %line, ptr %sorted, i64 %count) {
entry:
  br label %halve
halve:
  %begin = phi i64 [ 0, %entry ], [ %begin_next, %inside ]
  %end = phi i64 [ %count, %entry ], [ %end_next, %inside ]
  %wide = icmp slt i64 %begin, %end
  br i1 %wide, label %inside, label %found
inside:
  %sum = add i64 %begin, %end
  %middle = lshr i64 %sum, 1
  %place = getelementptr $REAL, ptr %sorted, i64 %middle
  %element = load $REAL, ptr %place
  %negative = fcmp olt $REAL %element, 0.0
  %beyond = add i64 %middle, 1
  %begin_next = select i1 %negative, i64 %beyond, i64 %begin
  %end_next = select i1 %negative, i64 %end, i64 %middle
  br label %halve
found:
  %outside = icmp eq i64 %begin, %count
  br i1 %outside, label %no, label %look
look:
  %there = getelementptr $REAL, ptr %sorted, i64 %begin
  %first = load $REAL, ptr %there
  %is_zero = fcmp oeq $REAL %first, 0.0
  br i1 %is_zero, label %signs, label %no
signs:
  for %i below %count, i1 %plus = false then %plus_next, i1 %minus = false then %minus_next
    %here = getelementptr $REAL, ptr %line, i64 %i
    %own = load $REAL, ptr %here
    %bits = bitcast $REAL %own to $BITS
    %is_plus = icmp eq $BITS %bits, 0
    %is_minus = icmp eq $BITS %bits, $SIGN
    %plus_next = or i1 %plus, %is_plus
    %minus_next = or i1 %minus, %is_minus
  end %i
  %both = and i1 %plus, %minus
  ret i1 %both
no:
  ret i1 false
}

define void @sort_signed_$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %lines = call ptr @pointer(ptr %table, i64 0)
  %bytes = call i64 @word(ptr %table, i64 4)
  %count = call i64 @word(ptr %table, i64 5)
  for %i from %low below %high
    %made = call { ptr, i32 } @sorted(ptr %table, i64 %i, i64 2)
    %result = extractvalue { ptr, i32 } %made, 0
    %distance = mul i64 %i, %bytes
    %line = getelementptr i8, ptr %lines, i64 %distance
    %both = call i1 @has_both_zeros_$NAME(ptr %line, ptr %result, i64 %count)
    br i1 %both, label %stably, label %done
stably:
    %stable = call { ptr, i32 } @sorted(ptr %table, i64 %i, i64 3)
    %said = extractvalue { ptr, i32 } %stable, 1
    %left = icmp ne i32 %said, 0
    br i1 %left, label %again, label %done
again:
    %last = call { ptr, i32 } @sorted(ptr %table, i64 %i, i64 2)
    br label %done
done:
  end %i
  ret void
}
"""


def sorts_text() -> str:
    """All adaptors."""
    signed = (
        Template(_SIGNED).safe_substitute(NAME=name, REAL=real, BITS=bits, SIGN=sign)
        for name, real, bits, sign in (("f32", "float", "i32", -(2**31)), ("f64", "double", "i64", -(2**63)))
    )
    return expand("".join((WORDS_TEXT, _SHARED, _LINES, _ORDERS, *signed)))
