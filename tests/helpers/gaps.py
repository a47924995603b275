"""Declared gaps: what is refused under strict, and otherwise runs through NumPy with a warning."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning, TargetError
from xjit.ir.opdef import Gap, Kind, OpDef
from xjit.ir.scalar_expr import Arg, prim
from xjit.ops.define import rules
from xjit.ops.define.core import apply, registry
from xjit.ops.define.op_tables import same

REASON = "it only exists to be tested"


def operation_of(name: str, reason: str, reference: Callable[[Any], Any] = lambda x: x * 3) -> Callable[[Any], Any]:
    """An operation without code for floats, in no registry, but called like those that are; by default it triples."""
    record = OpDef(
        name=name,
        kind=Kind.ELEMENTWISE,
        infer=rules.elementwise_infer(name, ("operand",), "IF", same),
        reference=reference,
        element=lambda types, params, out: prim("mul", Arg(0, out.dtype), 3),
        gaps=(Gap("cpu", "F", reason),),
    )
    # Tracing takes a function for one of the package by its file and by the name of its module.
    code = _applied.__code__.replace(co_filename=xjit.__file__)
    return types.FunctionType(code, {"__name__": "xjit.made_up", "apply": apply, "record": record}, name)


def _applied(operand: Any) -> Any:
    return apply(record, operand)  # noqa: F821


tripled = operation_of("tripled", REASON)


def declared(op: str, arrays: Sequence[np.ndarray[Any, Any]]) -> Gap | None:
    """The gap of a registered operation on operands of these types, if there is one."""
    found = registry.get(op)  # none of an operation that is put together of others
    return None if found is None else found.gap("cpu", tuple(array.dtype.newbyteorder("=") for array in arrays), "")


def lenient() -> AbstractContextManager[Any]:
    """In here falling back to NumPy is a warning, as users have it."""
    return mock.patch.dict("os.environ", XJIT_STRICT="0")


def refused_then_run(gap: Gap, run: Callable[[], Any]) -> Any:
    """Asserts that strict refuses what ``run`` does for this gap; its result without strict, where it warns."""
    with pytest.raises(TargetError, match=re.escape(gap.reason)):
        run()
    with lenient(), pytest.warns(FallbackWarning, match=re.escape(gap.reason)):
        return run()
