"""Deferred objects: stand-ins of what a call in Python will return. Whatever is done with one is another such call.

labels, count = ndimage.label(mask)      call ndimage.label(mask), unpack(.., 2)
np.bincount(labels.ravel())              call getattr(.., "ravel"), .. (), np.bincount(..)
"""

from __future__ import annotations

import dis
import functools
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.guarding.guards import is_generator
from xjit.capture.splits.labelled_arrays import Method, as_operation, is_known_method
from xjit.capture.splits.memory_of_objects import Shown
from xjit.capture.splits.opened_containers import Entries, Outside, entry_in_place, entry_of, method_of
from xjit.capture.splits.purity import WRITING_METHODS
from xjit.capture.tracers.operators import PYTHON, Operators
from xjit.capture.tracers.provenance import ask_to_rewrite, is_splitting, refuse
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.source_location import is_own_code
from xjit.numpy.dispatch import WRITES
from xjit.ops.effects.step_functions import INPLACE, unpacked

_MOST_ONE_BY_ONE = 1000
"""Elements that Python goes through one by one, where their number is known."""


class DeferredObject(Operators):
    """An object that only the run makes.

    ``kind`` is its class, where that is known; of a list of the run whose elements are known as arrays these are
    ``gathered``. It may be memory of arrays that it ``shows``. One that NumPy makes of arrays and numbers is
    ``plain``: operators and methods of it may be called again. A ``single`` one is known to be no array. A method
    ``only_reads`` what it has if arrays have one of its name that does. Raises CaptureError where Python needs the
    object itself at once.
    """

    __slots__ = (
        *("__weakref__", "example", "gathered", "kind", "label", "only_reads", "outer", "plain", "shows", "single"),
        *("source", "trace"),
    )
    __array_priority__ = 1002.0

    def __init__(
        self,
        source: Node | None,
        trace: Trace,
        label: str,
        kind: type | None = None,
        gathered: Any = None,
        outer: Outside | None = None,
        example: Any = None,
        shows: tuple[Shown, ...] = (),
        plain: bool = False,
        single: bool = False,
    ) -> None:
        put = object.__setattr__
        put(self, "example", example)
        put(self, "shows", shows)
        put(self, "plain", plain)
        put(self, "single", single)
        put(self, "only_reads", False)
        put(self, "outer", outer)
        put(self, "gathered", gathered)
        put(self, "source", source)
        put(self, "trace", trace)
        put(self, "label", label)
        put(self, "kind", kind)

    @property
    def node(self) -> Node:
        """The node of the object in the trace that is under way."""
        trace = current()
        assert trace is not None
        if self.gathered is not None and is_around(self.trace, trace):
            object.__setattr__(self, "source", self.gathered.node(self.trace))
        if self.source is None or not trace.reaches(self.source):
            self._refuse("is used where the loop or the branch that makes it has ended")
        return trace.adopt(self.source)

    @property
    def elements(self) -> Any:
        """The gathered elements of a list, as long as these are its own, in its trace and those within; else None."""
        found = self.gathered
        if found is None or found.changed:
            return None
        is_there = self.trace is current() if found.is_keyed else is_around(self.trace, current())
        return found if is_there else None

    @property
    def keyed(self) -> Any:
        """The entries of a dict, or the members of a set, by their keys, as long as these are known; else None."""
        found = self.gathered
        return None if found is None or not found.is_keyed or found.changed else found

    def _call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        from xjit.capture.splits.outside import library
        from xjit.capture.splits.python_steps import go_on

        if self.kind is not None and is_generator(self.kind):
            check_drawing(self)
        if self.gathered is not None:
            self.gathered.leave()
        if self.example is not None and type(function) is not DeferredObject:
            return library(as_operation(function), args, kwargs)
        if self.plain and are_plain((args, kwargs)):
            function = as_operation(function)
        return go_on(function, args, kwargs)

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "at":
            refuse_deferred(inputs)
        found = in_arrays(inputs)
        if any(map(operator.is_not, found, inputs)):
            return getattr(ufunc, method)(*found, **kwargs)
        return self._call(ufunc if method == "__call__" else getattr(ufunc, method), *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func in WRITES:
            refuse_deferred((args, kwargs))
        found = in_arrays(args)
        if any(map(operator.is_not, found, args)):
            return func(*found, **kwargs)
        return self._call(func, *args, **kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("is passed to code that needs its elements")

    # Python's operators

    def _unary(self, ufunc: Any) -> Any:
        return self._call(PYTHON[ufunc], self)

    def _binary(self, ufunc: Any, left: Any, right: Any) -> Any:
        if _is_array(left) or _is_array(right):
            found = in_arrays((left, right))
            if any(map(operator.is_not, found, (left, right))):
                return ufunc(*found)
        return self._call(PYTHON[ufunc], left, right)

    def _inplace(self, ufunc: Any, other: Any) -> Any:
        if self.outer is Outside.ENTRY:
            return self._call(functools.partial(entry_in_place, INPLACE[ufunc]), self, other)
        if self.example is not None:
            self._refuse("is changed")
        if ufunc is np.add and self.elements is not None and self.elements.grows:
            self.elements.extend(other)
            return self
        self._check_own()
        found = self._changed(INPLACE[ufunc], other)
        return found if self.outer is None else self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self, *args, **kwargs)

    def __getattribute__(self, name: str) -> Any:
        """The attribute of the stand-in; to the user's code that of the object, as of ``y.dtype.kind``."""
        if name in _OF_STAND_INS and not is_own_code(sys._getframe(1).f_code):
            return self.__getattr__(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if self.example is not None:
            found = getattr(self.example, name)
            is_method = isinstance(found, types.MethodType)
            return functools.partial(self._method, name) if is_method else self._call(getattr, self, name)
        if self.kind is not None and is_generator(self.kind):
            from xjit.capture.splits.outside import drawn_by, part_of_generator

            is_method = callable(getattr(self.kind, name, None))
            return functools.partial(drawn_by, self, name) if is_method else part_of_generator(self, name)
        if self.outer is Outside.ENTRY:
            self._refuse(f"is asked for {name}")
        found = None if self.gathered is None or self.gathered.is_left else self.gathered.attribute(name)
        if found is not None:
            return found
        if self.kind is list and name in ("count", "index") and self.elements is not None:
            return functools.partial(self._searched, name)
        if self.kind is list or self.outer is not None:
            return functools.partial(self._changed, method_of, name)
        if name in WRITING_METHODS:
            self._check_own()
        elif self.plain and callable(getattr(np.ndarray, name, None)):
            return functools.partial(self._call, Method(name), self)
        found = self._call(getattr, self, name)
        if type(found) is DeferredObject and name not in WRITING_METHODS:
            object.__setattr__(found, "only_reads", callable(getattr(np.ndarray, name, None)))
        return found

    def _searched(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The result of a method that searches a list whose elements are known as arrays."""
        from xjit.capture.comprehensions.searched import searched

        found = None if kwargs else searched(self.elements, name, args)
        return self._changed(method_of, name, *args, **kwargs) if found is None else found

    def _changed(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The result of a function of the object; CaptureError for arrays that a list takes in: these are copies."""
        if (self.kind is list or self.outer is not None) and any(map(_is_array, _leaves((args, kwargs)))):
            self._refuse("has arrays then")
        if self.example is not None:
            self._refuse("is changed")
        if self.gathered is not None:
            self.gathered.leave()
            self.gathered.change()
        if self.outer is Outside.CONTAINER:
            self._entries.take(_leaves((args, kwargs)))
            self._entries.read(str(args[0]) if function is method_of else "append")
        if self.outer is None:  # calls note what containers from outside take in
            self._keep((args, kwargs))
        found = self._call(function, self, *args, **kwargs)
        return found if self.outer is None else self._entry(found)

    @property
    def _entries(self) -> Entries:
        """The entries of a container from outside."""
        trace: Any = self.trace
        found: Entries = trace.recorder.entries[self.label]
        return found

    @property
    def is_single(self) -> bool:
        """Return whether it is known to be no array."""
        return bool(self.single) or self.outer is Outside.ENTRY

    def _keep(self, values: Any) -> None:
        """Notes the function's own lists and dicts that this one takes in: they may not change behind that."""
        from xjit.capture.recording.container_entries import containers_in
        from xjit.capture.recording.container_names import note_kept

        trace: Any = current()
        for one in containers_in(values):
            if one is not values[1]:
                note_kept(trace.recorder, one)

    def _check_own(self) -> None:
        """CaptureError where a change might be one of an array of the graph, which would not know of it."""
        if self.shows:
            self._refuse("is changed, and may be memory of an array")

    def _entry(self, found: DeferredObject) -> DeferredObject:
        """The object as one that stands in a container from outside, or may do."""
        object.__setattr__(found, "outer", Outside.ENTRY)
        return found

    def _method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The result of a method of an array with labels."""
        if not is_known_method(name, kwargs):
            self._refuse(f"is asked for {name}")
        return self._call(Method(name), self, *args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if self.example is not None:
            self._refuse("is changed")
        self._check_own()
        self._call(setattr, self, name, value)

    def __getitem__(self, index: Any) -> Any:
        if self.keyed is not None and (self.keyed.grows or self.keyed.factory is None):
            return self.keyed.lookup(index)
        if self.elements is not None and (type(index) is int or is_number(index)):
            return self.elements.item(self, index)
        part = self.elements.part(index) if self.elements is not None and type(index) is slice else None
        if part is not None:
            return part
        if self.outer is not None:
            if self.outer is Outside.CONTAINER:
                self._entries.read()
            return self._entry(self._call(entry_of, self, index))
        return self._call(operator.getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.keyed is not None and self.keyed.grows:
            self.keyed.insert(index, value)
            return
        if self.elements is not None and self.elements.grows and (type(index) is int or is_number(index)):
            self.elements.put_item(index, value)
            return
        self._check_own()
        self._changed(operator.setitem, index, value)

    def __delitem__(self, index: Any) -> None:
        if self.example is not None:
            self._refuse("is changed")
        self._check_own()
        self._call(operator.delitem, self, index)

    def __iter__(self) -> Iterator[Any]:
        count, known = _unpacked_by(sys._getframe(1)), self.elements
        if count is None:
            if known is not None and type(known.count) is int and known.count <= _MOST_ONE_BY_ONE:
                return map(known.element, range(known.count))
            if known is not None:
                ask_to_rewrite()
            self._refuse("is iterated over, and only the run tells how often")
        parts = self._call(unpacked, self, count)
        return iter([self._call(operator.getitem, parts, place) for place in range(count)])

    # What would need the object

    def __bool__(self) -> bool:
        known = self.keyed or self.elements
        if known is not None and type(known.count) is int:
            return bool(known.count)
        self._ask("decides which way to take")

    def __int__(self) -> int:
        self._ask("is converted to a number")

    def __float__(self) -> float:
        self._ask("is converted to a number")

    def __complex__(self) -> complex:
        self._refuse("is converted to a number")

    def __index__(self) -> int:
        self._refuse("is used as an index or a size")

    def __len__(self) -> int:
        if self.elements is not None:
            ask_to_rewrite()
        self._refuse("is asked for its length")

    def __contains__(self, item: Any) -> bool:
        self._ask("is searched by `in`")

    def __hash__(self) -> int:
        self._refuse("is used as a key")

    def __enter__(self) -> NoReturn:
        self._refuse("is entered by `with`")

    def __exit__(self, *error: Any) -> NoReturn:
        self._refuse("is left by `with`")

    def __next__(self) -> NoReturn:
        self._refuse("is asked for its next item")

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse(f"loses the attribute {name}")

    def __str__(self) -> str:
        self._ask("is made text")

    def __format__(self, spec: str) -> str:
        self._ask("is made text")

    def __repr__(self) -> str:
        if type(sys._getframe(1).f_globals) is not dict:  # traced code, not a debugger or a traceback
            self._ask("is made text")
        return f"<result of {self.label}>"

    def __dir__(self) -> NoReturn:
        self._refuse("is asked for its attributes")

    def _ask(self, what: str) -> NoReturn:
        ask_to_rewrite()
        self._refuse(what)

    def _refuse(self, what: str) -> NoReturn:
        refuse(f"the result of {self.label}, which only the run knows, {what}", fix="do this outside of the function")


_OF_CHOICES = frozenset({"entry", "is_one_with", "is_true", "of_parts", "parts", "taken_for_granted"})
_OF_STAND_INS = _OF_CHOICES.union(name for name in vars(DeferredObject) if not name.startswith("_"))
"""The attributes of deferred objects themselves, those that stand for chosen constants included."""


def check_drawing(generator: DeferredObject) -> None:
    """CaptureError for what would be a step in Python with a generator where there are no such steps."""
    if not is_splitting():
        reason = f"{generator.label} is used by code that is not compiled, and a trace would freeze the draw"
        refuse(reason, fix="draw outside of the function, and pass the numbers in")


def is_around(trace: Trace, inner: Trace | None) -> bool:
    """Return whether a trace is one of those that enclose another one, or that one."""
    while inner is not None and inner is not trace:
        inner = inner.parent
    return inner is not None


def _unpacked_by(frame: Any) -> int | None:
    """The number of names that the code of a frame unpacks a value into; None if it does something else."""
    code, place = frame.f_code.co_code, frame.f_lasti
    return code[place + 1] if code[place] == dis.opmap["UNPACK_SEQUENCE"] else None


def _leaves(values: Any) -> list[Any]:
    return tree.flatten(values, in_parts=False)[0]


def is_number(value: Any) -> bool:
    """Return whether a value is an integer that only the run knows."""
    return isinstance(value, TracedValue) and (value.scalar or value.weak is not None) and value.dtype.kind in "iu"


def _is_array(value: Any) -> bool:
    if isinstance(value, TracedValue):
        return not value.scalar and value.weak is None
    is_object = issubclass(type(value), DeferredObject)
    return not is_object and bool(getattr(value, "ndim", 0) or getattr(type(value), "chooses", 0))


def in_arrays(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of a function of NumPy's, with arrays in place of lists of the run that are known as such."""
    if not is_deferred(values):
        return values
    return tuple(map(_in_array, values))


def _in_array(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_in_array, value))
    elements = value.elements if type(value) is DeferredObject else None
    found = None if elements is None else elements.as_array()
    return value if found is None else found


def positions_in(index: Any, rank: int) -> Any:
    """An index with an array of positions in place of each list of the run that holds integers.

    It is one of an array of so many axes.
    """
    if type(index) is tuple:
        return tuple(positions_in(one, rank) for one in index)
    elements = index.elements if type(index) is DeferredObject else None
    found = elements.columns if elements is not None and elements.form == tree.LEAF else []
    if elements is None or len(found) != 1 or elements.is_keyed or elements.class_name != "list":
        return index
    (column,) = found
    is_plain = column.doubts is None and not column.lists and column.array.ndim == 1
    if not is_plain or column.array.dtype.kind not in "iu":
        return index
    if rank > 1 and elements.grows and elements.made_by.want_short(elements.place):
        refuse("positions in a list are those of rows or columns", fix="use an array of positions")
    return column.array


def joined(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arrays of a list of the run, known as rows of one, as a function that gets the list joins them.

    None for other functions and lists, and for other ways to join them.
    """
    first = args[0] if args else None
    elements = first.elements if type(first) is DeferredObject else None
    return None if elements is None else elements.joined(function, args[1:], kwargs)


def is_deferred(values: Any) -> bool:
    """Return whether a deferred object is among arguments, nested ones included."""
    if issubclass(type(values), DeferredObject):
        return True
    if type(values) in (tuple, list):
        return any(map(is_deferred, values))
    if type(values) is slice:
        return is_deferred((values.start, values.stop, values.step))
    return type(values) is dict and any(map(is_deferred, values.values()))


def are_plain(values: Any) -> bool:
    """Return whether all deferred objects among arguments are plain, nested ones included."""
    if issubclass(type(values), DeferredObject):
        return bool(values.plain)
    if type(values) in (tuple, list):
        return all(map(are_plain, values))
    if type(values) is slice:
        return are_plain((values.start, values.stop, values.step))
    return type(values) is not dict or all(map(are_plain, values.values()))


def refuse_deferred(values: Any) -> None:
    """CaptureError for objects that only the run makes among what a function that writes gets."""
    if is_deferred(values):
        refuse(
            "a function that writes to an array gets an object that only the run makes", fix="store it by x[...] = y"
        )
