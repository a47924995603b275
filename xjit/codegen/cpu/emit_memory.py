"""LLVM instructions for what touches memory: the table, pointers, scratch, raw addresses, atomics, calls.

Accesses through a pointer from slot k are recorded on the module; :func:`add_alias_scopes` turns the record
into metadata that says which of them cannot touch each other.  So loops vectorise without run-time overlap
checks, also when a kernel works in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from xjit.alignment import ALIGNMENT
from xjit.codegen.cpu import searches, step_loads
from xjit.codegen.cpu.emitters import (
    INT64,
    LLVM_TYPES,
    Builder,
    CpuTraits,
    LlvmType,
    Operation,
    Typing,
    Value,
    call_intrinsic,
    check,
    is_literal,
    memory_type,
    pointer_parts,
    signature,
    strong,
)
from xjit.codegen.language.scalar_types import FLOATS, INTEGERS, KINDS, STEPS, KernelTypeError
from xjit.dataclass import dataclass

SCRATCH_SLOT = "scratch"
UNKNOWN_SLOT = "unknown"


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store: the slot of its pointer, and whether it leaves the buffer as it is."""

    instruction: Any
    slot: str
    read_only: bool


def new_module(name: str) -> Any:
    """An LLVM module that remembers the memory accesses written into it."""
    module = ir.Module(name)
    module.xjit_accesses = []
    return module


def operations(traits: CpuTraits) -> dict[str, Operation]:
    """The words that touch memory, by name."""
    table = [
        _word(),
        *(_pointer(name) for name in KINDS),
        *(_scratch(name) for name in KINDS),
        _load("ld", read_only=True),
        _load("ldw", read_only=False),
        _load_where("ld_where", read_only=True),
        _load_where("ldw_where", read_only=False),
        *(_step_load(step) for step in STEPS),
        _first(),
        _store(),
        *_raw_memory(),
        *_atomics(),
        *_calls(),
        _pause(traits),
        _kept_jump(),
    ]
    return {operation.name: operation for operation in table}


def add_alias_scopes(module: Any) -> None:
    """Writes the alias metadata of all recorded accesses.

    Each slot that is stored to is a scope, and an access overlaps no scope but its own slot's.  Accesses
    through pointers of unknown slot get no promise; scratch needs none, since its address never leaves the
    kernel.
    """
    accesses = [access for access in module.xjit_accesses if access.slot not in _NO_SCOPE]
    written = sorted({access.slot for access in accesses if not access.read_only})
    domain = module.add_metadata(["xjit"])
    scopes = {slot: module.add_metadata([f"slot {slot}", domain]) for slot in written}
    for access in accesses:
        others = [scope for slot, scope in scopes.items() if slot != access.slot]
        if access.slot in scopes:
            access.instruction.set_metadata("alias.scope", module.add_metadata([scopes[access.slot]]))
        if others:
            access.instruction.set_metadata("noalias", module.add_metadata(others))


_NO_SCOPE = {SCRATCH_SLOT, UNKNOWN_SLOT}


def record(builder: Builder, instruction: Value, slot: str, read_only: bool) -> None:
    """Notes a load or a store through a pointer from a slot."""
    accesses = getattr(builder.module, "xjit_accesses", None)
    if accesses is not None:
        accesses.append(Access(instruction, slot, read_only))


def _index(name: str, kind: str) -> None:
    check(f"{name}: index", strong(kind), ("i64",))


def _table_entry(builder: Builder, table: Value, slot: Value, kind: LlvmType) -> Value:
    address = builder.gep(table, [slot], inbounds=True)
    value = builder.load(address, typ=kind)
    # The caller fills the table before the kernel starts and nobody changes it while it runs.
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _word() -> Operation:
    def infer(kinds: tuple[str, ...]) -> Typing:
        table, slot = kinds
        check("word", table, ("table",))
        _index("word", slot)
        return ("table", "i64"), "i64"

    return Operation("word", infer, lambda builder, kinds, values: _table_entry(builder, values[0], values[1], INT64))


def _pointer(element: str) -> Operation:
    name = f"ptr_{element}"

    def infer(kinds: tuple[str, ...]) -> Typing:
        table, slot = kinds
        check(name, table, ("table",))
        _index(name, slot)
        return ("table", "i64"), f"ptr:{element}:{slot[4:] if is_literal(slot) else UNKNOWN_SLOT}"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return _table_entry(builder, values[0], values[1], memory_type(element).as_pointer())

    return Operation(name, infer, emit)


def _scratch(element: str) -> Operation:
    name = f"scratch_{element}"

    def infer(kinds: tuple[str, ...]) -> Typing:
        (count,) = kinds
        _index(name, count)
        return ("i64",), f"ptr:{element}:{SCRATCH_SLOT}"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        block = builder.alloca(memory_type(element), values[0])
        block.align = ALIGNMENT
        return block

    return Operation(name, infer, emit)


def _address(builder: Builder, pointer: Value, index: Value) -> Value:
    """The address of an element.

    Of ``base + j * 2`` the base moves the pointer first, and the product is said not to overflow: only then does LLVM
    know that addresses do not wrap around, and loads whole vectors to pick every second element of.
    """
    if isinstance(index, ir.Instruction) and index.opname == "add" and _is_multiple(index.operands[1]):
        base, product = index.operands
        if "nsw" not in product.flags:  # an index has a name, and is used by several pointers
            product.flags.append("nsw")
        pointer, index = builder.gep(pointer, [base], inbounds=True), product
    return builder.gep(pointer, [index], inbounds=True)


def _is_multiple(value: Value) -> bool:
    """Return whether this is a product with a literal."""
    return isinstance(value, ir.Instruction) and value.opname == "mul" and isinstance(value.operands[1], ir.Constant)


def _load(name: str, read_only: bool) -> Operation:
    def infer(kinds: tuple[str, ...]) -> Typing:
        pointer, index = kinds
        _index(name, index)
        return (pointer, "i64"), pointer_parts(pointer)[0]

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        element, slot = pointer_parts(kinds[0])
        value = builder.load(_address(builder, values[0], values[1]))
        record(builder, value, slot, read_only)
        return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0)) if element == "b1" else value

    return Operation(name, infer, emit)


def _load_where(name: str, read_only: bool) -> Operation:
    """A load that does not happen where a condition does not hold; LLVM makes masked loads of it."""
    plain = _load(name, read_only)

    def infer(kinds: tuple[str, ...]) -> Typing:
        *place, condition = kinds
        (pointer, index), element = plain.infer(tuple(place))
        return (pointer, index, check(name, condition, ("b1",))), element

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        before = builder.block
        with builder.if_then(values[2]):
            value = plain.emit(builder, kinds[:2], values[:2])
            taken = builder.block
        found = builder.phi(value.type)
        found.add_incoming(value, taken)
        found.add_incoming(ir.Constant(value.type, None), before)
        return found

    return Operation(name, infer, emit)


def _step_load(step: int) -> Operation:
    """A load in a loop that adds lane by lane and goes so many elements further at a time."""
    plain = _load(f"ld{step}", read_only=True)

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        address, element = _address(builder, values[0], values[1]), pointer_parts(kinds[0])[0]
        if element not in step_loads.TYPES:
            raise KernelTypeError(f"ld{step} of {element}")
        return call_intrinsic(builder, step_loads.name_of(step, element), LLVM_TYPES[element], [address])

    return Operation(plain.name, plain.infer, emit)


def plain_step_loads() -> dict[str, Operation]:
    """The same as loads like any other."""
    return {f"ld{step}": _load(f"ld{step}", read_only=True) for step in STEPS}


def _first() -> Operation:
    def infer(kinds: tuple[str, ...]) -> Typing:
        pointer, *places, value = kinds
        for place in places:
            _index("first", place)
        return (pointer, "i64", "i64", "i64", check("first", value, (pointer_parts(pointer)[0],))), "i64"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        pointer, base, start, stop, value = values
        name = f"first_{check('first', pointer_parts(kinds[0])[0], searches.TYPES)}"
        address = builder.gep(pointer, [base], inbounds=True)
        return call_intrinsic(builder, name, INT64, [address, start, stop, value])

    return Operation("first", infer, emit)


def _store() -> Operation:
    def infer(kinds: tuple[str, ...]) -> Typing:
        pointer, index, value = kinds
        _index("st", index)
        element = pointer_parts(pointer)[0]
        if value != element and not (is_literal(value) and element in INTEGERS):
            raise KernelTypeError(f"st writes {value} through a pointer to {element}; convert the value first")
        return (pointer, "i64", element), "void"

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        element, slot = pointer_parts(kinds[0])
        value = builder.zext(values[2], ir.IntType(8)) if element == "b1" else values[2]
        store = builder.store(value, _address(builder, values[0], values[1]))
        record(builder, store, slot, read_only=False)

    return Operation("st", infer, emit)


def _raw(builder: Builder, address: Value, kind: str) -> Value:
    return builder.inttoptr(address, LLVM_TYPES[kind].as_pointer())


def _raw_memory() -> list[Operation]:
    def load(kind: str) -> Operation:
        name = f"load_{kind}"
        return Operation(
            name,
            signature(name, ["i64"], kind),
            lambda builder, kinds, values: builder.load(_raw(builder, values[0], kind)),
        )

    def store(kind: str) -> Operation:
        name = f"store_{kind}"

        def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
            builder.store(values[1], _raw(builder, values[0], kind))

        return Operation(name, signature(name, ["i64", kind], "void"), emit)

    kinds = (*INTEGERS, *FLOATS)
    return [make(kind) for kind in kinds for make in (load, store)]


def _atomics() -> list[Operation]:
    order = "seq_cst"

    def load(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return builder.load_atomic(_raw(builder, values[0], "i64"), order, 8)

    def store(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        builder.store_atomic(values[1], _raw(builder, values[0], "i64"), order, 8)

    def add(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        return builder.atomic_rmw("add", _raw(builder, values[0], "i64"), values[1], order)

    def exchange(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        pair = builder.cmpxchg(_raw(builder, values[0], "i64"), values[1], values[2], order)
        return builder.extract_value(pair, 0)

    table = (
        ("atomic_load_i64", 1, "i64", load),
        ("atomic_store_i64", 2, "void", store),
        ("atomic_add_i64", 2, "i64", add),
        ("atomic_cas_i64", 3, "i64", exchange),
    )
    return [Operation(name, signature(name, ["i64"] * count, result), emit) for name, count, result, emit in table]


def _calls() -> list[Operation]:
    def call(result: str, name: str, given: Sequence[str]) -> Operation:
        prototype = ir.FunctionType(LLVM_TYPES[result], [LLVM_TYPES[one] for one in given])

        def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
            function = builder.inttoptr(values[0], prototype.as_pointer())
            value = builder.call(function, list(values[1:]))
            return None if result == "void" else value

        return Operation(name, signature(name, ["i64", *given], result), emit)

    found = [
        call(result, f"call_{result}_i64x{count}", ["i64"] * count)
        for result in ("void", "i64")
        for count in range(7)
    ]
    for result in ("f64", "i64"):
        found += [call(result, f"call_{result}_f64x{count}", ["i64"] + ["f64"] * count) for count in range(4)]
    return [*found, call("i64", "call_i64_f64_i64x2", ["i64", "f64", "i64", "i64"])]


_PAUSE = {"x86_64": "pause", "i686": "pause", "aarch64": "yield", "arm64": "yield"}


def _pause(traits: CpuTraits) -> Operation:
    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        instruction = _PAUSE.get(traits.architecture)
        if instruction is not None:
            builder.asm(ir.FunctionType(ir.VoidType(), []), instruction, "", [], side_effect=True)

    return Operation("cpu_pause", signature("cpu_pause", [], "void"), emit)


def _kept_jump() -> Operation:
    """No instruction, which LLVM does not carry out where it would not be reached."""

    def emit(builder: Builder, kinds: tuple[str, ...], values: Sequence[Value]) -> Value:
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], side_effect=True)

    return Operation("keep_jump", signature("keep_jump", [], "void"), emit)
