"""Behind one decorated function: look up a specialisation and run it; trace and compile when there is none."""

from __future__ import annotations

import operator
import os
import tempfile
import threading
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import compile, config, tree
from xjit.api.descriptions import example
from xjit.api.host_steps import host_steps
from xjit.api.options import Options
from xjit.api.retraces import Retraces, difference
from xjit.api.specialisation import Specialisation
from xjit.capture.capture import Captured, capture, leaf_labels
from xjit.capture.guards import Guards
from xjit.capture.paths import Path
from xjit.capture.signature import NORMALISE, signature
from xjit.codegen import collection
from xjit.errors import CaptureError, FallbackWarning, MissingCompilerError, TargetError, XjitError
from xjit.inspect.explain import Explanation, explain
from xjit.inspect.statistics import Statistics
from xjit.ir.context import current
from xjit.ir.printer import graph_text
from xjit.ir.where import stack_level
from xjit.runtime.kernels import KernelTally
from xjit.runtime.notices import shared_notices
from xjit.runtime.records import MISS

Key = Hashable
Entries: TypeAlias = "tuple[Callable[..., Any], ...]"

# Shortcuts that a call tries one after the other before it looks anything up; a miss costs 20 ns and more.
MAXIMUM_ENTRIES = 6
# Traces that one function keeps, of 30 KiB or so each; the one unused for longest goes first. Pieces of data come in
# hundreds of lengths, and to trace takes a thousand times as long as to look up a trace.
MAXIMUM_TRACES = 512
# How often a call is traced if what it reads changes meanwhile.
ATTEMPTS = 3


class Dispatcher:
    """The traces of one function and the counts of what was done for it."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.function = function
        self.options = options
        self.name = getattr(function, "__qualname__", "function")
        self.entries: Mapping[tuple[str, ...], Entries] = {}
        self._lock = threading.RLock()
        self._known: OrderedDict[Key, list[Specialisation]] = OrderedDict()
        self._flat: dict[Key, list[Specialisation]] = {}  # calls without containers, by a key that is made quickly
        self._refused: dict[Key, XjitError] = {}
        self._flat_refused: dict[Key, XjitError] = {}  # the same, by the quick key
        self._told: set[str] = set()  # why NumPy runs steps of programs, as far as the user knows
        self._varying: frozenset[Path] = frozenset()  # where the function reads numbers that were seen to change
        self._numbers_change = False
        self._fixed: frozenset[Path] = frozenset()  # those that can be constants only
        self._tally = KernelTally()
        self._traces = 0
        self._fallbacks = 0
        self._retraces = Retraces(self.name)
        self._last: tuple[tree.Tree, tuple[Hashable, ...]] | None = None

    # ------------------------------------------------------------------ one call

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function's result for these arguments."""
        if current() is not None:
            return self.function(*args, **kwargs)  # inside another function that is being traced: a part of it
        leaves: Sequence[Any] = (*args, *kwargs.values())
        flat: Key = (len(args), *kwargs, *map(signature, leaves))
        for found in self._flat.get(flat, ()):
            result = found.answer(leaves, leaves)
            if result is not MISS:
                return result
        if flat in self._flat_refused:
            return self._numpy(args, kwargs, self._flat_refused[flat], warn=False)
        try:
            leaves, in_tree = tree.flatten((args, kwargs))
        except RecursionError:
            return self._numpy(args, kwargs, CaptureError("xjit: the arguments are nested too deeply"))
        signatures = tuple(map(signature, leaves))
        if NORMALISE in signatures:
            return self._normalised(args, kwargs, leaves, in_tree)
        if None in signatures:
            return self._numpy(args, kwargs, _unknown_kind(leaves[signatures.index(None)]))
        key = (in_tree, signatures)
        for found in self._known.get(key, ()):
            result = found.answer((*args, *kwargs.values()), leaves)
            if result is not MISS:
                return result
        with self._lock:
            result = self._traced(key, args, kwargs, leaves)
            if _same(leaves, (*args, *kwargs.values())):
                if key in self._known:
                    self._flat[flat] = self._known[key]
                elif key in self._refused:
                    self._flat_refused[flat] = self._refused[key]
            return result

    def _traced(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any]) -> Any:
        """Under the lock: another thread may have traced meanwhile; otherwise trace, compile and run."""
        for found in self._known.get(key, ()):
            result = found.run(leaves)
            if result is not MISS:
                return result
        if key in self._refused:
            return self._numpy(args, kwargs, self._refused[key], warn=False)
        self._note_retrace(key, leaves)  # its warning may be an error, the user's own
        for _ in range(ATTEMPTS):
            try:
                with collection.paused():
                    found = self._specialise(key, leaves)
            except Exception as error:
                return self._failed(key, args, kwargs, error)
            # Known before it runs: a library may raise for these elements, and not for the next.
            self._known.setdefault(key, []).insert(0, found)
            self._remember(key, found)
            result = found.run(leaves)
            if result is not MISS:
                self._warn_of_steps(found)
                return result
            self._note_changes(found.captured.guards, leaves)
        return self._numpy(args, kwargs, _restless())

    def _remember(self, key: Key, found: Specialisation) -> None:
        with self._lock:
            known = self.entries.get(found.names, ())
            if found.entry is not None and found.entry not in known:
                self.entries = {**self.entries, found.names: (found.entry, *known)[:MAXIMUM_ENTRIES]}
            if key in self._known:
                self._known.move_to_end(key)
            while sum(map(len, self._known.values())) > MAXIMUM_TRACES:
                dropped = self._known.popitem(last=False)[1]
                self._flat = {flat: known for flat, known in self._flat.items() if known is not dropped}

    def _warn_of_steps(self, found: Specialisation) -> None:
        """One warning for each reason why NumPy runs steps of the program."""
        for reason, step in found.host_steps.items():
            if reason not in self._told:
                self._told.add(reason)
                text = f"{self.name} runs a step through NumPy: {step}"
                warnings.warn(text, FallbackWarning, stacklevel=stack_level())

    def _failed(self, key: Key, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Any:
        """An error of the user's program is one under NumPy too; all else that stops tracing is a refusal."""
        if self.options.raises and isinstance(error, XjitError):
            raise _public(error) from None
        if self.options.raises and not _is_internal(error):
            raise error
        try:
            result = self.function(*args, **kwargs)
        except Exception as same:
            if isinstance(error, XjitError) and not isinstance(error, CaptureError) and isinstance(error, type(same)):
                raise _public(error) from None
            raise
        refused = error if isinstance(error, XjitError) else _reported(self.function, error)
        if self.options.raises:
            raise refused
        self._fallbacks += 1
        self._refuse(key, refused)
        return result

    def _refuse(self, key: Key, refused: XjitError) -> None:
        """Lets calls of this kind run as NumPy, and says so."""
        if len(self._refused) >= MAXIMUM_TRACES:  # all anew: what is refused again costs one more try
            self._refused.clear()
            self._flat_refused.clear()
        self._refused[key] = _forgotten(refused)
        self._tell(refused)

    def _tell(self, refused: XjitError) -> None:
        """One warning for the function, or for all of them if none can be compiled."""
        if isinstance(refused, MissingCompilerError):
            text = f"all functions run through NumPy: {refused}"
            shared_notices().warn("compiler", text, FallbackWarning)
        else:
            warnings.warn(f"{self.name} runs through NumPy: {refused}", FallbackWarning, stacklevel=stack_level())

    def _specialise(self, key: Any, leaves: Sequence[Any]) -> Specialisation:
        captured, values = self._capture(leaves, key[0])
        self._traces += 1
        lowered, kinds = _lower(captured, values, self._numbers_change), tuple(map(type, values))
        if self.options.errors != "ignore":
            return Specialisation(captured, None, key[0], kinds)
        steps = host_steps(captured, lowered)
        if steps and self.options.raises:
            raise next(iter(steps.values()))
        contract = self.options.contract and compile.may_contract(captured.graph)
        program = compile.build_program(lowered, self._tally, contract=contract)
        self._fallbacks += program.fallbacks
        return Specialisation(captured, program, key[0], kinds, steps)

    def _capture(self, leaves: Sequence[Any], in_tree: tree.Tree) -> tuple[Captured, tuple[Any, ...]]:
        """A trace that holds, and the values of its inputs. What the function reads may change meanwhile."""
        for _ in range(ATTEMPTS):
            captured = self._capture_once(leaves, in_tree)
            values = captured.guards.fetch(leaves)
            if values is not None:
                return captured, values
            self._note_changes(captured.guards, leaves)
        raise _restless()

    def _capture_once(self, leaves: Sequence[Any], in_tree: tree.Tree) -> Captured:
        """The trace; numbers that are seen to change are inputs, unless the function cannot be captured like that."""
        try:
            return capture(self.function, leaves, in_tree, name=self.name, varying=self._varying)
        except Exception:
            if not self._varying:
                raise
            self._fixed, self._varying = self._fixed | self._varying, frozenset()
            return capture(self.function, leaves, in_tree, name=self.name)

    def _note_retrace(self, key: Any, leaves: Sequence[Any]) -> None:
        last, self._last = self._last, key
        if last is None:
            return
        others = self._known.get(key)
        if others:
            guards = others[0].captured.guards
            reason = guards.reason(leaves)
            self._note_changes(guards, leaves)
            self._retraces.note(reason, reason.split(" changed", 1)[0])
            return
        labels = leaf_labels(self.function, key[0])
        self._retraces.note(*difference(labels, last[1], key[1], last[0] == key[0]))

    def _note_changes(self, guards: Guards, leaves: Sequence[Any]) -> None:
        """Numbers that have changed are inputs from now on."""
        changed = guards.changed_numbers(leaves)
        self._numbers_change |= bool(changed)
        self._varying |= changed - self._fixed

    # ------------------------------------------------------------------ calls that NumPy answers

    def _normalised(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], in_tree: tree.Tree
    ) -> Any:
        """Byte-swapped and unaligned arrays are copied first. A result that is a view must be one of the original."""
        copies = [_native(leaf) if signature(leaf) == NORMALISE else leaf for leaf in leaves]
        new_args, new_kwargs = tree.unflatten(in_tree, copies)
        result = self.call(new_args, new_kwargs)
        arrays = _arrays(tree.flatten(result)[0])
        if any(
            np.may_share_memory(array, copy) for array in arrays for copy in copies if isinstance(copy, np.ndarray)
        ):
            return self.function(*args, **kwargs)
        return result

    def _numpy(self, args: tuple[Any, ...], kwargs: dict[str, Any], error: XjitError, warn: bool = True) -> Any:
        """The safety net: the plain function, with one warning; an error under strict."""
        if self.options.raises:
            raise _public(error) from None
        self._fallbacks += 1
        if warn:
            warnings.warn(f"{self.name} runs through NumPy: {error}", FallbackWarning, stacklevel=stack_level())
        return self.function(*args, **kwargs)

    # ------------------------------------------------------------------ calls without data

    def prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Traces and compiles for arguments like these, which may be descriptions; runs neither them nor the program.

        What the compiler refuses is told as by a call, and mistakes of the user's program are raised.
        """
        leaves, in_tree = _examples(args, kwargs)
        key = (in_tree, tuple(map(signature, leaves)))
        with self._lock:
            known = any(one.captured.guards.fetch(leaves) is not None for one in self._known.get(key, ()))
            if known or key in self._refused:
                return
            try:
                if None in key[1]:
                    raise _unknown_kind(leaves[key[1].index(None)])
                with collection.paused():
                    found = self._specialise(key, leaves)
            except Exception as error:
                return self._refuse(key, self._not_prepared(error))
            self._known.setdefault(key, []).insert(0, found)
            self._remember(key, found)
            if not _nested(in_tree):
                self._flat[len(args), *kwargs, *key[1]] = self._known[key]
        self._warn_of_steps(found)

    def _not_prepared(self, error: Exception) -> XjitError:
        """Why calls will run through NumPy; raises what is no matter of the compiler, and everything under strict."""
        refusal = isinstance(error, CaptureError | TargetError)
        if isinstance(error, XjitError) and (self.options.raises or not refusal):
            raise _public(error) from None
        if not isinstance(error, XjitError) and (self.options.raises or not _is_internal(error)):
            raise error
        return error if isinstance(error, XjitError) else _reported(self.function, error)

    # ------------------------------------------------------------------ answers about it

    def _lowered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> compile.Lowered:
        leaves, in_tree = _examples(args, kwargs)
        try:
            captured, values = self._capture(leaves, in_tree)
        except XjitError as error:
            raise _public(error) from None
        return _lower(captured, values, self._numbers_change)

    def explain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
        """What a call with these arguments runs: kernels, bytes, and a reason for every split. Compiles nothing."""
        return explain(self._lowered(args, kwargs))

    def source(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The generated source of all kernels of such a call."""
        return "\n".join(source for _, source in self._lowered(args, kwargs).kernels)

    def graph(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The traced graph of such a call as text."""
        return graph_text(self._lowered(args, kwargs).graph)

    def stats(self) -> Statistics:
        """Counts since the function was decorated or cleared."""
        tally = self._tally
        return Statistics(
            compiles=tally.compiles,
            cache_hits=tally.cache_hits,
            traces=self._traces,
            fallbacks=self._fallbacks,
            compile_seconds=tally.seconds,
            retraces=tuple(self._retraces.reasons),
        )


def _lower(captured: Captured, values: Sequence[Any], varying: bool) -> compile.Lowered:
    graph, memories = captured.graph, [-1] * len(captured.graph.outputs)
    for output in captured.outputs:
        if output.source == "graph":
            memories[output.index] = output.memory
    return compile.lower_graph(graph, values, captured.views, memories, varying=varying)


def _same(leaves: Sequence[Any], arguments: Sequence[Any]) -> bool:
    """Whether no argument is a container: as many leaves as arguments do not tell, ``[x]`` has one too."""
    return len(leaves) == len(arguments) and all(map(operator.is_, leaves, arguments))


def _nested(in_tree: tree.Tree) -> bool:
    """Whether an argument is a container."""
    assert isinstance(in_tree, tree.Branch)
    arguments = [one for part in in_tree.children for one in getattr(part, "children", ())]
    return not all(isinstance(one, tree.Leaf) for one in arguments)


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(array.dtype.newbyteorder("="), order="K", copy=True)


def _examples(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], tree.Tree]:
    """Leaves to trace with, arrays for those that are described."""
    leaves, in_tree = tree.flatten((args, kwargs))
    leaves = list(map(example, leaves))
    return [_native(leaf) if signature(leaf) == NORMALISE else leaf for leaf in leaves], in_tree


def _unknown_kind(leaf: Any) -> CaptureError:
    return CaptureError(f"xjit: arguments of this kind cannot be compiled; got {type(leaf)}")


def _restless() -> CaptureError:
    reason = "xjit: what the function reads changes while it is traced, by itself or in another thread"
    return CaptureError(reason, fix="pass it as an argument")


def _public(error: XjitError) -> XjitError:
    """The error as users see it: without the frames inside this package, unless they are asked for."""
    return error if config.flag("XJIT_FULL_TRACE") else error.with_traceback(None)


def _forgotten(error: XjitError) -> XjitError:
    """The error without what would keep the whole trace alive."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def _is_internal(error: BaseException) -> bool:
    """Whether an exception was raised inside this package or the compilers below it, not by the user's code."""
    frames = traceback.extract_tb(error.__traceback__)
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    inside = (package, os.sep + "numba" + os.sep, os.sep + "llvmlite" + os.sep)
    return bool(frames) and any(part in frames[-1].filename for part in inside)


def _reported(function: Any, error: Exception) -> TargetError:
    """A failure of the compiler itself, with the traceback kept in a file."""
    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile("w", prefix="xjit-report-", suffix=".txt", delete=False) as file:
        file.write(f"{getattr(function, '__qualname__', function)}\n{text}")
    found = TargetError(
        f"xjit: the compiler failed: {type(error).__name__}: {error}", fix=f"please report the file {file.name}"
    )
    found.__cause__ = error
    return found


def _arrays(leaves: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    return [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
