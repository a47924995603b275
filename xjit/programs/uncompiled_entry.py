"""``XJIT_DEBUG=1``: the generated source runs as plain Python, bounds-checked, and a debugger can step through it.

    sources = KernelSources()
    entry = make_uncompiled_entry(sources)(program)      # ``program`` was built with ``sources.load`` as its loader

Every buffer is reachable from its first byte to its last and no further, and outputs start as bytes that no result
looks like, so an element that a kernel leaves out shows.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeAlias

import numpy as np

from xjit.codegen.language import inline_functions, intrinsics
from xjit.codegen.language.scalar_types import KINDS, Kind
from xjit.codegen.language.uncompiled import UNWRITTEN, Bytes, Pointer, memory_at
from xjit.dataclass import dataclass, field
from xjit.runtime.calls.entry_python import Buffers
from xjit.runtime.calls.instructions_python import run_instructions
from xjit.runtime.calls.records import FastProgram, KernelCall, Result
from xjit.runtime.loading.loader import LoadedKernel
from xjit.runtime.miss import MISS

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A buffer as its bytes, and the byte that a pointer starts from."""

    memory: Bytes
    start: int
    owner: Any


@dataclass(frozen=True, slots=True)
class UncompiledKernel:
    """The text of one kernel, known to debuggers under ``name``."""

    name: str
    source: str
    code: CodeType

    def run(self, lo: int, hi: int, table: Sequence[Any]) -> None:
        """Runs the text over a part of the shared loop; IndexError for an element outside of its buffer."""
        scope = intrinsics.namespace() | inline_functions.namespace(self.source) | _POINTERS
        exec(self.code, scope)
        with np.errstate(all="ignore"):
            scope["kernel"](lo, hi, table)


@dataclass(eq=False)
class KernelSources:
    """Takes the place of the compiler: keeps each kernel's text and hands out a number as its address."""

    kernels: list[UncompiledKernel] = field(default_factory=list)

    def load(self, source: str) -> LoadedKernel:
        """The text under an address that nothing else has; its lines can be listed by a debugger."""
        number = next((n for n, kernel in enumerate(self.kernels) if kernel.source == source), len(self.kernels))
        if number == len(self.kernels):
            name = f"<xjit kernel {id(self):x}.{number}>"
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            self.kernels.append(UncompiledKernel(name, source, compile(source, name, "exec")))
        return LoadedKernel(number, "kernel", self)

    def at(self, address: int) -> UncompiledKernel:
        """The kernel that was given this address."""
        return self.kernels[address]


def make_uncompiled_entry(sources: KernelSources) -> Callable[[FastProgram], Callable[..., Result]]:
    """An entry maker with the contract of :func:`xjit.runtime.calls.entry.make_entry`, for programs built with
    ``sources``.

    One call of a kernel covers one piece of its shared loop, as with threads.
    """
    return lambda program: UncompiledEntry(program, sources)


class UncompiledEntry:
    """One program as a callable."""

    def __init__(self, program: FastProgram, sources: KernelSources) -> None:
        self.program = program
        self.sources = sources
        self.constants = [_block(kept) for kept in program.keep_alive if isinstance(kept, np.ndarray)]

    def __call__(self, *arguments: object) -> Result:
        """Runs the program; MISS when the arguments are not the expected ones."""
        buffers = Buffers.of(self.program, self.program.block, arguments)
        if buffers is None:
            return MISS
        blocks = [_block(buffer) for buffer in buffers.inputs]
        blocks += [_block(buffer, fresh=True) for buffer in (*buffers.outputs, *buffers.temps)]
        blocks += [_block(buffer) for buffer in (*buffers.statuses, *buffers.lengths)]
        run_instructions(self.program.instructions, blocks, _address, self._run)
        return buffers.result(self.program, [block.owner for block in blocks])

    def _run(self, call: KernelCall, blocks: list[Block]) -> None:
        kernel = self.sources.at(call.address)
        table = _Table(call.table, self.constants)
        for slot, buffer, offset in call.patches:
            block = blocks[buffer]
            table[slot] = Block(block.memory, block.start + offset, block.owner)
        for lo in range(0, call.extent, call.chunk):
            kernel.run(lo, min(lo + call.chunk, call.extent), table)
            if call.resumed and not _is_set(table.block(0)):
                return


def _is_set(block: Block) -> bool:
    """Return whether the integer that a buffer begins with is not zero."""
    return bool(block.memory[block.start : block.start + 8].any())


def _address(block: Block) -> int:
    return int(block.memory.ctypes.data) + block.start


class _Table(list[Any]):
    """The table of one call: blocks and integers. Addresses of constants are found among ``constants``."""

    def __init__(self, words: Sequence[int], constants: Sequence[Block]) -> None:
        super().__init__(words)
        self.constants = constants

    def block(self, slot: int) -> Block:
        """The buffer that a slot points into."""
        found = self[slot]
        if isinstance(found, Block):
            return found
        if found == 0:
            return Block(np.empty(0, np.uint8), 0, None)  # an array without elements
        for constant in self.constants:
            start = found - int(constant.owner.ctypes.data) + constant.start
            if 0 <= start < max(constant.memory.size, 1):
                return Block(constant.memory, start, constant.owner)
        raise IndexError(f"slot {slot} of the table holds no buffer")


def _block(array: Array, fresh: bool = False) -> Block:
    """The bytes between the ends of an array; of a fresh one, filled with a pattern first."""
    if not array.size:
        return Block(np.empty(0, np.uint8), 0, array)
    low, high = np.lib.array_utils.byte_bounds(array)
    memory = memory_at(low, high - low)
    if fresh:
        memory[:] = UNWRITTEN
    memory.flags.writeable = array.flags.writeable
    return Block(memory, int(array.ctypes.data) - low, array)


def _pointer(kind: Kind) -> Callable[[_Table, int], Pointer]:
    def pointer(table: _Table, slot: int) -> Pointer:
        block = table.block(slot)
        return Pointer(kind, block.memory, block.start, block.owner)

    return pointer


_POINTERS = {f"ptr_{name}": _pointer(kind) for name, kind in KINDS.items()}
