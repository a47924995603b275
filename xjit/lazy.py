"""Attributes that are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):
    """An attribute that is computed once for an object and kept there.

    No lock is held meanwhile, as ``functools.cached_property`` of Python 3.11 does for all objects of a class: a
    child forked at that time would wait for ever. Threads that come at the same time compute equal values.

    >>> class Circle:
    ...     radius = 2
    ...     @lazy
    ...     def area(self) -> float:
    ...         return 3.0 * self.radius**2
    >>> Circle().area
    12.0
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        value = self.compute(instance)
        # Read the next time without coming here: this class defines no __set__. Objects that are asked for no
        # __dict__ are smaller, and have no dict for the garbage collector to look at.
        object.__setattr__(instance, self.name, value)
        return value
