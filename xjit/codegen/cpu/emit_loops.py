"""LLVM instructions for ``for i in range(...)``, written so that LLVM sees a counted loop at once.

A range is the struct {start, stop, step}; its iterator is {address of the counter, stop, step}.  The type
of both says which sign the step has: ``range:+`` and ``range:-`` when it is a literal, ``range:?`` when it
is not.  Lanes, of which none needs another one, say behind the sign how many they are: ``range:+16``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llvmlite import ir
from llvmlite.ir.instructions import ExtractValue, InsertValue

from xjit.codegen.cpu.emitters import (
    BIT,
    INT64,
    LANES,
    Builder,
    LlvmType,
    Operation,
    Typing,
    Value,
    check,
    is_literal,
    pointer_type,
    strong,
)
from xjit.codegen.language.inline_functions import LEAST_CALLED, PREFIX
from xjit.codegen.language.scalar_types import KernelTypeError
from xjit.llvm.targets import Registers

PAIR = "pair"
IS_FAR = "_is_far"
"""The ending of names of functions that tell whether an argument needs the rare variant."""

OUT_OF_LINE = "_rare"
"""The same of functions that are called."""
CALLED = "_called"
"""The same of functions that are called a register of elements at a time."""

SIDE_BY_SIDE = "xjit.side.by.side"
"""The metadata of the counter of a loop of so many lanes, which need no others."""

COPIES = 4
"""The number of times that short ``while`` loops are written out."""
LONGEST_COPIED = 200
"""The most instructions, before the passes, of a loop that is written out."""
_EXTREMES = ("llvm.smax.", "llvm.smin.", "llvm.umax.", "llvm.umin.")

_BITS = {ir.IntType(bits): bits for bits in (1, 8, 16, 32, 64)} | {ir.FloatType(): 32, ir.DoubleType(): 64}

_RANGE = ir.LiteralStructType([INT64, INT64, INT64])
_ITERATOR = ir.LiteralStructType([INT64.as_pointer(), INT64, INT64])
_STEP = ir.LiteralStructType([INT64, BIT])


def opaque_type(kind: str) -> LlvmType:
    """The LLVM type of the table, pointers, ranges and iterators."""
    prefix = kind.partition(":")[0]
    if prefix == "ptr":
        return pointer_type(kind)
    return {"range": _RANGE, "iterator": _ITERATOR, "table": INT64.as_pointer()}[prefix]


def operations() -> dict[str, Operation]:
    """``range``, ``lanes`` and the two steps of a for loop."""
    return {
        "range": Operation("range", _infer_range, _emit_range),
        "lanes": Operation("lanes", _infer_lanes, _emit_lanes),
        "getiter": Operation("getiter", _infer_iterator, _emit_iterator),
        "iternext": Operation("iternext", _infer_next, _emit_next),
    }


def _infer_range(kinds: tuple[str, ...]) -> Typing:
    if not 1 <= len(kinds) <= 3:
        raise KernelTypeError(f"range takes one to three operands; got {len(kinds)}")
    for kind in kinds:
        check("range", strong(kind), ("i64",))
    return ("i64",) * len(kinds), f"range:{_step_sign(kinds)}"


def _step_sign(kinds: tuple[str, ...]) -> str:
    if len(kinds) < 3:
        return "+"
    if not is_literal(kinds[2]):
        return "?"
    step = int(kinds[2].removeprefix("int:"))
    if step == 0:
        raise KernelTypeError("range with step 0")
    return "+" if step > 0 else "-"


def _emit_range(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
    start, step = ir.Constant(INT64, 0), ir.Constant(INT64, 1)
    if len(values) == 1:
        stop = values[0]
    elif len(values) == 2:
        start, stop = values
    else:
        start, stop, step = values
    return _struct(builder, _RANGE, (start, stop, step))


def _infer_lanes(kinds: tuple[str, ...]) -> Typing:
    check("lanes", strong(kinds[0]), ("i64",))
    if len(kinds) != 2 or not is_literal(kinds[1]):
        raise KernelTypeError("lanes takes where they start and a literal number")
    return ("i64", "i64"), f"range:+{int(kinds[1].removeprefix('int:'))}"


def _emit_lanes(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
    start, count = values
    return _struct(builder, _RANGE, (start, builder.add(start, count, flags=["nsw"]), ir.Constant(INT64, 1)))


def _struct(builder: Builder, kind: LlvmType, members: Sequence[Value]) -> Value:
    value = ir.Constant(kind, ir.Undefined)
    for position, member in enumerate(members):
        value = builder.insert_value(value, member, position)
    return value


def _infer_iterator(kinds: tuple[str, ...]) -> Typing:
    prefix, _, sign = kinds[0].partition(":")
    check("for loop", prefix, ("range",))
    return kinds, f"iterator:{sign}"


def _emit_iterator(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
    start, stop, step = (builder.extract_value(values[0], position) for position in range(3))
    with builder.goto_entry_block():
        counter = builder.alloca(INT64)
    builder.store(start, counter)
    return _struct(builder, _ITERATOR, (counter, stop, step))


def _infer_next(kinds: tuple[str, ...]) -> Typing:
    prefix = kinds[0].partition(":")[0]
    check("for loop", prefix, ("iterator",))
    return kinds, PAIR


def _emit_next(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
    counter, stop, step = (builder.extract_value(values[0], position) for position in range(3))
    sign = kinds[0].partition(":")[2]
    current = builder.load(counter)
    if sign[1:]:
        lanes = ir.Constant(ir.IntType(32), int(sign[1:]))
        current.set_metadata(SIDE_BY_SIDE, builder.module.add_metadata([lanes]))
    more = _more(builder, sign[0], current, stop, step)
    # Stored also after the last step, where nobody reads it; the counter cannot overflow before.
    builder.store(builder.add(current, step, flags=["nsw"]), counter)
    return _struct(builder, _STEP, (current, more))


def _more(builder: Builder, sign: str, current: Value, stop: Value, step: Value) -> Value:
    if sign == "+":
        return builder.icmp_signed("<", current, stop)
    if sign == "-":
        return builder.icmp_signed(">", current, stop)
    upward = builder.icmp_signed(">", step, ir.Constant(INT64, 0))
    rising, falling = builder.icmp_signed("<", current, stop), builder.icmp_signed(">", current, stop)
    return builder.select(upward, rising, falling)


def shape_loops(module: Any, registers: Registers) -> None:
    """Tells LLVM how many elements at a time the innermost loops take where that is not its own choice.

    Loops that add lane by lane take as many as there are lanes, on every processor: the bits of the sum depend on it.
    Loops that note whether an argument was rare are not interleaved: LLVM takes the note for a sum whose additions
    wait for each other, and writes four vectors into a step that is long already: twice the time to compile, and no
    faster.  Elements of 64 bits fill a register there, which LLVM chooses too, but only after having weighed all
    widths up to as many truth values as a register holds, where functions have vector forms: ten times the time of
    all other passes.  In loops that call functions elements of all kinds do; where the processor has masks, these
    loops do what is left over with one more step of vector code, as writing the loop a second time for it takes as
    long as writing it once.  Loops of so many lanes as the text says take all of them at once: no loop is left, so
    that scratch which they change stays in registers.  Short ``while`` loops are written out several times, each turn
    with its test: they go through their turns in order, so that what counts and jumps waits for nothing else.  Where
    they choose integers they stay as they are: several turns together look to LLVM as if a jump were better than
    the choice, which it is not where nobody can foretell it.  The branch back is marked like this::

        br label %"B104", !llvm.loop !4
        !1 = !{ !"llvm.loop.vectorize.width", i32 32 }
        !2 = !{ !"llvm.loop.interleave.count", i32 1 }
        !3 = !{ !"llvm.loop.vectorize.enable", i1 true }
        !4 = !{ !4, !1, !2, !3 }
    """
    accesses = {access.instruction: access.slot for access in module.xjit_accesses}
    for function in module.functions:
        places = {block.name: place for place, block in enumerate(function.blocks)}
        waiting = {place for place, block in enumerate(function.blocks) if _concerns(block)}
        outside = 0  # the place behind the last loop
        for place, block in enumerate(function.blocks):
            if not isinstance(block.terminator, ir.Branch):
                continue
            # Empty for a branch forward.  Loops around the innermost are as they were.
            loop = range(places[block.terminator.operands[0].name], place + 1)
            if not loop:
                continue
            body = [one for inside in loop for one in function.blocks[inside].instructions]
            hints = _hints(body, accesses, registers) if not waiting.isdisjoint(loop) else []
            if waiting.isdisjoint(loop) and loop.start >= outside and _is_short_while(body):
                hints = [["llvm.loop.unroll.count", ir.Constant(ir.IntType(32), COPIES)]]
            waiting.difference_update(loop)
            outside = place + 1
            if hints:
                block.terminator.set_metadata("llvm.loop", _node(module, block.name, hints))


def _is_short_while(loop: Sequence[Any]) -> bool:
    """Return whether these instructions are those of a ``while`` loop of few operations, all written out.

    Loops that call anything are longer than they look, or wait.
    """
    if len(loop) > LONGEST_COPIED or any(map(_calls, loop)) or any(map(_chooses_integer, loop)):
        return False
    return not any(isinstance(one, InsertValue) and one.type == _STEP for one in loop)


def _calls(instruction: Any) -> bool:
    """Return whether this calls something that is no instruction in the end."""
    return isinstance(instruction, ir.CallInstr) and not _called(instruction).startswith("llvm.")


def _chooses_integer(instruction: Any) -> bool:
    """Return whether this chooses one of two integers."""
    chooses = isinstance(instruction, ir.SelectInstr) or _called(instruction).startswith(_EXTREMES)
    return chooses and isinstance(instruction.type, ir.IntType) and instruction.type != BIT


def _concerns(block: Any) -> bool:
    calls = (_called(one).endswith((IS_FAR, CALLED)) for one in block.instructions)
    return any(calls) or any(LANES in one.metadata or SIDE_BY_SIDE in one.metadata for one in block.instructions)


def _called(instruction: Any) -> str:
    callee = getattr(instruction, "callee", None)
    return str(callee.name) if isinstance(callee, ir.Function) else ""


def _hints(loop: Sequence[Any], accesses: Mapping[Any, str], registers: Registers) -> list[list[Any]]:
    """The metadata of a loop of these instructions."""
    lanes = _most(loop, LANES)
    flagged = any(_called(one).endswith(IS_FAR) for one in loop)
    calls = any(_called(one).endswith(CALLED) for one in loop)
    width = lanes or _most(loop, SIDE_BY_SIDE)
    width = width or (_elements_of_a_register(loop, accesses, registers.bits, calls) if flagged or calls else 0)
    hints: list[list[Any]] = []
    if flagged or width:
        hints.append(["llvm.loop.interleave.count", ir.Constant(ir.IntType(32), 1)])
    if width:
        hints.append(["llvm.loop.vectorize.width", ir.Constant(ir.IntType(32), width)])
    if lanes:
        hints.append(["llvm.loop.vectorize.enable", ir.Constant(BIT, 1)])
    elif width and calls and registers.masks:
        hints.append(["llvm.loop.vectorize.predicate.enable", ir.Constant(BIT, 1)])
    return hints


def _most(loop: Sequence[Any], key: str) -> int:
    """The largest number that instructions have as this metadata; 0 if none has."""
    return max((one.metadata[key].operands[0].constant for one in loop if key in one.metadata), default=0)


def _elements_of_a_register(loop: Sequence[Any], accesses: Mapping[Any, str], bits: int, calls: bool) -> int:
    """The number of the widest elements of a loop that fill a register; 0 if LLVM is not to be told.

    LLVM complains where it cannot do what it is told, and adds in any order where it can: nothing but truth values
    may be carried from step to step, nor may the loop read what it writes.  Unless the loop ``calls``, all elements
    have 64 bits: of others LLVM may take fewer, where they are computed in wider ones.
    """
    if any(map(_is_carried, loop)) or any(map(_is_scalar, loop)):
        return 0
    touched = [one for one in loop if one in accesses]
    written = {accesses[one] for one in touched if isinstance(one, ir.StoreInstr)}
    read = {accesses[one] for one in touched if not isinstance(one, ir.StoreInstr)}
    kinds = {(one.operands[0] if isinstance(one, ir.StoreInstr) else one).type for one in touched}
    if written & read or not written or not (calls or kinds == {ir.DoubleType()}):
        return 0
    width = bits // max(map(_bits, kinds))
    return max(width, LEAST_CALLED) if calls else width


def _is_scalar(instruction: Any) -> bool:
    """Return whether this calls a function of one element, or one that reads memory."""
    name = _called(instruction)
    return bool(name) and (name.endswith(OUT_OF_LINE) or not name.startswith((PREFIX, "llvm.")))


def _is_carried(instruction: Any) -> bool:
    """Return whether this assigns a variable that is neither a truth value nor a counter."""
    if not (isinstance(instruction, ir.StoreInstr) and isinstance(instruction.operands[1], ir.AllocaInstr)):
        return False
    value = instruction.operands[0]
    counts = isinstance(value, ir.LoadInstr | ExtractValue | InsertValue)
    return not (value.type == BIT or (counts and value.type in (INT64, _ITERATOR)))


def _bits(kind: LlvmType) -> int:
    """The bits of a number, or of each part of a complex one."""
    return _BITS[kind.elements[0] if isinstance(kind, ir.LiteralStructType) else kind]


def _node(module: Any, name: str, hints: list[list[Any]]) -> Any:
    # The first operand of a loop's node is the node itself, which tells the loop from others.
    node = module.add_metadata([name])
    node.operands = (node, *(module.add_metadata(hint) for hint in hints))
    return node
