"""The symbolic values inside computations: Python operators with XLA's strict meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xjit.errors import CaptureError
from xjit.ir.context import TracedValue
from xjit.ir.source_location import user_position


class NoAttributeError(CaptureError, AttributeError):
    """A symbolic value has no such attribute; those who ask for one are told so as usual."""


def _operation(name: str) -> Callable[..., Any]:
    """A public operation, looked up when it is called: the modules of operations import this one."""
    from xjit import ops

    found: Callable[..., Any] = getattr(ops, name)
    return found


def _refused(kind: type[CaptureError], found: str) -> CaptureError:
    message = f"a computation: operations of ops and Python's operators are required; got {found}"
    fix = "use ops, as in ops.slice and ops.reduce; xjit.while_loop, fori_loop and cond take NumPy's functions"
    error = kind(message, fix=fix)
    error.located(user_position())
    return error


class ScalarValue(TracedValue):
    """A traced value whose operators are those of xjit.ops: nothing is promoted, integers divide toward zero."""

    __slots__ = ()

    __hash__ = TracedValue.__hash__

    def __bool__(self) -> bool:
        raise CaptureError("a computation branches on a traced value", fix="use ops.select, which takes both values")

    def __getitem__(self, key: Any) -> NoReturn:
        raise _refused(CaptureError, "an index")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refused(NoAttributeError, f"the attribute {name!r}")

    def __add__(self, other: Any) -> Any:
        return _operation("add")(self, other)

    def __radd__(self, other: Any) -> Any:
        return _operation("add")(other, self)

    def __sub__(self, other: Any) -> Any:
        return _operation("sub")(self, other)

    def __rsub__(self, other: Any) -> Any:
        return _operation("sub")(other, self)

    def __mul__(self, other: Any) -> Any:
        return _operation("mul")(self, other)

    def __rmul__(self, other: Any) -> Any:
        return _operation("mul")(other, self)

    def __truediv__(self, other: Any) -> Any:
        return _operation("div")(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _operation("div")(other, self)

    def __mod__(self, other: Any) -> Any:
        return _operation("rem")(self, other)

    def __rmod__(self, other: Any) -> Any:
        return _operation("rem")(other, self)

    def __and__(self, other: Any) -> Any:
        return _operation("and_")(self, other)

    def __rand__(self, other: Any) -> Any:
        return _operation("and_")(other, self)

    def __or__(self, other: Any) -> Any:
        return _operation("or_")(self, other)

    def __ror__(self, other: Any) -> Any:
        return _operation("or_")(other, self)

    def __xor__(self, other: Any) -> Any:
        return _operation("xor")(self, other)

    def __rxor__(self, other: Any) -> Any:
        return _operation("xor")(other, self)

    def __eq__(self, other: object) -> Any:
        return _operation("eq")(self, other)

    def __ne__(self, other: object) -> Any:
        return _operation("ne")(self, other)

    def __lt__(self, other: Any) -> Any:
        return _operation("lt")(self, other)

    def __le__(self, other: Any) -> Any:
        return _operation("le")(self, other)

    def __gt__(self, other: Any) -> Any:
        return _operation("gt")(self, other)

    def __ge__(self, other: Any) -> Any:
        return _operation("ge")(self, other)

    def __neg__(self) -> Any:
        return _operation("neg")(self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return _operation("not_")(self)

    def __abs__(self) -> Any:
        return _operation("abs")(self)
