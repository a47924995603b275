"""Elements that a mask chooses, put next to each other: the text of the routines, which have kernels' signature.

Each takes blocks of elements, which threads share.  The first routine counts the chosen elements of each block, the
others read where the elements of the block before end, and write up to where its own end: no block writes to
another's part.

    count_chosen      mask, size; result                elements from the size on are not counted
    compact_BYTES     elements, mask, ends; result
    chosen_positions  mask, ends; result

Behind the pointers stand the number of elements, that of a block, and the step from one element of the first operand
to the next.  Bytes of masks are 0 or 1.  Eight of them are read at a time, and skipped where none is set.
"""

from __future__ import annotations

from string import Template

from xjit.runtime.native.native_parts import WORDS_TEXT
from xjit.runtime.native.native_text import expand

SIZES = (1, 2, 4, 8, 16)
"""Bytes of the elements that are packed."""

_SHARED = r"""
; Where a block ends: with all elements, the last one.
define internal i64 @end_of(i64 %first, i64 %block, i64 %count) alwaysinline {
  %whole = add i64 %first, %block
  %beyond = icmp sgt i64 %whole, %count
  %end = select i1 %beyond, i64 %count, i64 %whole
  ret i64 %end
}

; How many elements are chosen in front of a block.
define internal i64 @ahead(ptr %ends, i64 %b) {
entry:
  %is_first = icmp eq i64 %b, 0
  br i1 %is_first, label %none, label %some
none:
  ret i64 0
some:
  %before = sub i64 %b, 1
  %count = call i64 @word(ptr %ends, i64 %before)
  ret i64 %count
}

define internal i64 @truth(ptr %mask, i64 %i) alwaysinline {
  %place = getelementptr i8, ptr %mask, i64 %i
  %byte = load i8, ptr %place
  %value = zext i8 %byte to i64
  ret i64 %value
}

define internal i64 @truths(ptr %mask, i64 %i) alwaysinline {
  %place = getelementptr i8, ptr %mask, i64 %i
  %value = load i64, ptr %place, align 1
  ret i64 %value
}

define void @count_chosen(i64 %low, i64 %high, ptr %table) {
entry:
  %mask = call ptr @pointer(ptr %table, i64 0)
  %sizes = call ptr @pointer(ptr %table, i64 1)
  %result = call ptr @pointer(ptr %table, i64 2)
  %most = call i64 @word(ptr %table, i64 3)
  %block = call i64 @word(ptr %table, i64 4)
  %size = load i64, ptr %sizes
  %is_less = icmp slt i64 %size, %most
  %count = select i1 %is_less, i64 %size, i64 %most
  for %b from %low below %high
    %first = mul i64 %b, %block
    %end = call i64 @end_of(i64 %first, i64 %block, i64 %count)
    br label %eight
eight:
    %i = phi i64 [ %first, %b.body ], [ %ahead, %add ]
    %sum = phi i64 [ 0, %b.body ], [ %more, %add ]
    %ahead = add i64 %i, 8
    %fits = icmp sle i64 %ahead, %end
    br i1 %fits, label %add, label %rest
add:
    %bytes = call i64 @truths(ptr %mask, i64 %i)
    %spread = mul i64 %bytes, 72340172838076673
    %set = lshr i64 %spread, 56
    %more = add i64 %sum, %set
    br label %eight
rest:
    for %j from %i below %end, i64 %total = %sum then %total_next
      %one = call i64 @truth(ptr %mask, i64 %j)
      %total_next = add i64 %total, %one
    end %j
    %place = call ptr @place(ptr %result, i64 %b)
    store i64 %total, ptr %place
  end %b
  ret void
}
"""

_PACKED = r"""
define void @$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %source = call ptr @pointer(ptr %table, i64 0)
  %mask = call ptr @pointer(ptr %table, i64 $MASK)
  %ends = call ptr @pointer(ptr %table, i64 $ENDS)
  %result = call ptr @pointer(ptr %table, i64 $RESULT)
  %count = call i64 @word(ptr %table, i64 $COUNT)
  %block = call i64 @word(ptr %table, i64 $BLOCK)
  %step = call i64 @word(ptr %table, i64 $STEP)
  for %b from %low below %high
    %first = mul i64 %b, %block
    %end = call i64 @end_of(i64 %first, i64 %block, i64 %count)
    %begin = call i64 @ahead(ptr %ends, i64 %b)
    %stop = call i64 @word(ptr %ends, i64 %b)
    br label %next
next:
    %i = phi i64 [ %first, %b.body ], [ %eight, %look ], [ %eight, %all ], [ %one, %single ]
    %k = phi i64 [ %begin, %b.body ], [ %k, %look ], [ %k8, %all ], [ %k_one, %single ]
    %left = icmp slt i64 %k, %stop
    br i1 %left, label %try, label %done
try:
    %eight = add i64 %i, 8
    %fits = icmp sle i64 %eight, %end
    br i1 %fits, label %look, label %single
look:
    %bytes = call i64 @truths(ptr %mask, i64 %i)
    %none = icmp eq i64 %bytes, 0
    br i1 %none, label %next, label %some
some:
    %far = add i64 %k, 8
    %room = icmp sle i64 %far, %stop
    br i1 %room, label %all, label %single
all:
    $EIGHT
    br label %next
single:
    call void @put_$NAME(ptr %source, i64 %step, i64 %i, ptr %result, i64 %k)
    %is_set = call i64 @truth(ptr %mask, i64 %i)
    %k_one = add i64 %k, %is_set
    %one = add i64 %i, 1
    br label %next
done:
  end %b
  ret void
}
"""

_ELEMENT = r"""
define internal void @put_$NAME(ptr %source, i64 %step, i64 %i, ptr %result, i64 %k) alwaysinline {
  %distance = mul i64 %i, %step
  %from = getelementptr $TYPE, ptr %source, i64 %distance
  %to = getelementptr $TYPE, ptr %result, i64 %k
  %element = load $TYPE, ptr %from, align $ALIGN
  store $TYPE %element, ptr %to, align $ALIGN
  ret void
}
"""

_POSITION = r"""
define internal void @put_$NAME(ptr %source, i64 %step, i64 %i, ptr %result, i64 %k) alwaysinline {
  %to = call ptr @place(ptr %result, i64 %k)
  store i64 %i, ptr %to
  ret void
}
"""

_ONE_OF_EIGHT = """
    %i{n} = add i64 %i, {n}
    call void @put_$NAME(ptr %source, i64 %step, i64 %i{n}, ptr %result, i64 %{k})
    %shifted{n} = lshr i64 %bytes, {shift}
    %set{n} = and i64 %shifted{n}, 1
    %k{next} = add i64 %{k}, %set{n}
"""


def compaction_text() -> str:
    """All routines."""
    eight = "".join(_ONE_OF_EIGHT.format(n=n, shift=8 * n, k=f"k{n}" if n else "k", next=n + 1) for n in range(8))
    parts = [WORDS_TEXT, _SHARED]
    for size in SIZES:
        element = {"NAME": f"compact_{size}", "TYPE": f"i{8 * size}", "ALIGN": min(size, 8)}
        parts.append(_routine(_ELEMENT, eight, 1, element))
    parts.append(_routine(_POSITION, eight, 0, {"NAME": "chosen_positions"}))
    return expand("".join(parts))


def _routine(element: str, eight: str, mask: int, names: dict[str, object]) -> str:
    """A routine whose mask is the operand of this number, and the function that puts one element in its place."""
    places = ("MASK", "ENDS", "RESULT", "COUNT", "BLOCK", "STEP")
    numbers: dict[str, object] = {name: mask + number for number, name in enumerate(places)}
    loop = Template(_PACKED).safe_substitute(EIGHT=eight)
    return Template(element + loop).safe_substitute({**names, **numbers})
