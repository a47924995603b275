"""Calls that NumPy answers: after some looks they go straight to the function, and are looked at again at times."""

from __future__ import annotations

import enum
import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import config
from xjit.api import dispatcher as dispatching
from xjit.api import plain_calls
from xjit.api.plain_calls import FIRST_LOOKS, LONGEST_PAUSE, PlainCalls
from xjit.api.traces.known_traces import MAXIMUM_ENTRIES
from xjit.errors import CaptureError

LINE = np.arange(5.0)

pytestmark = pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")


@pytest.fixture(autouse=True)
def _lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


def asked(x: Any) -> Any:
    """A function that a trace refuses: the value of an element is asked for."""
    hash(x.flat[0] * 1j)
    return np.unique(x)


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @xjit.jit
    def __call__(self, x: Any) -> Any:
        return asked(x) * self.scale


def refused(*args: Any, **names: Any) -> Any:
    """A function that is not compiled, whatever the arguments are."""
    exec("")
    return np.unique(LINE), args, names


def looked_at(function: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Counts the looks at calls of a function from now on."""
    dispatcher, looks = function._dispatcher, []
    plain = dispatcher.call

    def call(args: Any, kwargs: Any) -> Any:
        looks.append(args)
        return plain(args, kwargs)

    monkeypatch.setattr(dispatcher, "call", call)
    return looks


def pass_by(function: Any, *args: Any, **names: Any) -> Any:
    """Calls until such a call is not looked at any more."""
    for _ in range(FIRST_LOOKS):
        result = function(*args, **names)
    return result


CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "array": ((LINE,), {}),
    "numbers": ((LINE, 2.0, 3, np.float32(4)), {}),
    "dict of arrays": (({"a": LINE, "b": [LINE]},), {}),
    "object array": ((np.array([None, 1]),), {}),
    "masked array": ((np.ma.array([1.0]),), {}),
    "object": ((object(),), {}),
    "plain values": ((None, True, "text", Side.LEFT, np.float64, len), {}),
    "names": ((LINE,), {"scale": 2.0, "mode": "nearest"}),
    "names that are none": ((), {"a b": LINE, "class": 1.0, "x": {"y": 1}}),
    "nothing": ((), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_function_gets_what_it_was_called_with(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    args, names = CALLS[name]
    function: Any = xjit.jit(refused)
    pass_by(function, *args, **names)
    looks = looked_at(function, monkeypatch)
    for _ in range(FIRST_LOOKS):
        made, got, named = function(*args, **names)
        np.testing.assert_array_equal(made, LINE)
        assert all(map(lambda one, other: one is other, got, args)) and len(got) == len(args)
        assert list(named) == list(names) and all(named[key] is names[key] for key in names)
    assert not looks
    assert function.stats().fallbacks == 2 * FIRST_LOOKS
    function(*args, **names)
    assert len(looks) == 1, "the pause is over"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LINE, LINE.astype(np.float32)),
        (LINE, LINE.reshape(5, 1)),
        (LINE, np.ma.array(LINE)),
        (LINE, [LINE]),
        (2.0, np.float64(2.0)),
        (1, True),
        (True, False),
        ("one", "other"),
        (None, LINE),
        (Side.LEFT, Side.RIGHT),
        (np.float32, np.float64),
        ({"a": LINE}, [LINE]),
    ],
    ids=range(12),
)
def test_calls_of_another_kind_are_looked_at(one: Any, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(refused)
    pass_by(function, one)
    looks = looked_at(function, monkeypatch)
    function(other)
    function(one, one)
    function(x=one)
    assert len(looks) == 3
    function(one)
    assert len(looks) == 3


def test_what_compiles_later_is_found() -> None:
    """Dicts are of one kind, whatever is in them."""

    def total(box: Any) -> Any:
        return asked(box["a"]) if "b" in box else box["a"] + 1.0

    function: Any = xjit.jit(total)
    pass_by(function, {"a": LINE, "b": 1})
    calls = 3 * FIRST_LOOKS
    for _ in range(calls):
        np.testing.assert_array_equal(function({"a": LINE}), LINE + 1.0)
    stats = function.stats()
    assert FIRST_LOOKS < stats.fallbacks < FIRST_LOOKS + calls, "some of them ran compiled"
    before = stats.fallbacks
    function({"a": LINE})
    assert function.stats().fallbacks == before


def test_kinds_that_were_compiled_are_always_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(box: Any) -> Any:
        return asked(box["a"]) if "b" in box else box["a"] + 1.0

    function: Any = xjit.jit(total)
    function({"a": LINE})
    pass_by(function, {"a": LINE, "b": 1})
    looks = looked_at(function, monkeypatch)
    function({"a": LINE, "b": 1})
    assert len(looks) == 1


def test_entries_of_compiled_calls_come_first_and_push_none_out_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(x: Any) -> Any:
        return asked(x) if x.ndim == 2 else x + 1.0

    function: Any = xjit.jit(total)
    pass_by(function, LINE.reshape(1, 5))
    for size in range(1, MAXIMUM_ENTRIES + 2):
        np.testing.assert_array_equal(function(np.arange(size)), np.arange(size) + 1.0)
    function(LINE.reshape(1, 5))
    looks = looked_at(function, monkeypatch)
    function(LINE.reshape(1, 5))
    assert not looks and len(function._entries) == MAXIMUM_ENTRIES + 1


def test_strict_mode_is_obeyed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(refused)
    pass_by(function, LINE)
    monkeypatch.setenv("XJIT_STRICT", "1")
    with pytest.raises(CaptureError):
        function(LINE)
    monkeypatch.setenv("XJIT_STRICT", "")
    function(LINE)
    monkeypatch.delenv("XJIT_STRICT")
    function(LINE)


def test_methods_and_errors() -> None:
    model = Model(2.0)
    pass_by(model, LINE)
    np.testing.assert_array_equal(Model(3.0)(LINE), LINE * 3.0)
    model.scale = "text"  # of no use to NumPy
    with pytest.raises(TypeError):
        model(LINE)


def test_clear_forgets_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(refused)
    pass_by(function, LINE)
    function.clear()
    assert function.stats().fallbacks == 0
    looks = looked_at(function, monkeypatch)
    function(LINE)
    assert len(looks) == 1


def test_pauses_grow_up_to_a_limit() -> None:
    known = PlainCalls(refused)
    entry: Callable[..., Any] | None = None
    pauses = []
    for _ in range(FIRST_LOOKS + 20):
        entry = known.refused((LINE,), {}) or entry
        assert entry is None or known.refused((LINE,), {}) is entry, "another thread was faster"
        passed = known.passed
        while entry is not None and entry(LINE) is not xjit.runtime.miss.MISS:
            pass
        pauses.append(known.passed - passed)
    grown = pauses[FIRST_LOOKS - 1 :]
    assert not any(pauses[: FIRST_LOOKS - 1]) and grown[0] == grown[1] == FIRST_LOOKS
    assert all(later in (earlier * 2, LONGEST_PAUSE) for earlier, later in itertools.pairwise(grown[1:]))
    assert grown[-1] == LONGEST_PAUSE


def test_only_so_many_kinds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_calls, "MOST_KINDS", 3)
    function: Any = xjit.jit(refused)
    for text in ("a", "b", "c", "d", "e"):
        pass_by(function, text)
    looks = looked_at(function, monkeypatch)
    for text in ("a", "b", "c", "d", "e"):
        function(text)
    assert [args[0] for args in looks] == ["d", "e"]


@pytest.mark.parametrize("text", ["", "0", "1", "yes", None])
def test_settings_are_read_quickly(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if text is None:
        monkeypatch.delenv("XJIT_STRICT")
    else:
        monkeypatch.setenv("XJIT_STRICT", text)
    get, key, off = config.environment_entry("XJIT_STRICT")
    assert (get(key) not in off) == config.flag("XJIT_STRICT")


def test_settings_of_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is a plain dict has nothing underneath."""
    monkeypatch.setattr("os.environ", {"XJIT_STRICT": "1"})
    get, key, off = config.environment_entry("XJIT_STRICT")
    assert get(key) not in off


def test_threads_that_meet_at_a_first_call_are_warned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    function, meeting, told = xjit.jit(refused), threading.Barrier(2, timeout=60.0), list[Any]()
    dispatcher = function._made()
    capture = dispatcher._capture

    def met(*arguments: Any) -> Any:
        meeting.wait()
        return capture(*arguments)

    monkeypatch.setattr(dispatcher, "_capture", met)
    monkeypatch.setattr(dispatching, "tell", lambda name, refused: told.append(refused))
    threads = [threading.Thread(target=function, args=(LINE,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1 and function.stats().fallbacks == 2
