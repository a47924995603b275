"""The decorated function. Decorating and importing are cheap: what compiles is loaded at the first call."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from xjit import jobs
from xjit.api.options import Options
from xjit.errors import FallbackWarning
from xjit.ir.boundary import LITTLE_ROOM, OTHER_VALUE, WRONG_SITE, at_boundary, comes_first, take_back, tidy
from xjit.runtime.miss import MISS, Miss
from xjit.runtime.notices import Notices
from xjit.runtime.once import Once
from xjit.runtime.tally import KernelTally

if TYPE_CHECKING:
    from xjit.api import pickling
    from xjit.api.dispatcher import Dispatcher
    from xjit.inspect.explain import Explanation
    from xjit.inspect.stages import Stages
    from xjit.inspect.statistics import Statistics

# Programs of one function that are taken from the disk before it is traced.
MAXIMUM_STARTED = 6

P = ParamSpec("P")
R = TypeVar("R")


class JitFunction(Generic[P, R]):
    """A function that runs compiled. It keeps the name, docstring and signature of ``__wrapped__``.

    Calls go through native code as soon as a function of the process is compiled (:func:`_call_natively`), which
    finds the ``_entries`` and ``_names`` in their slots.
    """

    __slots__ = ("__dict__", "__weakref__", "_entries", "_names")

    def __init__(self, function: Callable[P, R], options: Options) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self.options = options
        self._names = positional_names(function)
        if inspect.iscoroutinefunction(function) and hasattr(inspect, "markcoroutinefunction"):
            inspect.markcoroutinefunction(self)
        self.clear()

    def clear(self) -> None:
        """Forgets all traces and counts; compiled kernels stay in the caches."""
        self._dispatcher: Dispatcher | None = None
        self._entries: tuple[Callable[..., Any], ...] = ()  # for calls without names
        self._named: Mapping[tuple[str, ...], tuple[Callable[..., Any], ...]] = {}
        self._tally = KernelTally()
        self._told = Notices()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of the function."""
        try:
            entries: tuple[Callable[..., Any], ...] = self._entries
            values: tuple[Any, ...] = args
            if kwargs:
                if len(args) < len(self._names):
                    values = args = self._positional(args, kwargs)
                if kwargs:
                    entries, values = self._named.get(tuple(kwargs), ()), (*args, *kwargs.values())
            for entry in entries:
                result: R | Miss = entry(*values)
                if result is not MISS:
                    return result
            if self._dispatcher is None and not jobs.available():
                return self.__wrapped__(*args, **kwargs)
            if self._dispatcher is None and not kwargs:
                result = self._start(args)
                if result is not MISS:
                    return result
            dispatcher = self._dispatcher or self._made()
            made: R = dispatcher.call(args, kwargs)
            self._take_entries(dispatcher)
            return made
        except BaseException as error:
            instead = self._after(error)
            if instead is None:
                raise
        try:
            return instead(*args, **kwargs)
        except BaseException as error:
            tidy(error)
            raise

    def _after(self, error: BaseException) -> Callable[P, R] | None:
        """Returns what does a call in the place of what has raised; None if the exception is the answer."""
        self._learn(error)
        if comes_first(error):
            take_back(error)
            return self._with_other_value if hasattr(error, OTHER_VALUE) and jobs.available() else self._by_numpy
        tidy(error)
        return None

    def _with_other_value(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """A call of which a program has found that it is for another value."""
        dispatcher = self._made()
        result: R = dispatcher.other_value(args, kwargs)
        self._take_entries(dispatcher)
        return result

    def _by_numpy(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """All of a call by NumPy, which raises with all written that comes before."""
        try:
            return self.__wrapped__(*args, **kwargs)
        except BaseException as error:
            tidy(error)
            raise

    def _learn(self, error: BaseException) -> None:
        """Has calls traced anew if a step in Python was not as it was taken for, or an array became too long."""
        if (hasattr(error, WRONG_SITE) or hasattr(error, LITTLE_ROOM)) and jobs.available():
            self._made().learn(error)
            self._entries, self._named = (), {}

    def _start(self, args: tuple[Any, ...]) -> Any:
        """The result by a program that an earlier process has kept; MISS if there is none."""
        first_call = jobs.module("xjit.api.start.first_call")
        for found in first_call.started(self.__wrapped__, self.options, args, self._tally):
            _call_natively()
            self._entries = (found.entry, *self._entries)[:MAXIMUM_STARTED]
            try:
                result = found.entry(*args)
            except BaseException as error:
                if not hasattr(error, OTHER_VALUE):
                    raise
                take_back(error)
                continue
            if result is not MISS:
                self._told.warn_each(found.notes, FallbackWarning)
                return result
            # A guard does not hold: the program is about another call.
            self._entries = tuple(one for one in self._entries if one is not found.entry)
        return MISS

    def _positional(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """The arguments with those moved in that were named although they have the next position."""
        for name in self._names[len(args) :]:
            if name not in kwargs:
                break
            args = (*args, kwargs.pop(name))
        return args

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Methods: the instance becomes the first argument."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled as functions are: by its name, or with its code by picklers that know how."""
        from xjit.api import pickling

        return pickling.reduced(self, protocol)

    def __setstate__(self, state: pickling.State) -> None:
        """Takes over what a new one consists of; one that was found by its name stays as it is."""
        if not self.__dict__:
            function, name, options = state
            function.__qualname__ = name
            JitFunction.__init__(self, function, options)

    @property
    def _mark(self) -> Any:
        """An empty function that tells pickles by name from pickles with code, always the same."""
        return self._stand_ins()[0]

    @property
    def _twin(self) -> Any:
        """The plain function that stands for this one in pickles, always the same."""
        return self._stand_ins()[1]

    def _stand_ins(self) -> tuple[Any, Any]:
        from xjit.api import pickling

        kept = self.__dict__
        made: tuple[Any, Any] = kept.get("_stood") or kept.setdefault("_stood", pickling.stand_ins(self))
        return made

    def __copy__(self) -> JitFunction[P, R]:
        return self

    def __deepcopy__(self, memo: Any) -> JitFunction[P, R]:
        """Itself, as of functions; of a method of an object, or of another callable one, that of its copy."""
        import copy

        function = copy.deepcopy(self.__wrapped__, memo)
        return self if function is self.__wrapped__ else JitFunction(function, self.options)

    def _made(self) -> Dispatcher:
        dispatcher: Dispatcher = self._dispatcher or jobs.run(self._make)
        return dispatcher

    def _make(self) -> Dispatcher:
        """The dispatcher that is there, or a new one; as a job, so that there is one for all threads."""
        from xjit.api.dispatcher import Dispatcher

        made = self._dispatcher or Dispatcher(self.__wrapped__, self.options, self._entries, self._tally, self._told)
        self._dispatcher = made
        return made

    @at_boundary
    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Explain what a call runs: kernels, bytes, and a reason for every split. Compiles nothing."""
        found: Explanation = _answers().explain(self._made(), args, kwargs)
        return found

    @at_boundary
    def source(self, *args: Any, **kwargs: Any) -> str:
        """The generated source of all kernels of such a call."""
        return str(_answers().source(self._made(), args, kwargs))

    @at_boundary
    def graph(self, *args: Any, **kwargs: Any) -> str:
        """The traced graph of such a call as text."""
        return str(_answers().graph(self._made(), args, kwargs))

    @at_boundary
    def stages(self, *args: Any, **kwargs: Any) -> Stages:
        """The program of such a call after each stage: graphs, plan, loops, text. Compiles nothing.

        A stage that changes nothing is named, and its text is empty.

        >>> import numpy as np
        >>> from xjit import xjit
        >>> stages = xjit(lambda x: np.exp(-(-x))).stages(np.ones(3))
        >>> "neg" in stages["trace"], "neg" in stages["simplify"]
        (True, False)
        >>> stages["split"]
        ''
        >>> print(stages["lower"])
        kernel kernel(a0: f64[unknown] read, o0: f64[unknown] read and write)
          parallel i0 in lo .. hi:
            x0 = a0[i0]
            v0 = exp(x0)
            o0[i0] = v0
        """
        found: Stages = _answers().stages(self._made(), args, kwargs)
        return found

    def stats(self) -> Statistics:
        """Counts since the function was decorated or cleared."""
        return self._made().stats()

    @at_boundary
    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Traces and compiles for arguments like these, without computing anything.

        Arrays may be described instead of given, by :class:`xjit.ShapeDtype` or anything else that has a ``shape``
        and a ``dtype``. Numbers stand for all numbers of their type, unless Python looks at their value. Kernels stay
        in the cache folder, where other processes find them.

        >>> import numpy as np
        >>> from xjit import ShapeDtype, xjit
        >>> scaled = xjit(lambda x, factor: np.exp(x) * factor)
        >>> scaled.warmup(ShapeDtype((10_000, 10_000)), 0.5)
        >>> scaled.stats().traces
        1
        """
        if kwargs:
            args = self._positional(args, kwargs)
        dispatcher = self._made()
        dispatcher.prepare(args, kwargs)
        self._take_entries(dispatcher)

    def _take_entries(self, dispatcher: Dispatcher) -> None:
        self._named = dispatcher.entries
        self._entries = self._named.get((), ())
        _call_natively()


def _call_natively() -> None:
    """Has functions called without a frame of the interpreter as soon as the process has native code for programs."""
    if not _exchanged.made and jobs.module("xjit.runtime.calls.entry").native_entries.made:
        _exchanged()


def _exchange() -> bool:
    from xjit.runtime.calls.native_dispatch import native_dispatch

    method = native_dispatch(JitFunction, "_entries", "_names", JitFunction.__call__, JitFunction._after)
    if method is not None:
        type.__setattr__(JitFunction, "__call__", method)
    return method is not None


_exchanged = Once(_exchange)


def _answers() -> Any:
    return jobs.module("xjit.api.answers")


def positional_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters of a plain function that may be given by name as well as by position."""
    code = getattr(function, "__code__", None)
    if not isinstance(function, types.FunctionType) or code is None or hasattr(function, "__wrapped__"):
        return ()
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names if code.co_posonlyargcount == 0 else ()
