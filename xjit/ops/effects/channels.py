"""Channels: one transfer each, between two computations of the process that run at the same time.

A computation is what one thread runs. Each half of a transfer is a request with a number, which its own
done-operation ends. A channel whose transfer is done serves other computations again; one computation uses a channel
once in a role.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Literal, TypeAlias

from xjit.dataclass import dataclass, field
from xjit.errors import ArgumentError, CommunicatorError, DTypeError, ShapeError
from xjit.ops.define.core import Array
from xjit.ops.effects import waiting
from xjit.ops.effects.shapes import Parts, words

Role: TypeAlias = Literal["send", "recv"]
Threads: TypeAlias = "weakref.WeakSet[threading.Thread]"

_OTHER: dict[Role, Role] = {"send": "recv", "recv": "send"}


@dataclass(eq=False)
class Half:
    """One half of a transfer: whose it is, and what it sends or asks for."""

    role: Role
    channel: int
    thread: threading.Thread
    parts: Parts
    several: bool
    arrays: tuple[Array, ...] = ()
    partner: Half | None = None


@dataclass(eq=False)
class _Channel:
    """``open`` are the halves without a partner, ``used`` the computations that have used the channel in a role."""

    open: dict[Role, Half] = field(default_factory=dict)
    used: dict[Role, Threads] = field(default_factory=lambda: {"send": weakref.WeakSet(), "recv": weakref.WeakSet()})


_channels: dict[int, _Channel] = {}
_requests: dict[int, Half] = {}
_numbers = itertools.count(1)


def start(half: Half) -> int:
    """The number of the request for a half of a transfer; ArgumentError for a second one in the same role."""
    with waiting.held():
        channel = _channels.setdefault(half.channel, _Channel())
        if half.role in channel.open or half.thread in channel.used[half.role]:
            _fail(half, "a channel serves one transfer", f"channel {half.channel} for the second time")
        other = channel.open.get(_OTHER[half.role])
        if other is not None and other.thread is half.thread:
            _fail(half, "the two halves belong to two computations", f"channel {half.channel} for both in one")
        channel.used[half.role].add(half.thread)
        if other is None:
            channel.open[half.role] = half
        else:
            del channel.open[other.role]
            half.partner, other.partner = other, half
        request = next(_numbers) % 2**32
        _requests[request] = half
        waiting.tell()
        return request


def _fail(half: Half, rule: str, got: str) -> None:
    raise ArgumentError(f"ops.{half.role}: channel_handle: {rule}; got {got}")


def finish(request: int, role: Role) -> tuple[Array, ...]:
    """Waits for the partner and returns what it sends.

    Raises ArgumentError for a request of the other role or one that is over, ShapeError or DTypeError in both
    computations if what is sent is not what was asked for, CommunicatorError if the partner ends without its half.
    """
    with waiting.held():
        half = _requests.pop(request, None)
        if half is None or half.role != role:
            if half is not None:
                _requests[request] = half
            got = "one that is over" if half is None else f"that of {half.role}_start"
            raise ArgumentError(f"ops.{role}_done: context: the context of a {role}_start is required; got {got}")
        _meet(half)
        assert half.partner is not None
        sender, receiver = (half, half.partner) if role == "send" else (half.partner, half)
        _check_same(sender, receiver, role)
        return sender.arrays


def _meet(half: Half) -> None:
    """Waits until the other half has been started."""
    if not waiting.wait_until(lambda: half.partner is not None, waiting.nobody_else_runs):
        channel = _channels[half.channel]
        channel.open.pop(half.role, None)
        channel.used[half.role].discard(half.thread)
        raise CommunicatorError(
            f"ops.{half.role}: channel_handle: the other computation ended without its {_OTHER[half.role]}; "
            f"got channel {half.channel}",
            fix=f"let a computation that runs at the same time {_OTHER[half.role]} through this channel",
        )


def _check_same(sender: Half, receiver: Half, role: Role) -> None:
    sent, asked = (sender.parts, sender.several), (receiver.parts, receiver.several)
    if sent == asked:
        return
    types = [tuple(name for name, _ in parts) for parts, _ in (sent, asked)]
    kind, rule = (ShapeError, "shapes") if types[0] == types[1] else (DTypeError, "element types")
    raise kind(
        f"ops.{role}: channel_handle: the {rule} of what is sent and what is received differ; "
        f"got {words(*sent)} and {words(*asked)}"
    )
