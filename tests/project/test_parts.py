"""Parts and shares of the tests, as `.ci/run` runs them, are together all tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests import conftest


@dataclass(frozen=True)
class Item:
    nodeid: str


MANY = [Item(f"test_many.py::test[{case}]") for case in range(60)]
FEW = [Item(f"test_few.py::test_{name}[{case}]") for name in range(30) for case in range(2)]
ONE = [Item(f"test_one.py::test_{name}") for name in range(60)]
ITEMS: list[Any] = MANY + FEW + ONE


def part(which: str, whole: int = 0) -> set[Any]:
    return set(conftest._in_part(which, whole, ITEMS))


def test_parts_have_each_test_once() -> None:
    for parts in (1, 2, 3, 6):
        found = [part(f"{which + 1}/{parts}") for which in range(parts)]
        assert sum(map(len, found)) == len(ITEMS)
        assert set().union(*found) == set(ITEMS)


def test_parts_are_of_like_size_for_every_kind_of_function() -> None:
    for kind in (MANY, FEW, ONE):
        for which in range(1, 7):
            assert len(kind) / 20 < len(part(f"{which}/6").intersection(kind)) < len(kind) / 2


def test_a_part_of_six_is_in_its_half() -> None:
    assert part("2/6") | part("4/6") | part("6/6") == part("2/2")


def test_functions_of_few_cases_run_whole() -> None:
    kept = part("1/2", whole=2)
    assert kept.issuperset(FEW) and kept.issuperset(ONE)
    assert len(kept.intersection(MANY)) == 30


def test_shares_have_each_test_once() -> None:
    one, two = (set(conftest._in_share(share, ITEMS)) for share in ("1/2", "2/2"))
    assert one | two == set(ITEMS)
    assert not one & two
    assert abs(len(one) - len(two)) < len(ITEMS) / 5


def test_what_is_asked_for_keeps_its_order() -> None:
    kept = conftest._in_part("1/2", 0, ITEMS)
    assert kept == [item for item in ITEMS if item in set(kept)]
