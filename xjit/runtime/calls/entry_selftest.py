"""A small program run before the native entry is trusted."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.alignment import HANDLER_NAME, SMALLEST_BYTES
from xjit.runtime.calls.records import ArraySpec, Conditions, FastProgram, KernelCall, Result, ScalarSpec
from xjit.runtime.miss import MISS

SELFTEST_TEXT = r"""
; table: x, y, factor (float64), number (int64), flag (byte), temp, first output, second output, status
; temp = x * factor, first = temp + y, second = first + number + flag, element by element; status = number == 13
define void @selftest_kernel(i64 %low, i64 %high, ptr %table) {
entry:
  %x_base = call ptr @pointer(ptr %table, i64 0)
  %y_base = call ptr @pointer(ptr %table, i64 1)
  %factor_place = call ptr @pointer(ptr %table, i64 2)
  %factor = load double, ptr %factor_place
  %number_place = call ptr @pointer(ptr %table, i64 3)
  %number = load i64, ptr %number_place
  %number_float = sitofp i64 %number to double
  %status_place = call ptr @pointer(ptr %table, i64 8)
  %unlucky = icmp eq i64 %number, 13
  %status = zext i1 %unlucky to i64
  store i64 %status, ptr %status_place
  %flag_place = call ptr @pointer(ptr %table, i64 4)
  %flag = load i8, ptr %flag_place
  %flag_float = uitofp i8 %flag to double
  %temp_base = call ptr @pointer(ptr %table, i64 5)
  %first_base = call ptr @pointer(ptr %table, i64 6)
  %second_base = call ptr @pointer(ptr %table, i64 7)
  for %i from %low below %high
    %x_place = call ptr @place(ptr %x_base, i64 %i)
    %x = load double, ptr %x_place
    %y_place = call ptr @place(ptr %y_base, i64 %i)
    %y = load double, ptr %y_place
    %scaled = fmul double %x, %factor
    %temp_place = call ptr @place(ptr %temp_base, i64 %i)
    store double %scaled, ptr %temp_place
    %temp = load double, ptr %temp_place
    %first = fadd double %temp, %y
    %first_place = call ptr @place(ptr %first_base, i64 %i)
    store double %first, ptr %first_place
    %sum = fadd double %first, %number_float
    %second = fadd double %sum, %flag_float
    %second_place = call ptr @place(ptr %second_base, i64 %i)
    store double %second, ptr %second_place
  end %i
  ret void
}
"""

# A descriptor of its own, so that its reference count is nobody else's business.
_FLOAT = np.dtype(np.float64, copy=True)


class _Unlucky(ArithmeticError):
    """The error of the program below."""


def selftest_program(kernel: int, *, heavy: bool = False) -> FastProgram:
    """Two different arrays and one scalar of each kind in; a C-ordered and a Fortran-ordered array out; one temporary
    and one status.
    """
    array = ArraySpec(_FLOAT, (3, 4), (32, 8))
    scalars = (ScalarSpec(_FLOAT), ScalarSpec(np.dtype(np.int64)), ScalarSpec(np.dtype(np.bool_)))
    patches = ((0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 7, 0), (6, 5, 0), (7, 6, 0), (8, 8, 0))
    return FastProgram(
        inputs=(array, array, *scalars),
        outputs=(array, ArraySpec(_FLOAT, (4, 3), (8, 32))),
        temps=(96,),
        calls=(KernelCall(kernel, 12, 12, (0,) * 9, patches),),
        single=False,
        heavy=heavy,
        failures=(_Unlucky,),
        conditions=Conditions(((0, 1),), ((native_entry_works, native_entry_works.__code__),)),
    )


def native_entry_works(make: Callable[[FastProgram], Callable[..., Result]], kernel: int) -> bool:
    """Return whether an entry made by ``make`` computes, refuses, fails and counts references as it should."""
    light, heavy = (make(selftest_program(kernel, heavy=heavy)) for heavy in (False, True))
    x = np.arange(12.0).reshape(3, 4) - 5
    y = x * 0.25
    references = sys.getrefcount(x), sys.getrefcount(_FLOAT)
    if not (_computes(light, x, y, False) and _computes(heavy, x, y, True)):
        return False
    if not (_refuses(light, x, y) and _fails(light, x, y)):
        return False
    return (sys.getrefcount(x), sys.getrefcount(_FLOAT)) == references


def _computes(entry: Callable[..., Result], x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], flag: bool) -> bool:
    """One call against NumPy."""
    result = entry(x, y, 1.5, -7, flag)
    if not isinstance(result, tuple) or len(result) != 2:
        return False
    first, second = result
    expected = x * 1.5 + y
    return (
        np.array_equal(first, expected)
        and np.array_equal(second, (expected - 7 + flag).T)
        and first.flags.c_contiguous
        and second.flags.f_contiguous
        and second.strides == (8, 32)
        and all(array.flags.owndata and array.flags.writeable for array in result)
    )


def _refuses(entry: Callable[..., Result], x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Calls that differ in one argument each are all missed."""
    types = ((x,), (x, y.T, 1.0, 1, True), (x, y, 1, 1, True), (x, y, 1.0, 2**63, True), (x, y, 1.0, 1, 1))
    calls: tuple[tuple[Any, ...], ...] = (*types, (x, x, 1.0, 1, True))
    return all(entry(*arguments) is MISS for arguments in calls)


def _fails(entry: Callable[..., Result], x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """A call that sets the status raises its error."""
    try:
        entry(x, y, 1.0, 13, True)
    except _Unlucky:
        return True
    return False


def large_arrays_work(make: Callable[[FastProgram], Callable[..., Result]]) -> bool:
    """Return whether large outputs are arrays of the recycling allocator, and others are still NumPy's own."""
    spec = ArraySpec(_FLOAT, (SMALLEST_BYTES // 8,), (8,))
    entry = make(FastProgram((), (spec,), (SMALLEST_BYTES,), (), True))
    array = entry()
    if not isinstance(array, np.ndarray) or array.ctypes.data % 64:
        return False
    array[:] = 1.0
    names = [_handler_name(each) for each in (array, np.empty_like(array), np.empty(1))]
    return array.flags.owndata and names[0] == HANDLER_NAME and HANDLER_NAME not in names[1:]


def _handler_name(array: np.ndarray[Any, Any]) -> str | None:
    """Return the name that NumPy has for the memory handler of an array."""
    try:
        module = importlib.import_module("numpy._core.multiarray")
    except ImportError:
        module = importlib.import_module("numpy.core.multiarray")
    name: str | None = module.get_handler_name(array)
    return name
