"""``@xjit``: with or without options, on functions, methods, static and class methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from xjit.api.function import JitFunction
from xjit.api.options import Options
from xjit.ir.boundary import at_boundary

if TYPE_CHECKING:
    from xjit.target import Target
    from xjit.watch import Progress

P = ParamSpec("P")
R = TypeVar("R")


@overload
def xjit(
    function: Callable[P, R],
    /,
    *,
    target: str | Target = ...,
    strict: bool = ...,
    contract: bool = ...,
    errors: str = ...,
    progress: Callable[[Progress], object] | None = ...,
) -> JitFunction[P, R]: ...
@overload
def xjit(
    *,
    target: str | Target = ...,
    strict: bool = ...,
    contract: bool = ...,
    errors: str = ...,
    progress: Callable[[Progress], object] | None = ...,
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
@at_boundary
def xjit(function: Any = None, /, **options: Any) -> Any:
    """Compiles a NumPy function: same arrays in, same answers out.

    Options: ``target="cpu"``; ``strict=True`` raises where a call would run through NumPy; ``contract=True`` allows
    fused multiply-add; ``errors="numpy"`` obeys np.errstate; ``progress=function`` is told now and then how far a
    compile has come. Raises ArgumentError for unknown values.

    >>> import numpy as np
    >>> @xjit
    ... def norm(x, y):
    ...     return np.sqrt(x * x + y * y)
    >>> norm(np.array([3.0, 5.0]), np.array([4.0, 12.0]))
    array([ 5., 13.])
    """
    unknown = options.keys() - set(Options.__match_args__)
    if unknown:
        known = ", ".join(Options.__match_args__)
        raise TypeError(f"xjit: {min(unknown)}: there is no such option; the options are {known}")
    chosen = Options(**options)
    if function is None:
        return at_boundary(lambda one: _decorate(one, chosen))
    return _decorate(function, chosen)


def _decorate(function: Any, options: Options) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorate(function.__func__, options))
    if isinstance(function, JitFunction):
        return JitFunction(function.__wrapped__, options)
    if not callable(function):
        raise TypeError(f"xjit: a function is required; got {type(function).__qualname__}")
    return JitFunction(function, options)
