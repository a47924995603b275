"""Values in front of a loop as the types that its turns leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.control.state import NUMBERS, as_array
from xjit.capture.memory.origins import Origin, code_of, origin_of
from xjit.capture.python_control.leaves import (
    Kind,
    converted,
    has_room,
    in_parts,
    is_array_like,
    is_in_parts,
    kind_of,
    optional,
    same,
    seen_as,
    zeros,
)
from xjit.capture.python_control.loop_turns import Carried, is_same_value
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import Trace
from xjit.ir.current import current
from xjit.ops.define.core import constant, lift
from xjit.ops.whole_arrays.concatenate import pad
from xjit.ops.whole_arrays.shape import broadcast

_ORDER = list(NUMBERS)


def fitted(value: Any, one: Carried) -> Any:
    """A value as one of these types; zeros for a variable that has none; None where it is something else."""
    if value is UNBOUND:
        made = tree.unflatten(one.structure, [zeros(leaf) for leaf in one.leaves])
        return made if tree.flatten(made)[1] == one.structure else None  # arrays of no elements have a known size
    value = as_parts(value, one)
    leaves, structure = tree.flatten(value)
    if structure != one.structure:
        return None
    pairs = zip(_with_room(leaves, structure, one), one.leaves, strict=True)
    found = [_fitted_leaf(leaf, kind) for leaf, kind in pairs]
    if any(leaf is None for leaf in found):
        return None
    return value if all(a is b for a, b in zip(found, leaves, strict=True)) else tree.unflatten(structure, found)


def refuse_start(names: Sequence[str], carried: Sequence[Carried | None], start: Sequence[Any]) -> NoReturn:
    """CaptureError about a first turn that is not as the others, and may not be one."""
    wrong = unfitted(names, carried, start)
    if not wrong:
        refuse("a loop writes to an array that may have another name by then", fix="copy it in front of the loop")
    refuse(
        f"the type of {', '.join(wrong)} behind a loop depends on how many turns it takes",
        fix="start with a value of the type that the loop makes",
    )


def unfitted(names: Sequence[str], carried: Sequence[Carried | None], start: Sequence[Any]) -> list[str]:
    """The names of variables that start as something else than turns make of them."""
    rows = zip(names, carried, start, strict=True)
    return [name for name, one, value in rows if one is not None and fitted(value, one) is None]


def is_as_given(value: Any, start: Any) -> bool:
    """Return whether a variable starts from its value: the same, or as an array with more room for elements.

    The start is the value as one of the types of a loop's variables, see `fitted`.
    """
    if is_same_value(value, start):
        return True
    (ones, structure), (others, found) = tree.flatten(value), tree.flatten(start)
    is_padded = structure == found and is_in_parts(structure) and ones[0].dtype == others[0].dtype
    return is_padded and all(map(same, ones[1:], others[1:]))


def as_parts(value: Any, one: Carried | None) -> Any:
    """A value as an array of a size that only the run knows, or an optional one, where turns make it one."""
    if one is None or value is UNBOUND or tree.flatten(value)[1] == one.structure:
        return value
    found = optional(value, one.structure, one.leaves)
    if found is not value:
        return found
    return in_parts(value, one.structure, [leaf.place.aval.shape for leaf in one.kinds])


def _with_room(leaves: list[Any], structure: tree.Tree, one: Carried) -> list[Any]:
    """The leaves; of an array of a size that only the run knows, the value with as much room as turns give it."""
    if not is_in_parts(structure):
        return leaves
    value, *sizes = leaves
    shape, room = value.shape, one.kinds[0].place.aval.shape
    if shape == room or not has_room(shape, room, structure):
        return leaves
    trace, zero = current(), constant(np.zeros((), value.dtype))
    assert trace is not None
    padded = pad(value, zero, [(0, most - size, 0) for size, most in zip(shape, room, strict=True)])
    made: Any = trace.wrap(lift(trace, padded), trace)
    if origin_of(value) is not Origin.OWN:
        made.code = code_of(value)
    return [made, *sizes]


def as_parameters(value: Any, one: Carried, trace: Trace) -> Any:
    """Any values of the types that a variable starts as, as parameters of a trace."""
    if value is UNBOUND:
        return value
    leaves, structure = tree.flatten(value)
    pairs = zip(leaves, one.leaves, strict=True)
    return tree.unflatten(structure, [_parameter(leaf, kind, trace) for leaf, kind in pairs])


def _parameter(leaf: Any, kind: Any, trace: Trace) -> Any:
    if not isinstance(kind, Kind):
        return leaf
    own = kind_of(leaf, kind.place.label)
    begun = kind if own.type == kind.type else own
    nodes = [trace.parameter(type) for type in begun.types]
    return begun.seen(iter(nodes), trace)


def _fitted_leaf(leaf: Any, kind: Any) -> Any:
    if not isinstance(kind, Kind):
        return leaf
    if not is_array_like(leaf):
        return None
    own = kind_of(leaf, kind.place.label)
    if own.type == kind.type:
        return leaf
    if own.place.weak is None or own.place.aval.rank or not _widens(own.place.weak, kind):
        return None
    if own.doubtful or (kind.doubtful and own.agreed(kind) is None):
        return None
    operand, _, _ = as_array(leaf, "loop", kind.place.label)
    number = converted(operand, kind)
    return seen_as(broadcast(number, kind.types[0].shape) if kind.place.aval.rank else number, True, kind)


def _widens(weak: type, kind: Kind) -> bool:
    """Return whether a number of Python's may become one of another kind, without a loss."""
    other = kind.place.weak
    return other is None or _ORDER.index(weak) <= _ORDER.index(other)
