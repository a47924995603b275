"""python_call: a call of a function of Python's, in its place among the compiled parts of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from xjit.errors import XjitError
from xjit.ir.boundary import COMES_FIRST, WRONG_SITE
from xjit.ir.handlers import from_handler
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ir.source_location import Where
from xjit.ops.define.core import Array, register
from xjit.types import OBJECT, ArrayType, Box, TupleType, Type

if TYPE_CHECKING:
    from xjit.ops.effects.call_parts import CallParts

OBJECT_TYPE = ArrayType(OBJECT, (), ())
"""The type of a value that is one object of Python's."""


def unboxed(value: Any) -> Any:
    """The object of a value of ``OBJECT_TYPE``: boxed by a step, or as it came in."""
    found = value[()] if isinstance(value, np.ndarray) else value
    return found.value if type(found) is Box else found


Site: TypeAlias = tuple[Where, str]
"""The place of a call in the user's code and its label, by which later traces know what became of it."""


def itself(value: Any) -> Any:
    """The object itself, as a result of a function."""
    return value


AGAIN = "call again: later calls do not count on that any more"
"""The fix of errors of calls that are not taken for the same again."""


class EntryError(Exception):
    """A container from outside has an array that a step in Python comes to, where numbers and text were before."""


class ShownError(Exception):
    """A step in Python changes an object that is memory of the graph's, or may do so."""


class UnforeseenCall(XjitError):
    """A call has results of other types than the program was compiled for, or writes to the arrays that it gets.

    NumPy does the call from the beginning. Users see one of code outside that writes to an array behind effects which
    happen once: nothing tells beforehand that it will, and nobody can do them again.
    """


class PythonCall:
    """One call as a parameter of an operation.

    function  of the operands: rebuilds the arguments and calls what the user calls
    label     what the user calls, in words
    types     those of the arrays that the result consists of, None for one object
    arrays    result -> these arrays; None if it consists of others
    site      where it stands in the user's code
    repeats   whether nobody notices another call of it
    first     whether nobody notices another call of what comes before it
    guarded   whether it gets arrays that cannot be written to
    sure      whether its operands' types alone decide those of the arrays
    opened    whether it gets objects that may turn out to hold arrays of the graph's
    note      what there is to say about the step, None for a call of a library
    parts     what it is made of, for a description of it; None of one that has none
    """

    __slots__ = (
        *("arrays", "first", "function", "guarded", "label", "note", "opened", "parts", "repeats", "site", "sure"),
        "types",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        site: Site,
        *,
        repeats: bool,
        first: bool = False,
        guarded: bool = False,
        sure: bool = False,
        opened: bool = False,
        types: Sequence[ArrayType] | None = None,
        arrays: Callable[[Any], tuple[Array, ...] | None] | None = None,
        note: XjitError | None = None,
        parts: CallParts | None = None,
    ) -> None:
        self.function = function
        self.site = site
        self.label = site[1]
        self.first = first
        self.guarded = guarded
        self.sure = sure
        self.opened = opened
        self.types = None if types is None else tuple(types)
        self.arrays = arrays
        self.repeats = repeats
        self.note = note
        self.parts = parts

    def __call__(self, *operands: Any) -> Any:
        return self.bound()(*operands)

    @property
    def leaves(self) -> bool:
        """Return whether NumPy may do the call from the beginning where this one raises an error."""
        return self.first and (self.repeats or self.guarded)

    @property
    def surprise(self) -> bool | None:
        """Return where the call may not be what it is taken for: True of its results, False of its operands, None of
        neither.
        """
        if self.types is not None and not self.sure:
            return True
        return False if self.opened else None

    def bound(self) -> Callable[..., Any]:
        """The call as a function of its operands."""
        arrays, called = self.arrays, self._called if self.repeats and self.first else self._guarded
        if arrays is None:
            return lambda *operands: Box(called(*operands))
        single = self.types is not None and len(self.types) == 1

        def run(*operands: Any) -> Any:
            found = arrays(called(*operands))
            if found is None:
                self._not_expected()
            return found[0] if single else found

        return run

    def _called(self, *operands: Any) -> Any:
        """As the function; NumPy does the call from the beginning after its errors."""
        try:
            return self._guarded(*operands)
        except Exception as error:
            if from_handler(error) is None:
                setattr(error, COMES_FIRST, True)
            raise

    def _guarded(self, *operands: Any) -> Any:
        try:
            return self.function(*operands)
        except ValueError as error:
            if self.guarded and "read-only" in str(error):
                self._unforeseen("writes to an array that it gets", AGAIN, False)
            raise
        except ShownError:
            self._unforeseen("may write to an array of the function's", AGAIN, False)
        except EntryError:
            self._unforeseen("has come to hold an array", "keep numbers and text in it", False)

    def _not_expected(self) -> NoReturn:
        self._unforeseen(
            "has returned something of another type than its arguments let expect",
            AGAIN,
            True,
        )

    def _unforeseen(self, what: str, fix: str, result: bool) -> NoReturn:
        error = UnforeseenCall(f"{self.label} {what}", where=self.site[0], fix=fix)
        setattr(error, COMES_FIRST, self.first and (self.repeats or not result))
        setattr(error, WRONG_SITE, (self.site, result))
        raise error

    def __repr__(self) -> str:
        return f"<call of {self.label}>"


def _infer(types: tuple[ArrayType, ...], params: Params) -> Type:
    found = params["call"].types
    if found is None:
        return OBJECT_TYPE
    return found[0] if len(found) == 1 else TupleType(found)


def _reference(*operands: Any, call: PythonCall) -> Any:
    return call(*operands)


def repeats_node(node: Any) -> bool:
    """Return whether nobody would notice another run of a node with effects, or of those in a loop or branch."""
    if node.op.control:
        return all(map(repeats_node, (one for inner in inner_graphs(node) for one in inner.graph.effects)))
    return bool(node.param("call").repeats if node.op is PYTHON_CALL else node.op.barrier)


def is_taken_back(node: Node) -> bool:
    """Return whether an effect, or all of those in a loop or branch, is taken back before NumPy does the call.

    Nobody would notice another run of it, or it draws random numbers, and the generator gets its state back.
    """
    if node.op.control:
        return all(map(is_taken_back, (one for inner in inner_graphs(node) for one in inner.graph.effects)))
    return node.op.draws is not None or repeats_node(node)


def surprises(graph: Graph, seen: bool = False) -> dict[Site, bool]:
    """The sites of calls that may not be what they are taken for, behind effects that NumPy would do a second time.

    In a loop those of the turn before are ahead of a call, too. The values are those of ``PythonCall.surprise``.
    """
    found: dict[Site, bool] = {}
    for node in graph.effects:
        for inner in inner_graphs(node) if node.op.control else ():
            again = node.op.control == "loop" and is_seen(node)
            found |= surprises(inner.graph, seen or again)
        call = node.param("call") if node.op is PYTHON_CALL else None
        how = None if call is None else call.surprise
        if call is not None and how is not None and (seen or not call.first or (how and not call.repeats)):
            found[call.site] = how
        seen = seen or is_seen(node)
    return found


def is_seen(node: Node) -> bool:
    """Return whether somebody may notice another run of an effect, or of one in a loop or branch, such as text."""
    return not is_taken_back(node)


PYTHON_CALL = register(
    OpDef(
        name="python_call",
        kind=Kind.EFFECT,
        infer=_infer,
        reference=_reference,
        silent=True,
        threaded=True,
        raises=(Exception,),
        bound=lambda params: params["call"].bound(),
        leaves=lambda params: params["call"].leaves,
        doc="What a function of Python's makes of the operands, called in its place, once.",
    )
)
