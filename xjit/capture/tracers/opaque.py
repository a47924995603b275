"""Stand-ins for values that a trace cannot watch: reading one is fine, using it is refused with the reason."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from xjit.capture.tracers.provenance import is_splitting, refuse
from xjit.errors import CaptureError
from xjit.ir.source_location import is_own_code

_USES = """
    __len__ __iter__ __next__ __setitem__ __contains__ __bool__ __enter__ __exit__
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__
    __rmod__ __pow__ __rpow__ __matmul__ __rmatmul__ __and__ __rand__ __or__ __ror__ __lt__ __le__ __gt__ __ge__
    __eq__ __ne__ __neg__ __abs__ __invert__ __float__ __int__ __complex__ __index__ __str__ __format__
"""


class Opaque:
    """A value that must not be used while tracing; ``reason`` says why, ``fix`` what to do.

    A ``final`` one is not called by steps in Python either, as it changes what the trace has read.
    """

    __slots__ = ("_final", "_fix", "_reason", "_target")

    def __init__(self, target: Any, reason: str, fix: str, final: bool = False) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_reason", reason)
        object.__setattr__(self, "_fix", fix)
        object.__setattr__(self, "_final", final)

    def error(self) -> CaptureError:
        """The error of its use."""
        message, fix = self.reasons()
        return CaptureError(message, fix=fix)

    def reasons(self) -> tuple[str, str]:
        """The reason, and what to do about it."""
        return object.__getattribute__(self, "_reason"), object.__getattribute__(self, "_fix")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not object.__getattribute__(self, "_final"):
            from xjit.capture.splits import outside, purity

            if is_splitting() or purity.draws(target_of(self)):
                return outside.called(self, args, kwargs)
        _refuse_use(self)

    def __getitem__(self, index: Any) -> Any:
        if is_splitting():
            from xjit.capture.splits import outside

            return outside.item(self, index)
        _refuse_use(self)

    def __getattr__(self, name: str) -> Any:
        if is_splitting() and not (name.startswith("__") and name.endswith("__")):
            from xjit.capture.splits import outside

            return outside.attribute(self, name)
        _refuse_use(self)

    def __setattr__(self, name: str, value: Any) -> None:
        _refuse_use(self)

    @property
    def __class__(self) -> Any:  # what the user's code sees
        return Opaque if is_own_code(sys._getframe(1).f_code) else type(target_of(self))

    @__class__.setter
    def __class__(self, value: Any) -> None:
        _refuse_use(self)

    def __repr__(self) -> str:
        return f"<untraceable {type(target_of(self)).__qualname__}>"


def target_of(value: Opaque) -> Any:
    """The value that the stand-in stands for."""
    return object.__getattribute__(value, "_target")


def _refuse_use(self: Opaque, *args: Any, **kwargs: Any) -> NoReturn:
    message, fix = self.reasons()
    refuse(message, fix=fix)


for _name in _USES.split():
    setattr(Opaque, _name, _refuse_use)
