"""Tracebacks as users see them: their own lines and the cause, in at most twelve lines, wherever it is shown."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.api import typical_mistakes
from tests.api.typical_mistakes import MISTAKES, ROWS, Mistake
from xjit.errors import ArgumentError, CaptureError, ShapeError
from xjit.ir import boundary
from xjit.ir.boundary import at_boundary, shown_at, tidy
from xjit.ir.context import Trace
from xjit.ir.current import tracing
from xjit.ir.source_location import Where

PACKAGE = str(Path(xjit.__file__).parent)
MOST_LINES = 12
SECONDS = 300

pytestmark = pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")


def raised(call: Callable[[], Any]) -> Exception:
    """The exception of a call, its traceback from the calling line on."""
    try:
        call()
    except Exception as error:
        assert error.__traceback__ is not None
        return error.with_traceback(error.__traceback__.tb_next)
    raise AssertionError("nothing was raised")


def printed(error: BaseException) -> list[str]:
    return "".join(traceback.format_exception(error)).rstrip().splitlines()


def assert_is_users(lines: list[str]) -> None:
    assert not [line for line in lines if f'File "{PACKAGE}' in line or 'File "<' in line]
    assert not any("exception occurred" in line or "direct cause" in line for line in lines)


def names_line(lines: list[str], file: str, number: int) -> bool:
    """Return whether a frame or a message names a line."""
    return any(f'{file}", line {number}, in' in line or f"{file}:{number}, in" in line for line in lines)


# Every typical mistake


def assert_tells(mistake: Mistake, error: Exception) -> None:
    lines = printed(error)
    assert isinstance(error, mistake.kind)
    assert len(lines) <= MOST_LINES, "\n".join(lines)
    assert_is_users(lines)
    assert mistake.last in lines[-1]
    if mistake.line is not None:
        assert names_line(lines, Path(typical_mistakes.__file__).name, mistake.line)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake = MISTAKES[name]
    for strict in ("1",) if mistake.strict else ("0", "1"):
        monkeypatch.setenv("XJIT_STRICT", strict)
        error = raised(mistake.call)
        if not mistake.compiled:  # the caller is a function of its own
            assert error.__traceback__ is not None
            error = error.with_traceback(error.__traceback__.tb_next)
        assert_tells(mistake, error)


@pytest.mark.parametrize("name", [name for name in MISTAKES if MISTAKES[name].compiled])
def test_mistakes_of_later_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that was refused, or failed, before takes another way."""
    mistake = MISTAKES[name]
    monkeypatch.setenv("XJIT_STRICT", "0")
    function = xjit.jit(mistake.function)
    for _ in range(12):
        if mistake.strict:
            function(*mistake.args, **mistake.names)
        else:
            assert_tells(mistake, raised(lambda: function(*mistake.args, **mistake.names)))
    monkeypatch.setenv("XJIT_STRICT", "1")
    if function.stats().traces:  # it was split
        function.clear()
    assert_tells(mistake, raised(lambda: function(*mistake.args, **mistake.names)))


def test_everything_is_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_FULL_TRACE", "1")
    for name in ("add_other_shapes", "solve", "add_other_ranks_eagerly", "unknown_target", "own_mistake"):
        assert any(f'File "{PACKAGE}' in line for line in printed(raised(MISTAKES[name].call))), name


# Exceptions that are the user's own


class OwnError(Exception):
    pass


def chained(x: Any) -> Any:
    try:
        raise KeyError("first")
    except KeyError as error:
        raise OwnError("second") from error


def in_a_handler(x: Any) -> Any:
    try:
        raise KeyError("first")
    except KeyError:
        return deeper(x)


def deeper(x: Any) -> Any:
    raise OwnError("second")


def in_numpys_loop(x: Any) -> Any:
    return np.apply_along_axis(deeper, 0, x)


@pytest.mark.parametrize("strict", ["0", "1"])
@pytest.mark.parametrize("function", [chained, in_a_handler, deeper])
def test_own_exceptions_are_as_without_the_decorator(
    function: Any, strict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", strict)
    jitted = xjit.jit(function)
    plain, first, second = (printed(raised(lambda one=one: one(ROWS))) for one in (function, jitted, jitted))
    assert plain == first == second


def test_frames_of_libraries_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    lines = printed(raised(lambda: xjit.jit(in_numpys_loop)(ROWS)))
    assert any("in apply_along_axis" in line for line in lines) and any("in deeper" in line for line in lines)
    assert_is_users(lines)


def test_what_the_caller_was_handling_stays() -> None:
    def call() -> Any:
        try:
            raise KeyError("first")
        except KeyError:
            return xjit.jit(deeper)(ROWS)

    error = raised(call)
    assert isinstance(error.__context__, KeyError) and error.__context__.__context__ is None


def test_an_inner_function_that_is_compiled_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    inner = xjit.jit(MISTAKES["add_other_shapes"].function)

    def outer(x: Any) -> Any:
        hash(x[0, 0])
        return inner(x, np.ones(3))

    lines = printed(raised(lambda: xjit.jit(outer)(ROWS)))
    assert_is_users(lines)
    assert "axis -1 has sizes 4 and 3" in lines[-1] and any("in outer" in line for line in lines)


def test_interrupts_are_tidied_up_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def interrupted(x: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        xjit.jit(interrupted)(ROWS)
    assert_is_users(printed(caught.value))


# The boundary itself


def inner_error() -> Any:
    """A function that looks as if it were part of the package."""

    def inner() -> Any:
        raise ValueError("inside")

    code = inner.__code__.replace(co_filename=boundary.__file__)
    return type(inner)(code, inner.__globals__)


def test_exceptions_stay_as_they_are_while_tracing() -> None:
    """The place of a raise, inside of the package or not, tells mistakes of the user from those of the compiler."""
    entered = at_boundary(inner_error())
    with tracing(Trace("outer")):
        error = raised(entered)
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["entered", "inner"]
    assert raised(entered).__traceback__ is None


def test_chains_of_the_package_are_cut() -> None:
    inner = inner_error()

    def handling() -> Any:
        try:
            inner()
        except ValueError:
            raise OwnError("second")  # noqa: B904

    code = handling.__code__.replace(co_filename=boundary.__file__)
    error = raised(type(handling)(code, handling.__globals__, closure=handling.__closure__))
    assert isinstance(error.__context__, ValueError)
    tidy(error)
    assert error.__context__ is None


def test_chains_that_are_rings() -> None:
    one, other = raised(lambda: deeper(1)), raised(lambda: deeper(2))
    one.__context__, other.__context__ = other, one
    tidy(one)
    assert one.__context__ is other and other.__context__ is one


def test_a_line_stands_in_for_code_that_is_gone() -> None:
    number = inspect.getsource(typical_mistakes).splitlines().index("import numpy as np") + 1
    where = Where(typical_mistakes.__file__, number, "somewhere")
    shown = traceback.extract_tb(shown_at(where, None))
    assert [(frame.filename, frame.lineno, frame.name) for frame in shown] == [
        (typical_mistakes.__file__, number, "somewhere")
    ]
    text = "".join(traceback.format_list(shown))
    assert text == f'  File "{typical_mistakes.__file__}", line {number}, in somewhere\n    import numpy as np\n'


def test_messages_end_with_the_cause_or_the_fix() -> None:
    where = Where("demo.py", 3, "f")
    assert str(ShapeError("sizes differ")) == "sizes differ"
    assert str(ShapeError("sizes differ", where=where)).splitlines()[-1] == f"  fix: {ShapeError.remedy}"
    assert str(CaptureError("no", origin=["argument x"])).splitlines()[-1] == f"  fix: {CaptureError.remedy}"
    assert str(ArgumentError("no", where=where, fix="say yes")).splitlines()[-1] == "  fix: say yes"
    origin = [f"line {number}" for number in range(9)]
    assert len(str(ArgumentError("no", where=where, origin=origin)).splitlines()) == 8


# In other hands

SCRIPT = """
    import numpy as np
    import xjit

    @xjit.jit
    def add(x, y):
        doubled = x * 2.0 + np.sin(x)
        return doubled + y

    @xjit.jit
    def solve(a):
        scaled = a * 2.0
        return np.linalg.inv(scaled)

    @xjit.jit(strict=True)
    def positive(x):
        if x.sum() > 0.0:
            return x
        return "none"

    @xjit.jit
    def own(x):
        return np.unique(x) / (1 // 0)
"""
FAILING = {
    "add": ("add(np.ones((3, 4)), np.ones(3))", "fix: axis -1 has sizes 4 and 3", "return doubled + y"),
    "solve": ("solve(np.zeros((2, 2)))", "Singular matrix", "return np.linalg.inv(scaled)"),
    "positive": ("positive(np.ones(3))", "fix: return a value of one type", "if x.sum() > 0.0"),
    "own": ("own(np.ones(3))", "ZeroDivisionError: integer", "return np.unique(x) / (1 // 0)"),
}


def in_a_child(*command: str, folder: Path) -> str:
    environment = {**os.environ, "XJIT_STRICT": "0", "PYTHONPATH": "", "IPYTHONDIR": str(folder), "NO_COLOR": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return run.stdout + run.stderr


@pytest.mark.parametrize("name", FAILING)
def test_in_plain_python(name: str, tmp_path: Path) -> None:
    call, last, line = FAILING[name]
    script = tmp_path / "script.py"
    script.write_text(f"{textwrap.dedent(SCRIPT)}\n{call}\n")
    number = next(n for n, text in enumerate(script.read_text().splitlines(), 1) if line in text)
    lines = in_a_child(str(script), folder=tmp_path).rstrip().splitlines()
    assert lines[0].startswith("Traceback") and last in lines[-1] and len(lines) <= MOST_LINES, "\n".join(lines)
    assert names_line(lines, "script.py", number)
    assert_is_users(lines)


def test_in_pytest(tmp_path: Path) -> None:
    tests = "".join(f"\ndef test_{name}():\n    {call}\n" for name, (call, _, _) in FAILING.items())
    (tmp_path / "test_script.py").write_text(textwrap.dedent(SCRIPT) + tests)
    text = in_a_child("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_script.py", folder=tmp_path)
    assert "4 failed" in text
    assert all(last in text for _, last, _ in FAILING.values())
    assert not [line for line in text.splitlines() if "xjit" + os.sep in line], text


def test_in_ipython(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    shown = "\ntry:\n    {}\nexcept Exception:\n    get_ipython().showtraceback()\n"
    calls = "".join(shown.format(call) for call, _, _ in FAILING.values())
    script = tmp_path / "script.ipy"
    script.write_text(textwrap.dedent(SCRIPT) + calls)
    options = ("--quick", "--no-banner", "--no-confirm-exit", "--colors=NoColor", "--HistoryManager.enabled=False")
    text = in_a_child("-m", "IPython", *options, str(script), folder=tmp_path)
    assert text.count("Traceback (most recent call last)") == len(FAILING), text
    assert all(last in text for _, last, _ in FAILING.values())
    assert not [line for line in text.splitlines() if "xjit" + os.sep in line], text
