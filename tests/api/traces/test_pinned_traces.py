"""Values of the run that Python needs: each has a trace of its own, and calls find the one for theirs."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning

pytestmark = pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")


@pytest.fixture(autouse=True)
def _may_split(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XJIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")


FUNCTIONS = [np.sin, np.cos, np.exp, np.abs]
NAMES = ["a", "b", "c", "d"]
TABLE = {0: 1.5, 1: "one", 2: (2, 3), 3: None}


def function_of(x: Any) -> Any:
    return FUNCTIONS[int(np.argmax(x))](x)


def name_of(x: Any) -> Any:
    return NAMES[np.argmax(x)], x.max()


def entry_of(x: Any) -> Any:
    return TABLE[int(np.argmax(x))], x.sum()


def rows(x: Any) -> Any:
    return x.reshape([1, 2, 4, 2][int(x.argmax())], -1).sum(axis=0)


def parts(x: Any) -> Any:
    return [part.sum() for part in np.split(x, [1, 2, 4, 1][int(x.argmax())])]


def word(x: Any) -> Any:
    if x[0] > x[1]:
        return "falling", x * 2
    return "rising", x


def labelled(x: Any) -> Any:
    return {"label": "wide" if x.max() > 2 * x.min() else "narrow", "mean": x.mean()}


def bits(x: Any) -> Any:
    k = int(x.argmax())
    return bin(k), k.bit_length(), str(k), x[k]


def chosen_by_text(x: Any) -> Any:
    key = "first" if x[0] > x[3] else "last"
    return {"first": np.cumsum, "last": np.flip}[key](x)


def both_conditions(x: Any) -> Any:
    if x[0] > x[1] and x[2] > x[3]:
        return None, "both"
    return x, "not both"


def names_up_to(x: Any) -> Any:
    found = []
    for i in range(int(x.argmax()) + 1):
        found.append(NAMES[i])
    return found, {i: NAMES[i] for i in range(int(x.argmax()))}


def names_where(x: Any) -> Any:
    found = []
    for i in np.flatnonzero(x > 1.0):
        found.append(NAMES[i])
    return found, x.sum()


def one_function_after_the_other(x: Any) -> Any:
    for i in range(int(x.argmax())):
        x = FUNCTIONS[i](x)
    return x


PROGRAMS = [
    *(function_of, name_of, entry_of, rows, parts, word, labelled, bits, chosen_by_text, both_conditions),
    *(names_up_to, names_where, one_function_after_the_other),
]


def arguments(kind: int) -> Any:
    """Four numbers of which the one of this place is the largest."""
    return np.random.default_rng(kind).random(4) + np.eye(4)[kind]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return type(other) is np.ndarray and one.dtype == other.dtype and np.allclose(one, other, rtol=1e-14, atol=0)
    return type(one) is type(other) and (one == other or bool(np.isclose(one, other, rtol=1e-14, atol=0)))


class Compiled:
    """A function, compiled; calls that run as NumPy are failures."""

    def __init__(self, function: Any) -> None:
        self.function: Any = xjit.jit(function)

    def __call__(self, *values: Any) -> Any:
        before = self.function.stats().fallbacks
        found = self.function(*values)
        assert self.function.stats().fallbacks == before, self.function.explain(*values)
        return found


@pytest.mark.parametrize("function", PROGRAMS)
def test_each_value_has_a_trace(function: Callable[..., Any]) -> None:
    compiled = Compiled(function)
    for kind in (0, 1, 2, 3, 1, 0, 0, 3):
        x, y = arguments(kind), arguments(kind)
        assert same(compiled(x), function(y)), kind
        np.testing.assert_array_equal(x, y)
    traces = compiled.function.stats().traces
    assert traces <= 4
    for kind in range(4):
        assert same(compiled(arguments(kind)), function(arguments(kind)))
    assert compiled.function.stats().traces == traces


def test_a_warning_names_the_line_and_the_cost() -> None:
    with pytest.warns(FallbackWarning, match="name_of is compiled for each value that decides: an index or a size"):
        xjit.jit(name_of)(arguments(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = xjit.jit(lambda x: x + 1)
        compiled(arguments(0))


def test_explain_tells_the_value_that_decides() -> None:
    text = str(xjit.jit(name_of).explain(arguments(2)))
    assert "each of its values has a program of its own" in text
    assert "NumPy runs" not in text


def test_strict_functions_refuse_the_value() -> None:
    with pytest.raises(CaptureError, match="an index or a size needs the value"):
        xjit.jit(name_of, strict=True)(arguments(0))


def moved(x: Any, out: Any) -> Any:
    """Writes in front of the value, and behind it."""
    out += x
    name = NAMES[int(out.argmax())]
    out *= 2
    return name


def test_arrays_are_written_once() -> None:
    compiled = Compiled(moved)
    own, others = np.zeros(4), np.zeros(4)
    for kind in (0, 1, 1, 3, 2, 0, 3):
        assert compiled(10.0**kind * arguments(kind), own) == moved(10.0**kind * arguments(kind), others)
        np.testing.assert_allclose(own, others, rtol=1e-14)


class Counter:
    def __init__(self) -> None:
        self.calls, self.last = 0, ""


def counted(x: Any, state: Any) -> Any:
    state.calls += 1
    state.last = NAMES[int(x.argmax())]
    state.calls += 1
    return x * state.calls


def test_objects_are_assigned_once() -> None:
    compiled = Compiled(counted)
    own, others = Counter(), Counter()
    for kind in (2, 2, 0, 1, 2, 0):
        np.testing.assert_array_equal(compiled(arguments(kind), own), counted(arguments(kind), others))
        assert vars(own) == vars(others)


def test_errors_of_a_value_are_pythons() -> None:
    compiled, short = xjit.jit(lambda x, names: (names[np.argmax(x)], x + 1)), NAMES[:2]
    assert compiled(arguments(1), short)[0] == "b"
    with pytest.raises(IndexError, match="list index out of range"):
        compiled(arguments(3), short)
    assert compiled(arguments(0), short)[0] == "a"
    assert compiled(arguments(1), short)[0] == "b"


def drawn(x: Any, rng: Any) -> Any:
    y = x + rng.normal(size=4)
    return NAMES[int(np.argmax(y))], y


def test_draws_happen_once() -> None:
    compiled, own, others = xjit.jit(drawn), np.random.default_rng(5), np.random.default_rng(5)
    for kind in (0, 1, 2, 3, 0):
        assert same(compiled(arguments(kind), own), drawn(arguments(kind), others))
    assert own.bit_generator.state == others.bit_generator.state


def by_its_text(x: Any) -> Any:
    return {"nan": "missing", "-0.0": "minus", "0.0": "plus"}.get(str(x[0] + 0 * x[1]), "some"), x[1]


def test_values_differ_by_their_bits() -> None:
    compiled = xjit.jit(by_its_text)
    for first in (np.nan, 0.0, -0.0, np.nan, 1.5, -0.0):
        x = np.array([first, -1.0 if np.signbit(first) else 1.0])
        assert compiled(x)[0] == by_its_text(x)[0], first


def hashed(x: Any) -> Any:
    return hash(float(x.sum())), x * 2


def test_new_values_in_every_call_end_in_numpy() -> None:
    compiled = xjit.jit(hashed)
    for number in range(40):
        x = np.arange(4.0) + number
        assert same(compiled(x), hashed(x))
    stats = compiled.stats()
    assert stats.traces <= 10
    assert stats.fallbacks >= 28
    assert "NumPy runs" in str(compiled.explain(np.arange(4.0))) or stats.traces


def test_functions_without_source_have_branches() -> None:
    text = "def f(x):\n    if x[0] > x[1]:\n        return 'falling', x * 2\n    return 'rising', -x\n"
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    compiled = Compiled(namespace["f"])
    for kind in (0, 1, 0, 1):
        assert same(compiled(arguments(kind)), namespace["f"](arguments(kind)))


def test_other_processes_find_a_leaf_of_theirs() -> None:
    for kinds in ((0, 1, 0), (1, 2), (3, 0, 1)):
        compiled = xjit.jit(name_of)
        for kind in kinds:
            assert same(compiled(arguments(kind)), name_of(arguments(kind)))


def nested(x: Any) -> Any:
    first = NAMES[int(x.argmax())]
    rest = np.delete(x, x.argmax())
    return first, FUNCTIONS[int(x.argmin())](rest)


def test_values_decide_one_behind_the_other() -> None:
    compiled = xjit.jit(nested)
    for kind in (0, 1, 2, 3, 2, 1, 0):
        assert same(compiled(arguments(kind)), nested(arguments(kind)))


def test_shapes_have_trees_of_their_own() -> None:
    compiled = Compiled(name_of)
    for size in (4, 3, 4, 2, 3):
        x = np.arange(float(size))
        assert same(compiled(x), name_of(x))
        assert same(compiled(-x), name_of(-x))


def keys_of_a_dict(x: Any) -> Any:
    k = int(x.argmax())
    return {k: NAMES[k], 7: x}, str({float(x[k]): 1}), {k, 9}


def test_keys_that_dicts_keep_are_no_traced_values() -> None:
    compiled = xjit.jit(keys_of_a_dict)
    for kind in (0, 1, 1, 3, 0):
        own, others = compiled(arguments(kind)), keys_of_a_dict(arguments(kind))
        assert same(own[0], others[0]) and own[1:] == others[1:]


def told(x: Any) -> Any:
    name = NAMES[int(x.argmax())]
    print(name)  # noqa: T201
    return x.sum()


def test_steps_wait_for_the_test_of_the_value(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = xjit.jit(told)
    for kind in (0, 1, 1, 0, 3, 2, 0):
        compiled(arguments(kind))
    assert capsys.readouterr().out.split() == list("abbadca")


def test_conditions_and_what_they_negate_are_two_values() -> None:
    def function(x: Any, pair: Any) -> Any:
        for i in range(2):
            if not x[1] == 0.5:  # noqa: SIM201
                text = str(pair[0])
                chosen = x
            else:
                chosen, text = np.zeros(i), "none"
            first = chosen[0]
        return first, text

    compiled = xjit.jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        warnings.filterwarnings("ignore", ".*(is compiled for each|runs a step)", FallbackWarning)
        for x in (np.arange(4.0), np.arange(1.0, 5.0)):
            assert compiled(x, (4,)) == function(x, (4,))


def test_code_of_finally_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Any, total: Any) -> Any:
        try:
            name = NAMES[np.argmax(x)]
        finally:
            print(f"largest {x.max():.1f}")  # noqa: T201
            total += x
        return name

    compiled = xjit.jit(function)
    ours, numpys = np.zeros(4), np.zeros(4)
    for row in np.eye(4):
        assert compiled(row, ours) == function(row, numpys)
        printed = capsys.readouterr().out.splitlines()
        assert printed == ["largest 1.0"] * 2
        assert ours.tolist() == numpys.tolist()


def test_calls_with_other_values_take_one_shortcut(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = xjit.jit(word)
    falling, rising = arguments(0), arguments(1)
    for x in (falling, rising):
        compiled(x)
    looked: list[Any] = []
    monkeypatch.setattr(type(compiled._dispatcher), "call", lambda *given: looked.append(given))
    monkeypatch.setattr(type(compiled._dispatcher), "other_value", lambda *given: looked.append(given))
    for x in (falling, rising, rising, falling, rising):
        assert same(compiled(x), word(x))
    assert not looked


def test_shortcuts_of_two_values_one_behind_the_other() -> None:
    compiled = xjit.jit(nested)
    for _ in range(3):
        for kind in range(4):
            for sign in (1, -1):
                assert same(compiled(sign * arguments(kind)), nested(sign * arguments(kind)))
    assert compiled.stats().traces <= 12


def test_trials_compare_all_leaves_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_TRIALS", "1")
    compiled = xjit.jit(bits)
    for kind in (0, 1) * 12:
        assert same(compiled(arguments(kind)), bits(arguments(kind)))
    assert len(compiled._dispatcher.trials) == 1
    assert "µs as NumPy" in str(compiled.explain(arguments(0)))


def test_arguments_are_not_held() -> None:
    compiled = xjit.jit(word)
    for kind in (0, 1):
        x = arguments(kind)
        result = compiled(x)
        gone = weakref.ref(x)
        del x, result
        gc.collect()
        assert gone() is None


def test_threads_find_the_values_of_their_calls() -> None:
    compiled, wrong = xjit.jit(name_of), []

    def calls(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(40):
            x = rng.permutation(4.0 + np.arange(4))
            if not same(compiled(x), name_of(x)):
                wrong.append(x)

    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and compiled.stats().traces >= 4
