"""infeed and outfeed: queues between compiled functions and the rest of the process, one pair for each replica."""

from __future__ import annotations

from collections import deque
from typing import Any

from xjit.dataclass import dataclass, field
from xjit.errors import ArgumentError, CaptureError
from xjit.ir.current import current
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define.core import Array, apply, register, static_int
from xjit.ops.effects import waiting
from xjit.ops.effects.shapes import (
    Parts,
    check_same_shape,
    described,
    host_value,
    operands_of,
    parts_of,
    type_of_parts,
)
from xjit.types import ArrayType, TupleType, Type

__all__ = ["infeed", "infeed_enqueue", "outfeed", "outfeed_dequeue"]

_REPLICA = 0


@dataclass(eq=False)
class _Queues:
    """The items on their way to and from one replica: arrays, and whether they were put in as a tuple."""

    to: deque[tuple[tuple[Array, ...], bool]] = field(default_factory=deque)
    back: deque[tuple[tuple[Array, ...], bool]] = field(default_factory=deque)


_queues: dict[int, _Queues] = {}


def _of(replica: int) -> _Queues:
    return _queues.setdefault(replica, _Queues())


def _put(items: deque[Any], item: Any) -> None:
    with waiting.held():
        items.append(item)
        waiting.tell()


def _taken(items: deque[Any]) -> Any:
    with waiting.held():
        waiting.wait_until(lambda: bool(items))
        return items.popleft()


# ---- infeed


def _infer_infeed(types: tuple[ArrayType, ...], params: Params) -> Type:
    return type_of_parts(params["parts"], params["several"])


def _infeed(parts: Parts, several: bool) -> Any:
    arrays, found_several = _taken(_of(_REPLICA).to)
    check_same_shape("infeed", parts, several, parts_of(arrays), found_several)
    return arrays if several else arrays[0]


INFEED = register(
    OpDef(
        name="infeed",
        kind=Kind.EFFECT,
        xla_name="Infeed",
        infer=_infer_infeed,
        reference=_infeed,
        silent=True,
        doc="The next item that was put into this replica's queue.",
    )
)


def infeed(shape: Any) -> Any:
    """The next item of the queue that :func:`infeed_enqueue` fills, an array or a flat tuple, as ``shape`` says.

    Waits until there is one; signals end the wait. Items come in program order. The shape ``()`` reads nothing.
    Element types: any. Raises ArgumentError for tuples in tuples, ShapeError for an item of another shape or type.

    >>> infeed_enqueue(1.5)
    >>> infeed("f64[]")
    array(1.5)
    """
    wanted = described(shape, "infeed")
    return () if wanted.several and not wanted.parts else apply(INFEED, **wanted.params)


def infeed_enqueue(value: Any, replica: int = 0) -> None:
    """Puts an array or a flat tuple of arrays into the queue of a replica, outside of compiled functions.

    Element types: any. Raises DTypeError for other values, ArgumentError for a replica that is not there.

    >>> infeed_enqueue(2.5)
    >>> infeed("f64[]")
    array(2.5)
    """
    _check_host("infeed_enqueue", replica)
    _put(_of(replica).to, host_value(value, "infeed_enqueue"))


# ---- outfeed


def _infer_outfeed(types: tuple[ArrayType, ...], params: Params) -> TupleType:
    return TupleType(())


def _outfeed(*operands: Array, several: bool) -> tuple[()]:
    _put(_of(_REPLICA).back, (tuple(operand.copy() for operand in operands), several))
    return ()


OUTFEED = register(
    OpDef(
        name="outfeed",
        kind=Kind.EFFECT,
        xla_name="Outfeed",
        infer=_infer_outfeed,
        reference=_outfeed,
        silent=True,
        doc="Puts the operands into this replica's queue to the rest of the process.",
    )
)


def outfeed(operand: Any) -> None:
    """Puts an array or a flat tuple of arrays into the queue that :func:`outfeed_dequeue` reads. Element types: any.

    Raises DTypeError for other values.

    >>> outfeed(1.5)
    >>> outfeed_dequeue()
    array(1.5)
    """
    operands, several = operands_of(operand, "outfeed")
    apply(OUTFEED, *operands, several=several)


def outfeed_dequeue(replica: int = 0) -> Any:
    """The next item that a replica has put out, outside of compiled functions; waits until there is one.

    Raises ArgumentError for a replica that is not there.

    >>> outfeed(2.5)
    >>> outfeed_dequeue()
    array(2.5)
    """
    _check_host("outfeed_dequeue", replica)
    arrays, several = _taken(_of(replica).back)
    return arrays if several else arrays[0]


def _check_host(name: str, replica: int) -> None:
    if current() is not None:
        raise CaptureError(f"ops.{name}: a call outside of compiled functions is required; got one inside")
    number = static_int(replica, name, "replica")
    if number != _REPLICA:
        raise ArgumentError(f"ops.{name}: replica: the number of a replica is required; got {number}")
