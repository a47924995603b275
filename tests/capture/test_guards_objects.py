"""Guards on objects and classes: attributes, methods, properties; objects made while tracing; refused effects."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import gc
import logging
import math
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.helpers.capturing import assert_same, captured, check_mutation, run
from xjit.capture.recording.global_reads import RecordingGlobals
from xjit.capture.tracers.traced_array import TracedArray
from xjit.errors import CaptureError

X = np.array([1.0, 2.0, 4.0])
SCALE: Any = 2.0
CONFIG: Any = {"scale": 2.0}
LAYERS: Any = [2.0, np.ones(3), "name"]


def helper(x: Any, factor: float = 3.0) -> Any:
    return x * factor * SCALE


class Base:
    gain = 2.0
    table = np.ones(3)

    def apply(self, x: Any) -> Any:
        return x * self.gain

    @staticmethod
    def shift(x: Any) -> Any:
        return x + SCALE

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x * cls.gain


class Model(Base):
    def __init__(self, weights: Any = None, bias: float = 1.0) -> None:
        self.weights = np.ones(3) if weights is None else weights
        self.bias = bias
        self.options = {"scale": 2.0}

    @property
    def twice(self) -> float:
        return self.bias * 2

    @functools.cached_property
    def kernel(self) -> Any:
        return np.arange(3.0)

    def apply(self, x: Any) -> Any:
        return super().apply(x) + self.weights * self.twice

    def __call__(self, x: Any) -> Any:
        return self.apply(x)

    def __matmul__(self, x: Any) -> Any:
        return self.weights @ x

    def __len__(self) -> int:
        return 3

    def __getitem__(self, key: str) -> Any:
        return self.options[key]


def use_model(model: Any, x: Any) -> Any:
    assert isinstance(model, Base) and type(model) is Model and model.__class__ is Model
    parts = model(x) + model.shift(x) + model.scaled(x) + (model @ x) * len(model) * model["scale"]
    return parts + model.kernel + model.table + getattr(model, "extra", 1.0) + type(model).gain


def use_base(model: Any, x: Any) -> Any:
    return model.apply(x)


@pytest.fixture
def model(monkeypatch: Any) -> Model:
    return Model()


OBJECT_MUTATIONS: dict[str, Callable[[Any, Model], tuple[Any, str]]] = {
    "attribute": lambda m, o: (m.setattr(o, "bias", 3.0), "argument model.bias changed from 1.0 to 3.0"),
    "attribute shape": lambda m, o: (m.setattr(o, "weights", np.ones((1, 3))), "argument model.weights changed"),
    "class attribute": lambda m, o: (m.setattr(Base, "gain", 3.0), "changed from 2.0 to 3.0"),
    "shadowed class attribute": lambda m, o: (m.setattr(o, "gain", 3.0, raising=False), "model.gain changed"),
    "class array": lambda m, o: (m.setattr(Base, "table", np.ones((1, 3))), "model.table changed"),
    "method": lambda m, o: (m.setattr(Model, "apply", lambda self, x: x), "model.apply changed"),
    "shadowed method": lambda m, o: (m.setattr(o, "apply", lambda x: x), "model.apply changed"),
    "inherited method": lambda m, o: (m.setattr(Base, "apply", lambda self, x: x), "Base.apply was replaced"),
    "property": lambda m, o: (m.setattr(Model, "twice", property(lambda self: 9.0)), "Model.twice was replaced"),
    "static method": lambda m, o: (m.setattr(Base, "shift", staticmethod(lambda x: x)), "shift was replaced"),
    "class method": lambda m, o: (m.setattr(Base, "scaled", classmethod(lambda cls, x: x)), "scaled was replaced"),
    "special method": lambda m, o: (m.setattr(Model, "__matmul__", lambda self, x: 1.0), "__matmul__ changed"),
    "missing attribute": lambda m, o: (m.setattr(o, "extra", 5.0, raising=False), "extra was not there before"),
    "dict entry": lambda m, o: (m.setitem(o.options, "scale", 5.0), "model.options['scale'] changed"),
    "class of the object": lambda m, o: (m.setattr(o, "__class__", Other), "is no longer of type Model"),
}


class Other(Model):
    pass


@pytest.mark.parametrize("name", OBJECT_MUTATIONS)
def test_each_kind_of_object_read_is_guarded(monkeypatch: Any, model: Model, name: str) -> None:
    model.__dict__["kernel"] = np.arange(3.0)
    found, leaves = captured(use_model, model, X)
    assert_same(run(found, leaves), use_model(model, X))
    _, reason = OBJECT_MUTATIONS[name](monkeypatch, model)
    assert reason in found.guards.reason(leaves)
    if name != "class of the object":
        found, leaves = captured(use_model, model, X)
        assert_same(run(found, leaves), use_model(model, X))


def test_two_objects_share_a_trace_when_their_numbers_agree() -> None:
    found, _ = captured(use_base, Model(), X)
    other = Model(np.full(3, 7.0))
    assert_same(run(found, [other, X]), other.apply(X))
    assert found.guards.reason([Model(bias=2.0), X]) == "argument model.bias changed from 1.0 to 2.0"


def test_cached_properties_keep_their_value(model: Model) -> None:
    found, leaves = captured(use_model, model, X)
    assert "kernel" in vars(model)
    assert_same(run(found, leaves), use_model(model, X))


def test_global_objects_and_classes(monkeypatch: Any, model: Model) -> None:
    monkeypatch.setitem(globals(), "MODEL", model)

    def function(x: Any) -> Any:
        return MODEL.apply(x) + Model.gain + Base.shift(x)  # noqa: F821

    check_mutation(monkeypatch, (function, lambda m: m.setattr(Base, "gain", 3.0), "gain changed"), X)


@dataclasses.dataclass(frozen=True)
class State:
    position: Any
    speed: Any
    time: float = 0.0

    def step(self, dt: float) -> State:
        return dataclasses.replace(self, position=self.position + self.speed * dt, time=self.time + dt * SCALE)


class Counter:
    def __init__(self, start: Any) -> None:
        self.total = start
        self.calls = 0

    def add(self, value: Any) -> Counter:
        self.total = self.total + value * SCALE
        self.calls += 1
        return self


def test_objects_made_while_tracing(monkeypatch: Any) -> None:
    def function(x: Any, dt: float) -> Any:
        state = State(x, x * 2)
        for _ in range(3):
            state = state.step(dt)
        counter = Counter(state.position).add(x).add(state.speed)
        return counter.total, counter.calls, state.time, state == state, isinstance(counter, Counter)

    def change(monkeypatch: Any) -> None:
        monkeypatch.setitem(globals(), "SCALE", 3.0)

    check_mutation(monkeypatch, (function, change, "global SCALE"), X, 0.5)


def test_attributes_of_outside_objects_are_not_deleted(model: Model) -> None:
    def delete(target: Any, x: Any) -> Any:
        del target.bias
        return x

    with pytest.raises(CaptureError, match="the function deletes"):
        captured(delete, model, X)
    assert model.bias == 1.0


def _store_global(x: Any) -> Any:
    global SCALE
    SCALE = 5.0
    return x


def _append(x: Any) -> Any:
    LAYERS.append(x)
    return x


def _update(x: Any) -> Any:
    CONFIG["scale"] = 5.0
    return x


def _class_attribute(x: Any) -> Any:
    Base.gain = 3.0
    return x


def _defines_class(x: Any) -> Any:
    class Local:
        scale = SCALE

    return x * Local.scale


def _clock(x: Any) -> Any:
    return x * time.perf_counter()


def _by_name(x: Any) -> Any:
    return x * globals()["SCALE"]


class InC:
    append = list.append
    add = set.add
    put = dict.__setitem__
    root = math.sqrt
    size = len


class Bound:
    update = CONFIG.update


NAMES = {"one"}


def _append_in_c(x: Any) -> Any:
    InC.append(LAYERS, x)
    return x


def _add_in_c(x: Any) -> Any:
    InC.add(NAMES, "two")
    return x


def _put_in_c(x: Any) -> Any:
    InC.put(CONFIG, "scale", x)
    return x


def _bound_in_c(x: Any) -> Any:
    Bound.update(scale=x)
    return x


def test_functions_in_c_that_a_class_holds(monkeypatch: Any) -> None:
    def function(x: Any) -> Any:
        return x * InC.root(4.0) + InC.size(x)

    mutation = (function, lambda patch: patch.setattr(InC, "size", np.sum), "InC.size")
    check_mutation(monkeypatch, mutation, np.float64([1.0]))


def _module_attribute(x: Any) -> Any:
    math.scale = 3.0
    return x


def _function_attribute(x: Any) -> Any:
    helper.calls = 1
    return helper(x)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_module_attribute, "assigns to math.scale"),
        (_function_attribute, "assigns to attributes of helper"),
        (_store_global, r"_store_global assigns to the global SCALE \(line \d+\)"),
        (_append, "changes a list from outside"),
        (_update, "changes a dict from outside"),
        (_append_in_c, "changes global LAYERS, a list from outside"),
        (_add_in_c, "changes global NAMES, a set from outside"),
        (_put_in_c, "changes global CONFIG, a dict from outside"),
        (_bound_in_c, "Bound.update depends on or changes something outside"),
        (_class_attribute, "assigns to Base.gain"),
        (_defines_class, "_defines_class defines a class"),
        (_clock, "time.perf_counter depends on or changes something outside"),
        (_by_name, "uses its globals as a dict"),
    ],
)
def test_effects_are_refused(function: Any, words: str) -> None:
    with pytest.raises(CaptureError, match=words):
        captured(function, X)
    assert SCALE == 2.0 and len(LAYERS) == 3 and CONFIG == {"scale": 2.0} and len(NAMES) == 1 and Base.gain == 2.0


def test_assignment_to_an_enclosing_variable() -> None:
    count = 0

    def outer_effect(x: Any) -> Any:
        nonlocal count
        count += 1
        return x

    def inner_effect(x: Any) -> Any:
        total = 0.0

        def add(value: Any) -> None:
            nonlocal total
            total = total + value

        add(x)
        add(x * 2)
        return total

    with pytest.raises(CaptureError, match="assigns to the variable count of an enclosing function"):
        captured(outer_effect, X)
    found, leaves = captured(inner_effect, X)
    assert_same(run(found, leaves), X * 3)


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Failure(Exception):
    pass


def test_user_exceptions_enums_and_matches(monkeypatch: Any) -> None:
    def function(x: Any, colour: Colour, n: int) -> Any:
        try:
            if colour is Colour.GREEN:
                raise Failure(SCALE)
        except Failure as failure:
            return x * failure.args[0]
        match x, n:
            case np.ndarray(), 1:
                return x
            case _:
                return -x

    found, leaves = captured(function, X, Colour.GREEN, 1)
    assert_same(run(found, leaves), X * SCALE)
    found, leaves = captured(function, X, Colour.RED, 1)
    assert_same(run(found, leaves), X)
    with pytest.raises(Failure):
        captured(lambda x: (_ for _ in ()).throw(Failure()), X)


def test_values_that_cannot_be_watched_may_be_read_but_not_used(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "GENERATOR", np.random.default_rng(0))
    monkeypatch.setitem(globals(), "MASKED", np.ma.masked_array([1.0]))

    def reads(x: Any) -> Any:
        return x if GENERATOR is not None and MASKED is not None else -x  # noqa: F821

    found, leaves = captured(reads, X)
    assert_same(run(found, leaves), X)
    with pytest.raises(CaptureError, match="a trace would freeze the draw"):
        captured(lambda x: x + GENERATOR.permutation(3), X)  # noqa: F821
    with pytest.raises(CaptureError, match=r"global MASKED: a masked array"):
        captured(lambda x: x + MASKED, X)  # noqa: F821


def test_one_object_read_in_two_places_stays_one(monkeypatch: Any, model: Model) -> None:
    monkeypatch.setitem(globals(), "FIRST", model)
    monkeypatch.setitem(globals(), "SECOND", model)
    found, leaves = captured(lambda x: x if FIRST is SECOND else -x, X)  # noqa: F821
    assert_same(run(found, leaves), X)
    monkeypatch.setitem(globals(), "SECOND", Model())
    assert found.guards.reason(leaves) == "global SECOND and global FIRST are no longer one object"


def test_methods_as_functions(model: Model) -> None:
    found, leaves = captured(model.apply, X)
    assert_same(run(found, leaves), model.apply(X))
    found, leaves = captured(functools.partial(helper, factor=2.0), X)
    assert_same(run(found, leaves), helper(X, 2.0))
    found, leaves = captured(math.hypot, 3.0, 4.0)
    assert run(found, leaves) == 5.0


class Settings(NamedTuple):
    scale: float
    weights: Any

    def apply(self, x: Any) -> Any:
        return x * self.scale * SCALE + self.weights

    @property
    def double(self) -> Any:
        return self.scale * 2


def test_methods_of_named_tuples_are_rebuilt(monkeypatch: Any) -> None:
    def function(settings: Any, x: Any) -> Any:
        assert isinstance(settings, Settings) and type(settings) is Settings
        made = Settings(settings.double, x)
        return settings.apply(x) + made.apply(x), made

    def change(monkeypatch: Any) -> None:
        monkeypatch.setitem(globals(), "SCALE", 3.0)

    check_mutation(monkeypatch, (function, change, "global SCALE"), Settings(2.0, X), X)


def test_instances_and_classes_of_the_standard_library(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "LOG", logging.getLogger("x"))

    def reads(x: Any, day: Any) -> Any:
        assert isinstance(day, datetime.date) and not isinstance(x, datetime.datetime)
        return x * day.day

    found, leaves = captured(reads, X, datetime.date(2020, 1, 5))
    assert_same(run(found, leaves), X * 5)
    for function in (lambda x: datetime.datetime.now(), lambda x: LOG.info("x"), lambda x: random.random() * x):  # noqa: F821
        with pytest.raises(CaptureError, match=r"global .*"):
            captured(function, X)


def test_a_trace_keeps_no_traced_values_alive(model: Model) -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(one) in (TracedArray, RecordingGlobals) for one in gc.get_objects())

    before = alive()
    found, leaves = captured(use_model, model, X)
    run(found, leaves)
    assert alive() == before
