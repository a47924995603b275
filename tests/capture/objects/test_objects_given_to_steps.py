"""Objects and containers from outside that steps in Python get are those of the call, and texts of them, too."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import printed, split


class Reader:
    """Takes what is printed, and notes what an array has then."""

    def __init__(self, watched: Any) -> None:
        self.watched, self.texts, self.seen = watched, list[str](), list[float]()

    def write(self, text: str) -> int:
        self.texts.append(text)
        self.seen.append(float(self.watched[0]))
        return len(text)

    def flush(self) -> None: ...


class Holder:
    def __init__(self, n: int, inner: Any = None) -> None:
        self.n, self.table, self.line, self.members, self.inner = n, {"k": n, "f": n * 1.5}, [n, 2], {n}, inner

    def __str__(self) -> str:
        return f"holder {self.n}"


def to_reader(x: Any, reader: Any) -> Any:
    print("a", file=reader)
    x[0] = 4.0
    print("b", x[1], file=reader)
    return x * 2


def object_itself(x: Any, o: Any) -> Any:
    print(o, [o.inner])  # noqa: T201
    return x * 2


def object_in_turns(x: Any, o: Any) -> Any:
    for value in x:
        if value > 1.0:
            print(o.inner, value)  # noqa: T201
    return x * 2


def containers(x: Any, o: Any) -> Any:
    print(o.table, o.line, o.members)  # noqa: T201
    return json.dumps(o.table), x * 2


def texts(x: Any, o: Any) -> Any:
    return repr(o.table), str(o.line), f"{o.table!r:>30}", "%s" % o.table, "{}".format(o.line), x * 2  # noqa: UP031, UP032


def length_of_text(x: Any, o: Any) -> Any:
    return len(str(o.line)), x * 2


def test_reader_of_each_call_gets_the_text() -> None:
    compiled = xjit.jit(to_reader)
    for start in (1.0, 2.0, 3.0):
        mine, numpys = np.array([start, 5.0]), np.array([start, 5.0])
        reader, other = Reader(mine), Reader(numpys)
        with split():
            compiled(mine, reader)
        to_reader(numpys, other)
        assert reader.texts == other.texts
        np.testing.assert_array_equal(mine, numpys)


@pytest.mark.parametrize("function", [object_itself, object_in_turns, containers, texts, length_of_text])
def test_objects_of_each_call_are_seen(function: Any) -> None:
    compiled, x = xjit.jit(function), np.arange(3.0)
    inner = [Holder(10 * n) for n in range(5)]
    for n in (1, 1, 2, 3, 4, 2):
        with split():
            got, said = printed(compiled, (x, Holder(n, inner[n])))
        expected, wanted = printed(function, (x, Holder(n, inner[n])))
        assert said == wanted
        *same, line = got if isinstance(got, tuple) else (got,)
        *others, numpys = expected if isinstance(expected, tuple) else (expected,)
        assert same == others
        np.testing.assert_array_equal(line, numpys)
