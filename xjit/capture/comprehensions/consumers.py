"""Functions that use up a generator, or a list of the run: sums, extremes and truths, as loops of the graph.

sum(v for v in x if v > 0)      total = 0
                                for v in x:
                                    if v > 0: total = total + v
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from typing import Any

from xjit.capture.comprehensions.filtered import (
    Generator,
    Trial,
    comprehended,
    grown,
    note_place,
    of_columns,
    type_of_element,
    zero_of,
)
from xjit.capture.comprehensions.generator_calls import Emitting
from xjit.capture.comprehensions.nested_items import NestedItems, nested_way
from xjit.capture.comprehensions.one_by_one import LONG, OPEN, is_of_run, python_way, to_be_plain
from xjit.capture.python_control.loop_sequences import Sequence, gone_through, lists_in, use_up, with_pinned_turns
from xjit.capture.python_control.truth import is_open, truth
from xjit.capture.python_control.unrolling import MOST_NODES, MOST_NODES_AT_LAST
from xjit.capture.rewriting.runtime_protocol import Collection, ControlRuntime, Site
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.optional_value import OptionalValue
from xjit.dataclass import replace
from xjit.errors import CaptureError

_KINDS: dict[Any, Collection] = {list: "list", set: "set", dict: "dict"}
_MOST_BY_THEMSELVES = 64
"""Items that Python goes through itself, one by one."""
_BRANCH = Site("if", 0, (), (), ())
_COMPENSATED = sys.version_info >= (3, 12)
"""Says if ``sum`` adds Python's floats with the errors of the additions."""


def comprehend(kind: Collection, parts: Generator) -> Any:
    """The collection of the elements."""
    use_up(parts.items)
    with gone_through(lists_in(parts.items)), with_pinned_turns(parts.items) as items:
        return _comprehended(kind, parts if items is parts.items else replace(parts, items=items))


def are_gone_through(function: Callable[[Any], Any], items: Any) -> bool:
    """Return whether a type of Python's gets items that a loop goes through, such as arrays of lengths of the run."""
    return is_of_run(items) or (function is list and isinstance(items, Sequence))


def of_items(function: Callable[[Any], Any], runtime: ControlRuntime, items: Any) -> Any:
    """The result of a type of Python's of what a loop may go through: ``list(items)``."""
    if function in _KINDS:
        return comprehend(_KINDS[function], Generator.of(runtime, items))
    return of_elements(function, runtime, items)


def _comprehended(kind: Collection, parts: Generator) -> Any:
    list_that_grows = grown(parts)
    if list_that_grows is not None:
        return list_that_grows if kind == "list" else list_that_grows.elements.collection(kind)
    most = MOST_NODES_AT_LAST if to_be_plain() else MOST_NODES
    found = nested_way(parts, most) if isinstance(parts.items, NestedItems) else python_way(kind, parts, most)
    if found is LONG:
        arrays = of_columns(kind, parts)
        if arrays is not None:
            return arrays
        found = python_way(kind, parts)
    if found is OPEN:
        return comprehended(kind, parts)
    if kind == "list":
        note_place(found)
    if type(found) is not list or kind == "list":
        return found
    return set(found) if kind == "set" else dict(found)


def consume(function: Callable[[Any], Any], parts: Generator, plain: Callable[[], Any]) -> Any:
    """The result of a function of the elements; ``plain`` hands it the generator as it is."""
    with gone_through(lists_in(parts.items)):
        return _consumed(function, parts, plain)


def _consumed(function: Callable[[Any], Any], parts: Generator, plain: Callable[[], Any]) -> Any:
    name = _name_of(function)
    of_run = is_of_run(parts.items)
    if isinstance(parts.items, NestedItems) and name not in _STOPPING:
        elements = nested_way(parts, MOST_NODES)
        if elements is not OPEN:
            return function(elements)
    one_by_one = not of_run and (name in _STOPPING or not parts.conditions)
    if one_by_one and (name not in _FOLDS or _is_plain(parts)):
        return plain()
    use_up(parts.items)
    if not of_run:
        found = OPEN if name in _STOPPING or not parts.conditions else python_way("list", parts)
        if found is not OPEN:
            return function(found)
    if name in _STOPPING:
        return _FOLDS[name](parts)
    if name in _FOLDS:
        trial = Trial(parts)
        try:
            return _FOLDS[name](parts)
        except CaptureError:
            trial.take_back()
    whole = parts.is_whole and type(parts.items) is DeferredObject
    return of_list(function, parts.items if whole else comprehended("list", parts))


def _is_plain(parts: Generator) -> bool:
    """Return whether Python goes through the elements itself: few of them, or known ones."""
    turns = parts.turns
    if turns is None:
        return not parts.conditions
    if not parts.conditions and turns.length is not None and turns.length <= _MOST_BY_THEMSELVES:
        return True
    trial = Trial(parts)
    known = True
    for number in range(turns.first, turns.end):
        values = parts.values(turns.element(number))
        holds = parts.holds(values)
        known = not is_open(holds) and (not holds or not is_open(parts.element(*values)))
        if not known or not parts.conditions:
            break
    trial.take_back()
    return known


def of_list(function: Callable[[Any], Any], made: Any) -> Any:
    """The result of a function of a list of the run."""
    name = _name_of(function)
    if name == "list":
        return made
    return step(getattr(builtins, name), (made,), {}) if name else function(made)


def of_elements(function: Callable[[Any], Any], runtime: ControlRuntime, found: Any) -> Any:
    """The result of a builtin of a generator, or of a list of the run whose elements are known as arrays."""
    parts = Generator.of(runtime, found)
    return consume(function, parts, lambda: _of_known(function, parts))


def _of_known(function: Callable[[Any], Any], parts: Generator) -> Any:
    """The result of a builtin of elements of which Python knows how many there are."""
    from xjit.capture.python_numbers.builtin_functions import BUILTINS

    turns, name = parts.turns, _name_of(function)
    if turns is None or name not in _FOLDS:
        return of_list(function, parts.items)
    return BUILTINS[name]([turns.element(number) for number in range(turns.first, turns.end)])


def extreme_by(function: Callable[[Any], Any], runtime: ControlRuntime, items: Any, key: Callable[[Any], Any]) -> Any:
    """The extreme by a key of the elements of a list of the run or a dict, in a tuple; None where it is not traced.

    max(d, key=d.get)     the first of the keys with the largest value
    """
    parts = Generator(runtime, items, None, (), lambda value: (value, key(value)))
    trial = Trial(parts)
    try:
        with gone_through(lists_in(items)):
            return _extreme(_BETTER[_name_of(function)], parts, operator.itemgetter(1))[:1]
    except CaptureError:
        trial.take_back()
        return None


def _same(value: Any) -> Any:
    return value


def has_open_keys(runtime: ControlRuntime, items: Any, key: Callable[[Any], Any] | None, most: int) -> bool:
    """Return whether there are more items than ``most``, of which only the run tells the keys."""
    parts = Generator(runtime, items, None, (), _same if key is None else key)
    turns = parts.turns
    if turns is None or turns.length is None or turns.length <= most:
        return turns is not None and turns.length is None
    trial = Trial(parts)
    try:
        return is_open(parts.element(turns.element(turns.first)))
    except CaptureError:
        return False
    finally:
        trial.take_back()


def _name_of(function: Any) -> str:
    """The name of a builtin, or of what takes its place; nothing for other functions."""
    plain = getattr(function, "__wrapped__", function)
    name = getattr(plain, "__name__", "")
    return name if getattr(builtins, name, None) is plain else ""


def _sum(parts: Generator) -> Any:
    total: Any = 0
    kind = type_of_element(parts)
    if kind is None or kind.shape or (_COMPENSATED and kind.weak in (float, complex)):
        raise CaptureError("a generator gives no numbers that are added one by one")

    def add(*values: Any) -> None:
        nonlocal total
        total = total + parts.element(*values)

    parts.each(parts.items, lambda item: parts.chosen(item, add))
    return total


def _extreme(better: Callable[[Any, Any], Any], parts: Generator, by: Callable[[Any], Any] = lambda one: one) -> Any:
    """The first element that is better than those before it, ``by`` what is compared of it."""
    best: Any = zero_of(parts)
    if best is None:
        raise CaptureError("an extreme of a generator is none of numbers")
    found: Any = False

    def look(*values: Any) -> None:
        nonlocal best, found
        value = parts.element(*values)
        is_better = parts.runtime.either(parts.runtime.not_(found), lambda: better(by(value), by(best)))

        def take() -> None:
            nonlocal best
            best = value

        parts.runtime.if_(is_better, take, None, _BRANCH)
        found = True

    parts.each(parts.items, lambda item: parts.chosen(item, look))
    if is_open(found):
        demand(truth(found))
    elif not found:
        raise CaptureError("an extreme of no elements at all")
    return best


def _truths(wanted: bool, parts: Generator) -> Any:
    """``any`` or ``all``, of which only the run tells how far it goes."""
    going: Any = True

    def look(*values: Any) -> None:
        nonlocal going
        value = parts.element(*values)
        test = value if wanted else parts.runtime.not_(value)

        def stop() -> None:
            nonlocal going
            going = False

        parts.runtime.if_(test, stop, None, _BRANCH)

    parts.each(parts.items, lambda item: parts.chosen(item, look), lambda: going)
    ends = parts.runtime.not_(going)
    return ends if wanted else parts.runtime.not_(ends)


def first(function: Callable[..., Any], parts: Generator, default: tuple[Any, ...], plain: Callable[[], Any]) -> Any:
    """The first element, or the default; ``plain`` has Python find it."""
    with gone_through(lists_in(parts.items)):
        if _name_of(function) != "next" or _is_found(parts):
            return plain()
        use_up(parts.items)
        trial = Trial(parts)
        try:
            return _first(parts, default)
        except CaptureError:
            trial.take_back()
            raise


def _is_found(parts: Generator) -> bool:
    """Return whether Python finds the first element, as conditions are known so far, or that there is none."""
    turns = parts.turns
    if turns is None:
        return not isinstance(parts.items, Emitting)
    if turns.length is None:
        return False
    trial = Trial(parts)
    try:
        for number in range(turns.first, turns.end):
            holds = parts.holds(parts.values(turns.element(number)))
            if is_open(holds) or holds:
                return not is_open(holds)
    finally:
        trial.take_back()
    return True


def _first(parts: Generator, default: tuple[Any, ...]) -> Any:
    found: Any = zero_of(parts)
    going: Any = True
    if found is None:
        raise CaptureError("next() gets a generator of other elements than numbers", fix="use a loop that ends")

    def take(*values: Any) -> None:
        nonlocal found, going
        found, going = parts.element(*values), False

    parts.each(parts.items, lambda item: parts.chosen(item, take), lambda: going)
    is_there = parts.runtime.not_(going)
    if default == (None,):
        return OptionalValue(is_there, found) if is_open(is_there) else found if is_there else None
    if default:
        return parts.runtime.if_exp(is_there, lambda: found, lambda: default[0])
    if is_open(is_there):
        demand(truth(is_there))
    elif not is_there:
        raise StopIteration
    return found


_BETTER: dict[str, Callable[[Any, Any], Any]] = {"min": operator.lt, "max": operator.gt}
_FOLDS: dict[str, Callable[[Generator], Any]] = {
    "sum": _sum,
    "min": lambda parts: _extreme(operator.lt, parts),
    "max": lambda parts: _extreme(operator.gt, parts),
    "any": lambda parts: _truths(True, parts),
    "all": lambda parts: _truths(False, parts),
}
_STOPPING = frozenset({"any", "all"})
