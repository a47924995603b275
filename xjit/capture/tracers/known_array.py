"""Arrays that the function makes while it is traced: NumPy's own until something traced is written into them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from xjit.capture.memory.buffer import Buffer
from xjit.capture.splits.deferred import is_deferred
from xjit.capture.tracers.known_values import known
from xjit.capture.tracers.numpy_call import has_open_sizes, is_known, numbers, traced_leaves
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.current import current, tracing
from xjit.ir.node import Node
from xjit.numpy.methods import ATTRIBUTES, METHODS
from xjit.numpy.rules.values import constant
from xjit.types import is_writable


class KnownArray(TracedArray):
    """An array of constants: what is computed of such arrays alone is computed at once.

    When a value that only the run will tell is written into it, or a loop or a branch that is traced writes to it,
    the array and all views of it become traced.

    array   the elements, None once it is traced
    source  the array that it is a view of, and how it is made of that
    family  the views of the array that begins them all
    """

    __slots__ = ("array", "family", "source")
    holds_constants = True

    array: np.ndarray[Any, Any] | None
    source: tuple[KnownArray, Callable[[Any], Any]] | None
    family: list[weakref.ref[KnownArray]]

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        trace, nothing_yet = _current_trace(), _no_node()
        put = object.__setattr__
        put(self, "array", array)
        put(self, "source", None)
        put(self, "family", [])
        put(self, "known", lambda: array)
        super().__init__(nothing_yet, trace)
        self.frozen = not is_writable(array)

    @property
    def node(self) -> Node:
        """The constant of the elements, or the traced value that the array has become."""
        if self.array is None:
            return super().node
        found: Node = constant(self.array).node
        return found

    @node.setter
    def node(self, node: Node) -> None:
        object.__setattr__(self, "_node", node)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.node.aval.dtype if self.array is None else self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self.node.aval.shape if self.array is None else self.array.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.node.aval.size if self.array is None else self.array.size

    @property
    def buffer(self) -> Buffer:
        """The memory of the array, which from here on is traced."""
        self.give_up()
        return super().buffer

    # Constants

    @property
    def root(self) -> KnownArray:
        """The array that this one is a view of, or itself."""
        root = self
        while root.source is not None:
            root = root.source[0]
        return root

    @property
    def is_shown(self) -> bool:
        """Return whether it is a view, or has one."""
        return self.source is not None or any(one() is not None for one in self.family)

    def show(self, source: KnownArray, derive: Callable[[Any], Any]) -> None:
        """Notes that this is a view of another array of constants."""
        self.source, self.is_view = (source, derive), True
        source.root.family.append(weakref.ref(self))

    def writable_now(self, *values: Any) -> bool:
        """Return whether constants are written into it at once: values, numbers and arrays, that are known.

        Trials of the user's code keep the elements to put them back. A body may have made the view, of an array from
        outside of it.
        """
        if self.array is None or self.root.owner is not current():
            return False
        known = all(is_known(leaf) for leaf in traced_leaves(values))
        if not known or has_open_sizes(values) or is_deferred(values):
            return False
        trace, root = cast("Any", current()), self.root
        for trial in trace.trials:
            trial.keep(root)
        for one in (root, *(view for reference in root.family if (view := reference()) is not None)):
            one.forget_results()
        return True

    def kept(self) -> np.ndarray[Any, Any]:
        """A copy of the elements, to put them back."""
        assert self.array is not None
        return self.array.copy()

    def put_back(self, elements: np.ndarray[Any, Any]) -> None:
        """Gives an array that is no view the elements that it had, whether it is one of constants yet or traced."""
        self.forget_results()
        if self.array is not None:
            self.array[...] = elements
            return
        with tracing(self.owner):
            node = constant(elements.copy()).node
        owner: Any = self.owner
        self.buffer.advance(owner, node)

    def give_up(self) -> None:
        """Makes the array, and all that shows it, a traced one."""
        root = self.root
        if root.array is None:
            return
        with_constant = root.owner.wrap(_constant_in(root), root.owner)
        views = [view for reference in root.family if (view := reference()) is not None]
        root._become(with_constant.node)
        for view in views:
            assert view.source is not None
            view._follow(view.source[1](view.source[0]))

    def _become(self, node: Node) -> None:
        object.__setattr__(self, "array", None)
        self.forget()
        self.node = node

    def _follow(self, made: Any) -> None:
        """Becomes the traced value that the same operation makes of the traced array."""
        assert self.source is not None
        self._become(made.node)
        if made.buffer is not self.source[0].buffer:
            refuse("an array with a view that cannot be followed is written in place", fix="copy it first")
        self.frozen = made.frozen
        self.lie_in(made.buffer, made.steps)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.writable_now(index, value):
            assert self.array is not None
            self.array[numbers(index)] = numbers(value)
            return
        self.give_up()
        super().__setitem__(index, value)

    def __iter__(self) -> Iterator[Any]:
        if self.array is None:
            return super().__iter__()
        return iter([self[k] for k in range(len(self.array))])

    def __contains__(self, item: Any) -> bool:
        return super().__contains__(item) if self.array is None else numbers(item) in self.array

    def __str__(self) -> str:
        return super().__str__() if self.array is None else str(self.array)

    def __repr__(self) -> str:
        return super().__repr__() if self.array is None else repr(self.array)

    def __format__(self, spec: str) -> str:
        return super().__format__(spec) if self.array is None else format(self.array, spec)

    def __getattr__(self, name: str) -> Any:
        if name in ("known", "bounds", "wraps") or self.array is None or name in METHODS or name in ATTRIBUTES:
            return super().__getattr__(name)
        found = getattr(self.array, name)
        if callable(found):
            return lambda *args, **kwargs: known(getattr(self.array, name)(*numbers(args), **numbers(kwargs)))
        return known(found)


def _current_trace() -> Any:
    return current()


def _no_node() -> Any:
    """No node: that of an array of constants is made when it is asked for."""
    return None


def _constant_in(root: KnownArray) -> Node:
    """The constant of an array in the trace that it was made in."""
    with tracing(root.owner):
        return root.node
