"""send and recv: one array, or a flat tuple, from one computation of the process to another that runs beside it.

Each has two halves: the first announces or hands over, the second waits for the partner. While compiled code waits,
the interpreter's lock is free, and signals end the wait.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from xjit.errors import ArgumentError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Array, apply, as_operand, aval_of, outline, register, static_int
from xjit.ops.effects.channels import Half, finish, start
from xjit.ops.effects.shapes import Parts, described, operands_of, parts_of, type_of_parts
from xjit.types import DTYPES, NAMES, ArrayType, TupleType, Type, scalar_type

__all__ = ["recv", "recv_done", "recv_start", "send", "send_done", "send_start"]

Types = tuple[ArrayType, ...]

_REQUEST = scalar_type(DTYPES["u32"])


# ---- send


def _infer_send_start(types: Types, params: Params) -> ArrayType:
    return _REQUEST


def _send_start(*operands: Array, channel: int, several: bool) -> Array:
    arrays = tuple(np.array(operand, order="C") for operand in operands)
    half = Half("send", channel, threading.current_thread(), parts_of(arrays), several, arrays)
    return np.array(start(half), np.uint32)


SEND_START = register(
    OpDef(
        name="send_start",
        kind=Kind.EFFECT,
        xla_name="Send",
        infer=_infer_send_start,
        reference=_send_start,
        silent=True,
        doc="Hands the operands over to a channel; the number of the request.",
    )
)


def _infer_send_done(types: Types, params: Params) -> TupleType:
    return TupleType(())


def _send_done(request: Array) -> tuple[()]:
    finish(int(request), "send")
    return ()


SEND_DONE = register(
    OpDef(
        name="send_done",
        kind=Kind.EFFECT,
        xla_name="SendDone",
        infer=_infer_send_done,
        reference=_send_done,
        silent=True,
        doc="Waits until what a request handed over is received.",
    )
)


def send_start(operand: Any, channel_id: int) -> tuple[Any, Any]:
    """Hands an array or a flat tuple over to a channel; the context, operand and U32 request, for :func:`send_done`.

    Element types: any. Raises DTypeError for other operands, ArgumentError for a negative channel, and for one that
    the computation has sent through before.

    >>> partner = threading.Thread(target=recv, args=("f64[]", 31))
    >>> partner.start()
    >>> context = send_start(1.5, 31)
    >>> send_done(context)
    """
    return _sent(operand, _channel(channel_id, "send_start", "channel_id"), "send_start")


def send_done(context: tuple[Any, Any]) -> None:
    """Waits until what a :func:`send_start` handed over is received.

    Raises ArgumentError for another context, ShapeError or DTypeError if the receiver asks for something else,
    CommunicatorError (a RuntimeError) if it ends without asking.

    >>> partner = threading.Thread(target=recv, args=("f64[]", 32))
    >>> partner.start()
    >>> context = send_start(1.5, 32)
    >>> send_done(context)
    """
    apply(SEND_DONE, _request(context, "send_done"))


def send(operand: Any, channel_handle: int) -> None:
    """Sends an array or a flat tuple to the computation that receives from the channel, and waits until it has.

    Element types: any. Raises what :func:`send_start` and :func:`send_done` raise.

    >>> partner = threading.Thread(target=recv, args=("f64[]", 33))
    >>> partner.start()
    >>> send(1.5, 33)
    """
    channel = _channel(channel_handle, "send", "channel_handle")
    apply(SEND_DONE, _sent(operand, channel, "send")[1])


def _sent(operand: Any, channel: int, name: str) -> tuple[Any, Any]:
    operands, several = operands_of(operand, name)
    request = apply(SEND_START, *operands, channel=channel, several=several)
    return (operands if several else operands[0]), request


# ---- recv


def _infer_recv_start(types: Types, params: Params) -> TupleType:
    parts = type_of_parts(params["parts"], True)
    assert isinstance(parts, TupleType)
    return TupleType((*parts.elements, _REQUEST))


def _recv_start(parts: Parts, several: bool, channel: int) -> tuple[Array, ...]:
    half = Half("recv", channel, threading.current_thread(), parts, several)
    buffers = [np.zeros(dims, DTYPES[name]) for name, dims in parts]
    return (*buffers, np.array(start(half), np.uint32))


RECV_START = register(
    OpDef(
        name="recv_start",
        kind=Kind.EFFECT,
        xla_name="Recv",
        infer=_infer_recv_start,
        reference=_recv_start,
        silent=True,
        doc="Asks a channel for arrays; memory for them and the number of the request.",
    )
)


def _infer_recv_done(types: Types, params: Params) -> Type:
    return type_of_parts(params["parts"], params["several"])


def _recv_done(request: Array, parts: Parts, several: bool) -> Any:
    arrays = finish(int(request), "recv")
    return arrays if several else arrays[0]


RECV_DONE = register(
    OpDef(
        name="recv_done",
        kind=Kind.EFFECT,
        xla_name="RecvDone",
        infer=_infer_recv_done,
        reference=_recv_done,
        silent=True,
        doc="Waits for what a request asked for, and hands it out.",
    )
)


def recv_start(shape: Any, channel_id: int) -> tuple[Any, Any]:
    """Asks a channel for an array or a flat tuple of this shape; the context, memory for it and a U32 request.

    The context is for :func:`recv_done`. Element types: any. Raises ArgumentError for tuples in tuples, a negative
    channel, and one that the computation has received from before.

    >>> partner = threading.Thread(target=send, args=(1.5, 34))
    >>> partner.start()
    >>> context = recv_start("f64[]", 34)
    >>> recv_done(context)
    array(1.5)
    """
    return _asked(shape, _channel(channel_id, "recv_start", "channel_id"), "recv_start")


def recv_done(context: tuple[Any, Any]) -> Any:
    """Waits for what a :func:`recv_start` asked for and returns it.

    Raises ArgumentError for another context, ShapeError or DTypeError if the sender sends something else,
    CommunicatorError (a RuntimeError) if it ends without sending.

    >>> partner = threading.Thread(target=send, args=(1.5, 35))
    >>> partner.start()
    >>> context = recv_start("f64[]", 35)
    >>> recv_done(context)
    array(1.5)
    """
    request = _request(context, "recv_done")
    operands, several = operands_of(context[0], "recv_done", "context")
    types = [aval_of(operand) for operand in operands]
    parts = tuple((NAMES[type.dtype], type.shape) for type in types)
    return apply(RECV_DONE, request, parts=parts, several=several)


def recv(shape: Any, channel_handle: int) -> Any:
    """Waits for what another computation sends through the channel, an array or a flat tuple of this shape.

    Element types: any. Raises what :func:`recv_start` and :func:`recv_done` raise.

    >>> partner = threading.Thread(target=send, args=(1.5, 36))
    >>> partner.start()
    >>> recv("f64[]", 36)
    array(1.5)
    """
    channel = _channel(channel_handle, "recv", "channel_handle")
    _, request = _asked(shape, channel, "recv")
    wanted = described(shape, "recv")
    return apply(RECV_DONE, request, **wanted.params)


def _asked(shape: Any, channel: int, name: str) -> tuple[Any, Any]:
    wanted = described(shape, name)
    *buffers, request = apply(RECV_START, **wanted.params, channel=channel)
    return (tuple(buffers) if wanted.several else buffers[0]), request


# ---- both


def _channel(value: Any, name: str, argument: str) -> int:
    channel = static_int(value, name, argument)
    rules.check_at_least(name, argument, (channel,), 0)
    return channel


def _request(context: Any, name: str) -> Any:
    if not isinstance(context, tuple | list) or len(context) != 2:
        raise ArgumentError(f"ops.{name}: context: a pair of data and request is required; got {outline(context)}")
    request = as_operand(context[1], name, "context[1]")
    rules.check_class(name, "context[1]", aval_of(request), "u32")
    rules.check_rank(name, "context[1]", aval_of(request), 0)
    return request
