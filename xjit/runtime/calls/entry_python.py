"""The call path in Python: the same behaviour as the native entry, for interpreters the latter does not know."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.alignment import ALIGNMENT
from xjit.dataclass import dataclass
from xjit.runtime.calls.instructions_python import run_instructions
from xjit.runtime.calls.records import ArraySpec, FastProgram, KernelCall, Result, ScalarSpec
from xjit.runtime.miss import MISS
from xjit.runtime.parallel.pool import launch
from xjit.runtime.parallel.threads import current_threads

Array: TypeAlias = "np.ndarray[Any, Any]"

_Kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


class PythonEntry:
    """One program as a callable; see :func:`xjit.runtime.calls.entry.make_entry`."""

    def __init__(self, program: FastProgram) -> None:
        self.program = program
        self.block = program.block

    def __call__(self, *arguments: object) -> Result:
        """Run the program; :data:`~xjit.runtime.miss.MISS` when the arguments are not the expected ones."""
        buffers = Buffers.of(self.program, self.block, arguments)
        if buffers is None:
            return MISS
        moving = list(buffers.all)
        run_instructions(self.program.instructions, moving, _address, _run)
        return buffers.result(self.program, moving)


def _address(buffer: Array) -> int:
    return int(buffer.ctypes.data)


@dataclass(frozen=True, slots=True)
class Buffers:
    """The memory of one call, in the order in which the tables of kernels number it."""

    inputs: list[Array]
    outputs: list[Array]
    temps: list[Array]
    statuses: list[Array]
    lengths: list[Array]

    @property
    def all(self) -> tuple[Array, ...]:
        """In the order of their numbers."""
        return (*self.inputs, *self.outputs, *self.temps, *self.statuses, *self.lengths)

    @classmethod
    def of(
        cls, program: FastProgram, block: tuple[Sequence[int], int], arguments: Sequence[object]
    ) -> Buffers | None:
        """Those of the arguments and new ones for the rest; None when the arguments are not the expected ones.

        ``block`` says where the temporaries of the program lie.
        """
        if len(arguments) != len(program.inputs) or not program.conditions.hold(arguments):
            return None
        inputs = [as_buffer(spec, value) for spec, value in zip(program.inputs, arguments, strict=True)]
        found = [buffer for buffer in inputs if buffer is not None]
        if len(found) != len(inputs):
            return None
        outputs = [np.ndarray(spec.shape, spec.dtype, strides=spec.strides) for spec in program.arrays]
        statuses, lengths = ([np.zeros(1, np.int64) for _ in one] for one in (program.failures, program.cut))
        offsets, size = block
        memory = aligned_bytes(size)
        temps = [memory[begin : begin + max(one, 1)] for begin, one in zip(offsets, program.temps, strict=True)]
        return cls(found, outputs, temps, statuses, lengths)

    def result(self, program: FastProgram, moved: Sequence[Array]) -> Result:
        """Return the program's output; raise the error of the first status that is set.

        ``moved`` are the buffers in the order of their numbers after the program has exchanged some.
        """
        for status, failure in zip(self.statuses, program.failures, strict=True):
            if status.any():
                raise failure()
        outputs = list(moved[len(self.inputs) :][: len(program.outputs)])
        for number, length in zip(program.cut, self.lengths, strict=True):
            outputs[number] = outputs[number][: int(length[0])].copy()
        return outputs[0] if program.single else tuple(outputs)


def as_buffer(spec: ArraySpec | ScalarSpec, value: object) -> Array | None:
    """The memory of an argument that matches its specification exactly, else None."""
    if isinstance(spec, ScalarSpec):
        return _scalar_buffer(spec.dtype, value)
    if type(value) is not np.ndarray or value.dtype != spec.dtype or not value.flags.aligned:
        return None
    return value if value.shape == spec.shape and steps_of(value) == steps_of(spec) else None


def steps_of(array: Array | ArraySpec) -> list[int]:
    """The strides of axes of more than one element: others move nothing."""
    return [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]


def _scalar_buffer(dtype: np.dtype[Any], value: object) -> Array | None:
    """A one-element array of ``dtype`` holding a Python scalar of exactly the matching type, else None."""
    if dtype.kind == "f":
        matches = type(value) is float
    elif dtype.kind == "i":
        matches = type(value) is int and -(2**63) <= value < 2**63
    else:
        matches = type(value) is bool
    return np.array(value, dtype) if matches else None


def aligned_bytes(size: int) -> Array:
    """``size`` uninitialised bytes (at least one: empty slices have no address) at a multiple of 64."""
    block = np.empty(size + ALIGNMENT, np.uint8)
    start = -int(block.ctypes.data) % ALIGNMENT
    return block[start : start + max(size, 1)]


def _run(call: KernelCall, buffers: list[Array]) -> None:
    """One kernel call with its table filled in."""
    if call.extent <= 0:
        return
    table = (ctypes.c_int64 * len(call.table))(*call.table)
    for slot, buffer, offset in call.patches:
        table[slot] = _address(buffers[buffer]) + offset
    if call.resumed:
        more = ctypes.c_int64.from_address(table[0])
        for turn in itertools.count(0, call.chunk):
            _Kernel(call.address)(turn, turn + call.chunk, ctypes.addressof(table))
            if not more.value:
                return
    elif call.chunk >= call.extent:
        _Kernel(call.address)(0, call.extent, ctypes.addressof(table))
    else:
        launch(
            call.address, call.extent, call.chunk, ctypes.addressof(table), 1 if call.in_turn else current_threads()
        )
