"""The words of the kernel language that only a grid has: who a thread is, memory of a block, barriers.

====================  ==============================================================
``block_index()``     number of the block in the grid, from 0
``thread_index()``    number of the thread in the block, from 0
``shared_T(n)``       pointer to n elements that the block's threads share; n is a literal
``barrier()``         waits for all threads of the block; they see what was written before
====================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from xjit.codegen.cpu.emit_memory import SCRATCH_SLOT
from xjit.codegen.cpu.emitters import (
    INT64,
    Builder,
    Operation,
    Typing,
    Value,
    call_intrinsic,
    is_literal,
    memory_type,
    signature,
)
from xjit.codegen.language.intrinsics import Intrinsic
from xjit.codegen.language.scalar_types import KINDS, KernelTypeError

SHARED = 3
"""The address space of memory that a block shares (NVPTX back end guide, address spaces)."""

_REGISTERS = {"block_index": "llvm.nvvm.read.ptx.sreg.ctaid.x", "thread_index": "llvm.nvvm.read.ptx.sreg.tid.x"}
_BARRIER = "llvm.nvvm.barrier0"


def operations() -> dict[str, Operation]:
    """The operations by name."""
    table = [_register(name, symbol) for name, symbol in _REGISTERS.items()]
    table += [_shared(name) for name in KINDS]
    return {operation.name: operation for operation in [*table, _barrier()]}


def namespace() -> dict[str, Any]:
    """The words by name; without a grid they mean nothing."""

    def nowhere(*operands: object) -> Any:
        raise KernelTypeError("there is no grid here")

    return {name: Intrinsic(name, nowhere) for name in operations()}


def _register(name: str, symbol: str) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return builder.zext(call_intrinsic(builder, symbol, ir.IntType(32), []), INT64)

    return Operation(name, signature(name, [], "i64"), emit)


def _barrier() -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return call_intrinsic(builder, _BARRIER, ir.VoidType(), [])

    return Operation("barrier", signature("barrier", [], "void"), emit)


def _shared(element: str) -> Operation:
    name = f"shared_{element}"

    def infer(kinds: tuple[str, ...]) -> Typing:
        if len(kinds) != 1 or not is_literal(kinds[0]):
            raise KernelTypeError(f"{name} takes an integer literal; got {', '.join(kinds)}")
        return ("i64",), f"ptr:{element}:{SCRATCH_SLOT}"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        type = ir.ArrayType(memory_type(element), values[0].constant)
        memory = ir.GlobalVariable(builder.module, type, builder.module.get_unique_name(name), addrspace=SHARED)
        memory.linkage, memory.initializer = "internal", ir.Constant(type, ir.Undefined)
        generic = builder.addrspacecast(memory, type.as_pointer())
        return builder.bitcast(generic, memory_type(element).as_pointer())

    return Operation(name, infer, emit)
