"""Programs as plain data: numbers, text, tuples, element types. One file of the compiler writes them, any runtime
executes them, and they can be kept on disk.

A program works on numbered slots. The first ones hold the inputs, each step reads some and fills others::

    inputs   0: f64[1000]                     1: f64
    run      reads 0, 1  makes 2              kernels one after the other, with temporaries of their own
    call     numpy_sort  reads 2  makes 3     a library
    run      reads 3, 0  makes 4
    outputs  4

A slot is filled before it is read. What ``spent`` lists behind a step nothing reads any more: its memory may be used
again. Steps of control hold blocks of steps, which read and fill slots of the same program. Kernels of one run work
on numbered buffers: inputs first, then outputs, then temporaries, then statuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np

from xjit.dataclass import dataclass, replace
from xjit.ir.source_location import Where
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.calls.tiled_turns import TimeTiles

Params: TypeAlias = "tuple[tuple[str, Any], ...]"


# Kernels


@dataclass(frozen=True, slots=True)
class KernelText:
    """Machine code that is compiled of a text of the kernel language, or found by it."""

    text: str


@dataclass(frozen=True, slots=True)
class Routine:
    """An adaptor to a routine of BLAS by its name, as in ``gemm_f64``.

    In front of the words of its kernel stands the address of the routine.
    """

    name: str


@dataclass(frozen=True, slots=True)
class SortRoutine:
    """An adaptor to NumPy's sorts of an element type by its name, with the numbers of two of NumPy's algorithms.

    In front of the words of its kernel stand the addresses of both.
    """

    name: str
    dtype: np.dtype[Any]
    first: int
    other: int


@dataclass(frozen=True, slots=True)
class CompactionRoutine:
    """A routine of the runtime over blocks of elements that a mask chooses, by its name, as in ``compact_8``."""

    name: str


@dataclass(frozen=True, slots=True)
class DrawRoutine:
    """An adaptor to the routines of NumPy's that draw random numbers, by its name, as in ``draw_fill``."""

    name: str


@dataclass(frozen=True, slots=True)
class StoredObject:
    """Machine code that lies in the cache on disk under a key."""

    key: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """The target of a slot of a kernel's table: a byte of a buffer or of a constant, or nothing at all.

    Nothing stands for arrays without elements.
    """

    to: Literal["buffer", "constant", "nothing"]
    number: int
    offset: int


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """One kernel over ``range(extent)``: its table holds the pointers, then the words.

    ``chunk`` is how much of the range one call gets; chunks run in parallel, or ``in_turn``. A kernel that is
    ``resumed`` gets one chunk after the other until the integer that its first pointer names is zero. A ``light`` one
    is over so soon that nobody looks for signals behind it.
    """

    code: KernelText | StoredObject | Routine | SortRoutine | CompactionRoutine | DrawRoutine
    pointers: tuple[Pointer, ...]
    words: tuple[int, ...]
    extent: int
    chunk: int
    in_turn: bool = False
    resumed: bool = False
    light: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """The elements of an array in row-major order."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    data: bytes

    def array(self) -> np.ndarray[Any, Any]:
        """A read-only array on these bytes."""
        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation by the name of its record, with its params."""

    name: str
    params: Params = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of an operation whose condition does not hold, at a line of the user's.

    It comes ``first`` where the program writes to its inputs and has not begun to: then NumPy may do all of the call,
    and stop where it stops.
    """

    operation: Operation
    where: Where
    first: bool = False


# Steps


@dataclass(frozen=True, slots=True)
class RunStep:
    """Kernels that run one after the other without Python between them.

    ``arguments`` and ``outputs`` say how the arrays of the slots ``inputs`` and ``results`` lie in memory. ``temps``
    are the bytes of the temporaries, ``offsets`` their places in one block of memory. ``heavy`` releases the
    interpreter's lock, ``lasting`` says that signals should not wait for the end, ``final`` that they have to: memory
    of the program's inputs is written. Each of ``failures`` has a status.
    """

    inputs: tuple[int, ...]
    results: tuple[int, ...]
    arguments: tuple[ArraySpec | ScalarSpec, ...]
    outputs: tuple[ArraySpec, ...]
    kernels: tuple[KernelSpec, ...] = ()
    temps: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    constants: tuple[Constant, ...] = ()
    failures: tuple[Failure, ...] = ()
    heavy: bool = False
    lasting: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class CallStep:
    """An operation on whole arrays: a library, or NumPy for want of code, for which ``fallback`` is the reason.

    What is not laid out as ``layout`` says is copied. ``recycled`` hands the library an array for its result. At the
    ``first`` ones NumPy can do the call from the beginning yet.
    """

    operation: Operation
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    layout: ArraySpec | None
    where: Where
    fallback: str = ""
    recycled: bool = False
    first: bool = True


@dataclass(frozen=True, slots=True)
class ConstantStep:
    """A constant as an array."""

    constant: Constant
    inputs: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReshapeStep:
    """The same memory with other dimensions, in row-major order."""

    inputs: tuple[int, ...]
    results: tuple[int, ...]
    layout: ArraySpec


@dataclass(frozen=True, slots=True)
class CopyStep:
    """The same elements in memory of their own, for results that would share it with an argument or each other."""

    inputs: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoomStep:
    """Memory for as many elements as the last number of an array says, and room for at least one.

    The first slot of ``results`` gets the array, which may be somewhat longer, the other one the view of its first
    element: the layout by which kernels know it, whatever the length.
    """

    inputs: tuple[int, ...]
    results: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def window(self) -> ArraySpec:
        """The layout of the view."""
        return ArraySpec(self.dtype, (1,), (self.dtype.itemsize,))


@dataclass(frozen=True, slots=True)
class ViewStep:
    """Index operations, each on the result of the one before, that NumPy answers with a view of existing memory.

    None at all are the view of the whole. ``of_number`` says that the first may get a number, passed as an argument.
    """

    inputs: tuple[int, ...]
    results: tuple[int, ...]
    chain: tuple[Operation, ...]
    of_number: bool = False


# Steps of control


@dataclass(frozen=True, slots=True)
class Block:
    """Steps in order, and behind each the slots that nothing reads any more."""

    steps: tuple[Step, ...]
    spent: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop that carries values from turn to turn.

    The slots ``results`` are carried: they start as ``inputs``. Before each turn ``condition`` runs; the loop ends
    when the element in the slot ``test`` is false. Then ``body`` runs, and the carried slots take the values of the
    slots ``next``, all at once.  Whatever else the blocks fill is theirs: nothing behind the loop reads it. ::

        results = inputs
        while True:
            condition
            if not test: break
            body
            results = next

    With ``tiles`` several turns may be done for one part of the rows after the other.
    """

    inputs: tuple[int, ...]
    results: tuple[int, ...]
    condition: Block
    test: int
    body: Block
    next: tuple[int, ...]
    tiles: TimeTiles | None = None


@dataclass(frozen=True, slots=True)
class BranchStep:
    """One of several blocks: that of the number in the slot of ``inputs``, the last where there is none of it.

    The slots ``results`` take those of ``values`` that belong to the block. Whatever else a block fills is its own.
    """

    inputs: tuple[int, ...]
    results: tuple[int, ...]
    blocks: tuple[Block, ...]
    values: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PythonStep:
    """A piece of the user's function that runs in Python: what is loaded with the program under this name.

    It gets the values of ``inputs`` and returns a tuple with one value for each of ``results``.
    """

    name: str
    inputs: tuple[int, ...]
    results: tuple[int, ...]


Step: TypeAlias = (
    "RunStep | CallStep | ConstantStep | ReshapeStep | CopyStep | RoomStep | ViewStep"
    " | LoopStep | BranchStep | PythonStep"
)


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """A program: ``inputs`` are how the arguments lie in memory, ``outputs`` the slots of the results.

    ``apart`` are pairs of inputs that have to be two objects; where they are one, the program does not serve. Nor
    does it where inputs that it writes to, those ``written``, are read-only, or share memory with other inputs.
    """

    inputs: tuple[ArraySpec | ScalarSpec, ...]
    body: Block
    outputs: tuple[int, ...]
    apart: tuple[tuple[int, int], ...] = ()
    written: tuple[int, ...] = ()

    @property
    def fallbacks(self) -> int:
        """The number of steps that NumPy runs for want of code."""
        return sum(isinstance(step, CallStep) and bool(step.fallback) for step in all_steps(self.body))

    def texts(self) -> Iterator[str]:
        """The texts of its kernels."""
        for step in all_steps(self.body):
            if isinstance(step, RunStep):
                yield from (kernel.code.text for kernel in step.kernels if isinstance(kernel.code, KernelText))


def blocks_of(step: Step) -> tuple[Block, ...]:
    """The blocks of a step of control."""
    match step:
        case LoopStep():
            return step.condition, step.body
        case BranchStep():
            return step.blocks
        case _:
            return ()


def all_steps(block: Block) -> Iterator[Step]:
    """The steps of a block, those in blocks of its steps included."""
    for step in block.steps:
        yield step
        for inner in blocks_of(step):
            yield from all_steps(inner)


def with_steps(block: Block, change: Callable[[Step], Step]) -> Block:
    """The block with its steps changed, the innermost first."""

    def changed(step: Step) -> Step:
        match step:
            case LoopStep():
                condition, body = with_steps(step.condition, change), with_steps(step.body, change)
                return change(replace(step, condition=condition, body=body))
            case BranchStep():
                return change(replace(step, blocks=tuple(with_steps(one, change) for one in step.blocks)))
            case _:
                return change(step)

    return replace(block, steps=tuple(map(changed, block.steps)))
