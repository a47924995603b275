"""Numbers that a function reads from outside of its arguments: constants until they change, then inputs."""

from __future__ import annotations

import collections
import decimal
import itertools
import math
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.api.traces import program_builder
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import leaf_path

X = np.linspace(0.5, 3.0, 7)
STEPS = (0.1, 0.25, 1.5, -2.0, 1e-3, 0.0, 7.0)

GLOBAL: Any = 0.1
Pair = collections.namedtuple("Pair", "scale bias")


class Model:
    """A simulation: state in attributes, some of which change between calls."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @xjit.jit
    def scaled(self, x: Any) -> Any:
        return x * self.value + np.sqrt(x)

    def plain(self, x: Any) -> Any:
        return x * self.value + np.sqrt(x)


def assert_same(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    np.testing.assert_array_equal(result, expected)
    if isinstance(expected, np.ndarray):
        assert result.dtype == expected.dtype


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    Model.scaled.clear()
    yield


def test_an_attribute_is_a_constant_until_it_changes() -> None:
    model = Model(0.1)
    for _ in range(3):
        assert_same(model.scaled(X), X * 0.1 + np.sqrt(X))
    assert Model.scaled.stats().traces == 1
    for value in STEPS:
        model.value = value
        assert_same(model.scaled(X), X * value + np.sqrt(X))
    assert Model.scaled.stats().traces == 2
    assert len(Model.scaled.stats().retraces) == 1


def test_instances_with_other_numbers_share_a_trace() -> None:
    models = [Model(float(value)) for value in range(2, 12)]
    for model in models * 2:
        assert_same(model.scaled(X), model.plain(X))
    assert Model.scaled.stats().traces == 2


@pytest.mark.parametrize(
    "first, second", [(2, 3), (0.5 + 1j, 2j), (np.float32(0.1), np.float32(3)), (np.int64(3), np.int64(4))]
)
def test_other_kinds_of_numbers(first: Any, second: Any) -> None:
    model = Model(first)
    for value in (first, second, first + first, second):
        model.value = value
        assert_same(model.scaled(X), model.plain(X))
    assert Model.scaled.stats().traces == 2


def test_another_type_is_another_trace() -> None:
    model = Model(1.0)
    numbers = np.arange(4)
    for value in (1.0, 2.0, 2, np.float32(2), True, 3.0, 3, 2**80, 2j):
        model.value = value
        assert_same(model.scaled(X), model.plain(X))
        if not isinstance(value, int) or value < 2**62:
            assert_same(model.scaled(numbers), model.plain(numbers))


def change_global(value: Any) -> None:
    global GLOBAL
    GLOBAL = value


def by_global() -> tuple[Callable[..., Any], Callable[[Any], None]]:
    return (lambda x: np.sqrt(x) * GLOBAL), change_global


def by_closure() -> tuple[Callable[..., Any], Callable[[Any], None]]:
    inner = 0.1

    def function(x: Any) -> Any:
        return np.sqrt(x) * inner

    def change(value: Any) -> None:
        nonlocal inner
        inner = value

    return function, change


def by_dict() -> tuple[Callable[..., Any], Callable[[Any], None]]:
    options = {"scale": 0.1, "other": 1}
    return (lambda x: np.sqrt(x) * options["scale"]), lambda value: options.update(scale=value)


def by_list() -> tuple[Callable[..., Any], Callable[[Any], None]]:
    numbers = [2.5, 0.1, 3.5]
    return (lambda x: np.sqrt(x) * numbers[1] * numbers[0]), lambda value: numbers.__setitem__(1, value)


def by_named_tuple() -> tuple[Callable[..., Any], Callable[[Any], None]]:
    space = types.SimpleNamespace(pair=Pair(0.1, 2.5))
    change = lambda value: setattr(space, "pair", space.pair._replace(scale=value))  # noqa: E731
    return (lambda x: np.sqrt(x) * space.pair.scale + space.pair.bias), change


def by_keyword_default() -> tuple[Callable[..., Any], Callable[[Any], None]]:
    def function(x: Any, *, scale: float = 0.1) -> Any:
        return np.sqrt(x) * scale

    return function, lambda value: function.__kwdefaults__.update(scale=value)


@pytest.mark.parametrize("made", [by_global, by_closure, by_dict, by_list, by_named_tuple, by_keyword_default])
def test_places_of_numbers(made: Any) -> None:
    function, change = made()
    compiled = xjit.jit(function)
    change(0.1)
    for value in (0.1, *STEPS):
        change(value)
        assert_same(compiled(X), function(X))
    assert compiled.stats().traces == 2


def test_numbers_that_python_needs_share_a_trace_once_they_change() -> None:
    rate = {"tau": 0.7}

    def function(x: Any) -> Any:
        return x * math.exp(-rate["tau"]) + np.sqrt(x) * 0.3

    compiled = xjit.jit(function)
    for number in range(6):
        rate["tau"] = 0.7 + 0.01 * number
        assert_same(compiled(X), function(X))
    assert compiled.stats().traces == 2


def test_arguments_that_python_needs_find_their_kernels_again() -> None:
    def function(x: Any, tau: float) -> Any:
        return x * math.exp(-tau)

    compiled = xjit.jit(function)
    for number in range(6):
        assert_same(compiled(X, 0.3 + number / 7), function(X, 0.3 + number / 7))
    assert compiled.stats().compiles <= 2


def test_exponents_with_code_of_their_own() -> None:
    settings = types.SimpleNamespace(power=2.0)
    function = lambda x: x**settings.power  # noqa: E731
    compiled = xjit.jit(function)
    for power in (2.0, 3.0, 2.5, 0.5, 2.0, -1.0, 1.0, 0.0, 4.0):
        settings.power = power
        np.testing.assert_allclose(compiled(X), X**power, rtol=4e-16, atol=0)
    assert_same(compiled(X), X**4.0)


def test_branches_on_numbers_that_change() -> None:
    settings = types.SimpleNamespace(limit=0.5)

    def function(x: Any) -> Any:
        return x * settings.limit if settings.limit > 0.0 else x - 1.0

    compiled = xjit.jit(function)
    for limit in (0.5, 0.75, -1.0, 2.0, -3.0, 0.125):
        settings.limit = limit
        assert_same(compiled(X), function(X))
    assert compiled.stats().traces == 2


def test_results_that_are_numbers() -> None:
    settings = types.SimpleNamespace(scale=0.5, other=3.0)
    function = lambda x: (x + settings.scale, settings.scale, settings.scale * 2.0, settings.scale / settings.other)  # noqa: E731
    compiled = xjit.jit(function)
    for scale in STEPS:
        settings.scale = scale
        for one, other in zip(compiled(X), function(X), strict=True):
            assert_same(one, other)
    settings.other = 0.0
    with pytest.raises(ZeroDivisionError):
        compiled(X)
    settings.other = 4.0
    assert_same(compiled(X)[3], function(X)[3])


def test_what_cannot_be_traced_with_an_input_keeps_its_constant() -> None:
    settings = types.SimpleNamespace(price="0.1", amount=0.5)

    def function(x: Any) -> Any:
        return x * float(decimal.Decimal(settings.amount) * 3)

    compiled = xjit.jit(function)
    for amount in (0.5, 1.5, 2.5, 1.5):
        settings.amount = amount
        assert_same(compiled(X), function(X))
    assert compiled.stats().fallbacks == 0


class Restless:
    """Its attributes are other ones whenever they are read."""

    def __init__(self, first: Any) -> None:
        self.next = first

    def __getattr__(self, name: str) -> Any:
        if name != "value":
            raise AttributeError(name)
        self.next = self.next + self.next
        return self.next


def test_numbers_that_change_while_they_are_read() -> None:
    restless = Restless(1.0)
    compiled = xjit.jit(lambda x: x * restless.value)
    for _ in range(3):
        scale = compiled(X) / X
        np.testing.assert_array_equal(scale, scale[0])
        assert np.log2(scale[0]) == round(np.log2(scale[0])) and scale[0] <= restless.next
    assert compiled.stats().traces == 1


def test_what_changes_whenever_it_is_read_cannot_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    restless = Restless("a")
    compiled = xjit.jit(lambda x: x * len(restless.value))
    with pytest.raises(xjit.CaptureError, match="changes while it is traced"):
        compiled(X)
    with pytest.raises(xjit.CaptureError, match="changes while it is traced"):
        compiled.explain(X)
    monkeypatch.setenv("XJIT_STRICT", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert xjit.jit(lambda x: x * len(restless.value))(X)[0] / X[0] in 2.0 ** np.arange(60)


def test_what_changes_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = types.SimpleNamespace(scale=0.5, name="a")
    build = program_builder.compile.build_program

    def slow(*args: Any, **options: Any) -> Any:
        settings.scale += 1.0
        return build(*args, **options)

    monkeypatch.setattr(program_builder.compile, "build_program", slow)
    compiled = xjit.jit(lambda x: x * settings.scale)
    assert_same(compiled(X), X * 2.5)
    assert settings.scale == 2.5 and compiled.stats().traces == 2
    assert_same(compiled(X), X * 2.5)


def test_long_sequences_stay_constants() -> None:
    numbers = [float(k) for k in range(40)]
    function = lambda x: x * sum(numbers)  # noqa: E731
    compiled = xjit.jit(function)
    for shift in (0.5, 1.5, 2.5):
        numbers[:] = [number + shift for number in numbers]
        assert_same(compiled(X), function(X))
    assert compiled.stats().traces == 3


def test_words_and_text_give_the_same_numbers() -> None:
    """The same function before and after its constants became words of the table, to the bit."""
    settings = types.SimpleNamespace(shift=0.0)

    def function(x: Any) -> Any:
        y = (x * 0.1 + 1e-9) / 3.3 - 1e300 * x
        return np.where(y < 0.7, np.maximum(y, 0.2), y**1.7 + settings.shift), (x > 0.9).sum()

    for dtype in (np.float64, np.float32, np.float16):
        compiled = xjit.jit(function)
        x = np.linspace(-2, 2, 101).astype(dtype)
        with np.errstate(all="ignore"):
            before = compiled(x)
            settings.shift += 1.0
            compiled(x)
            settings.shift -= 1.0
            after = compiled(x)
            expected = function(x)
        assert "as_f64(n" in compiled.source(x)
        for one, other, wanted in zip(before, after, expected, strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_allclose(one, wanted, rtol=1e-2 if dtype == np.float16 else 1e-6)


def test_which_numbers_changed() -> None:
    path = leaf_path(0, "argument config")
    one = guards.same_value(path, 0.5)
    assert one.changed_numbers([0.5]) == [] == one.changed_numbers([1]) == one.changed_numbers(["text"])
    assert one.changed_numbers([0.75]) == [path]
    several = guards.same_items(path, (1.0, "a", 2))
    assert several.changed_numbers([(1.5, "b", 2)]) == [path.item(0)]
    assert several.changed_numbers([(1.0, "a", 3)]) == [path.item(2)]
    assert several.changed_numbers([5]) == []
    assert guards.identity(path, 0.5).changed_numbers([0.75]) == []


def test_parts_of_places() -> None:
    path = leaf_path(0, "argument config")
    part = path.attribute("items").item(3)
    assert part.within(path) and part.within(path.attribute("items")) and part.within(part)
    assert not path.within(part) and not part.within(path.attribute("item")) and not part.within(leaf_path(1, "x"))


def chosen_rows(x: np.ndarray, count: int) -> Any:
    return np.array([x[list(one)].sum() for one in itertools.combinations(range(4), count)])


def newest(x: np.ndarray, count: int) -> Any:
    return x[list(collections.deque(range(6), maxlen=count))]


@pytest.mark.parametrize("function", [chosen_rows, newest])
def test_functions_that_insist_on_integers_get_them(function: Any) -> None:
    compiled, x = xjit.jit(function, strict=True), np.arange(12.0).reshape(6, 2) ** 2
    for count in (2, 2, 3):
        np.testing.assert_array_equal(compiled(x, count), function(x, count))
    assert compiled.stats().traces == 2
