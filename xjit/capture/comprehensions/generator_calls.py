"""Calls of rewritten generator functions: something is done with each item where the function yields it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NoReturn

from xjit.capture.rewriting.runtime_protocol import UNBOUND, content
from xjit.capture.tracers.provenance import ask_to_rewrite, enclosing_capture, refuse
from xjit.ir.context import Trace
from xjit.ir.current import current


class Emitting(ABC):
    """Items that code of their own finds, and hands on one by one."""

    @abstractmethod
    def each(self, emit: Callable[[Any], None], going: Callable[[], Any] | None = None) -> None:
        """Do something with each item, as long as ``going`` holds."""


class GeneratorCall(Emitting):
    """A generator that has not begun; the variables of its ``own`` begin with the values that they have now."""

    def __init__(self, generate: FunctionType, own: tuple[str, ...]) -> None:
        pairs = zip(generate.__code__.co_freevars, generate.__closure__ or (), strict=True)
        self._cells = [(cell, content(cell)) for name, cell in pairs if name in own]
        self._generate = generate
        self._trace = current()
        self.used = False
        outer = enclosing_capture()
        if outer is not None:
            outer.recorder.generator_calls.append(self)

    @contextmanager
    def within(self, trace: Trace) -> Iterator[None]:
        """A context in which another trace goes through it, of which nothing is kept."""
        outer, used, self._trace = self._trace, self.used, trace
        try:
            yield
        finally:
            self._trace, self.used = outer, used

    def each(self, emit: Callable[[Any], None], going: Callable[[], Any] | None = None) -> None:
        """Does something with each item, which the generator waits for."""
        if going is not None:
            self.leave()
        if current() is not self._trace:
            self._keep("is gone through where only the run decides if the code runs")
        if self.used:
            return
        self.used = True
        for cell, value in self._cells:
            if value is not UNBOUND:
                cell.cell_contents = value
            elif content(cell) is not UNBOUND:
                del cell.cell_contents
        self._generate(emit)

    def leave(self) -> NoReturn:
        """CaptureError for a loop that may end before the generator does."""
        self._keep("is left early")

    def __iter__(self) -> NoReturn:
        if ask_to_rewrite():
            refuse("a generator is gone through item by item", fix="use operations on whole arrays")
        self._keep("hands out items one by one")

    def __next__(self) -> NoReturn:
        self._keep("hands out items one by one")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._keep(f"is asked for {name}")

    def _keep(self, what: str) -> NoReturn:
        """CaptureError, after which Python runs the generator as it stands, in another trace."""
        trace = enclosing_capture()
        if trace is not None:
            trace.recorder.rewriting.keep(self._generate.__code__)
        refuse(f"the generator {self._generate.__qualname__} {what}", fix="go through it in one for loop")
