"""Draws of random numbers as kernels that call NumPy's own routines: the text of their adaptors.

They have the signature of a kernel, whose iterations are the numbers of the result. Their table:

    0         words: those of a bit generator, which routines get as they are, and addresses of routines
    1 ..      operands
    then      the result; the number of the word that is the address of the routine

Behind these ``draw_f64_2`` and its like have the step in bytes of each operand from one number to the next;
``draw_fill`` the bytes of a number; ``draw_bounded``, whose operands are the least number and how many there are
besides, the bytes of a number and whether bits are masked; ``draw_one`` has these operands, and draws one number.
``draw_trials``, whose operands are a probability and the number of trials, has their steps and where among the words
the memory of its routine begins, in bytes.
"""

from __future__ import annotations

from string import Template

from xjit.runtime.native.native_parts import WORDS_TEXT
from xjit.runtime.native.native_text import expand

MOST_OPERANDS = 3
"""Operands of the routines that return one number."""

_WHOLE = r"""
; The routine whose place among the words stands in a slot.
define internal ptr @routine(ptr %table, i64 %slot) alwaysinline {
  %words = call ptr @pointer(ptr %table, i64 0)
  %number = call i64 @word(ptr %table, i64 %slot)
  %routine = call ptr @pointer(ptr %words, i64 %number)
  ret ptr %routine
}

; The place of a number of the result.
define internal ptr @number(ptr %result, i64 %i, i64 %bytes) alwaysinline {
  %distance = mul i64 %i, %bytes
  %place = getelementptr i8, ptr %result, i64 %distance
  ret ptr %place
}

define void @draw_fill(i64 %low, i64 %high, ptr %table) {
entry:
  %bits = call ptr @pointer(ptr %table, i64 0)
  %result = call ptr @pointer(ptr %table, i64 1)
  %routine = call ptr @routine(ptr %table, i64 2)
  %bytes = call i64 @word(ptr %table, i64 3)
  %first = call ptr @number(ptr %result, i64 %low, i64 %bytes)
  %count = sub i64 %high, %low
  call void %routine(ptr %bits, i64 %count, ptr %first)
  ret void
}

define void @draw_bounded(i64 %low, i64 %high, ptr %table) {
entry:
  %bits = call ptr @pointer(ptr %table, i64 0)
  %least_place = call ptr @pointer(ptr %table, i64 1)
  %more_place = call ptr @pointer(ptr %table, i64 2)
  %result = call ptr @pointer(ptr %table, i64 3)
  %routine = call ptr @routine(ptr %table, i64 4)
  %bytes = call i64 @word(ptr %table, i64 5)
  %masked_word = call i64 @word(ptr %table, i64 6)
  %masked = trunc i64 %masked_word to i8
  %least = load i64, ptr %least_place
  %more = load i64, ptr %more_place
  %first = call ptr @number(ptr %result, i64 %low, i64 %bytes)
  %count = sub i64 %high, %low
  call void %routine(ptr %bits, i64 %least, i64 %more, i64 %count, i8 zeroext %masked, ptr %first)
  ret void
}

define void @draw_one(i64 %low, i64 %high, ptr %table) {
entry:
  %bits = call ptr @pointer(ptr %table, i64 0)
  %least_place = call ptr @pointer(ptr %table, i64 1)
  %more_place = call ptr @pointer(ptr %table, i64 2)
  %result = call ptr @pointer(ptr %table, i64 3)
  %routine = call ptr @routine(ptr %table, i64 4)
  %least = load i64, ptr %least_place
  %more = load i64, ptr %more_place
  %value = call i64 %routine(ptr %bits, i64 %least, i64 %more, i64 0, i8 zeroext 0)
  store i64 %value, ptr %result
  ret void
}
"""

_TRIALS = r"""
define void @draw_trials(i64 %low, i64 %high, ptr %table) {
entry:
  %bits = call ptr @pointer(ptr %table, i64 0)
  %shares = call ptr @pointer(ptr %table, i64 1)
  %trials = call ptr @pointer(ptr %table, i64 2)
  %result = call ptr @pointer(ptr %table, i64 3)
  %routine = call ptr @routine(ptr %table, i64 4)
  %step_share = call i64 @word(ptr %table, i64 5)
  %step_trial = call i64 @word(ptr %table, i64 6)
  %begin = call i64 @word(ptr %table, i64 7)
  %setup = getelementptr i8, ptr %bits, i64 %begin
  for %i from %low below %high
    %distance_share = mul i64 %i, %step_share
    %place_share = getelementptr i8, ptr %shares, i64 %distance_share
    %share = load double, ptr %place_share
    %distance_trial = mul i64 %i, %step_trial
    %place_trial = getelementptr i8, ptr %trials, i64 %distance_trial
    %trial = load i64, ptr %place_trial
    %value = call i64 %routine(ptr %bits, double %share, i64 %trial, ptr %setup)
    %place = getelementptr i64, ptr %result, i64 %i
    store i64 %value, ptr %place
  end %i
  ret void
}
"""

_EACH = r"""
define void @draw_$NAME_$OPERANDS(i64 %low, i64 %high, ptr %table) {
entry:
  %bits = call ptr @pointer(ptr %table, i64 0)
  %result = call ptr @pointer(ptr %table, i64 $RESULT)
  %routine = call ptr @routine(ptr %table, i64 $ROUTINE)
$POINTERS
  for %i from %low below %high
$LOADS
    %value = call $TYPE %routine(ptr %bits$GIVEN)
    %place = getelementptr $TYPE, ptr %result, i64 %i
    store $TYPE %value, ptr %place
  end %i
  ret void
}
"""

_POINTER = """
  %operand{n} = call ptr @pointer(ptr %table, i64 {place})
  %step{n} = call i64 @word(ptr %table, i64 {step})
"""

_LOAD = """
    %distance{n} = mul i64 %i, %step{n}
    %from{n} = getelementptr i8, ptr %operand{n}, i64 %distance{n}
    %number{n} = load double, ptr %from{n}
"""


def draws_text() -> str:
    """All adaptors."""
    types = (("f64", "double"), ("s64", "i64"))
    each = (_each(name, type, count) for name, type in types for count in range(MOST_OPERANDS + 1))
    return expand("".join((WORDS_TEXT, _WHOLE, _TRIALS, *each)))


def _each(name: str, type: str, count: int) -> str:
    """The adaptor to routines that make one number of so many operands."""
    operands = range(count)
    return Template(_EACH.replace("$NAME_$OPERANDS", f"{name}_{count}")).safe_substitute(
        TYPE=type,
        RESULT=count + 1,
        ROUTINE=count + 2,
        POINTERS="".join(_POINTER.format(n=n, place=n + 1, step=count + 3 + n) for n in operands),
        LOADS="".join(_LOAD.format(n=n) for n in operands),
        GIVEN="".join(f", double %number{n}" for n in operands),
    )
