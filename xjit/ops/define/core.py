"""Parts of all operations: the registry, operands, and the step from a call to a node or a NumPy result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import PROJECT, Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import OpDef
from xjit.ir.scalar_expr import Literal
from xjit.types import NAMES, ArrayType, DType, TupleType, as_dtype, dtype_class, type_of

__all__ = ["Shape"]

Array: TypeAlias = "np.ndarray[Any, Any]"
Operand: TypeAlias = "Array | TracedValue"

registry: dict[str, OpDef] = {}


def register(op: OpDef) -> OpDef:
    """Enters a record into the registry; ValueError for a name that is taken."""
    if op.name in registry:
        raise ValueError(f"operation {op.name} is registered twice")
    registry[op.name] = op
    return op


@dataclass(frozen=True, slots=True)
class Shape:
    """An XLA shape: dimensions and element type.

    >>> str(Shape((2, 3), np.float32))
    'f32[2,3]'
    """

    dims: tuple[int, ...]
    dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype, "ops.Shape: dtype"))
        object.__setattr__(self, "dims", static_ints(self.dims, "Shape", "dims"))

    def __str__(self) -> str:
        return f"{NAMES[self.dtype]}[{','.join(map(str, self.dims))}]"


_SHAPE = re.compile(r"\s*(\w+)\s*\[([\d\s,]*)\]\s*")


def as_shape(value: Any, name: str) -> Shape:
    """A Shape from a Shape or from text such as ``"f32[2,3]"``; ArgumentError otherwise."""
    if isinstance(value, Shape):
        return value
    match = _SHAPE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ArgumentError(f"ops.{name}: shape: a Shape or text such as 'f32[2,3]' is required; got {value!r}")
    dims = tuple(int(size) for size in match.group(2).split(",") if size.strip())
    return Shape(dims, match.group(1))


def static_ints(values: Any, name: str, argument: str) -> tuple[int, ...]:
    """A tuple of Python ints; arrays and traced values are a DTypeError, anything else an ArgumentError."""
    if type(values) is tuple and all(type(value) is int for value in values):
        return values
    if isinstance(values, TracedValue | np.ndarray):
        raise DTypeError(f"ops.{name}: {argument}: static integers are required; got an array")
    if isinstance(values, bool) or not isinstance(values, Sequence | range) or isinstance(values, str):
        raise ArgumentError(f"ops.{name}: {argument}: a tuple of integers is required; got {values!r}")
    return tuple(static_int(value, name, argument) for value in values)


def static_int(value: Any, name: str, argument: str) -> int:
    """A Python int; arrays and traced values are a DTypeError, anything else an ArgumentError."""
    if isinstance(value, TracedValue | np.ndarray):
        raise DTypeError(f"ops.{name}: {argument}: a static integer is required; got an array")
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ArgumentError(f"ops.{name}: {argument}: an integer is required; got {value!r}")
    return int(value)


def static_flag(value: Any, name: str, argument: str) -> bool:
    """A Python bool; arrays and traced values are a DTypeError, anything else an ArgumentError."""
    if isinstance(value, TracedValue | np.ndarray):
        raise DTypeError(f"ops.{name}: {argument}: a static truth value is required; got an array")
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"ops.{name}: {argument}: a truth value is required; got {value!r}")
    return bool(value)


_FITS: dict[type, str] = {bool: "P", int: "IFC", float: "FC", complex: "C"}


def as_operand(value: Any, name: str, argument: str, like: DType | None = None) -> Operand:
    """An array or traced value; a bare Python scalar takes the type ``like`` when its kind fits.

    DTypeError for unsupported element types and for scalars that do not fit.
    """
    if isinstance(value, TracedValue):
        return value
    if type(value) in _FITS and like is not None:
        if dtype_class(like) not in _FITS[type(value)]:
            raise DTypeError(
                f"ops.{name}: {argument}: a Python {type(value).__name__} does not fit the other operand; "
                f"got {value!r} and {NAMES[like]}"
            )
        return constant(scalar_like(value, like))
    if isinstance(value, tuple | list):
        raise DTypeError(f"ops.{name}: {argument}: an array is required; got a {type(value).__name__}")
    array = np.asarray(value)
    if array.dtype not in NAMES:
        raise DTypeError(f"ops.{name}: {argument}: this element type is not supported; got {array.dtype}")
    return constant(array) if type(value) in _FITS else array


def constant(array: Array, *, by_reference: bool = False) -> Operand:
    """A value known while tracing as a constant node: no trace makes a hidden input of it.

    ``by_reference`` keeps it out of the generated source.
    """
    trace = current()
    if trace is None:
        return array
    return TracedValue(trace.constant(Literal.of(array), by_reference=by_reference), trace)


def scalar_like(value: Any, dtype: DType) -> Array:
    """A rank-0 array of this type; integers wrap."""
    with np.errstate(all="ignore"):
        if isinstance(value, int) and dtype_class(dtype) == "I":
            return np.array(value & ((1 << 64) - 1), np.uint64).astype(dtype)
        return np.array(value).astype(dtype)


def operands_like_each_other(name: str, **values: Any) -> tuple[Operand, ...]:
    """Operands of which bare Python scalars take the element type of the first one that has a type."""
    like = next((dtype_of(value) for value in values.values() if has_dtype(value)), None)
    return tuple(as_operand(value, name, argument, like) for argument, value in values.items())


def has_dtype(value: Any) -> bool:
    """Return whether the value brings an element type of its own."""
    return isinstance(value, TracedValue | np.ndarray | np.generic)


def dtype_of(value: Any) -> DType:
    """The element type of an operand."""
    found: DType = np.dtype(value.dtype)
    return found


def aval_of(operand: Operand) -> ArrayType:
    """The type of an operand."""
    return operand.node.aval if isinstance(operand, TracedValue) else type_of(operand)


def describe(*operands: Operand) -> str:
    """Shapes for messages, as ``f32[2,3] and f32[3]``."""
    return " and ".join(
        f"{NAMES.get(t.dtype, t.dtype)}[{','.join(map(str, t.dims))}]" for t in map(aval_of, operands)
    )


def outline(value: Any) -> str:
    """Any value for messages: the shape of an array, else its class.

    >>> outline(np.float32([1, 2])), outline((1, 2))
    ('f32[2]', 'a tuple of 2')
    """
    if isinstance(value, TracedValue | np.ndarray | np.generic) and np.dtype(value.dtype) in NAMES:
        return describe(as_operand(value, "Shape", "value"))
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else type(value).__name__


def apply(op: OpDef, *operands: Operand, **params: Any) -> Any:
    """One application: a node under a trace, else the reference on arrays.

    Raises what ``op.infer`` raises. Outside a trace the result never shares memory with an operand.
    """
    trace = current()
    if trace is None:
        return evaluate(op, operands, params)
    nodes = tuple(lift(trace, operand) for operand in operands)
    if trace.extents is not None and trace.extents.concern(op, nodes):
        return trace.extents.apply(op, nodes, params)
    return wrap(trace, trace.add(op, nodes, params))


def evaluate(op: OpDef, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """The operation on arrays by its reference, checked and without shared memory."""
    for operand in operands:
        if isinstance(operand, TracedValue):
            raise TypeError(f"{op.name}: a traced value was used after its trace had ended")
    op.infer(tuple(type_of(operand) for operand in operands), params)
    with np.errstate(all="ignore"):
        result = op.reference(*operands, **params)
    return tuple(own(part, operands) for part in result) if isinstance(result, tuple) else own(result, operands)


def own(result: Any, operands: Sequence[Any]) -> Any:
    """The result as an array of its own memory."""
    array = np.asarray(result)
    shared = array.base is not None or any(array is operand for operand in operands)
    return array.copy(order="K") if shared else array


def lift(trace: Trace, operand: Operand) -> Node:
    """The node of an operand; arrays become constants, or what the trace makes of them."""
    if isinstance(operand, TracedValue):
        return trace.adopt(operand.node)
    if trace.lift_array is not None:
        return trace.lift_array(operand)
    return trace.constant(Literal.of(operand))


def wrap(trace: Trace, node: Node) -> Any:
    """Return what the caller sees of a node: one value, or a tuple of projections."""
    if isinstance(node.type, TupleType):
        return tuple(trace.wrap(trace.project(node, k), trace) for k in range(trace.results(node)))
    return trace.wrap(node, trace)


def trace_computation(
    function: Callable[..., Any], types: Sequence[ArrayType], name: str = "computation"
) -> tuple[Graph, bool]:
    """Traces a computation once over symbolic values; (graph, whether it returned a tuple).

    Values of the enclosing trace that it closes over become captures of the graph.
    """
    from xjit.ops.define.symbolic_value import ScalarValue

    trace = Trace(name, wrap=ScalarValue, parent=current())
    with tracing(trace):
        arguments = [ScalarValue(trace.parameter(type), trace) for type in types]
        result = function(*arguments)
        parts = result if isinstance(result, tuple | list) else (result,)
        nodes = tuple(lift(trace, as_operand(part, name, "result")) for part in parts)
    return trace.finish(nodes), isinstance(result, tuple | list)


def project(value: Any, index: int) -> Any:
    """One element of a tuple of results, as a node under a trace."""
    return apply(PROJECT, value, index=index) if isinstance(value, TracedValue) else value[index]
