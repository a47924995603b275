"""Elements that a mask chooses, put next to each other: the text of the routines, which have kernels' signature.

Each takes blocks of elements, which threads share.  The first routine counts the chosen elements of each block, the
others read where the elements of the block before end, and write up to where its own end: no block writes to
another's part.

    count_chosen      mask, size; result                elements from the size on are not counted
    compact_BYTES     elements, mask, ends; result
    chosen_positions  mask, ends; result

Behind the pointers stand the number of elements, that of a block, and the step from one element of the first operand
to the next.  Bytes of masks are 0 or 1.  Eight of them are read at a time, and skipped where none is set.  Where few
elements of a block are chosen their places are found first, so that memory is read for many of them at once.  Where
nearly all are, and lie behind each other, eight are moved as vectors.
"""

from __future__ import annotations

import re
from string import Template

from xjit.runtime.native.native_parts import WORDS_TEXT
from xjit.runtime.native.native_text import expand

FEW = 1024
"""Chosen elements of a block that are fewer are found first; offsets in a block have 16 bits."""

DENSE = 32
"""Elements of a block for each that is not chosen, or more: eight at a time are copied where all are chosen."""

SIZES = (1, 2, 4, 8, 16)
"""Bytes of the elements that are packed."""

_SHARED = r"""
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.ctpop.i64(i64)

; Where the chosen elements of a block lie in it, which are few.
define internal void @find_few(ptr %mask, i64 %first, i64 %end, i64 %count, ptr %offsets) {
entry:
  br label %next
next:
  %i = phi i64 [ %first, %entry ], [ %eight, %look ], [ %eight, %set ], [ %one, %single ]
  %k = phi i64 [ 0, %entry ], [ %k, %look ], [ %k_set, %set ], [ %k_one, %single ]
  %left = icmp slt i64 %k, %count
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
  %base = sub i64 %i, %first
  br label %set
set:
  %bits = phi i64 [ %bytes, %some ], [ %rest, %set_more ]
  %n = phi i64 [ %k, %some ], [ %k_set, %set_more ]
  %zeros = call i64 @llvm.cttz.i64(i64 %bits, i1 true)
  %byte = lshr i64 %zeros, 3
  %offset = add i64 %base, %byte
  call void @put_offset(ptr %offsets, i64 %n, i64 %offset)
  %k_set = add i64 %n, 1
  %less = sub i64 %bits, 1
  %rest = and i64 %bits, %less
  %more = icmp ne i64 %rest, 0
  %within = icmp slt i64 %k_set, %count
  %goes_on = and i1 %more, %within
  br i1 %goes_on, label %set_more, label %next
set_more:
  br label %set
single:
  %own = sub i64 %i, %first
  call void @put_offset(ptr %offsets, i64 %k, i64 %own)
  %is_set = call i64 @truth(ptr %mask, i64 %i)
  %k_one = add i64 %k, %is_set
  %one = add i64 %i, 1
  br label %next
done:
  ret void
}

define internal void @put_offset(ptr %offsets, i64 %n, i64 %offset) alwaysinline {
  %place = getelementptr i16, ptr %offsets, i64 %n
  %short = trunc i64 %offset to i16
  store i16 %short, ptr %place
  ret void
}

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
  %offsets = alloca [$FEW x i16], align 2
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
    %from = call i64 @ahead(ptr %ends, i64 %b)
    %stop = call i64 @word(ptr %ends, i64 %b)
    %held = sub i64 %end, %first
    %number = sub i64 %stop, %from
    %left_out = sub i64 %held, %number
    %most = sdiv i64 %held, $DENSE
    %is_full = icmp sle i64 %left_out, %most
    %is_packed = icmp eq i64 %step, 1
    %is_dense = and i1 %is_full, %is_packed
    $AHEAD
    br i1 %is_dense, label %next_dense, label %next
$LOOP
$DENSE_LOOP
done:
  end %b
  ret void
}
"""

_LOOP = """
next:
    %i = phi i64 [ %first, %begin ], [ %eight, %look ], [ %eight, %all ], [ %one, %single ]
    %k = phi i64 [ %from, %begin ], [ %k, %look ], [ %k8, %all ], [ %k_one, %single ]
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
"""

_AROUND = frozenset(("first", "from", "stop", "end", "mask", "source", "step", "result", "begin", "done"))
"""Names around the loop over a block, which it shares with the dense one."""

_ELEMENT = r"""
define internal void @put_$NAME(ptr %source, i64 %step, i64 %i, ptr %result, i64 %k) alwaysinline {
  %distance = mul i64 %i, %step
  %from = getelementptr $TYPE, ptr %source, i64 %distance
  %to = getelementptr $TYPE, ptr %result, i64 %k
  %element = load $TYPE, ptr %from, align $ALIGN
  store $TYPE %element, ptr %to, align $ALIGN
  ret void
}

define internal void @put_eight_$NAME(ptr %source, i64 %i, ptr %result, i64 %k) alwaysinline {
  %from = getelementptr $TYPE, ptr %source, i64 %i
  %to = getelementptr $TYPE, ptr %result, i64 %k
  %elements = load <$EIGHT_WORDS x $WORD>, ptr %from, align $ALIGN
  store <$EIGHT_WORDS x $WORD> %elements, ptr %to, align $ALIGN
  ret void
}
"""

_POSITION = r"""
define internal void @put_$NAME(ptr %source, i64 %step, i64 %i, ptr %result, i64 %k) alwaysinline {
  %to = call ptr @place(ptr %result, i64 %k)
  store i64 %i, ptr %to
  ret void
}

define internal void @put_eight_$NAME(ptr %source, i64 %i, ptr %result, i64 %k) alwaysinline {
entry:
  for %n below 8
    %place = add i64 %i, %n
    %at = add i64 %k, %n
    call void @put_$NAME(ptr %source, i64 1, i64 %place, ptr %result, i64 %at)
  end %n
  ret void
}
"""

_FEW = r"""
    %chosen = sub i64 %stop, %from
    %is_sparse = icmp slt i64 %chosen, $FEW
    br i1 %is_sparse, label %few, label %begin
few:
    call void @find_few(ptr %mask, i64 %first, i64 %end, i64 %chosen, ptr %offsets)
    for %g below %chosen
      %offset_place = getelementptr i16, ptr %offsets, i64 %g
      %offset = load i16, ptr %offset_place
      %distance = zext i16 %offset to i64
      %there = add i64 %first, %distance
      %to = add i64 %from, %g
      call void @put_$NAME(ptr %source, i64 %step, i64 %there, ptr %result, i64 %to)
    end %g
    br label %done
begin:
"""

_ANY = r"""
    br label %begin
begin:
"""

# Each of eight elements goes to the place behind the chosen ones before it, and the next one overwrites what was not
# chosen. A product has the sums of the bytes from the lowest on in its bytes: no place waits for the one before.
_FIRST_OF_EIGHT = """
    %sums = mul i64 %bytes, 72340172838076673
    call void @put_$NAME(ptr %source, i64 %step, i64 %i, ptr %result, i64 %k)
"""
_OTHER_OF_EIGHT = """
    %i{n} = add i64 %i, {n}
    %shifted{n} = lshr i64 %sums, {shift}
    %before{n} = and i64 %shifted{n}, 255
    %k{n} = add i64 %k, %before{n}
    call void @put_$NAME(ptr %source, i64 %step, i64 %i{n}, ptr %result, i64 %k{n})
"""
_BEHIND_EIGHT = """
    %all_set = lshr i64 %sums, 56
    %k8 = add i64 %k, %all_set
"""

# The distances of the chosen ones of eight elements, next to each other, are looked up by their bits, which a product
# gathers in its highest byte: bit 8 j of the bytes comes to bit 56 + j, and no two others meet.
_EIGHT_POSITIONS = """
    %gathered = mul i64 %bytes, 72624976668147840
    %set = lshr i64 %gathered, 56
    %distances_place = getelementptr <8 x i8>, ptr @distances, i64 %set
    %distances = load <8 x i8>, ptr %distances_place
    %wide = zext <8 x i8> %distances to <8 x i64>
    %first_lane = insertelement <8 x i64> poison, i64 %i, i64 0
    %all_lanes = shufflevector <8 x i64> %first_lane, <8 x i64> poison, <8 x i32> zeroinitializer
    %positions = add <8 x i64> %all_lanes, %wide
    %to = call ptr @place(ptr %result, i64 %k)
    store <8 x i64> %positions, ptr %to, align 8
    %all_set = call i64 @llvm.ctpop.i64(i64 %set)
    %k8 = add i64 %k, %all_set
"""


def compaction_text() -> str:
    """All routines."""
    others = (_OTHER_OF_EIGHT.format(n=n, shift=8 * (n - 1)) for n in range(1, 8))
    eight = "".join((_FIRST_OF_EIGHT, *others, _BEHIND_EIGHT))
    parts = [WORDS_TEXT, _SHARED]
    for size in SIZES:
        word = min(size, 8)
        element: dict[str, object] = {"NAME": f"compact_{size}", "TYPE": f"i{8 * size}", "ALIGN": word}
        element |= {"WORD": f"i{8 * word}", "EIGHT_WORDS": 8 * size // word}
        parts.append(_routine(_ELEMENT, eight, _FEW, 1, element))
    parts.append(_distances())
    parts.append(_routine(_POSITION, _EIGHT_POSITIONS, _ANY, 0, {"NAME": "chosen_positions"}))
    return expand("".join(parts))


def _distances() -> str:
    """The table of the set bits of each byte, from the lowest on, in front of zeros."""
    rows = ([bit for bit in range(8) if byte >> bit & 1] for byte in range(256))
    lines = ("<8 x i8> <" + ", ".join(f"i8 {one}" for one in (row + [0] * 8)[:8]) + ">" for row in rows)
    return "@distances = internal constant [256 x <8 x i8>] [\n" + ",\n".join(lines) + "\n]\n"


def _dense(loop: str) -> str:
    """The loop over a block nearly all of whose elements are chosen, with names of its own."""
    loop = loop.replace("[ %eight, %look ],", "[ %eight, %look ], [ %eight, %whole ],", 1).replace(
        "[ %k, %look ],", "[ %k, %look ], [ %far, %whole ],", 1
    )
    loop = loop.replace(
        """label %all, label %single
all:
""",
        """label %roomy, label %single
roomy:
    %is_whole = icmp eq i64 %bytes, 72340172838076673
    br i1 %is_whole, label %whole, label %all
whole:
    call void @put_eight_$NAME(ptr %source, i64 %i, ptr %result, i64 %k)
    br label %next
all:
""",
    )
    named = re.sub(r"%(\w+)", lambda found: found[0] if found[1] in _AROUND else f"{found[0]}_dense", loop)
    return re.sub(r"^(\w+):$", r"\1_dense:", named, flags=re.MULTILINE)


def _routine(element: str, eight: str, ahead: str, mask: int, names: dict[str, object]) -> str:
    """A routine whose mask is the operand of this number, and the function that puts one element in its place."""
    places = ("MASK", "ENDS", "RESULT", "COUNT", "BLOCK", "STEP")
    numbers: dict[str, object] = {name: mask + number for number, name in enumerate(places)}
    inner = Template(_LOOP).safe_substitute(EIGHT=eight)
    loop = Template(_PACKED).safe_substitute(LOOP=inner, DENSE_LOOP=_dense(inner), AHEAD=ahead)
    return Template(element + loop).safe_substitute({**names, **numbers, "FEW": FEW, "DENSE": DENSE})
