# mypy: disallow-subclassing-any=False
"""The types of the kernel language as Numba types, through Numba's public extension interface."""

from __future__ import annotations

import importlib
from typing import Any

from xjit.codegen.cpu import emit_loops
from xjit.codegen.cpu.emitters import Operation
from xjit.codegen.language.scalar_types import KernelTypeError

# Numba's annotations differ from one minor version to the next; here all of it is Any.
types: Any = importlib.import_module("numba").types
extending: Any = importlib.import_module("numba.extending")
signature: Any = importlib.import_module("numba.core.typing").signature
_Type: Any = types.Type
_Callable: Any = types.Callable
_Opaque: Any = types.Opaque
_PrimitiveModel: Any = extending.models.PrimitiveModel
_OpaqueModel: Any = extending.models.OpaqueModel

_SCALARS: dict[str, Any] = {
    "b1": types.boolean,
    "i8": types.int8,
    "i16": types.int16,
    "i32": types.int32,
    "i64": types.int64,
    "u8": types.uint8,
    "u16": types.uint16,
    "u32": types.uint32,
    "u64": types.uint64,
    "f32": types.float32,
    "f64": types.float64,
    "c64": types.complex64,
    "c128": types.complex128,
    "void": types.none,
    emit_loops.PAIR: types.Pair(types.int64, types.boolean),
}
_KIND_OF = {numba_type: kind for kind, numba_type in _SCALARS.items()}


class OpaqueType(_Type):
    """A type that only our operations understand: the table, a pointer, a range, its iterator."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(name=f"xjit.{kind}")


class OpaqueModel(_PrimitiveModel):
    """Such values are one LLVM value everywhere."""

    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, emit_loops.opaque_type(numba_type.kind))


class OperationType(_Callable, _Opaque):
    """The type of a word of the language: a function known at compile time."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        super().__init__(name=f"xjit.{operation.name}")

    @property
    def key(self) -> Any:
        """The key by which these types are equal: the operation itself, not its name alone."""
        return self.operation

    def get_call_type(self, context: Any, arguments: Any, keywords: Any) -> Any:
        """Numba's hook: the signature of a call."""
        return call_signature(self.operation, arguments)

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """Numba's hook for error messages."""
        return [], True

    def get_impl_key(self, call: Any) -> OperationType:
        """Numba's hook for finding the implementation."""
        return self


extending.register_model(OpaqueType)(OpaqueModel)
extending.register_model(OperationType)(_OpaqueModel)


def numba_type(kind: str) -> Any:
    """The Numba type of one of our types."""
    return _SCALARS.get(kind) or OpaqueType(kind)


def kind_of(type_: Any) -> str:
    """The name of a Numba type in our language; KernelTypeError when it has none."""
    kind = _KIND_OF.get(type_)
    if kind is not None:
        return kind
    if isinstance(type_, OpaqueType):
        return type_.kind
    if isinstance(type_, types.IntegerLiteral):
        return f"int:{type_.literal_value}"
    if isinstance(type_, types.BooleanLiteral):
        return "b1"
    raise KernelTypeError(f"the kernel language has no {type_}")


def call_signature(operation: Operation, arguments: Any) -> Any:
    """The Numba signature of an operation applied to Numba types."""
    given = tuple(kind_of(argument) for argument in arguments)
    try:
        kinds, result = operation.infer(given)
    except ValueError as error:  # the operation unpacks another number of types
        raise KernelTypeError(f"{operation.name} does not take {len(given)} operands") from error
    return signature(numba_type(result), *map(numba_type, kinds))
