"""LLVM instructions for ``for i in range(...)``, written so that LLVM sees a counted loop at once.

A range is the struct {start, stop, step}; its iterator is {address of the counter, stop, step}.  The type
of both says which sign the step has: ``range:+`` and ``range:-`` when it is a literal, ``range:?`` when it
is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from xjit.codegen.emitters import (
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
from xjit.codegen.kinds import KernelTypeError

PAIR = "pair"
IS_FAR = "_is_far"
"""What names of functions end in that tell whether an argument needs the rare variant."""

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
    """``range`` and the two steps of a for loop."""
    return {
        "range": Operation("range", _infer_range, _emit_range),
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
    current = builder.load(counter)
    more = _more(builder, kinds[0].partition(":")[2], current, stop, step)
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


def shape_loops(module: Any) -> None:
    """Tells LLVM how many elements at a time the innermost loops take where that is not its own choice.

    Loops that add lane by lane take as many as there are lanes, on every processor: the bits of the sum depend on it.
    Loops that note whether an argument was rare are not interleaved: LLVM takes the note for a sum whose additions
    wait for each other, and writes four vectors into a step that is long already: twice the time to compile, and no
    faster.  The branch back is marked like this::

        br label %"B104", !llvm.loop !4
        !1 = !{ !"llvm.loop.vectorize.width", i32 32 }
        !2 = !{ !"llvm.loop.interleave.count", i32 1 }
        !3 = !{ !"llvm.loop.vectorize.enable", i1 true }
        !4 = !{ !4, !1, !2, !3 }
    """
    for function in module.functions:
        places = {block.name: place for place, block in enumerate(function.blocks)}
        lanes = {place: _lanes(block) for place, block in enumerate(function.blocks)}
        flagged = {place for place, block in enumerate(function.blocks) if any(map(_asks, block.instructions))}
        waiting = {place for place, count in lanes.items() if count} | flagged
        for place, block in enumerate(function.blocks if waiting else ()):
            if not isinstance(block.terminator, ir.Branch):
                continue
            # Empty for a branch forward.  Loops around the innermost are as they were.
            loop = range(places[block.terminator.operands[0].name], place + 1)
            if not waiting.isdisjoint(loop):
                waiting.difference_update(loop)
                count = max(lanes[inside] for inside in loop)
                block.terminator.set_metadata("llvm.loop", _taking(module, block.name, count))


def _asks(instruction: Any) -> bool:
    callee = getattr(instruction, "callee", None)
    return isinstance(callee, ir.Function) and callee.name.endswith(IS_FAR)


def _lanes(block: Any) -> int:
    """How many lanes the additions of a block have; 0 where there are none."""
    found = [one.metadata[LANES].operands[0].constant for one in block.instructions if LANES in one.metadata]
    return max(found, default=0)


def _taking(module: Any, name: str, lanes: int) -> Any:
    """The node of a loop that takes so many elements at a time, or as many as LLVM likes, never several times."""
    hints: list[list[Any]] = [["llvm.loop.interleave.count", ir.Constant(ir.IntType(32), 1)]]
    if lanes:
        hints.append(["llvm.loop.vectorize.width", ir.Constant(ir.IntType(32), lanes)])
        hints.append(["llvm.loop.vectorize.enable", ir.Constant(BIT, 1)])
    # The first operand of a loop's node is the node itself, which tells the loop from others.
    node = module.add_metadata([name])
    node.operands = (node, *(module.add_metadata(hint) for hint in hints))
    return node
