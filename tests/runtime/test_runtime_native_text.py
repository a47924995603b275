"""The loops of the runtime's assembly: as many rounds as they should have, carried values, early exits, mistakes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from xjit.runtime.native import native_code, native_text

LOOPS = r"""
; Fibonacci number %count, or the first one above 1000.
define i64 @fibonacci(i64 %count) {
entry:
  for %i below %count,
      i64 %a = 0 then %b,
      i64 %b = 1 then %sum
    %sum = add i64 %a, %b
    %large = icmp sgt i64 %a, 1000
    br i1 %large, label %enough, label %go_on             ; an early exit
go_on:
  end %i
  ret i64 %a
enough:
  ret i64 %a
}

; The sum of i * j, negative for odd j, for %low <= i < %high and j < i, after an empty loop.
define i64 @nested(i64 %low, i64 %high) {
entry:
  for %k below 0
  end %k
  for %i from %low below %high, i64 %total = %k then %after
    for %j below %i, i64 %inner = %total then %more
      %product = mul i64 %i, %j
      %odd = and i64 %j, 1
      %is_odd = icmp ne i64 %odd, 0
      br i1 %is_odd, label %subtract, label %add
subtract:
      %less = sub i64 %inner, %product
      br label %join
add:
      %plus = add i64 %inner, %product
      br label %join
join:
      %more = phi i64 [ %less, %subtract ], [ %plus, %add ]
    end %j
    %after = add i64 %inner, 0
  end %i
  ret i64 %total
}
"""


def function(name: str, count: int) -> Callable[..., int]:
    module = native_code.NativeModule(LOOPS)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * count)(module.function(name))


def test_carried_values_and_early_exits() -> None:
    fibonacci = function("fibonacci", 1)
    assert [fibonacci(count) for count in (-1, 0, 1, 2, 10, 100)] == [0, 0, 1, 1, 55, 1597]


def test_nested_loops_of_several_blocks() -> None:
    nested = function("nested", 2)
    for low, high in ((0, 0), (5, 3), (0, 1), (0, 6), (-3, 4), (2, 9)):
        expected = sum(i * j * (-1) ** j for i in range(low, high) for j in range(i))
        assert nested(low, high) == expected


def test_constants_and_the_pause_of_the_processor() -> None:
    text = native_text.expand("$PAUSE_DECLARATION\n$PAUSE\nbelow $COUNT", COUNT=3)
    assert "$" not in text and text.endswith("below 3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define void @f() {\n  for %i below 3\n  end %i", "behind a label; got for %i below 3"),
        ("entry:\n  for %i in 3\n  end %i", "a loop is written 'for %i below %count'"),
        ("entry:\n  end %i", "no loop to end: end %i"),
        ("entry:\n  for %i below 3\n  end %j", "no loop to end: end %j"),
        ("entry:\n  for %i below 3\n  for %j below 3\n  end %j", "a loop without an end: %i"),
        ("entry:\n  for %i below 3, i64 %a = 0\n  end %i", "a loop carries 'type %name = first then next'"),
        ("entry:\ndefine void @f() {\n  for %i below 3\n  end %i", "behind a label; got for %i below 3"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        native_text.with_loops(text)
    assert message in str(caught.value)
