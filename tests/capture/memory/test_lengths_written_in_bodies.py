"""Arrays whose length only the run knows, written in the bodies of loops and branches that do not assign them."""

import numpy as np
import pytest

from xjit import xjit


def counted(labels, places):
    counts = np.zeros(len(np.unique(labels)), int)
    for place in places:
        counts[place] += 1
    return counts


def confusion(labels, places):
    classes = np.unique(labels)
    found = classes[places]
    table = np.zeros((len(classes), len(classes)), int)
    for one, other in zip(labels, found, strict=False):
        table[one, other] += 1
    return table


def in_branches(labels, places):
    kept = labels[labels > 0] * 1.0
    for place in places:
        if place > 1:
            kept[place] = -kept[place]
        elif place == 1:
            kept *= 2.0
        else:
            kept[place:] += 0.5
    return kept


def one_branch(labels, places):
    kept = labels[labels > 0]
    before = kept.sum()
    if places[0] > 0:
        kept[places[1]] = 100
    return kept, before, kept.sum()


def two_names_and_a_view(labels, places):
    kept = labels[labels >= 0]
    other, tail = kept, kept[1:]
    for place in places:
        other[place] += place
        tail[0] += 10
    return kept, tail.sum()


def nested(labels, places):
    kept = labels[labels > 0]
    for place in places:
        k = 0
        while k < place:
            kept[k] += kept[k + 1]
            k += 1
    return kept


def in_a_helper(labels, places):
    kept = labels[labels > 0]

    def raise_at(place):
        kept[place] += 1
        return kept[place]

    total = 0
    for place in places:
        total += raise_at(place)
    return total, kept


def beside_a_shorter_one(labels, places):
    kept, left = np.zeros(len(np.unique(labels)), int), labels[labels > 0]
    bound = 3
    while len(left) > 3:
        kept[left[0]] += len(left)
        left, bound = left[left <= bound], bound - 1
    return kept, left


def in_a_dictionary(labels, places):
    state = {"counts": np.zeros(len(np.unique(labels)), int)}
    for place in places:
        state["counts"][place] += 1
    return state["counts"]


def in_a_dictionary_at_once(labels, places):
    state = {"kept": labels[labels > 0]}
    for place in places:
        state["kept"] *= 2
        state["kept"] -= place
    return state["kept"]


def read_ahead(labels, places):
    state = {"kept": labels[labels > 0]}
    total = 0
    for place in places:
        total += state["kept"].sum()
        state["kept"][place] += place
    return total, state["kept"].max()


def at_positions(labels, places):
    kept = labels[labels > 0]
    kept[places[:2]] = 7
    kept[np.flatnonzero(places > 1)[:2]] = -1
    table = np.zeros((len(kept), len(kept)))
    table[places[:2], places[1:3][:2]] = 2.0
    table[places, places] += 1.0
    return kept, table


def masked(labels, places):
    kept = labels[labels >= 0]
    for place in places:
        kept[kept == place] += 3
    return kept


FUNCTIONS = (
    counted,
    confusion,
    in_branches,
    one_branch,
    two_names_and_a_view,
    nested,
    in_a_helper,
    beside_a_shorter_one,
    in_a_dictionary,
    in_a_dictionary_at_once,
    read_ahead,
    at_positions,
    masked,
)


@pytest.mark.parametrize("turns", [1, 3, 8, 40, 200])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_that_every_write_happens_once(function, turns):
    rng = np.random.default_rng(turns)
    compiled = xjit(function)
    for _ in range(3):
        labels, places = rng.integers(0, 4, 60), rng.integers(0, 4, turns)
        labels[:4] = 0, 1, 2, 3
        if turns == 1:
            places = np.tile(places, 3)
        mine, yours = (labels.copy(), places.copy()), (labels.copy(), places.copy())
        wanted, found = function(*mine), compiled(*yours)
        for one, other in zip((wanted, *mine), (found, *yours), strict=True):
            beside = (one, other) if isinstance(one, tuple) else ((one,), (other,))
            for left, right in zip(*beside, strict=True):
                np.testing.assert_array_equal(left, right)


def test_that_turns_of_a_refused_loop_are_taken_back(monkeypatch):
    monkeypatch.setenv("XJIT_STRICT", "0")

    def refused(labels, places):
        counts = np.zeros(len(np.unique(labels)), int)
        kept = None
        for place in places:
            counts[place] += 1
            kept = str(place)
        return counts, kept

    labels, places = np.array([0, 1, 2, 1]), np.array([1, 1, 2, 0, 1])
    with pytest.warns(Warning):
        found, text = xjit(refused)(labels, places)
    np.testing.assert_array_equal(found, refused(labels, places)[0])
    assert text == "1"


def reflected(labels, places):
    x = np.stack([labels * 0.3 - 0.2, places[0] * 0.1 - labels], axis=1)
    for _ in range(30):
        x += 0.05
        for axis in range(2):
            low, high = x[:, axis] < 0, x[:, axis] > 0.6
            x[low, axis] *= -1
            x[high, axis] = 1.2 - x[high, axis]
    return x


def in_place_in_trials(labels, places):
    kept = {"own": labels[labels > 0]}
    turns = 0
    while turns < places[0] + 2:
        kept["own"] += 2
        kept["own"] *= 3
        turns += 1
    return kept["own"].sum()


@pytest.mark.parametrize("function", [reflected, in_place_in_trials])
def test_that_chosen_elements_are_written_as_often_as_turns_are_made(function):
    compiled = xjit(function, strict=True)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels, places = rng.integers(0, 4, 30), rng.integers(0, 4, 3)
        np.testing.assert_allclose(compiled(labels, places), function(labels, places), rtol=1e-13)


# Names that loops give to such arrays


def named_in_turns(labels, places):
    kept, other = labels[labels > 0], labels[labels < 1]
    for place in places:
        kept[place] += 1
        other = kept
    return other.sum(), kept


def begins_a_loop(labels, places):
    kept, total = labels[labels > 0], 0
    for place in places:
        kept[place] += 1
        best, turns = kept, 0
        while turns < place:
            best, turns = best[best > 1], turns + 1
        total += best.sum()
    return total, kept


def written_beside_its_other_name(labels, places):
    kept, turns, total = labels[labels > 0], 0, 0
    best = kept
    while turns < places[0] + 2:
        kept[1] += 1
        total += best.sum()
        best, turns = best[best > 1], turns + 1
    return kept, total


def written_by_its_other_name(labels, places):
    kept, turns = labels[labels > 0], 0
    best = kept
    while turns < places[0] + 2:
        best[0] += 1
        best, turns = best[best > 1], turns + 1
    return kept, best


@pytest.mark.parametrize(
    "function", [named_in_turns, begins_a_loop, written_beside_its_other_name, written_by_its_other_name]
)
@pytest.mark.parametrize("turns", [3, 40])
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_that_all_names_see_what_is_written(function, turns, monkeypatch):
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(function)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels, places = rng.integers(0, 4, 60), rng.integers(0, 4, turns)
        for one, other in zip(function(labels, places), compiled(labels, places), strict=True):
            np.testing.assert_array_equal(one, other)
