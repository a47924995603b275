"""Random functions of nested control flow, and what a run of one shows."""

from __future__ import annotations

import linecache
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from xjit.capture.rewriting.python_runtime import PythonRuntime
from xjit.capture.rewriting.rewrite import rebuild
from xjit.capture.rewriting.runtime_protocol import UNBOUND, Site, State

NAMES = ("a", "b", "c", "d")
FUEL = 150


class Exhausted(BaseException):
    """The end of a run that takes too long."""


class Log:
    """The effects of a run in order; it also supplies the truths that decide."""

    def __init__(self, seed: int) -> None:
        self.events: list[str] = []
        self.random = random.Random(seed)

    def add(self, *values: Any) -> None:
        if len(self.events) > FUEL:
            raise Exhausted
        self.events.append(" ".join(map(text_of, values)))

    def truth(self) -> bool:
        found = self.random.random() < 0.5
        self.add("truth", found)
        return found

    def number(self, low: int = 0, high: int = 3) -> int:
        found = self.random.randint(low, high)
        self.add("number", found)
        return found


class Manager:
    """A context manager that writes down what it sees, and may swallow errors or end by one."""

    def __init__(self, log: Log, swallows: bool | str) -> None:
        self.log = log
        self.swallows = swallows

    def __enter__(self) -> int:
        self.log.add("enter")
        return 7

    def __exit__(self, kind: Any, *_: Any) -> bool:
        self.log.add("exit", kind.__name__ if kind else None)
        if self.swallows == "fails":
            raise KeyError("exit")
        return bool(self.swallows) and kind is not None and issubclass(kind, Exception)


def text_of(value: Any) -> str:
    """Text that is the same at each run."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(text_of, value))})"
    return repr(value) if isinstance(value, (int, str, type(None), dict, set)) else type(value).__name__


class Writer:
    """The writer of one random function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.budget = self.random.randint(6, 30)
        self.outer = self.random.random() < 0.2

    def text(self) -> str:
        if self.outer:
            self.lines += ["def make():", "    d = 5"]
        indent = "    " if self.outer else ""
        defaults = ", *, b=2" if self.random.random() < 0.3 else ""
        self.lines.append(f"{indent}def f(log, t, n, M, a=1{defaults}):")
        if self.random.random() < 0.2:
            self.lines.append(f"{indent}    'Doc.'")
        inner = indent + "    "
        if self.outer and self.random.random() < 0.7:
            self.lines.append(f"{inner}nonlocal d")
        elif self.random.random() < 0.1:
            self.lines.append(f"{inner}global c")
        self.block(inner, 0, False, self.random.randint(2, 6))
        self.lines.append(f"{inner}log({self.expression()})")
        if self.outer:
            self.lines += ["    return f, lambda: d", "f, after = make()"]
        return "\n".join(self.lines) + "\n"

    def block(self, indent: str, depth: int, loop: bool, count: int | None = None) -> None:
        for _ in range(count or self.random.randint(1, 4)):
            self.budget -= 1
            self.statement(indent, depth, loop)

    def statement(self, indent: str, depth: int, loop: bool) -> None:
        simple = [self.assign] * 5 + [self.note] * 3 + [self.update, self.unpack, self.delete, self.jump, self.jump]
        compound = [self.if_] * 4 + [self.for_] * 3 + [self.while_] * 2
        compound += [self.try_, self.with_, self.match_, self.define]
        kinds: list[Any] = simple if depth > 4 or self.budget < 0 else simple + compound
        self.random.choice(kinds)(indent, depth, loop)

    def write(self, indent: str, text: str) -> None:
        self.lines.append(indent + text)

    def name(self) -> str:
        return self.random.choice(NAMES)

    # Simple statements

    def assign(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"{self.name()} = {self.expression()}")

    def note(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"log({self.expression()})")

    def update(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"{self.name()} {self.random.choice('+-')}= {self.expression()}")

    def unpack(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"{self.name()}, *{self.name()} = n(), {self.expression()}")

    def delete(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"del {self.name()}" if self.random.random() < 0.5 else f"{self.name()} = n()")

    def jump(self, indent: str, depth: int, loop: bool) -> None:
        kinds = ["return " + self.expression(), "raise ValueError(n())", "assert t(), n()"]
        kinds += ["break", "continue"] * 3 if loop else []
        if depth or self.random.random() < 0.1:
            self.write(indent, self.random.choice(kinds))

    # Blocks

    def if_(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"if {self.test()}:")
        self.block(indent + "    ", depth + 1, loop)
        if self.random.random() < 0.3:
            self.write(indent, f"elif {self.test()}:")
            self.block(indent + "    ", depth + 1, loop)
        if self.random.random() < 0.5:
            self.write(indent, "else:")
            self.block(indent + "    ", depth + 1, loop)

    def for_(self, indent: str, depth: int, loop: bool) -> None:
        target = self.random.choice([self.name()] * 4 + [f"({self.name()}, {self.name()})"])
        items = "range(n())" if "," not in target else "[(n(), 2), (3, n())]"
        self.write(indent, f"for {target} in {items}:")
        self.loop(indent, depth, loop)

    def while_(self, indent: str, depth: int, loop: bool) -> None:
        test = self.random.choice(["t()", "True", self.test(), f"({self.name()} := n())"])
        self.write(indent, f"while {test}:")
        self.write(indent + "    ", "log('turn')")
        self.loop(indent, depth, loop)

    def loop(self, indent: str, depth: int, loop: bool) -> None:
        self.block(indent + "    ", depth + 1, True)
        if self.random.random() < 0.3:
            self.write(indent, "else:")
            self.block(indent + "    ", depth + 1, loop)

    def try_(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, "try:")
        self.block(indent + "    ", depth + 1, loop)
        handled = self.random.random() < 0.8
        if handled:
            error = self.random.choice(["Exception", "ValueError", "NameError", "UnboundLocalError"])
            name = self.random.choice(["", "", f" as {self.name()}"])
            self.write(indent, f"except {error}{name}:")
            self.block(indent + "    ", depth + 1, loop)
            if self.random.random() < 0.3:
                self.write(indent, "else:")
                self.block(indent + "    ", depth + 1, loop)
        if not handled or self.random.random() < 0.3:
            self.write(indent, "finally:")
            self.write(indent + "    ", f"log('finally', {self.expression()})")

    def with_(self, indent: str, depth: int, loop: bool) -> None:
        name = self.random.choice(["", f" as {self.name()}"])
        kinds = ["M(True)", "M(False)", "M('fails')", "M(True), M('fails')", "M(True), M(False)"]
        self.write(indent, f"with {self.random.choice(kinds)}{name}:")
        self.block(indent + "    ", depth + 1, loop)

    def match_(self, indent: str, depth: int, loop: bool) -> None:
        self.write(indent, f"match {self.expression()}, n():")
        for pattern in self.random.sample(["(0, _)", "(x, 1)", "[_, *c]", "(int(), a)", "(b, 2 | 3)"], 2):
            guard = f" if {self.test()}" if self.random.random() < 0.5 else ""
            self.write(indent + "    ", f"case {pattern}{guard}:")
            self.block(indent + "        ", depth + 1, loop)

    def define(self, indent: str, depth: int, loop: bool) -> None:
        if self.random.random() < 0.5:
            self.write(indent, f"g = lambda: ({self.name()}, {self.name()})")
        else:
            self.write(indent, f"def g(p={self.name()}):")
            self.write(indent, f"    return p, {self.name()}")
        if self.random.random() < 0.5:
            self.write(indent, "log(g())")

    # Expressions

    def test(self) -> str:
        tests = ["t()", "t()", "n() < 2", f"not {self.name()}", f"({self.name()} := n()) > 1", "0 < n() < 3"]
        return self.random.choice(
            [*tests, f"t() and {self.name()}", f"t() or {self.expression()}", "not (t() and t())"]
        )

    def expression(self) -> str:
        x, y, z = self.name(), self.name(), self.name()
        # Python 3.13 mistakes such a variable for one of an enclosing function that is declared nonlocal.
        first = x if x in "ab" else "a"
        kinds = [f"n() + {x}", f"({x}, {y})", f"{x} if t() else {y}", f"t() and {x}", f"{x} or {y}", f"not {x}"]
        kinds += ["n()", "n()", "1", "None", x, x, x, x, f"{x} < n() < {y}", f"n() if {z} else {x}"]
        kinds += [f"({x} := n())", f"t() and ({x} := n())", f"{x} if ({y} := n()) else {y}"]
        kinds += [f"[{x} for {x} in range(n())]", f"[({x}, {y}) for {x} in range(n()) if t()]"]
        kinds += [f"sum({x} for {x} in range(n()) if n() < {x})", f"[{x} for _ in range(2) if ({x} := n())]"]
        kinds += [f"{{{x}: {y} for {x}, {y} in [(n(), 1)]}}", f"[[{y} for {y} in range({x})] for {x} in range(n())]"]
        kinds += [
            f"[lambda: {first} for {first} in range(2)][0]()",
            f"{{{x} for {x} in range(2) for {y} in range({x})}}",
        ]
        kinds += ["g()" if self.random.random() < 0.5 else "n()"]
        return self.random.choice(kinds)


def function_of(text: str, filename: str) -> tuple[types.FunctionType, dict[str, Any]]:
    """Define the function ``f`` of a text whose lines can be looked up."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "generated", "x": 1}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"], namespace


def outcome(text: str, filename: str, seed: int, change: Callable[[types.FunctionType], Any] = lambda f: f) -> Any:
    """Return result or error, effects, and variables outside after a run of a changed function."""
    function, namespace = function_of(text, filename)
    log = Log(seed)
    end: Any
    try:
        changed = change(function)
        end = text_of(changed(log.add, log.truth, log.number, lambda swallows: Manager(log, swallows)))
    except (Exception, Exhausted) as error:
        end = error_of(error, filename)
    try:
        after = text_of(namespace["after"]()) if "after" in namespace else ""
    except NameError:
        after = "unbound"
    return end, log.events, text_of(namespace.get("c")), after


def error_of(error: BaseException, filename: str) -> Any:
    """Return type, message and line of an error, and those of the error before it."""
    line, frame = 0, error.__traceback__
    while frame is not None:
        line = frame.tb_lineno if frame.tb_frame.f_code.co_filename == filename else line
        frame = frame.tb_next
    before = error.__context__ and error_of(error.__context__, filename)
    return type(error).__name__, str(error), line, before


def over_single_steps(function: types.FunctionType) -> Callable[..., Any]:
    """Return the function run in single steps: of two that Python joins, errors are at the line of the first."""

    def stepping(*arguments: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(lambda *_: None)
        try:
            return function(*arguments)
        finally:
            sys.settrace(before)

    return stepping


def over_python(function: types.FunctionType) -> types.FunctionType:
    """Return the function rewritten, with Python's meaning."""
    return rebuild(function, PythonRuntime())


def over_forgetful(function: types.FunctionType) -> types.FunctionType:
    """Return the function rewritten, with all values deleted that nobody reads."""
    return rebuild(function, ForgetfulRuntime())


def over_late_returns(function: types.FunctionType) -> types.FunctionType:
    """Return the function rewritten, returns behind loops, with all values deleted that nobody reads."""
    return rebuild(function, ForgetfulRuntime(), late_returns=True)


class ForgetfulRuntime(PythonRuntime):
    """Python's meaning, but temporaries lose their values: right if liveness is."""

    def if_(self, test: Any, then: Any, otherwise: Any, site: Site) -> None:
        state = site.state(then, otherwise)
        truth = bool(test)
        forget(state, state.site.at_start)
        super().if_(truth, then, otherwise, site)
        forget(state, state.carried)

    def while_(self, test: Any, body: Any, going: Any, site: Site) -> None:
        state = site.state(test, body)
        forget(state, state.site.at_start)

        def turn() -> None:
            body()
            forget(state, state.carried)

        super().while_(test, turn, going, site)

    def for_(self, items: Any, assign: Any, body: Any, going: Any, site: Site) -> None:
        state = site.state(assign, body)
        forget(state, state.site.at_start)

        def turn() -> None:
            body()
            forget(state, state.carried)

        super().for_(items, assign, turn, going, site)


def forget(state: State, kept: tuple[str, ...]) -> None:
    """Delete the values of all names but some."""
    pairs = zip(state.names, state.get(), strict=True)
    state.set([value if name in kept else UNBOUND for name, value in pairs])


def difference(seed: int) -> str:
    """Return the text of a random function that behaves differently when rewritten, with both behaviours."""
    text = Writer(seed).text()
    filename = f"<random function {seed}>"
    try:
        compile(text, filename, "exec")
    except SyntaxError:
        return ""
    wanted = outcome(text, filename, seed)
    try:
        for change in (over_python, over_forgetful, over_late_returns):
            found = outcome(text, filename, seed, change)
            if found != wanted and found != outcome(text, filename, seed, over_single_steps):
                return f"{change.__name__}\n{text}\nwanted {wanted}\nfound  {found}"
    finally:
        del linecache.cache[filename]
    return ""


if __name__ == "__main__":
    first, last = map(int, sys.argv[1:])
    failing = 0
    for number in range(first, last):
        shown = difference(number)
        if shown:
            failing += 1
            sys.stdout.write(f"--- {number}\n{shown}\n")
            if failing > 3:
                break
