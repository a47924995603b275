# mypy: disallow-subclassing-any=False
"""Numba's type inference with calls that are looked up at once, and once only.

Numba asks all calls of a function for their types until nothing changes, each time through its rules for keywords,
methods and literals, which kernel text has none of.  Importing this module imports Numba.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

# Numba's annotations differ from one minor version to the next; here all of it is Any.
typeinfer: Any = importlib.import_module("numba.core.typeinfer")
errors: Any = importlib.import_module("numba.core.errors")
_InferenceBase: Any = typeinfer.TypeInferer
_CallBase: Any = typeinfer.CallConstraint
_OperatorBase: Any = typeinfer.IntrinsicCallConstraint


class Inference(_InferenceBase):
    """The types of one function."""

    def __init__(self, context: Any, function_ir: Any) -> None:
        super().__init__(context, function_ir, _NoWarnings())

    def typeof_call(self, statement: Any, target: Any, call: Any) -> None:
        """Notes a call, whose type is asked for later."""
        self._note(statement, Call(target.name, call.func.name, call.args, call.kws, call.vararg, statement.loc))

    def typeof_intrinsic_call(self, statement: Any, target: Any, function: Any, *arguments: Any) -> None:
        """Notes an operator or a step of a loop."""
        self._note(statement, Operator(target.name, function, arguments, (), None, statement.loc))

    def _note(self, statement: Any, constraint: Any) -> None:
        self.constraints.append(constraint)
        self.calls.append((statement.value, constraint))


class Call(_CallBase):
    """A call of a word of the language or of an inline function."""

    given: tuple[Any, ...] | None = None

    def __call__(self, inference: Any) -> None:
        """Adds the type of the result to its variable, once the types of the operands are known."""
        given = tuple([inference.typevars[one.name].type for one in self.args])
        if given == self.given:
            return  # asked already
        if None in given or self.kws or self.vararg is not None:
            super().__call__(inference)
            return
        try:
            signature = inference.context.resolve_function_type(self.function(inference), given, {})
        except errors.TypingError:
            super().__call__(inference)  # which tells where
            return
        inference.add_type(self.target, signature.return_type, loc=self.loc)
        self.signature, self.given = signature, given

    def function(self, inference: Any) -> Any:
        """The function that is called."""
        return inference.typevars[self.func].getone()


class Operator(Call, _OperatorBase):
    """An operator or a step of a loop."""

    def function(self, inference: Any) -> Any:
        """The operator itself."""
        return self.func


class _NoWarnings:
    """In the place of Numba's collector of warnings, which filters them anew for each statement."""

    def catch_warnings(self, **_: Any) -> AbstractContextManager[None]:
        """Nothing happens around a statement."""
        return nullcontext()
