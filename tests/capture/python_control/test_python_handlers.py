"""Handlers of errors that only the run tells, as branches of the graph: compiled functions beside Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

REGULAR = np.array([[2.0, 1.0], [0.5, 4.0]])
SINGULAR = np.ones((2, 2))
BATCH = np.stack([REGULAR, SINGULAR, REGULAR * 2, np.zeros((2, 2)), np.eye(2)])
SOUND = np.stack([REGULAR, REGULAR * 2, np.eye(2), REGULAR + 1, np.eye(2) * 3])


def check(function: Any, *calls: tuple[Any, ...], compiles: bool = True) -> Any:
    """Check that calls are as those of the function, arguments included; return the compiled function."""
    with split():
        compiled = xjit.jit(function, strict=compiles)
        for arguments in (*calls, *calls):
            own, theirs = (tuple(one.copy() for one in arguments) for _ in range(2))
            wanted = function(*own)
            check_same(compiled(*theirs), wanted)
            for one, other in zip(theirs, own, strict=True):
                check_same(one, other)
    if compiles:
        assert compiled.stats().fallbacks == 0
    return compiled


BOTH = ((REGULAR,), (SINGULAR,), (REGULAR.T.copy(),))


def returned(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return a - 1.0


def assigned(a: Any) -> Any:
    try:
        x = np.linalg.inv(a) @ a
    except np.linalg.LinAlgError:
        x = np.linalg.pinv(a)
    return np.exp(-x) * 2


def before_and_behind(a: Any) -> Any:
    y = a * 2
    try:
        y = y + 1
        x = np.linalg.solve(a, y)
        y = x * 3
    except np.linalg.LinAlgError:
        x = y - 5
    return x + y


def written(a: Any) -> Any:
    try:
        a[0] = 3.0
        a[0, 1] *= a[1, 0]
        a[1] = np.linalg.inv(a - 3.0)[0]
        a[0] = 4.0
    except np.linalg.LinAlgError:
        a[1] += 7.0
    return a.sum()


def two_steps(a: Any) -> Any:
    try:
        x = np.linalg.inv(a)
        y = np.linalg.cholesky(x - 1.0)
    except np.linalg.LinAlgError:
        x = a + 1.0
        y = a - 1.0
    return x @ y


def one_within_the_other(a: Any) -> Any:
    try:
        x = np.linalg.solve(a.T, np.linalg.solve(a, a + 1.0))
    except np.linalg.LinAlgError:
        x = -a
    return x


def with_else(a: Any) -> Any:
    try:
        x = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        y = a * 0.5
    else:
        y = x.sum() + a
    return y


def with_finally(a: Any) -> Any:
    y = a * 2
    try:
        y = np.linalg.cholesky(a) @ y
    except ValueError:
        y = y * 3
    finally:
        y = y + 1
    return y


def by_everything(a: Any) -> Any:
    try:
        return np.linalg.inv(a).sum()
    except BaseException:
        return a.sum() * 10


def by_a_base(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except Exception:
        return a * 3.0


def by_one_of_several(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except (KeyError, np.linalg.LinAlgError):
        return a * 4.0


def by_the_second_clause(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except IndexError:
        return a
    except np.linalg.LinAlgError:
        return a * 5.0


def named_and_unread(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError as error:  # noqa: F841
        return a * 6.0


def within_another(a: Any) -> Any:
    try:
        try:
            x = np.linalg.inv(a)
        except KeyError:
            x = a * 2.0
        x = x + 1.0
    except np.linalg.LinAlgError:
        x = a + 9.0
    return x


def in_both(a: Any) -> Any:
    try:
        b = np.linalg.inv(a)
        try:
            c = np.linalg.cholesky(a - 3.0)
        except np.linalg.LinAlgError:
            c = a * 2.0
        d = np.linalg.cholesky(b + c)
    except np.linalg.LinAlgError:
        d = a * 7.0
    return d


def in_a_handler(a: Any) -> Any:
    try:
        x = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        try:
            x = np.linalg.inv(a + np.eye(2))
        except np.linalg.LinAlgError:
            x = a
    return x


def helper(a: Any) -> Any:
    b = np.linalg.inv(a)
    return b + 1.0


def in_a_helper(a: Any) -> Any:
    try:
        return helper(a) * 2.0
    except np.linalg.LinAlgError:
        return a + 5.0


def suppressed(a: Any) -> Any:
    found = 0
    try:
        a[0, 0] = np.linalg.inv(a)[1, 1]
        found = 1
    except np.linalg.LinAlgError:
        pass
    return a * 2.0, found


def on_a_condition(a: Any) -> Any:
    x = a * 1.5
    try:
        if a.sum() > 5.0:
            x = np.linalg.inv(a)
        else:
            x = np.linalg.cholesky(a - 1.0)
        x = x + 1.0
    except np.linalg.LinAlgError:
        x = x - 1.0
    return x


@pytest.mark.parametrize(
    "function",
    [
        returned,
        assigned,
        before_and_behind,
        written,
        two_steps,
        one_within_the_other,
        with_else,
        with_finally,
        by_everything,
        by_a_base,
        by_one_of_several,
        by_the_second_clause,
        named_and_unread,
        within_another,
        in_both,
        in_a_handler,
        in_a_helper,
        suppressed,
        on_a_condition,
    ],
)
def test_both_ways_are_compiled(function: Any) -> None:
    compiled = check(function, *BOTH, (REGULAR - 3.0,), (SINGULAR * 3.0,))
    assert compiled.stats().traces == 1


def inverses(a: Any) -> Any:
    out, singular = np.empty_like(a), 0
    for k in range(len(a)):
        try:
            out[k] = np.linalg.inv(a[k])
        except np.linalg.LinAlgError:
            out[k] = np.linalg.inv(a[k].T @ a[k] + 0.1 * np.eye(a.shape[1]))
            singular += 1
    return out, singular


def up_to_the_first(a: Any) -> Any:
    out = np.zeros_like(a)
    try:
        for k in range(len(a)):
            out[k] = np.linalg.inv(a[k])
            out[k] += 1.0
        out += 3.0
    except np.linalg.LinAlgError:
        out -= 2.0
    return out


def left_out(a: Any) -> Any:
    total = 0.0
    for one in a:
        try:
            x = np.linalg.inv(one)
        except np.linalg.LinAlgError:
            continue
        total += x.sum()
    return total


def until_one_fails(a: Any) -> Any:
    count = 0
    for one in a:
        try:
            np.linalg.inv(one)
        except np.linalg.LinAlgError:
            break
        count += 1
    return count


def more_and_more(a: Any) -> Any:
    jitter = 1e-10
    while True:
        try:
            lower = np.linalg.cholesky(a[1] + jitter * np.eye(a.shape[1]))
            break
        except np.linalg.LinAlgError:
            jitter *= 10.0
    return lower, jitter


@pytest.mark.parametrize("function", [inverses, up_to_the_first, left_out, until_one_fails, more_and_more])
@pytest.mark.parametrize("copies", [1, 60])
def test_loops_over_matrices(function: Any, copies: int) -> None:
    calls = [np.concatenate([one] * copies) for one in (BATCH, SOUND, SOUND[::-1])]
    check(function, *((one,) for one in calls))


def looked_at(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError as error:
        return a + len(str(error))


def changed_behind(a: Any) -> Any:
    def inverse() -> Any:
        b = np.linalg.inv(a)
        a[0] = 9.0
        return b

    try:
        x = inverse()
    except np.linalg.LinAlgError:
        x = a * 2.0
    return x + a


def counted_behind(a: Any) -> Any:
    count = 0

    def inverse() -> Any:
        nonlocal count
        b = np.linalg.inv(a)
        count += 1
        return b

    try:
        x = inverse()
    except np.linalg.LinAlgError:
        x = a * 2.0
    return x, count


def another_error_behind(a: Any) -> Any:
    try:
        x = a[int(np.linalg.inv(a - 3.0)[0, 0] * 0 + 1)] + np.linalg.inv(a)
    except np.linalg.LinAlgError:
        x = a
    return x


def raised_again(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if a.sum() > 100.0:
            raise
        return a * 2.0


def kept(a: Any) -> Any:
    found = []
    for one in (a, a + 1.0, a - 1.0):
        try:
            found.append(np.linalg.inv(one))
        except np.linalg.LinAlgError:
            found.append(one)
    return found[0], found[1], found[2]


@pytest.mark.parametrize(
    "function", [looked_at, changed_behind, counted_behind, another_error_behind, raised_again, kept]
)
def test_what_is_not_compiled_is_as_numpy(function: Any) -> None:
    check(function, *BOTH, compiles=False)


def test_errors_that_nobody_catches_are_raised() -> None:
    def function(a: Any) -> Any:
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            raise KeyError("singular") from None

    compiled = xjit.jit(function)
    np.testing.assert_array_equal(compiled(REGULAR), function(REGULAR))
    with pytest.raises(KeyError, match="singular"):
        compiled(SINGULAR)
    np.testing.assert_array_equal(compiled(REGULAR), function(REGULAR))


def test_an_error_of_a_handler_is_no_matter_of_its_own() -> None:
    def function(a: Any) -> Any:
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return np.linalg.inv(a * 2.0)

    compiled = xjit.jit(function)
    np.testing.assert_array_equal(compiled(REGULAR), function(REGULAR))
    with pytest.raises(np.linalg.LinAlgError):
        compiled(SINGULAR)


def test_a_loop_that_is_refused_in_a_body_is_none_of_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop is traced in two ways, both of which are refused; the handler catches no refusal."""
    monkeypatch.setenv("XJIT_STRICT", "0")

    def halved(x: Any) -> Any:
        rows, s = [], x[1]
        try:
            while s > 1:
                rows.append(x.copy())
                s = s / 2
        except Exception:
            s = 0.25
        return s, rows

    check(halved, (np.array([1.0, 5.0]),), (np.array([1.0, 0.5]),), compiles=False)
