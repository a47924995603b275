"""Behind one decorated function: look up a specialisation and run it; trace and compile when there is none."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from xjit import jobs, tree
from xjit.api.arguments import OpenedArguments, examples, nested, readable, same, shows_copies
from xjit.api.changing_numbers import ChangingNumbers
from xjit.api.failures import foreign, is_internal, left_to_numpy, public, raise_unless_refused, reported, tell
from xjit.api.learned import Learned
from xjit.api.options import Options
from xjit.api.plain_calls import PlainCalls
from xjit.api.refusals import Mistake, Refusal, mistake, refusal, restless, shared_memory, unknown_kind
from xjit.api.retraces import Retraces, difference
from xjit.api.specialisation import Specialisation, interpreted
from xjit.api.splits.host_steps import obstacles
from xjit.api.trace import Trace
from xjit.api.traces.known_traces import MAXIMUM_TRACES, Entries, Key, Keys, KnownTraces
from xjit.api.traces.pinned_traces import PinnedTraces
from xjit.api.traces.program_builder import ProgramBuilder
from xjit.capture.capture import Captured, capture, definition, leaf_labels
from xjit.capture.guarding.signature import NORMALISE, signature
from xjit.capture.inner_functions import name_of
from xjit.errors import CaptureError, FallbackWarning, XjitError
from xjit.inspect.statistics import Statistics
from xjit.ir.boundary import comes_first, take_back
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.runtime.miss import MISS
from xjit.runtime.notices import Notices
from xjit.runtime.tally import KernelTally
from xjit.watch import Watch, watch_over

# How often a call is traced if what it reads changes meanwhile.
ATTEMPTS = 3


class Dispatcher:
    """The traces of one function and the counts of what was done for it.

    Threads trace on their own, as that runs the function. Jobs (:mod:`xjit.jobs`) plan, compile, and change the
    tables of traces and refusals, which calls read without a lock.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        started: Entries = (),
        tally: KernelTally | None = None,
        told: Notices | None = None,
    ) -> None:
        """``started`` are entries from the disk that have served calls before, ``tally`` what they have cost, and
        ``told`` why Python runs steps of programs, as far as the user knows.
        """
        self.function = function
        self.options = options
        self.name = name_of(function)
        self._known = KnownTraces(started)
        self._refused: dict[Key, Refusal] = {}
        self._flat_refused: dict[Key, Refusal] = {}  # the same, by the quick key
        self._mistakes: dict[Key, Mistake] = {}
        self._plain = PlainCalls(function)
        self._told = told or Notices()
        self._numbers = ChangingNumbers()
        self._opened = OpenedArguments()
        self._tally = tally or KernelTally()
        self._builder = ProgramBuilder(function, options, self._tally)
        self._learned = Learned()
        self._pinned = self._without_pins()
        self._traces = 0
        self._fallbacks = 0
        self._retraces = Retraces(self.name)
        self._last: tuple[tree.Tree, tuple[Hashable, ...]] | None = None

    @property
    def entries(self) -> Mapping[tuple[str, ...], Entries]:
        """The shortcuts to programs, by the names of the arguments that are given by name."""
        return self._known.entries

    # ------------------------------------------------------------------ one call

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function's result for these arguments."""
        if current() is not None:
            return self.function(*args, **kwargs)  # inside another function that is being traced: a part of it
        leaves: Sequence[Any] = (*args, *kwargs.values())
        flat: Key = (len(args), *kwargs, *map(signature, leaves))
        for found in self._known.of_flat(flat):
            result = found.answer(leaves, leaves)
            if result is not MISS:
                return result
        refused = self._flat_refused.get(flat)
        if refused is not None and refused.holds():
            return self._refused_again(args, kwargs, refused)
        try:
            leaves, in_tree = self._opened.flattened(args, kwargs)
        except RecursionError:
            return self._numpy(args, kwargs, CaptureError("xjit: the arguments are nested too deeply"))
        if NORMALISE in map(signature, leaves):
            return self._normalised(args, kwargs, leaves, in_tree)
        return self._looked_up(args, kwargs, leaves, in_tree, (*args, *kwargs.values()))

    def _looked_up(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        in_tree: tree.Tree,
        arguments: tuple[Any, ...],
        copied: bool = False,
    ) -> Any:
        """The result for these leaves, which NumPy would compute from ``args`` and ``kwargs``; no program changes
        anything where arguments are ``copied``.
        """
        signatures = tuple(map(signature, leaves))
        if None in signatures:
            place = signatures.index(None)
            if issubclass(type(leaves[place]), TracedValue):  # a part of a function that another thread traces
                return self.function(*args, **kwargs)
            return self._numpy(args, kwargs, self._unknown_kind(in_tree, leaves, place))
        key = (in_tree, signatures)
        if copied and any(found.changes_something for found in self._known.of(key)):
            return self._beside_memory(args, kwargs, True, copied=True)
        for found in self._known.of(key):
            result = found.answer(arguments, leaves)
            if result is not MISS:
                return result
        for found in self._known.of(key):
            if found.is_kept_from(leaves):
                return self._beside_memory(args, kwargs, found.may_be_written(leaves))
        refused = self._refused.get(key)
        if refused is not None and refused.holds():
            return self._refused_again(args, kwargs, refused)
        if not jobs.available():  # a signal handler came while this thread waits for the compiler
            return self.function(*args, **kwargs)
        flat = (len(args), *kwargs, *signatures) if same(leaves, arguments) else None
        keys: Keys = (key, flat)
        wrong = self._mistakes.get(key)
        if wrong is not None and not self.options.raises:
            return self._tried_again(keys, args, kwargs, leaves, wrong)
        return self._traced(keys, args, kwargs, leaves, copied)

    def _traced(
        self, keys: Keys, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], copied: bool
    ) -> Any:
        """The result by a new trace, or by one that another thread makes meanwhile."""
        retrace, attempts = self._look_back(keys[0], leaves), ATTEMPTS
        while attempts:
            newest, watch = self._known.newest(keys), self._watch()
            try:
                trace = self._capture(leaves, keys[0], watch, self._pinned)
            except Exception as error:
                if self._opened.learn(error, args, kwargs):
                    return self.call(args, kwargs)
                return self._failed(keys, args, kwargs, leaves, error)
            if trace.shares_what_is_written:
                return self._beside_memory(args, kwargs, trace.may_be_written)
            # What is raised here was not raised by the compiler.
            made = jobs.attempt(functools.partial(self._specialise, keys, newest, trace), watch.look)
            if isinstance(made, jobs.Failure):
                return self._failed(keys, args, kwargs, leaves, made.error)
            if made.captured is trace.captured:
                attempts -= 1
                self._retraces.note(*retrace)  # its warning may be an error, the user's own
            self._plain.compiled(args, kwargs)
            if copied and made.changes_something:
                return self._beside_memory(args, kwargs, True, copied=True)
            result = made.run(leaves)
            if result is not MISS:
                self._told.warn_each(made.notes, FallbackWarning)
                return result
            self._numbers.note(made.captured.guards, leaves)
        return self._numpy(args, kwargs, restless())

    def other_value(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call in which a value is another one than a program has taken for granted."""
        leaves, in_tree = self._opened.flattened(args, kwargs)
        signatures = tuple(map(signature, leaves))
        if NORMALISE in signatures or not jobs.available():
            return self.function(*args, **kwargs)
        key, arguments = (in_tree, signatures), (*args, *kwargs.values())
        found = self._pinned.leaf(key, leaves)
        try:
            if found is None:
                flat = (len(args), *kwargs, *signatures) if same(leaves, arguments) else None
                return self._traced((key, flat), args, kwargs, leaves, False)
            jobs.run(lambda: self._known.put_first(key, found))
            result = found.answer(arguments, leaves)
        except Exception as error:
            if not comes_first(error):
                raise
            take_back(error)
            result = MISS
        return self.function(*args, **kwargs) if result is MISS else result

    def _watch(self) -> Watch:
        """A watch over a compile that begins now."""
        return watch_over(self.name, self.options.progress)

    def _remember(self, keys: Keys, found: Specialisation) -> None:
        """Lets calls find a trace; in a job."""
        key, flat = keys
        self._traces += 1
        self._refused.pop(key, None)
        if flat is not None:
            self._flat_refused.pop(flat, None)
        self._known.remember(keys, found, self._numbers.shared_by(found.captured))
        self._pinned.remember(key, found)
        joined = self._pinned.entry(key)
        if joined is not None:
            self._known.join(key, found.names, self._builder.tried(joined, found.names, self._pinned.serves(key)))

    def _failed(
        self, keys: Keys, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], error: BaseException
    ) -> Any:
        """An error of the user's program is one under NumPy too; all else that stops tracing is a refusal."""
        other = foreign(error)
        if other is not None:
            raise other
        if self.options.raises and isinstance(error, XjitError):
            raise public(self._with_others(error, leaves, keys[0][0])) from None
        if self.options.raises and not is_internal(error):
            raise error
        try:
            result = self.function(*args, **kwargs)
        except Exception as same:
            found = mistake(error, same)
            if len(self._mistakes) < MAXIMUM_TRACES:
                self._mistakes[keys[0]] = found
            if found.error is None:
                raise
        else:
            self._fell_back(keys, args, kwargs, error)
            return result
        assert isinstance(error, XjitError)
        raise public(error) from None

    def _tried_again(
        self, keys: Keys, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], known: Mistake
    ) -> Any:
        """NumPy's answer, where a call of this kind has raised; once it has one, the next call finds a trace."""
        try:
            result = self.function(*args, **kwargs)
        except Exception as same:
            if not known.is_repeated_by(same):
                self._mistakes.pop(keys[0], None)
                raise
            if known.error is None:
                raise
        else:
            self._mistakes.pop(keys[0], None)
            made = self._attempted(keys, leaves, self._pinned)
            if isinstance(made, jobs.Failure):
                self._fell_back(keys, args, kwargs, made.error)
            return result
        raise copy.copy(known.error)

    def _fell_back(self, keys: Keys, args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException) -> None:
        """Lets calls find why they run as NumPy, and tells it."""
        refused = error if isinstance(error, XjitError) else reported(self.function, error)
        if self.options.raises:
            raise refused
        why = refusal(refused)
        self._count_refusal(args, kwargs, why.lasting)
        if jobs.run(lambda: self._refuse(keys, why)):
            tell(self.name, refused)

    def _refuse(self, keys: Keys, refused: Refusal) -> bool:
        """Lets calls find why they run as NumPy, in a job. Whether that is news."""
        key, flat = keys
        if len(self._refused) >= MAXIMUM_TRACES:  # all anew: what is refused again costs one more try
            self._refused.clear()
            self._flat_refused.clear()
        earlier = self._refused.get(key)
        if self._pinned.forget(key):
            self._known.forget(key)
        self._refused[key] = refused.after(earlier)
        if flat is not None:
            self._flat_refused[flat] = refused
        return earlier is None

    def _specialise(self, keys: Keys, newest: Specialisation | None, trace: Trace) -> Specialisation:
        """Return the runner of a trace, made in a job; or what another thread has made of its own meanwhile."""
        other = self._known.newest(keys)
        if other is not None and other is not newest:
            return other
        found = self._builder.specialised(keys[0], trace, self._numbers.seen)
        self._fallbacks += 0 if found.program is None else found.program.fallbacks
        # Known before it runs: a library may raise for these elements, and not for the next.
        self._remember(keys, found)
        return found

    def _without_pins(self) -> PinnedTraces:
        return PinnedTraces(lambda key, trace: self._builder.apart(key, trace, self._numbers.seen))

    def _capture(self, leaves: Sequence[Any], key: Any, watch: Watch, pinned: PinnedTraces | None = None) -> Trace:
        """A trace that holds. What the function reads may change meanwhile.

        With ``pinned`` traces the elements of the leaves are those of a call, and may decide.
        """
        once = functools.partial(self._capture_once, leaves, key[0], watch)
        for _ in range(ATTEMPTS):
            captured = once() if pinned is None else pinned.captured(key, leaves, watch, once)
            values = captured.guards.fetch(leaves)
            if values is not None:
                return Trace(captured, leaves, values, watch)
            self._numbers.note(captured.guards, leaves)
        raise restless()

    def _capture_once(
        self, leaves: Sequence[Any], in_tree: tree.Tree, watch: Watch, splitting: bool = False, **pins: Any
    ) -> Captured:
        """The trace; numbers that are seen to change are inputs, unless the function cannot be captured like that."""
        floating_errors = self.options.errors != "ignore"
        splitting = splitting or not (self.options.raises or floating_errors)
        traced = functools.partial(capture, self.function, leaves, in_tree, name=self.name, watch=watch)
        splits = functools.partial(traced, splitting=splitting, **self._learned.options, **pins)
        return self._numbers.captured(functools.partial(splits, floating_errors=floating_errors))

    def _with_others(self, error: XjitError, leaves: Sequence[Any], in_tree: tree.Tree) -> XjitError:
        """The error with what else of the function is refused; looking for it raises nothing of its own."""
        if isinstance(error, CaptureError) and self.options.errors == "ignore":
            once = functools.partial(self._capture_once, leaves, in_tree, splitting=True)
            found = obstacles(lambda left_out: once(watch=self._watch(), left_out=left_out))
            error.others = tuple(one for one in found if one.brief != error.brief)
        return error

    def _look_back(self, key: Any, leaves: Sequence[Any]) -> tuple[str, str]:
        """Why a call has to be traced again, and the cause; empty for the first one."""
        last, self._last = self._last, key
        if last is None or key in self._refused:
            return "", ""
        others = self._known.of(key)
        if others:
            guards = others[0].captured.guards
            reason = guards.reason(leaves)
            self._numbers.note(guards, leaves)
            return reason, reason.split(" changed", 1)[0]
        labels = leaf_labels(self.function, key[0])
        return difference(labels, last[1], key[1], last[0] == key[0])

    def learn(self, error: BaseException) -> None:
        """Forgets the traces: an error of a call has shown what they were not made for."""
        jobs.run(lambda: self._forget(self._learned.after(error)))

    def _forget(self, learned: Learned) -> None:
        self._learned = learned
        self._known.clear()
        self._pinned = self._without_pins()

    # ------------------------------------------------------------------ calls that NumPy answers

    def _normalised(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], in_tree: tree.Tree
    ) -> Any:
        """Kernels that cannot read an array get a copy; NumPy, and results that are views, have the original."""
        given = readable(leaves)
        new_args, new_kwargs = tree.unflatten(in_tree, given)
        result = self._looked_up(args, kwargs, given, in_tree, (*new_args, *new_kwargs.values()), copied=True)
        return self.function(*args, **kwargs) if shows_copies(result, given, leaves) else result

    def _refused_again(self, args: tuple[Any, ...], kwargs: dict[str, Any], refused: Refusal) -> Any:
        if self.options.raises:
            raise public(refused.error) from None
        self._count_refusal(args, kwargs, refused.lasting)
        return self.function(*args, **kwargs)

    def _numpy(self, args: tuple[Any, ...], kwargs: dict[str, Any], error: XjitError) -> Any:
        """The safety net: the plain function, with one warning; an error under strict."""
        if self.options.raises:
            raise public(error) from None
        self._count_refusal(args, kwargs)
        self._told.warn(error.message, left_to_numpy(self.name, error), FallbackWarning)
        return self.function(*args, **kwargs)

    def _beside_memory(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], writable: bool, copied: bool = False
    ) -> Any:
        """A call that writes to arrays that share memory, by NumPy; it refuses to write to what is read-only."""
        error = shared_memory(copied)
        if writable and self.options.raises:
            raise public(error) from None
        if writable:
            self._fallbacks += 1
            self._told.warn(error.message, left_to_numpy(self.name, error), FallbackWarning)
        return self.function(*args, **kwargs)

    def _unknown_kind(self, in_tree: tree.Tree, leaves: Sequence[Any], place: int) -> CaptureError:
        label = leaf_labels(self.function, in_tree)[place]
        return unknown_kind(leaves[place], label, definition(self.function))

    def _count_refusal(self, args: tuple[Any, ...], kwargs: dict[str, Any], lasting: bool = True) -> None:
        """Counts the call; from some number on others of its kind go straight to the plain function."""
        self._fallbacks += 1
        if not lasting:  # tried again soon
            return
        entry, names = self._plain.refused(args, kwargs), tuple(kwargs)
        if entry is not None and entry not in self.entries.get(names, ()) and jobs.available():
            jobs.run(lambda: self._known.add_plain(names, entry))

    # ------------------------------------------------------------------ calls without data

    def prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Traces and compiles for arguments like these, which may be descriptions; runs neither them nor the program.

        What the compiler refuses is told as by a call, and mistakes of the user's program are raised.
        """
        leaves, in_tree = examples(*self._opened.flattened(args, kwargs))
        key = (in_tree, tuple(map(signature, leaves)))
        keys: Keys = (key, None if nested(in_tree) else (len(args), *kwargs, *key[1]))
        if any(one.captured.guards.fetch(leaves) is not None for one in self._known.of(key)):
            return
        refused = self._refused.get(key)
        if refused is None or not refused.holds():
            made = self._attempted(keys, leaves)
            if isinstance(made, jobs.Failure):
                return self._not_prepared(keys, made.error)
            self._plain.compiled(*tree.unflatten(in_tree, leaves))
            self._told.warn_each(made.notes, FallbackWarning)
        elif self.options.raises:
            raise public(refused.error) from None

    def _attempted(
        self, keys: Keys, leaves: Sequence[Any], pinned: PinnedTraces | None = None
    ) -> Specialisation | jobs.Failure:
        """Return the runner of such calls, or why nothing does."""
        (in_tree, signatures), newest, watch = keys[0], self._known.newest(keys), self._watch()
        try:
            if None in signatures:
                raise self._unknown_kind(in_tree, leaves, signatures.index(None))
            trace = self._capture(leaves, keys[0], watch, pinned)
        except Exception as error:
            return jobs.Failure(error)
        return jobs.attempt(functools.partial(self._specialise, keys, newest, trace), watch.look)

    def _not_prepared(self, keys: Keys, error: BaseException) -> None:
        """Lets calls run through NumPy; raises what is no matter of the compiler, and everything under strict."""
        raise_unless_refused(error, self.options.raises)
        refused = error if isinstance(error, XjitError) else reported(self.function, error)
        why = refusal(refused)
        if jobs.run(lambda: self._refuse(keys, why)):
            tell(self.name, refused)

    # ------------------------------------------------------------------ answers about it

    def traced_once(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trace:
        """A trace of such a call, which nobody keeps."""
        given, in_tree = self._opened.flattened(args, kwargs)
        leaves, in_tree = examples(given, in_tree)
        signatures = tuple(map(signature, leaves))
        if None in signatures:
            raise self._unknown_kind(in_tree, leaves, signatures.index(None))
        pinned = PinnedTraces(interpreted) if same(given, leaves) else None  # descriptions have no elements
        try:
            return self._capture(leaves, (in_tree, signatures), self._watch(), pinned)
        except CaptureError as error:
            if self._opened.learn(error, args, kwargs):
                return self.traced_once(args, kwargs)
            self._with_others(error, leaves, in_tree)
            raise

    @property
    def numbers_change(self) -> bool:
        """Return whether numbers that the function reads have been seen to change."""
        return self._numbers.seen

    @property
    def trials(self) -> tuple[str, ...]:
        """The outcomes of the trials of split programs."""
        return self._known.trials

    def stats(self) -> Statistics:
        """Counts since the function was decorated or cleared."""
        tally = self._tally
        return Statistics(
            compiles=tally.compiles,
            cache_hits=tally.cache_hits,
            traces=self._traces,
            fallbacks=self._fallbacks + self._plain.passed + tally.fallbacks,
            compile_seconds=tally.seconds,
            retraces=tuple(self._retraces.reasons),
        )
