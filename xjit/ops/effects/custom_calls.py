"""custom_call: functions that the user has registered, in Python or as the address of a symbol in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from xjit.errors import ArgumentError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define.core import Array, apply, register
from xjit.ops.effects.shapes import Parts, described, operands_of, type_of_parts
from xjit.types import DTYPES, ArrayType, Type

__all__ = ["custom_call", "register_custom_call"]

Target: TypeAlias = "Callable[[Any, list[Array]], Any] | int"

_NAME = "custom_call"
_targets: dict[str, Target] = {}


def register_custom_call(name: str, target: Target) -> None:
    """Gives a function a name by which :func:`custom_call` calls it; a name that is taken gets the new function.

    ``target`` is a Python callable ``target(out, ins)``, which fills ``out``, an array or a tuple of arrays, from the
    list ``ins`` of arrays that cannot be written to; or the address of a C function ``void target(void *out, void
    **in)`` over row-major elements, where a tuple's ``out`` is an array of pointers. The function has no side
    effects, and gives the same each time. Raises ArgumentError for another name or target.

    >>> register_custom_call("sums", lambda out, ins: np.add(*ins, out=out))
    >>> custom_call("sums", (np.float32([2, 3]), np.float32([1, 1])), "f32[2]")
    array([3., 4.], dtype=float32)
    """
    if not isinstance(name, str):
        raise ArgumentError(f"ops.register_custom_call: name: text is required; got {name!r}")
    is_address = isinstance(target, int) and not isinstance(target, bool) and target > 0
    if not is_address and not callable(target):
        raise ArgumentError(f"ops.register_custom_call: target: a callable or an address is required; got {target!r}")
    _targets[name] = target


def custom_call(target_name: str, args: Any, shape: Any) -> Any:
    """The array, or the flat tuple of arrays, of exactly this shape that a registered function fills.

    The function finds zeros in them. ``args`` is a sequence of arrays of any element type. Raises ArgumentError for a
    name that is not registered and for tuples in tuples.

    >>> register_custom_call("halves", lambda out, ins: np.copyto(out, ins[0] / 2))
    >>> custom_call("halves", (np.float32([2, 3]),), "f32[2]")
    array([1. , 1.5], dtype=float32)
    """
    operands, _ = operands_of(tuple(args), _NAME, "args")
    wanted = described(shape, _NAME)
    _target(target_name)
    return apply(CUSTOM_CALL, *operands, target=target_name, **wanted.params)


def _target(name: Any) -> Target:
    found = _targets.get(name) if isinstance(name, str) else None
    if found is None:
        raise ArgumentError(f"ops.{_NAME}: target_name: the name of a registered function is required; got {name!r}")
    return found


def _infer(types: tuple[ArrayType, ...], params: Params) -> Type:
    return type_of_parts(params["parts"], params["several"])


def _custom_call(*operands: Array, target: str, parts: Parts, several: bool) -> Any:
    function = _target(target)
    outs = tuple(np.zeros(dims, DTYPES[name]) for name, dims in parts)
    ins = [np.array(operand, order="C") for operand in operands]
    for array in ins:
        array.flags.writeable = False
    if isinstance(function, int):
        _call_symbol(function, outs, ins, several)
    else:
        function(outs if several else outs[0], ins)
    return outs if several else outs[0]


def _call_symbol(address: int, outs: tuple[Array, ...], ins: list[Array], several: bool) -> None:
    """Calls a C function; the interpreter's lock is free meanwhile."""
    import ctypes

    def pointers(arrays: Any) -> Any:
        return (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    given = pointers(outs) if several else ctypes.c_void_p(outs[0].ctypes.data)
    function(ctypes.cast(given, ctypes.c_void_p), ctypes.cast(pointers(ins), ctypes.c_void_p))


CUSTOM_CALL = register(
    OpDef(
        name=_NAME,
        kind=Kind.EFFECT,
        xla_name="CustomCall",
        infer=_infer,
        reference=_custom_call,
        silent=True,
        doc="What a registered function makes of the operands.",
    )
)
