"""The first call of a second process, of functions that take, write and make objects of the user's classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.second_process import run
from tests.runtime.starts.test_start import again
from xjit.api.start.code_digests import is_of_users
from xjit.api.start.guard_records import Want, described, value_of

PROGRAM = """
import copy
import dataclasses
import sys
import numpy as np
from xjit import xjit


class Base:
    weight = 2.0

    def weighted(self, values):
        return values * self.weight


class Particles(Base):
    def __init__(self, count):
        self.position = np.linspace(0.0, 1.0, count)
        self.speed = np.ones(count)
        self.total = 0.0
        self.steps = 0

    def step(self, dt):
        self.position += self.weighted(self.speed) * dt
        self.speed = np.where(self.position > 1.5, -self.speed, self.speed)
        self.total = self.total + self.position.sum()
        self.steps += 1
        return Moments(self.position.mean(), self.position.std(), self)


@dataclasses.dataclass
class Moments:
    mean: float
    deviation: float
    source: object
    notes: list = dataclasses.field(default_factory=list)


class Slotted:
    __slots__ = ("values", "more")

    def __init__(self, values):
        self.values = values


def filled(box, x):
    box.more = x + box.values
    box.values[0] = x[0]
    return {"largest": box.more.max()}


class Holder:
    def __init__(self, table):
        self.table = table


def summed(x):
    holder = Holder({"total": x.sum()})
    holder.table["seen"] = [x * 2.0]
    return holder


if "method" in sys.argv:
    def weighted(self, values):
        return values * self.weight + 1.0
    Base.weighted = weighted
if "class attribute" in sys.argv:
    Base.weight = 3.0
if "default" in sys.argv:
    def start(self, mean, deviation, source):
        self.mean, self.deviation, self.source, self.notes = mean, deviation, source, []
    Moments.__init__ = start
if "base" in sys.argv:
    class Other:
        weight = 7.0
        weighted = Base.weighted
    Particles.__bases__ = (Other,)
if "setattr" in sys.argv:
    Particles.__setattr__ = lambda self, name, value: object.__setattr__(self, name, value * 1)
if "property" in sys.argv:
    Particles.steps = property(lambda self: 5, lambda self, value: None)
if "slots" in sys.argv:
    class Slotted(Slotted):
        pass

step, filling, summing = xjit(Particles.step), xjit(filled), xjit(summed)
particles = Particles(6)
if "class" in sys.argv:
    class Faster(Particles):
        weight = 9.0
    particles = Faster(6)
if "attribute type" in sys.argv:
    particles.steps = 0.5
if "attribute" in sys.argv:
    particles.weight = 4.0
if "missing" in sys.argv:
    Particles.speed = np.ones(6)
    del particles.speed
if "shape" in sys.argv:
    particles.position = np.zeros((2, 6))


def state(value):
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, np.round(value, 12).tolist()
    if isinstance(value, (list, tuple)):
        return [state(one) for one in value]
    if isinstance(value, dict):
        return {name: state(one) for name, one in value.items()}
    if isinstance(value, Slotted):
        return [state(getattr(value, name, None)) for name in ("values", "more")]
    if isinstance(value, (np.generic, float)):
        return type(value).__name__, round(float(value), 12)
    return (type(value).__name__, state(vars(value))) if hasattr(value, "__dict__") else value


for compiled, arguments in (
    (step, (particles, 0.25)),
    (filling, (Slotted(np.arange(4.0)), np.arange(4.0) + 1.0)),
    (summing, (np.arange(3.0),)),
):
    own, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    for _ in range(3):
        found, wanted = compiled(*theirs), compiled.__wrapped__(*own)
        if isinstance(wanted, Moments):
            assert found.source is theirs[0] and found.notes == [] and type(found) is Moments
            found, wanted = (found.mean, found.deviation), (wanted.mean, wanted.deviation)
        assert state(found) == state(wanted), (state(found), state(wanted))
        assert state(theirs) == state(own), (state(theirs), state(own))
traced = "xjit.api.dispatcher" in sys.modules
assert traced or sys.platform != "linux" or not {"llvmlite", "numba"} & sys.modules.keys()
print("traced" if traced else "started", 0)
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, and with a cache that has its records."""
    folder = tmp_path_factory.mktemp("start_objects")
    assert run(folder, folder / "cache", text=PROGRAM)[0] == "traced"
    return folder


def test_calls_with_objects_start_from_the_disk(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, text=PROGRAM) == "started"


CHANGES = (
    *("method", "class attribute", "default", "base", "setattr", "property", "slots", "class"),
    *("attribute type", "attribute", "missing", "shape"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_other_objects_are_another_program(kept: Path, tmp_path: Path, change: str) -> None:
    assert again(kept, tmp_path, change, text=PROGRAM) == "traced"


def test_classes_of_users() -> None:
    class Own:
        pass

    assert is_of_users(Own)
    assert not any(map(is_of_users, (int, list, type(pytest.Session), Path.__mro__[-1])))


def test_constants_of_the_standard_library_are_described_by_name() -> None:
    import dataclasses

    want = described(dataclasses.MISSING)
    assert want == Want("named", ("dataclasses", "MISSING", ""))
    assert value_of(want) is dataclasses.MISSING
