"""Runs a function once on traced values and hands back its graph, inputs, outputs and guards."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xjit import tree
from xjit.capture.control.open_lengths import OpenLengths
from xjit.capture.control.pinned_values import PinnedValues, Stopped
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guards
from xjit.capture.guarding.pins import PinPlace, Pins
from xjit.capture.inner_functions import name_of
from xjit.capture.outline import Assignment, Output
from xjit.capture.outputs import Results
from xjit.capture.recording.container_names import check_copies
from xjit.capture.recording.global_reads import suspension_of
from xjit.capture.recording.named_tuples import original_tree, traced_tree
from xjit.capture.recording.recorder import Recorder
from xjit.capture.recording.rewritten import Rewriting
from xjit.capture.recording.taken_apart import check_taken_apart
from xjit.capture.rewriting.left_out import LeftOut
from xjit.capture.splits.split_checks import check_split
from xjit.capture.tracers.demands import has_unread, tested, tested_unread
from xjit.capture.tracers.errors_in_order import test_behind_effects, without_tested
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import dataclass, replace
from xjit.errors import CaptureError, XjitError
from xjit.ir.current import tracing
from xjit.ir.node import UNREAD, Graph
from xjit.ir.source_location import NOWHERE, Where
from xjit.ops.effects.python_call import Site, is_taken_back, surprises
from xjit.watch import UNWATCHED, Watch


@dataclass(frozen=True, slots=True)
class Input:
    """Source of one graph parameter at a call.

    ``leaf`` is the number of the argument leaf, None for a hidden input (a global, an attribute, an entry of a
    dict): ``path.read(leaves)`` reads that again. ``str(path)`` names it.
    """

    path: Path

    @property
    def leaf(self) -> int | None:
        """The number of the argument leaf, None for a hidden input."""
        return self.path.leaf


@dataclass(frozen=True, slots=True)
class Captured:
    """One trace. ``guards.fetch(leaves)`` yields the values of ``inputs`` in order, or None if a guard fails.

    Every argument leaf is an input or has guards that check all that its signature says. The ``written`` are
    pairs: the number of an output of the graph that is no result, and of the input into whose array it is stored.
    Outputs of the numbers ``tested`` are none, either: they are computed for the errors of their conditions. The
    numbers of ``outputs`` are those among the results. With ``catches`` the function would catch an error of the
    program's: NumPy does the call then. The ``pins`` are values that the trace takes for granted: another one does
    a call that has others.
    """

    graph: Graph
    inputs: tuple[Input, ...]
    guards: Guards
    out_tree: tree.Tree
    outputs: tuple[Output, ...]
    makes: tuple[type, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    notes: tuple[str, ...] = ()
    written: tuple[tuple[int, int], ...] = ()
    tested: tuple[int, ...] = ()
    catches: bool = False
    pins: Pins = ()

    @property
    def results(self) -> int:
        """Return how many outputs of the graph are results."""
        return len(self.places)

    @property
    def places(self) -> tuple[int, ...]:
        """The numbers of the outputs of the graph that are results."""
        others = {*self.tested, *(number for number, _ in self.written)}
        return tuple(number for number in range(len(self.graph.outputs)) if number not in others)

    @property
    def begins_anew(self) -> bool:
        """Return whether NumPy may do a call that assigns, and whose program has failed, from the beginning."""
        return not self.written and all(map(is_taken_back, self.graph.effects))

    @property
    def views(self) -> tuple[bool, ...]:
        """Return whether NumPy returns each of the graph's outputs as a view."""
        places = self.places
        shown = {places[output.index] for output in self.outputs if output.source == "graph" and output.view}
        return tuple(number in shown for number in range(len(self.graph.outputs)))

    @property
    def memories(self) -> list[int]:
        """The number of the memory that each of the graph's outputs would lie in; -1 where nobody tells it apart,
        UNREAD of what is only tested.
        """
        places, found = self.places, dict.fromkeys(self.tested, UNREAD)
        of_graph = (output for output in self.outputs if output.source in ("graph", "moving") and output.index >= 0)
        found |= {places[output.index]: output.memory for output in of_graph}
        return [found.get(number, -1) for number in range(len(self.graph.outputs))]


def capture(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    in_tree: tree.Tree,
    *,
    name: str | None = None,
    varying: frozenset[Path] = frozenset(),
    floating_errors: bool = False,
    splitting: bool = False,
    unforeseen: Mapping[Site, bool] = MappingProxyType({}),
    times: int = 1,
    pins: Pins = (),
    until: PinPlace | None = None,
    left_out: LeftOut | None = None,
    watch: Watch = UNWATCHED,
) -> Captured:
    """Traces ``function(*args, **kwargs)``, where ``unflatten(in_tree, leaves)`` is ``(args, kwargs)``.

    Leaves have to be of a kind that ``signature`` knows, arrays normalised. Defaults may be left out: they are
    read from the function, and guarded. ``varying`` are places outside of the arguments, numbers at which are to be
    inputs. With ``floating_errors`` the program may raise FloatingPointError, with ``splitting`` it calls in Python
    what cannot be captured, as far as that is possible; of calls at the sites ``unforeseen`` no types are expected,
    or none are made. Arrays whose length nothing bounds but the run may be so many ``times`` as long as is guessed.
    Values of the run are taken for granted as ``pins`` say; with ``until`` the program computes the value that is
    needed at that place, as if the function returned it there. Lines that are ``left_out`` do not run.
    Raises CaptureError for what cannot be captured; exceptions of the user's code pass unchanged. The ``watch`` says
    when to end.
    """
    _refuse_suspended(function)
    rewriting, merging = Rewriting(left_out=left_out), False
    while True:
        trace = CaptureTrace(name or name_of(function), wrap=TracedArray)
        trace.floating_errors, trace.splitting, trace.watch = floating_errors, splitting, watch
        recorder = trace.recorder = Recorder(
            trace, leaves, definition(function), varying, merging, rewriting, unforeseen
        )
        trace.lift_array, trace.lengths = recorder.lift, OpenLengths(trace, times)
        trace.pins = PinnedValues(trace, pins, until)
        try:
            found = _traced(function, recorder, in_tree)
        except Exception as raised:
            if rewriting.renewed() or rewriting.give_up_plain() or rewriting.want_plain_integers(raised, leaves):
                traceback.clear_frames(raised.__traceback__)  # an error and the frame that made it hold each other
                continue
            error = _cause(raised, trace)
            if isinstance(error, CaptureError) and rewriting.want_late_returns():
                rewriting.renewed()
                continue
            if rewriting.has_handlers:
                # What is not traced with its handlers may be without them.
                rewriting = Rewriting(handlers=False, left_out=left_out)
                continue
            if isinstance(error, CaptureError) and splitting:
                error.opens = recorder.rewriting.changed_arguments()
            if isinstance(error, XjitError):
                error.others = tuple(recorder.notes)
            if _reads_unbound(error, recorder) and rewriting.is_used:
                names = ", ".join(dict.fromkeys(recorder.unbound)) or "a variable"
                reason = f"{names} has a value only where the run decides so, and is read where it may have none"
                raise CaptureError(f"xjit: {reason}", fix="assign it on both branches") from error
            if merging or not isinstance(error, XjitError | ValueError) or not recorder.identities.twins:
                if error is raised:
                    raise
                raise error from raised
        else:
            late = {site: how for site, how in surprises(found.graph).items() if site not in unforeseen}
            if late:  # there nobody could do the call anew
                unforeseen = {**unforeseen, **late}
                continue
            shared = recorder.identities.looked or found.written
            if merging or not (recorder.identities.twins and shared):
                return replace(found, pins=pins)
        finally:
            _let_go(recorder)
        merging = True  # perhaps one array looked like two


def _refuse_suspended(function: Any) -> None:
    """CaptureError for a function whose calls do not run its body: nothing of it is begun."""
    words = suspension_of(function)
    if words:
        fix = "compile the functions that its body calls, and leave this one as it is"
        raise CaptureError(f"{name_of(function)} {words}", fix=fix).located(definition(function))


def _let_go(recorder: Recorder) -> None:
    """Gives up the arguments of the call, which cycles of the trace's own objects would hold until they are found."""
    recorder.leaves = ()
    recorder.identities.forget()
    recorder.library.forget()
    recorder.trace.refusals.clear()  # whose frames have the arguments


def _cause(error: Exception, trace: CaptureTrace) -> Exception:
    """Return what an error follows from: a refusal, if a handler of the function's has caught one before it."""
    return trace.refusals[0] if trace.refusals and not isinstance(error, XjitError) else error


def _reads_unbound(error: Exception, recorder: Recorder) -> bool:
    """Return whether an error is about a variable without a value, which a nested function reads as a free one."""
    free = isinstance(error, NameError) and error.name in recorder.unbound
    return free or isinstance(error, UnboundLocalError)


def _traced(function: Callable[..., Any], recorder: Recorder, in_tree: tree.Tree) -> Captured:
    """The trace of one run."""
    trace, leaves = recorder.trace, recorder.leaves
    trace.began = sys._getframe().f_code
    labels = leaf_labels(function, in_tree)
    with tracing(trace):
        traced = [recorder.argument(*one) for one in zip(range(len(leaves)), leaves, labels, strict=True)]
        given = traced_tree(recorder, in_tree)
        args, kwargs = tree.unflatten(given, traced)
        recorder.rewriting.begin(args, kwargs)
        try:
            result = recorder.entry(function)(*args, **kwargs)
        except (Stopped, Exception):
            if trace.stopped is None:
                raise
        if trace.stopped is not None:
            value, trace.stopped = trace.stopped.value, None
            return _captured_value(Results(trace, recorder), value, len(leaves))
        _check_arguments_unchanged((args, kwargs), given, traced)
        recorder.check_unchanged()
        check_copies(recorder)
        check_split(recorder)
        recorder.guard_identities()
        check_taken_apart(recorder, args, kwargs, in_tree, labels)
        if trace.refusals:
            raise trace.refusals[0]
        return _captured(Results(trace, recorder), result, len(leaves))


def _captured(results: Results, result: Any, leaf_count: int) -> Captured:
    """The trace of a function that returns this."""
    trace, recorder = results.trace, results.recorder
    form = results.form(result)
    written = results.written()
    if written or has_unread(trace, results.all):
        test_behind_effects(trace)
    outputs = (*results.all, *tested_unread(trace, results.all))
    shown = {one.path for one in form.outputs if one.moving is not None and one.path is not None}
    kept = frozenset(written).union(shown)
    graph, paths = _without_unused(without_tested(trace.finish(outputs)), recorder, kept)
    if not {node for node in graph.nodes if node.sequence >= 0} <= {*graph.effects}:
        refuse("the program reads what an effect has made that does not happen")
    guards = Guards(tuple(recorder.guards), paths, leaf_count)
    stored = tuple((index, paths.index(path)) for path, index in written.items())
    catches = results.catches(graph, bool(stored))
    inputs, structure = tuple(map(Input, paths)), original_tree(form.structure)
    return Captured(
        *(graph, inputs, guards, structure, form.outputs, form.makes, form.assignments),
        written=stored,
        tested=(*range(len(results.tests)), *range(len(results.all), len(outputs))),
        catches=catches,
    )


def _captured_value(results: Results, value: Any, leaf_count: int) -> Captured:
    """The trace of a value that Python needs in the function; what is assigned and stored until then is not."""
    trace, recorder = results.trace, results.recorder
    output = results.output(value)
    tests = [*tested(trace), *tested_unread(trace, results.nodes)]
    outputs, count = (*results.nodes, *tests), len(results.nodes)
    graph, paths = _without_unused(without_tested(trace.finish(outputs)), recorder, frozenset())
    inputs, guards = tuple(map(Input, paths)), Guards(tuple(recorder.guards), paths, leaf_count)
    return Captured(graph, inputs, guards, tree.LEAF, (output,), tested=tuple(range(count, len(outputs))))


def definition(function: Any) -> Where:
    """The line where a function is defined; NOWHERE of what has no code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return NOWHERE if code is None else Where(code.co_filename, code.co_firstlineno, code.co_name)


def leaf_labels(function: Callable[..., Any], in_tree: tree.Tree) -> list[str]:
    """Return a label of each argument leaf: ``x``, ``params['w'][0]``."""
    if not isinstance(in_tree, tree.Branch):
        return []
    args, kwargs = in_tree.children
    names = iter(_positional_names(function))
    labels: list[str] = []
    for child in getattr(args, "children", ()):
        labels += tree.labels(child, next(names))
    for key, child in zip(getattr(kwargs, "keys", ()), getattr(kwargs, "children", ()), strict=True):
        labels += tree.labels(child, key)
    return labels


def _positional_names(function: Callable[..., Any]) -> Iterator[str]:
    code = getattr(inspect.unwrap(function), "__code__", _no_names.__code__)
    yield from code.co_varnames[: code.co_argcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    star = rest[0] if code.co_flags & inspect.CO_VARARGS else "args"
    position = 0
    while True:
        yield f"{star}[{position}]"
        position += 1


def _no_names(*args: Any) -> None:
    """Stands for functions that have no names for their arguments."""


def _check_arguments_unchanged(arguments: Any, in_tree: tree.Tree, traced: list[Any]) -> None:
    """CaptureError if the function changed a container that it was given: the caller's would stay as it was."""
    leaves, structure = tree.flatten(arguments)
    if structure != in_tree or any(a is not b for a, b in zip(leaves, traced, strict=True)):
        refuse("the function changes a list or dict that was passed as an argument", fix="return a new one")


def _without_unused(graph: Graph, recorder: Recorder, needed: frozenset[Path]) -> tuple[Graph, tuple[Path, ...]]:
    """Drops inputs that no operation uses and that are not needed; guards keep what the trace assumed of them."""
    used = {source for node in graph.nodes for source in node.inputs} | set(graph.outputs)
    pairs = list(zip(graph.parameters, recorder.inputs, strict=True))
    for node, path in pairs:
        if node not in used and path.leaf is not None and path not in needed:
            recorder.guard_leaf(path)
    kept = [(node, path) for node, path in pairs if node in used or path in needed]
    parameters = tuple(node for node, _ in kept)
    return dataclasses.replace(graph, parameters=parameters), tuple(path for _, path in kept)
