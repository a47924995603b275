"""Instructions of programs with loops and branches, one after the other in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xjit.runtime.calls.instructions import Choose, Copy, EndIf, Jump, Note, Rotate, Unless
from xjit.runtime.calls.records import Instruction, KernelCall

Buffer = TypeVar("Buffer")

_NUMBERS: Mapping[int, Any] = {1: ctypes.c_uint8, 4: ctypes.c_int32, 8: ctypes.c_int64}


def run_instructions(
    code: Sequence[Instruction],
    buffers: list[Buffer],
    address: Callable[[Buffer], int],
    run: Callable[[KernelCall, list[Buffer]], object],
) -> None:
    """Run instructions on buffers in the order of their numbers, which are exchanged in place.

    ``address`` says where a buffer begins, ``run`` runs a kernel.
    """
    at = 0
    while at < len(code):
        one, at = code[at], at + 1
        match one:
            case KernelCall():
                run(one, buffers)
            case Note(call=call):  # in the order of the program
                run(call, buffers)
            case Jump(target):
                at = target
            case Unless(buffer, target):
                at = at if ctypes.c_uint8.from_address(address(buffers[buffer])).value else target
            case Choose(buffer, targets, size):
                number = _NUMBERS[size].from_address(address(buffers[buffer])).value
                at = targets[number if 0 <= number < len(targets) else -1]
            case Rotate(numbers):
                moved = [buffers[number] for number in (*numbers[1:], numbers[0])]
                for number, taken in zip(numbers, moved, strict=True):
                    buffers[number] = taken
            case Copy(to, source, size, start):
                begin = 0 if source < 0 else address(buffers[source])
                ctypes.memmove(address(buffers[to]), begin + start, size)
            case EndIf(first, count):
                statuses = (ctypes.c_int64.from_address(address(one)) for one in buffers[first : first + count])
                at = len(code) if any(status.value for status in statuses) else at
