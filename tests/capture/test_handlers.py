"""``try`` statements in compiled functions: handlers of errors that only the run will tell do run."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import lenient
from xjit.errors import CaptureError, FallbackWarning

SINGULAR = np.zeros((2, 2))
REGULAR = np.array([[2.0, 1.0], [0.0, 4.0]])
WORDS = "catches an error that only the run will tell"


class Problem(np.linalg.LinAlgError):
    """An error of the user's own."""


def assert_as_numpy(function: Any, *calls: tuple[Any, ...], errors: Any = "ignore", refused: bool = False) -> None:
    """Every call gives NumPy's answer; through NumPy, with one warning, if it is to be refused."""
    compiled = xjit.jit(function, errors=errors)
    with lenient(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for arguments in (*calls, *calls):
            np.testing.assert_array_equal(compiled(*arguments), function(*arguments))
    told = [str(one.message) for one in caught if issubclass(one.category, FallbackWarning)]
    assert len(told) == refused * len({tuple(np.shape(one) for one in arguments) for arguments in calls})
    assert all(WORDS in text for text in told)


def by_name(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return a - 1.0


def by_base(a: Any) -> Any:
    try:
        return np.linalg.cholesky(a @ a.T)
    except (KeyError, ValueError) as error:
        return a * len(type(error).__name__)


def by_anything(a: Any) -> Any:
    try:
        return np.linalg.solve(a, a)
    except BaseException:
        return a + 3.0


def by_another_first(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except IndexError:
        return a
    except KeyError:
        return a * 2.0
    except Exception:
        return a * 3.0


def outside(a: Any) -> Any:
    try:
        for _ in range(2):
            try:
                a = np.linalg.inv(a)
            except KeyError:
                a = a * 2.0
            finally:
                a = a + 0.0
    except np.linalg.LinAlgError:
        return a + 9.0
    return a


def of_a_class_derived(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except Problem:
        return a
    except ValueError:
        return -a


def helper(a: Any) -> Any:
    return np.linalg.inv(a) + 1.0


def in_a_helper(a: Any) -> Any:
    try:
        return helper(a)
    except np.linalg.LinAlgError:
        return a + 5.0


def caught_in_a_helper(a: Any) -> Any:
    return in_a_helper(a) * 2.0


def finally_returns(a: Any) -> Any:
    result = a + 7.0
    try:
        result = np.linalg.inv(a)
    finally:
        return result  # noqa: B012


def finally_breaks(a: Any) -> Any:
    result = a + 7.0
    for _ in range(3):
        try:
            result = np.linalg.inv(a)
        finally:
            break  # noqa: B012
    return result


def suppressed(a: Any) -> Any:
    with contextlib.suppress(np.linalg.LinAlgError):
        return np.linalg.inv(a)
    return a + 2.0


@contextlib.contextmanager
def careful() -> Iterator[None]:
    try:  # noqa: SIM105
        yield
    except np.linalg.LinAlgError:
        pass


def in_a_manager(a: Any) -> Any:
    with np.errstate(all="ignore"), careful():
        return np.linalg.inv(a)
    return a + 2.0


def raised_anew(a: Any) -> Any:
    try:
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError as error:
            raise KeyError("singular") from error
    except KeyError:
        return a + 4.0


@pytest.mark.parametrize(
    "function",
    [
        by_name,
        by_base,
        by_anything,
        by_another_first,
        outside,
        of_a_class_derived,
        in_a_helper,
        caught_in_a_helper,
        finally_returns,
        finally_breaks,
        suppressed,
        in_a_manager,
        raised_anew,
    ],
)
def test_handlers_of_libraries_errors_run(function: Any) -> None:
    assert_as_numpy(function, (SINGULAR,), (REGULAR,))
    assert_as_numpy(function, (REGULAR,), (SINGULAR,))


def picked(x: Any, places: Any) -> Any:
    try:
        return x[places]
    except IndexError:
        return x[:1]


def counted(x: Any, places: Any) -> Any:
    try:
        return np.bincount(places, minlength=9) + x.sum()
    except ValueError:
        return x


@pytest.mark.parametrize("function", [picked, counted])
def test_handlers_of_checks_run(function: Any) -> None:
    x = np.arange(4.0)
    assert_as_numpy(function, (x, np.array([1, 3])), (x, np.array([-9, 3])))


def divided(x: Any) -> Any:
    try:
        return 1.0 / x
    except FloatingPointError:
        return x + 7.0


def divided_with_care(x: Any) -> Any:
    try:
        return 1.0 / x
    except RuntimeWarning:
        return x + 7.0


def divided_by_any(x: Any) -> Any:
    try:
        return np.sqrt(1.0 / x)
    except Exception:
        return x + 7.0


def test_handlers_of_floating_point_errors_run() -> None:
    for function in (divided, divided_by_any):
        with np.errstate(all="raise"):
            assert_as_numpy(function, (np.zeros(2),), (np.ones(2),), errors="numpy", refused=True)
    with np.errstate(all="raise"):  # whoever names this error counts on it
        assert_as_numpy(divided, (np.zeros(2),), (np.ones(2),), refused=True)
    assert_as_numpy(divided_with_care, (np.ones(2),), refused=True)
    # no step of a compiled function raises it by default
    assert_as_numpy(divided_by_any, (np.ones(2),), refused=False)


def of_another_error(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except (KeyError, IndexError, AttributeError):
        return a


def restored(a: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.nullcontext():
        warnings.simplefilter("ignore")
        result = np.linalg.inv(a)
    return result


def at_last(a: Any) -> Any:
    scale = 1.0
    try:
        result = np.linalg.inv(a)
    finally:
        for _ in range(3):
            scale = scale * 2.0
    return result * scale


def afterwards(a: Any) -> Any:
    try:
        scale = {"a": 2.0}["b"]
    except KeyError:
        scale = 3.0
    return np.linalg.inv(a) * scale


def in_a_handler(a: Any) -> Any:
    try:
        raise KeyError
    except KeyError as error:
        return np.linalg.inv(a) * len(error.args)


def in_an_else_branch(a: Any) -> Any:
    try:
        b = a + 1.0
    except ValueError:
        return a
    else:
        return np.linalg.inv(b)


def inside_a_comprehension(a: Any) -> Any:
    return sum([np.linalg.inv(a) * k for k in range(3)]) + next(np.linalg.inv(a) for _ in range(1))


@pytest.mark.parametrize(
    "function",
    [of_another_error, restored, at_last, afterwards, in_a_handler, in_an_else_branch, inside_a_comprehension],
)
def test_what_passes_errors_on_is_compiled(function: Any) -> None:
    assert_as_numpy(function, (REGULAR,), refused=False)
    error = None if function is in_an_else_branch else np.linalg.LinAlgError
    if error is not None:
        with pytest.raises(error):
            xjit.jit(function)(SINGULAR)


def test_steps_that_cannot_raise_may_be_tried() -> None:
    def function(x: Any) -> Any:
        try:
            return np.sort(np.tanh(x @ x.T), axis=0) + np.linalg.det(x) + x[0]
        except Exception:
            return x

    np.testing.assert_allclose(xjit.jit(function)(REGULAR), function(REGULAR), rtol=1e-12)


def test_handlers_of_the_caller_do_not_matter() -> None:
    compiled = xjit.jit(lambda a: np.linalg.inv(a))
    try:
        compiled(SINGULAR)
    except np.linalg.LinAlgError:
        np.testing.assert_array_equal(compiled(REGULAR), np.linalg.inv(REGULAR))
    else:
        pytest.fail("nothing was raised")


def test_the_refusal_names_the_error_and_the_line() -> None:
    line = by_base.__code__.co_firstlineno + 2
    with pytest.raises(CaptureError, match=f"{WORDS}: LinAlgError\n  at .*test_handlers.py:{line}, in by_base"):
        xjit.jit(by_base, strict=True)(REGULAR)


def parsed(x: Any) -> Any:
    try:
        found = json.loads("[1" if x[0] > 1 else "1")
    finally:
        x[0] += 2
    return found


def told(x: Any) -> Any:
    try:
        print("begin")  # noqa: T201
        found = json.loads("[1" if x[0] > 1 else "1")
    finally:
        print("end")  # noqa: T201
    return found


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [parsed, told])
def test_final_blocks_run_behind_errors_of_steps(
    function: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for first in (4, 0, 4):
        outcomes = []
        for one in (function, compiled):
            x = np.array([first, 1])
            try:
                result = one(x)
            except json.JSONDecodeError:
                result = "an error"
            outcomes.append((result, x.tolist(), capsys.readouterr().out))
        assert outcomes[0] == outcomes[1]


def cast_by_a_function(x: Any) -> Any:
    whole = x.astype(int)
    np.clip(whole, -1, x.sum(), out=whole)


def cast_in_place(x: Any) -> Any:
    whole = x.astype(int)
    whole[whole > 1] *= 1.5


def out_of_shape(x: Any) -> Any:
    np.cumsum(x, out=x[:2])


def position_of_flat(x: Any) -> Any:
    return x.flat["a"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [cast_by_a_function, cast_in_place, out_of_shape, position_of_flat])
def test_errors_of_writes_that_a_handler_looks_at_are_those_of_numpy(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(x: Any) -> Any:
        try:
            function(x)
        except (TypeError, ValueError, IndexError) as error:
            return str(error)

    monkeypatch.setenv("XJIT_STRICT", "0")
    assert xjit.jit(looked_at)(np.arange(4.0)) == looked_at(np.arange(4.0))
