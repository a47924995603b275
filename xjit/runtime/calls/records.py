"""Plain records of the fast call path: what a program expects, allocates and runs.

The program builder writes these records once per specialisation; :mod:`xjit.runtime.calls.entry` turns one
:class:`FastProgram` into a callable.  They hold plain data only, so that they can be printed and compared.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from xjit.alignment import padded
from xjit.dataclass import dataclass
from xjit.runtime.calls.instructions import Control, Note
from xjit.runtime.miss import Miss
from xjit.types import is_writable


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """One array a program expects or allocates: an exact ``numpy.ndarray``, aligned, native byte order.

    ``strides`` are in bytes, one per axis.  As an output the array is new memory, so its strides must be
    those of a C-ordered array or of a permutation of its axes.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """One Python scalar argument, handed to kernels through a pointer to eight bytes.

    ``dtype`` says which exact Python type is accepted and how it is stored: ``float64`` takes a ``float``,
    ``int64`` an ``int`` that fits, ``bool`` a ``bool`` (stored as a byte 0 or 1).
    """

    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One kernel run over ``range(extent)``: ``void kernel(int64 lo, int64 hi, int64 *table)``.

    ``chunk`` is how much of the range one call receives; ``chunk >= extent`` means one serial call, anything
    smaller may run in parallel, or ``in_turn`` on the calling thread.  ``table`` is copied for every call, then each
    triple (slot, buffer, byte offset) of ``patches`` stores the address of that buffer plus the offset in the slot.
    Buffers are numbered inputs first, then outputs, then spare ones, then temporaries, then statuses, then lengths of
    outputs that are cut.
    ``light`` kernels are over so soon that signals may wait for some dozens of them.
    A kernel that is ``resumed`` gets one chunk after the other until the integer that its first slot points to is
    zero. Signals do not end one that is ``final``, as it writes to arguments.
    """

    address: int
    extent: int
    chunk: int
    table: tuple[int, ...]
    patches: tuple[tuple[int, int, int], ...]
    in_turn: bool = False
    light: bool = False
    resumed: bool = False
    final: bool = False


Instruction: TypeAlias = "KernelCall | Control"


@dataclass(frozen=True, slots=True)
class Conditions:
    """A condition besides the arguments' layouts.

    ``apart`` are pairs of inputs that have to be two objects, ``codes`` Python functions and the code that each still
    has to run. The inputs ``written`` have to be writable, and may share no memory with other inputs.
    """

    apart: tuple[tuple[int, int], ...] = ()
    codes: tuple[tuple[Any, types.CodeType], ...] = ()
    written: tuple[int, ...] = ()

    def hold(self, arguments: Sequence[object]) -> bool:
        """Return whether they do for these arguments."""
        apart = all(arguments[one] is not arguments[other] for one, other in self.apart)
        same = apart and all(function.__code__ is code for function, code in self.codes)
        return same and (not self.written or can_be_written(arguments, self.written))


def can_be_written(values: Sequence[object], written: Sequence[int]) -> bool:
    """Return whether arrays at these places may be written to: writable ones, which share no memory with others.

    Whoever lies between the first and the last element of an array shares its memory.
    """
    arrays = [(number, value) for number, value in enumerate(values) if isinstance(value, np.ndarray)]
    return all(
        isinstance(one := values[place], np.ndarray)
        and is_writable(one)
        and not any(number != place and np.may_share_memory(one, other) for number, other in arrays)
        for place in written
    )


NO_CONDITIONS: Final = Conditions()


@dataclass(frozen=True, slots=True)
class FastProgram:
    """Kernel calls with everything the call path needs to know beforehand: ``calls`` in a straight line, or ``code``
    with loops and branches.

    Kernels write to outputs and temporaries only: an input may be read-only, and inputs may overlap.  But what an
    earlier step of the same program made is an input that they may write to.
    ``temps`` are sizes in bytes of scratch buffers (64-byte aligned, uninitialised), ``temp_offsets`` where each
    begins in the one block that holds them all: those that are not alive together may overlap.  Without offsets each
    lies behind the one before.  ``single`` returns the only output itself instead of a tuple.  ``heavy`` releases the
    interpreter lock while the kernels run.
    ``keep_alive`` holds whatever the addresses in ``calls`` point into (loaded kernels, constant arrays).
    ``lasting`` says that one chunk, or a kernel that has none, may take so long that signals should not wait for it.
    ``failures`` make errors, one for each status: a word of memory that is zero before the kernels run.  The first
    whose word is not zero afterwards is raised, and no output handed out.
    Where ``conditions`` do not hold, the program misses.
    Code may exchange the memory of its buffers. ``spares`` are arrays that are not handed out, unless an output has
    ended in their memory: then they take its place.
    The outputs of these numbers are ``cut`` in the end, along their first axis. Kernels write the length of each, an
    integer, to a word of memory that is zero before they run.
    """

    inputs: tuple[ArraySpec | ScalarSpec, ...]
    outputs: tuple[ArraySpec, ...]
    temps: tuple[int, ...]
    calls: tuple[KernelCall, ...]
    single: bool
    heavy: bool = False
    keep_alive: tuple[object, ...] = ()
    failures: tuple[Callable[[], Exception], ...] = ()
    temp_offsets: tuple[int, ...] = ()
    conditions: Conditions = NO_CONDITIONS
    lasting: bool = False
    code: tuple[Instruction, ...] = ()
    spares: tuple[ArraySpec, ...] = ()
    cut: tuple[int, ...] = ()

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The code, of which a straight line of calls is the simplest."""
        return self.code or self.calls

    @property
    def kernels(self) -> tuple[KernelCall, ...]:
        """All calls of kernels, those that are noted too."""
        noted = (one.call if isinstance(one, Note) else one for one in self.instructions)
        return tuple(one for one in noted if isinstance(one, KernelCall))

    @property
    def tables(self) -> int:
        """The words of the tables of all calls that are run in their turn, if there is code."""
        return sum(len(one.table) for one in self.code if isinstance(one, KernelCall))

    @property
    def is_tiled(self) -> bool:
        """Return whether turns of a loop run in tiles of time."""
        return any(isinstance(one, Note) for one in self.code)

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """The arrays to allocate."""
        return self.outputs + self.spares

    @property
    def block(self) -> tuple[tuple[int, ...], int]:
        """The offset of each temporary in the block that holds them, and the bytes of the block."""
        if self.temp_offsets:
            return self.temp_offsets, max(map(sum, zip(self.temp_offsets, self.temps, strict=True)))
        ends = tuple(itertools.accumulate(map(padded, self.temps), initial=0))
        return ends[:-1], ends[-1]


Result: TypeAlias = np.ndarray[Any, Any] | tuple[np.ndarray[Any, Any], ...] | Miss
"""The result of an entry: the output, a tuple of outputs, or :data:`MISS`."""
