"""The control flow of rewritten functions over traced values.

What Python knows takes Python's way. A condition that only the run tells makes a branch of the graph, and a loop that
ends by one, or that would be long, makes a loop of the graph.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sized
from types import FunctionType
from typing import Any

import numpy as np

from xjit.capture.catching.handled_errors import Evaluation, Handlers, begun
from xjit.capture.comprehensions.gathered import columns_as_tuples
from xjit.capture.comprehensions.generator_calls import GeneratorCall
from xjit.capture.control.object_loops import asked_at_ends, captured_with_objects
from xjit.capture.control.state import NUMBERS
from xjit.capture.dicts.dict_runtime import DictRuntime
from xjit.capture.python_control.checkpoint import Checkpoint, remembered
from xjit.capture.python_control.loop_sequences import (
    LOOP_BUILTINS,
    Turns,
    check_left,
    gone_through,
    known_of,
    lists_in,
    turns_of,
    use_up,
    with_pinned_turns,
)
from xjit.capture.python_control.python_branches import EXPRESSION, chosen, decided
from xjit.capture.python_control.python_loops import Loop
from xjit.capture.python_control.truth import as_bool, holds_surely, is_open, negated, truth
from xjit.capture.python_control.unrolling import MOST_NODES_AT_LAST, MOST_NODES_FUSED, Unrolling
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.rewriting.python_runtime import OPERATORS, formatted_text, joined_text
from xjit.capture.rewriting.runtime_protocol import VALUE, Collection, Site, State, Thunk
from xjit.capture.splits.conversions import COLLECTIONS, collected, converted, is_traced, text_of
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.object_comparisons import contained, known_truths, same_object
from xjit.capture.tracers.demands import DemandError, demand
from xjit.capture.tracers.provenance import (
    CaptureTrace,
    enclosing_capture,
    is_splitting,
    noted,
    refuse,
    without_steps,
)
from xjit.capture.tracers.traced_array import TracedArray
from xjit.errors import CaptureError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.elements import elementwise
from xjit.ops.elements.select import select


class TracedRuntime(DictRuntime):
    """Control flow while a function is traced."""

    def if_(self, test: Any, then: Thunk | None, otherwise: Thunk | None, site: Site) -> None:
        """Run one block, or trace both."""
        if not is_open(test):
            super().if_(test, then, otherwise, site)
            return
        arms = {True: then or _nothing, False: otherwise or _nothing}
        if len(site.raises) == 1:
            (raises,) = site.raises
            demand(truth(negated(test) if raises else test))
            arms[not raises]()
        else:
            decided(truth(test), arms[True], arms[False], site.state(then, otherwise))

    def while_(self, test: Thunk, body: Thunk, going: Thunk | None, site: Site) -> None:
        """Run the turns whose condition is known, or trace one for all."""
        state = site.state(test, body, going)
        with remembered(state.get()) as start:
            self._while(test, body, going, state, start)

    def _while(self, test: Thunk, body: Thunk, going: Thunk | None, state: State, start: tuple[Any, ...]) -> None:
        mark = Checkpoint((test, body))

        def holds() -> Any:
            return test() if going is None else self.both(going(), test)

        if self._repeated(Unrolling(None, state), test, holds, body):
            return
        state.set(start)
        mark.restore()

        def back() -> None:
            state.set(start)
            mark.restore()

        try:
            loop = Loop(state, holds, lambda _: body(), None, lambda: holds_surely(test), start)
            try:
                captured_with_objects(loop, mark)
            except DemandError:
                back()
                asked_at_ends(loop, test, body)
        except (CaptureError, DTypeError, ShapeError) as obstacle:
            back()
            if not self._repeated(Unrolling(None, most=MOST_NODES_AT_LAST), test, holds, body):
                noted(obstacle)  # the trial that is taken back has remembered it
                raise

    def _repeated(self, unrolling: Unrolling, test: Thunk, holds: Thunk, body: Thunk) -> bool:
        """Run the turns one by one; return whether all of them were few enough, with conditions that are known."""
        with unrolling:
            while unrolling.goes_on():
                known = test() if unrolling.turns == 0 else holds()
                if is_open(known):
                    return False
                if not known:
                    return True
                body()
                unrolling.turn()
        return False

    def for_(self, items: Any, assign: Callable[[Any], None], body: Thunk, going: Thunk | None, site: Site) -> None:
        """Run the turns one by one if there are few of them, or trace one for all."""
        if type(items) is GeneratorCall:
            _through_generator(items, assign, body, going)
            return
        state = site.state(assign, body, going)
        use_up(items)
        with gone_through(lists_in(items)), with_pinned_turns(items) as taken:
            turns = turns_of(taken)
            if turns is None:
                self._through(taken, assign, body, going, state)
                return
            if going is not None:
                check_left(items, sys._getframe(1))
            with remembered(state.get()) as start:
                self._for(taken, turns, assign, body, going, state, start)

    def _for(
        self,
        items: Any,
        turns: Turns,
        assign: Callable[[Any], None],
        body: Thunk,
        going: Thunk | None,
        state: State,
        start: tuple[Any, ...],
    ) -> None:
        mark = Checkpoint((assign, body))
        known = turns.length is not None and not turns.arguments
        if known and self._unrolled(turns, assign, body, going, state):
            return

        def back() -> None:
            state.set(start)
            mark.restore()

        def turn(counter: Any) -> None:
            assign(turns.element(counter))
            body()

        def of_graph() -> None:
            try:
                captured_with_objects(Loop(state, going, turn, turns, lambda: turns.is_certain, start), mark)
            except CaptureError:
                trace = enclosing_capture()
                if VALUE in state.carried and trace is not None:
                    trace.recorder.rewriting.want_late_returns()
                raise

        through = functools.partial(self._through, items, assign, body, going, state)
        back()
        if known and is_splitting() and _without_steps(of_graph, functools.partial(through, MOST_NODES_FUSED), back):
            return
        if turns.has_known_numbers:
            _in_either_way(of_graph, functools.partial(through, MOST_NODES_AT_LAST), back)
        else:
            of_graph()

    def _unrolled(
        self, turns: Turns, assign: Callable[[Any], None], body: Thunk, going: Thunk | None, state: State
    ) -> bool:
        """Run the turns one by one; return whether all of them were few enough."""
        with Unrolling(turns.length, state) as unrolling:
            for number in range(turns.first, turns.end):
                if not unrolling.goes_on():
                    return False
                assign(turns.element(number))
                body()
                unrolling.turn()
                if going is not None:
                    more = going()
                    if is_open(more):
                        unrolling.give_up()
                        return False
                    if not more:
                        return True
        return True

    def _through(
        self,
        items: Any,
        assign: Callable[[Any], None],
        body: Thunk,
        going: Thunk | None,
        state: State,
        most: int = MOST_NODES_AT_LAST,
        obstacle: CaptureError | None = None,
    ) -> None:
        """Run the body for each item, those behind a break that only the run decides within a branch.

        Where that makes more than so many operations the ``obstacle`` to a loop of the graph is the error.
        """

        def turn(item: Any) -> None:
            assign(item)
            body()

        more: Any = True
        known = known_of(items)
        with Unrolling(len(known) if isinstance(known, Sized) else None, most=most) as unrolling:
            for item in known:
                if obstacle is not None and not unrolling.goes_on():
                    raise noted(obstacle)
                unrolling.turn()
                if is_open(more):
                    check_left(known, sys._getframe(1))
                    decided(truth(more), functools.partial(turn, item), _nothing, state)
                elif more:
                    turn(item)
                else:
                    return
                more = True if going is None else going()

    def handlers(self, outer: Any, classes: Thunk) -> Any:
        """Return the handlers of a ``try``, which those operations find that may fail."""
        trace = enclosing_capture()
        assert trace is not None
        trace.recorder.rewriting.has_handlers = True
        return begun(trace.recorder.rewriting.bodies, Handlers(sys._getframe(1), outer, classes))

    def protected(self, handlers: Any, evaluate: Thunk) -> Any:
        """Evaluate the expression; an operation in it that may fail hands a truth value to the handlers."""
        trace = current()
        assert isinstance(trace, CaptureTrace)
        made = Evaluation(trace, handlers, functools.partial(_unchanged_since, evaluate))
        one = handlers
        while one is not None:
            one.evaluation, one = made, one.outer
        try:
            return evaluate()
        finally:
            made.is_over = True

    def raised(self, handlers: Any) -> Any:
        """Return whether an operation of the last expression has failed, of those that these handlers are for."""
        made, handlers.evaluation, handlers.last = handlers.evaluation, None, []
        if made is None or made.owner is not handlers:
            return False
        made.check()
        handlers.last = made.failed
        nodes = dict.fromkeys(node for node, _ in made.failed)
        holds = functools.reduce(elementwise.and_, (TracedValue(node, made.trace) for node in nodes))
        return negated(as_bool(TracedArray(holds.node, made.trace, scalar=True)))

    def clause(self, handlers: Any) -> Any:
        """Return the number of the clause for the first operation that has failed."""
        pairs = handlers.last
        if len({number for _, number in pairs}) < 2:
            return pairs[0][1] if pairs else 0
        trace = pairs[0][0] and current()
        assert trace is not None
        found: Any = np.int64(pairs[-1][1])
        for node, number in reversed(pairs):
            found = select(TracedValue(node, trace), found, np.int64(number))
        return TracedArray(found.node, trace, weak=int, scalar=True)

    def handed(self, handlers: Any) -> bool:
        """Return whether an operation in the body so far may fail."""
        return bool(handlers.handed)

    def entered(self, handlers: Any) -> None:
        """Let the handlers have what fails from here on."""
        handlers.has_left = False

    def left(self, handlers: Any) -> None:
        """Let nothing that fails from here on go to the handlers."""
        handlers.has_left = True

    def if_exp(self, test: Any, then: Thunk, otherwise: Thunk) -> Any:
        """Evaluate one arm, or trace both."""
        return chosen(truth(test), then, otherwise) if is_open(test) else super().if_exp(test, then, otherwise)

    def and_(self, first: Any, *others: Thunk) -> Any:
        """Return the deciding operand."""
        if not others:
            return first
        if is_open(first):
            return chosen(truth(first), lambda: self.and_(others[0](), *others[1:]), lambda: first)
        return self.and_(others[0](), *others[1:]) if first else first

    def or_(self, first: Any, *others: Thunk) -> Any:
        """Return the deciding operand."""
        if not others:
            return first
        if is_open(first):
            return chosen(truth(first), lambda: first, lambda: self.or_(others[0](), *others[1:]))
        return first if first else self.or_(others[0](), *others[1:])

    def both(self, first: Any, *others: Thunk) -> Any:
        """Return the truth of a conjunction."""
        result = _truth_value(first)
        if not others or (not is_open(first) and not result):
            return result
        if not is_open(first):
            return self.both(others[0](), *others[1:])
        return chosen(truth(first), lambda: self.both(others[0](), *others[1:]), lambda: False)

    def either(self, first: Any, *others: Thunk) -> Any:
        """Return the truth of a disjunction."""
        result = _truth_value(first)
        if not others or (not is_open(first) and result):
            return result
        if not is_open(first):
            return self.either(others[0](), *others[1:])
        return chosen(truth(first), lambda: True, lambda: self.either(others[0](), *others[1:]))

    def not_(self, value: Any) -> Any:
        """Negate a truth."""
        return negated(value) if is_open(value) else not value

    def compare(self, operators: tuple[str, ...], first: Any, second: Any, *others: Thunk) -> Any:
        """Return the deciding comparison."""
        name = operators[0]
        if name in ("is", "is_not"):
            result = same_object(name, first, second)
        elif name in ("in", "not_in"):
            result = contained(name, first, second)
        else:
            result = OPERATORS[name](first, second)
        if not others:
            return result
        return self.and_(result, lambda: self.compare(operators[1:], second, others[0](), *others[1:]))

    def convert(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Convert a number of the graph to one of Python's, or anything to text."""
        if function in (str, repr) and is_traced(value):
            return text_of(function, (value,))
        if function is set and (found := self.filled(function, value)) is not None:
            return found
        if issubclass(type(value), DeferredObject):
            return converted(function, value) if function not in COLLECTIONS else collected(function, value)
        if type(value) is GeneratorCall or function in COLLECTIONS:
            from xjit.capture.comprehensions.consumers import are_gone_through, of_items

            if are_gone_through(function, value):
                return of_items(function, self, value)
        return number_as(function, value) if function in NUMBERS and is_open(value) else function(value)

    def text(self, parts: tuple[Any, ...]) -> Any:
        """Format the values, in a step in Python if only the run tells them."""
        return text_of(joined_text, (parts,)) if is_traced(parts) else joined_text(parts)

    def format(self, way: str, text: str, values: Any, named: Any = None) -> Any:
        """Put the values in, in a step in Python if only the run tells them."""
        given = (way, text, values, named)
        return text_of(formatted_text, given) if is_traced(given) else formatted_text(*given)

    def matched(self, value: Any) -> Any:
        """Return the value, unless only the run tells truth values in it."""
        return known_truths(value)

    def defined(self, function: FunctionType) -> Any:
        """Return the function, or the rewritten one where tracing refused its control flow."""
        trace = enclosing_capture()
        return function if trace is None else trace.recorder.rewriting.defined(function, self)

    def unzip(self, function: Callable[..., Any], rows: Any) -> Any:
        """Return the columns of a list of the run whose entries are tuples, or the result of the call."""
        known = rows.elements if type(rows) is DeferredObject and function is LOOP_BUILTINS["zip"] else None
        found = None if known is None else columns_as_tuples(known)
        return super().unzip(function, rows) if found is None else iter(found)

    def generator(self, generate: FunctionType, own: tuple[str, ...]) -> Any:
        """Return the generator, which has not begun."""
        return GeneratorCall(generate, own)

    def comprehend(self, kind: Collection, *parts: Any) -> Any:
        """Collect the elements; where the run tells which, in places of arrays or in a list of the run."""
        from xjit.capture.comprehensions.consumers import comprehend
        from xjit.capture.comprehensions.filtered import Generator

        return comprehend(kind, Generator(self, *parts))

    def nested(self, items: Any, *loops: Any) -> Any:
        """Return the values of the names of the loops, which are gone through one by one or in loops of the graph."""
        from xjit.capture.comprehensions.nested_items import NestedItems

        return NestedItems.of(self, items, loops)

    def consume(self, function: Callable[[Any], Any], *parts: Any) -> Any:
        """Hand the elements to the function; where the run tells which, as a loop of its own or as a list."""
        from xjit.capture.comprehensions.consumers import consume
        from xjit.capture.comprehensions.filtered import Generator

        python = super().consume
        return consume(function, Generator(self, *parts), lambda: python(function, *parts))

    def first(self, function: Callable[..., Any], *parts: Any) -> Any:
        """Hand the generator of the elements to the function, or find the first one in a loop of the graph."""
        from xjit.capture.comprehensions.consumers import first
        from xjit.capture.comprehensions.filtered import Generator

        python, count = super().first, 4
        return first(function, Generator(self, *parts[:count]), parts[count:], lambda: python(function, *parts))

    def assert_(self, test: Any, message: Thunk | None) -> None:
        """Raise AssertionError, or demand that the test holds."""
        if is_open(test):
            demand(truth(test))
        else:
            super().assert_(test, message)


def _unchanged_since(evaluate: Thunk) -> Callable[[], None]:
    """Remember what there is; return what refuses that an expression, or a call in it, has changed something."""
    mark, state = Checkpoint((evaluate,)), EXPRESSION.state(evaluate)
    before = state.get()

    def check() -> None:
        mark.check_unchanged()
        if any(one is not other for one, other in zip(state.get(), before, strict=True)):
            refuse("an expression assigns a variable behind an operation whose error the function catches")

    return check


def _in_either_way(first: Thunk, other: Callable[[CaptureError], None], back: Thunk) -> None:
    """Trace in one way; where that meets an obstacle, go back and trace in another one.

    Unless the obstacle is a list of the loop's that is to be one that grows, or its returns are to come behind it.
    """
    try:
        first()
    except CaptureError as obstacle:
        trace = enclosing_capture()
        if trace is not None and trace.recorder.rewriting.wants_other_loops():
            raise
        back()
        other(obstacle)


def _without_steps(first: Thunk, other: Callable[[CaptureError], None], back: Thunk) -> bool:
    """Trace in either way without steps in Python; return whether that could be done, else all is as before.

    for k in range(9): x[k] = np.roll(x[k], shifts[k])    where shifts have to be known: nine rolls, not nine steps
    """
    trace = enclosing_capture()
    assert trace is not None
    wanted = trace.recorder.rewriting.mark()
    try:
        with without_steps():
            _in_either_way(first, other, back)
    except CaptureError:
        rewriting = trace.recorder.rewriting
        if rewriting.mark() != wanted or rewriting.wants_other_loops():
            raise
        back()
        return False
    return True


def _through_generator(items: GeneratorCall, assign: Callable[[Any], None], body: Thunk, going: Thunk | None) -> None:
    """Run the body where the generator yields an item."""
    if going is not None:
        items.leave()

    def emit(item: Any) -> None:
        assign(item)
        body()

    items.each(emit)


def _nothing() -> None:
    """The block that is not there."""


def _truth_value(value: Any) -> Any:
    return as_bool(value) if is_open(value) else bool(value)
