"""Elements of a line as often as numbers say: the text of the routines, which have kernels' signature.

Each takes blocks of elements, which threads share.  The repetitions of an element begin where those of the element
before it end: no block writes to another's part.

    repeat_BYTES    elements, ends, size; result        elements from the size on are left out

Behind the pointers stand the number of elements, that of a block, and the step from one element to the next.
"""

from __future__ import annotations

from string import Template

from xjit.runtime.native.compaction_native import SIZES

_ROUTINE = r"""
define void @$NAME(i64 %low, i64 %high, ptr %table) {
entry:
  %source = call ptr @pointer(ptr %table, i64 0)
  %ends = call ptr @pointer(ptr %table, i64 1)
  %sizes = call ptr @pointer(ptr %table, i64 2)
  %result = call ptr @pointer(ptr %table, i64 3)
  %most = call i64 @word(ptr %table, i64 4)
  %block = call i64 @word(ptr %table, i64 5)
  %step = call i64 @word(ptr %table, i64 6)
  %size = load i64, ptr %sizes
  %is_less = icmp slt i64 %size, %most
  %count = select i1 %is_less, i64 %size, i64 %most
  for %b from %low below %high
    %first = mul i64 %b, %block
    %end = call i64 @end_of(i64 %first, i64 %block, i64 %count)
    %is_there = icmp slt i64 %first, %end
    br i1 %is_there, label %begin, label %done
begin:
    %from = call i64 @ahead(ptr %ends, i64 %first)
    for %i from %first below %end, i64 %k = %from then %stop
      %stop = call i64 @word(ptr %ends, i64 %i)
      %distance = mul i64 %i, %step
      %place = getelementptr $TYPE, ptr %source, i64 %distance
      %element = load $TYPE, ptr %place, align $ALIGN
      for %j from %k below %stop
        %to = getelementptr $TYPE, ptr %result, i64 %j
        store $TYPE %element, ptr %to, align $ALIGN
      end %j
    end %i
    br label %done
done:
  end %b
  ret void
}
"""


def repetition_text() -> str:
    """All routines, which stand behind those of compaction."""
    names = ({"NAME": f"repeat_{size}", "TYPE": f"i{8 * size}", "ALIGN": str(min(size, 8))} for size in SIZES)
    return "".join(Template(_ROUTINE).safe_substitute(one) for one in names)
