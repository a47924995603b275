"""The decorator as users meet it: options, counts, retraces, fallbacks, methods, nested arguments."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import threading
import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ArgumentError, CaptureError, XjitError
from xjit.api import dispatcher as dispatching
from xjit.errors import FallbackWarning, TargetError
from xjit.ir.current import current

LINE = np.arange(6.0)
ROWS = LINE.reshape(2, 3)


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users run it: falling back is a warning."""
    monkeypatch.setenv("XJIT_STRICT", "0")


def unsupported(x: Any) -> Any:
    return np.trim_zeros(x) + x


def left_to_numpy(x: Any) -> Any:
    return x + len({x[0] * 1j: 1})


# ---- decoration


def test_the_decorator_keeps_what_describes_a_function() -> None:
    def area(width: float, height: float = 2.0) -> float:
        """Width times height."""
        return width * height

    jitted = xjit.jit(area)
    assert jitted.__wrapped__ is area
    assert (jitted.__name__, jitted.__doc__, jitted.__module__) == ("area", "Width times height.", __name__)
    assert inspect.signature(jitted) == inspect.signature(area)


def test_with_and_without_options() -> None:
    @xjit.jit
    def plain(x: Any) -> Any:
        return x + 1.0

    @xjit.jit()
    def empty(x: Any) -> Any:
        return x + 1.0

    @xjit.jit(strict=True, target="cpu")
    def optional(x: Any) -> Any:
        return x + 1.0

    for function in (plain, empty, optional):
        np.testing.assert_array_equal(function(LINE), LINE + 1.0)


def test_decorating_twice_takes_the_last_options() -> None:
    once = xjit.jit(lambda x: x + 1.0)
    twice = xjit.jit(strict=True)(once)
    assert twice.options.strict and not once.options.strict
    assert twice.__wrapped__ is once.__wrapped__


@pytest.mark.parametrize("options", [{"target": "tpu"}, {"errors": "raise"}, {"target": None}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="xjit: "):
        xjit.jit(**options)


def test_unknown_options() -> None:
    with pytest.raises(TypeError, match="parallel"):
        xjit.jit(parallel=True)


def test_contraction_is_off_unless_asked_for() -> None:
    """a * b - c with an exact product of 106 bits: only a fused operation sees the lower half."""
    a = np.full(8, 1.0 + 2.0**-30)
    c = a * a

    def rest(a: Any, c: Any) -> Any:
        return a * a - c

    assert not xjit.jit(rest)(a, c).any()
    assert (xjit.jit(contract=True)(rest)(a, c) == 2.0**-60).all()


def test_places_of_extremes_are_found_under_contraction() -> None:
    """Fused in one loop and not in another, as the product is a result as well, the extreme would be nowhere."""

    def function(a: Any, b: Any) -> Any:
        product = a * b
        return product, (product + a).argmax(axis=1)

    a, b = np.random.default_rng(3).normal(size=(2, 50, 600))
    _, places = xjit.jit(contract=True)(function)(a, b)
    np.testing.assert_array_equal(places, function(a, b)[1])


class Stepper:
    def __init__(self) -> None:
        self.factor = 2.0
        self.step = xjit.jit(self.scaled)

    def scaled(self, x: Any) -> Any:
        return x * self.factor


@xjit.jit
def doubled(x: Any) -> Any:
    return x * 2.0


strictly = xjit.jit(strict=True)(unsupported)


def test_copies_and_pickles() -> None:
    assert pickle.loads(pickle.dumps(doubled)) is doubled is copy.copy(doubled) is copy.deepcopy([doubled])[0]
    found = pickle.loads(pickle.dumps(strictly))
    assert found.__wrapped__ is unsupported and found.options.strict
    stepper = Stepper()
    np.testing.assert_array_equal(stepper.step(LINE), LINE * 2.0)
    for twin in (copy.deepcopy(stepper), pickle.loads(pickle.dumps(stepper))):
        twin.factor = 3.0
        np.testing.assert_array_equal(twin.step(LINE), LINE * 3.0)
        np.testing.assert_array_equal(stepper.step(LINE), LINE * 2.0)


def test_numpys_error_state_is_obeyed_on_request() -> None:
    function = xjit.jit(errors="numpy")(lambda x: 1.0 / x)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        function(np.zeros(2))
    with np.errstate(divide="ignore"):
        assert np.isinf(function(np.zeros(2))).all()
    with np.errstate(divide="raise"):
        assert np.isinf(xjit.jit(lambda x: 1.0 / x)(np.zeros(2))).all()


# ---- what runs through NumPy


@pytest.mark.usefixtures("lenient")
def test_one_warning_and_the_right_answer() -> None:
    function = xjit.jit(left_to_numpy)
    with pytest.warns(FallbackWarning, match=r"left_to_numpy runs through NumPy: a hash needs the value") as caught:
        np.testing.assert_array_equal(function(LINE), left_to_numpy(LINE))
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(function(LINE * 2.0), left_to_numpy(LINE * 2.0))
    assert function.stats().fallbacks == 2


@pytest.mark.parametrize("how", ["option", "environment"])
def test_strict_raises_with_the_users_line(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "1" if how == "environment" else "0")
    function = xjit.jit(strict=how == "option")(unsupported)
    with pytest.raises(CaptureError) as caught:
        function(LINE)
    text = str(caught.value)
    line = inspect.getsourcelines(unsupported)[1] + 1
    assert f"{__file__}:{line}, in unsupported" in text
    assert "numpy.trim_zeros: the shape of the result depends on the elements" in text
    assert len(text.splitlines()) <= 12
    assert isinstance(caught.value, TypeError)


def test_inner_frames_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def depth() -> int:
        with pytest.raises(XjitError) as caught:
            xjit.jit(unsupported)(LINE)
        return len(caught.traceback)

    hidden = depth()
    monkeypatch.setenv("XJIT_FULL_TRACE", "1")
    assert hidden < depth()


@pytest.mark.usefixtures("lenient")
def test_a_broken_compiler_is_reported_and_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    from xjit import compile

    def broken(*arguments: Any, **options: Any) -> Any:
        raise ZeroDivisionError("made up")

    # The function that raises has to look as if it were part of the package.
    code = broken.__code__.replace(co_filename=compile.__file__)
    monkeypatch.setattr(compile, "lower_graph", type(broken)(code, broken.__globals__))
    function = xjit.jit(lambda x: x + 1.0)
    with pytest.warns(FallbackWarning, match="the compiler failed: ZeroDivisionError: made up") as caught:
        np.testing.assert_array_equal(function(LINE), LINE + 1.0)
    report = str(caught[0].message).split("please report the file ")[1].split()[0]
    with open(report) as file:
        assert "ZeroDivisionError" in file.read()


def test_a_broken_compiler_is_an_error_under_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    from xjit import compile

    monkeypatch.setattr(compile, "lower_graph", None)
    with pytest.raises(TargetError, match="the compiler failed"):
        xjit.jit(lambda x: x + 1.0, strict=True)(LINE)


def test_exceptions_of_the_user_pass_unchanged() -> None:
    class OwnError(Exception):
        pass

    def failing(x: Any) -> Any:
        raise OwnError("mine")

    with pytest.raises(OwnError, match="mine"):
        xjit.jit(failing)(LINE)


# ---- kinds of functions and arguments


class Scaled:
    factor = 3.0

    def __init__(self, offset: float) -> None:
        self.offset = offset

    @xjit.jit
    def method(self, x: Any) -> Any:
        return x * self.factor + self.offset

    @xjit.jit
    @staticmethod
    def static(x: Any) -> Any:
        return x + 1.0

    @staticmethod
    @xjit.jit
    def outer_static(x: Any) -> Any:
        return x + 1.0

    @xjit.jit
    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.factor

    @classmethod
    @xjit.jit
    def outer_class(cls, x: Any) -> Any:
        return x * cls.factor


def test_methods() -> None:
    one, other = Scaled(1.0), Scaled(2.0)
    np.testing.assert_array_equal(one.method(LINE), LINE * 3.0 + 1.0)
    np.testing.assert_array_equal(other.method(LINE), LINE * 3.0 + 2.0)
    one.offset = 5.0
    np.testing.assert_array_equal(one.method(LINE), LINE * 3.0 + 5.0)
    np.testing.assert_array_equal(Scaled.method(other, LINE), LINE * 3.0 + 2.0)


@pytest.mark.parametrize("name", ["static", "outer_static"])
def test_static_methods(name: str) -> None:
    for owner in (Scaled, Scaled(1.0)):
        np.testing.assert_array_equal(getattr(owner, name)(LINE), LINE + 1.0)


@pytest.mark.parametrize("name", ["of_class", "outer_class"])
def test_class_methods(name: str) -> None:
    for owner in (Scaled, Scaled(1.0)):
        np.testing.assert_array_equal(getattr(owner, name)(LINE), LINE * 3.0)


def test_jitted_functions_may_be_handed_on() -> None:
    inner = xjit.jit(lambda x, by=2.0: x * by)
    outer = xjit.jit(lambda x: sum(map(inner, (x, x + 1.0))) + functools.partial(inner, by=3.0)(x))
    np.testing.assert_array_equal(outer(LINE), 2 * LINE + 2 * (LINE + 1.0) + 3 * LINE)
    assert inner.stats().traces == 0 and outer.stats().traces == 1


def test_an_argument_by_name_is_the_one_at_its_position() -> None:
    function = xjit.jit(lambda x, by: x * by)
    for found in (function(LINE, 2.0), function(LINE, by=2.0), function(x=LINE, by=2.0)):
        np.testing.assert_array_equal(found, LINE * 2.0)
    assert function.stats().traces == 1


def test_keyword_and_default_arguments() -> None:
    function = xjit.jit(lambda x, scale=2.0, *, shift=0.5: x * scale + shift)
    np.testing.assert_array_equal(function(LINE), LINE * 2.0 + 0.5)
    np.testing.assert_array_equal(function(LINE, 3.0), LINE * 3.0 + 0.5)
    np.testing.assert_array_equal(function(x=LINE, scale=3.0), LINE * 3.0 + 0.5)
    np.testing.assert_array_equal(function(LINE, shift=1.0), LINE * 2.0 + 1.0)
    np.testing.assert_array_equal(function(shift=1.0, scale=4.0, x=LINE), LINE * 4.0 + 1.0)


@pytest.mark.parametrize("arguments", [(), (LINE, LINE, LINE)])
def test_wrong_numbers_of_arguments(arguments: Any) -> None:
    with pytest.raises(TypeError):
        xjit.jit(lambda x, y=1.0: x * y)(*arguments)


def test_unknown_keywords() -> None:
    with pytest.raises(TypeError):
        xjit.jit(lambda x: x)(LINE, scale=2.0)


Point = namedtuple("Point", "x y")


def test_nested_arguments_and_results() -> None:
    def function(data: dict[str, Any], point: Any, rest: list[Any]) -> Any:
        moved = Point(point.x + data["w"][0], point.y)
        return {"moved": moved, "sum": (rest[0] + rest[1], None, "name"), "list": [data["w"][1] * 2.0]}

    data = {"w": (LINE, ROWS), "unused": None}
    arguments = (data, Point(LINE + 1.0, 2.5), [ROWS, 3])
    made, expected = xjit.jit(function)(*arguments), function(*arguments)
    assert type(made["moved"]) is Point and made["moved"].y == 2.5
    np.testing.assert_array_equal(made["moved"].x, expected["moved"].x)
    np.testing.assert_array_equal(made["sum"][0], expected["sum"][0])
    assert made["sum"][1:] == (None, "name") and isinstance(made["list"], list)


def test_star_arguments() -> None:
    def total(*parts: Any, **named: Any) -> Any:
        return sum(parts) + sum(named.values())

    np.testing.assert_array_equal(xjit.jit(total)(LINE, LINE, a=LINE, b=2.0), 3.0 * LINE + 2.0)


def test_jitted_functions_call_each_other() -> None:
    inner = xjit.jit(lambda x: np.sin(x))
    outer = xjit.jit(lambda x: inner(x) + 1.0)
    np.testing.assert_allclose(outer(LINE), np.sin(LINE) + 1.0, rtol=1e-15)
    assert len(outer.explain(LINE).kernels) == 1


def test_threads_share_a_function() -> None:
    function = xjit.jit(lambda x: np.exp(x) * 2.0 + 1.0)
    results: list[Any] = []

    def work(size: int) -> None:
        x = np.linspace(0.0, 1.0, size)
        results.append(np.allclose(function(x), np.exp(x) * 2.0 + 1.0, rtol=1e-14))

    workers = [threading.Thread(target=work, args=(size,)) for size in (10, 10, 20, 20, 30, 10)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [True] * 6
    assert function.stats().traces == 3


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_left_alone(enabled: bool) -> None:
    """It runs while a function is traced and compiled, at any allocation, and may call compiled functions."""
    phases: list[bool] = []
    limits = gc.get_threshold()

    def note(phase: str, _: dict[str, int]) -> None:
        phases.append(current() is not None)

    gc.callbacks.append(note)
    gc.set_threshold(1, 1, 1)
    (gc.enable if enabled else gc.disable)()
    try:
        for _ in range(3):
            xjit.jit(lambda x: np.exp(x) * 2.5 + x)(LINE)
            assert gc.isenabled() is enabled
        with pytest.raises(ValueError, match="operands could not be broadcast"):
            xjit.jit(lambda x: x + x[:-1])(LINE)
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
        gc.set_threshold(*limits)
        gc.callbacks.remove(note)
    assert any(phases) is enabled


def test_public_names() -> None:
    assert xjit.jit is xjit.xjit
    for name in xjit.__all__:
        assert hasattr(xjit, name)
    assert xjit.__version__.count(".") == 2


def test_what_numpy_answers_is_passed_on_before_containers_are_taken_apart(
    lenient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = xjit.xjit(left_to_numpy)
    x = np.array([1.0, 3.0])
    with pytest.warns(FallbackWarning, match="a hash"):
        assert function(x).tolist() == [2.0, 4.0]
    monkeypatch.setattr(dispatching.tree, "flatten", lambda value: pytest.fail("looked into the arguments again"))
    assert function(x).tolist() == [2.0, 4.0]
    assert function.stats().fallbacks == 2
