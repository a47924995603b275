"""Series, data frames and labelled arrays, beside pandas and xarray."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import split
from xjit.errors import FallbackWarning

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

rng = np.random.default_rng(5)
DAYS = pd.date_range("2020-01-01", periods=40)


def series(kind: Any = float) -> Any:
    return pd.Series((rng.standard_normal(40) * 9).astype(kind), index=DAYS, name="prices")


def frame() -> Any:
    return pd.DataFrame({"p": series(), "q": series(np.int64)})


def labelled() -> Any:
    return xr.DataArray(rng.standard_normal((4, 5)), dims=("a", "b"), name="heat")


def as_arrays(s: Any) -> Any:
    return np.asarray(s) * 2, s.values.max(), s.to_numpy() - 1, np.array(s).min()


def stays_a_series(s: Any) -> Any:
    return np.sin(s), s * 2, -s, s > 0, s.shift(1)


def mixed(s: Any) -> Any:
    x = np.exp(s.to_numpy() * 0.1)
    return s + x, x * s, len(s), s.size, s.shape, x.max()


def chains(s: Any) -> Any:
    smooth = s.rolling(3).mean().to_numpy()
    total = 0.0
    for v in s.to_numpy():
        if v > 0:
            total += v
    return np.nan_to_num(smooth) * 2, s.diff().dropna(), total, s.iloc[3], float(s.max())


def columns(df: Any) -> Any:
    return np.cumsum(df["p"].to_numpy() * df["q"].values), df["p"] * 2, df.shape, df[["p"]].to_numpy().max(axis=0)


def with_dims(da: Any) -> Any:
    return np.asarray(da) * 2, da.values.max(), np.cos(da), da.mean(dim="a"), da * 3


def inner(s: Any) -> Any:
    return [v for v in s.to_numpy() if v > 0], s.name


def returns_itself(s: Any) -> Any:
    return s, s.to_numpy()


CASES: list[tuple[Callable[..., Any], Any]] = [
    *[(one, kind) for one in (as_arrays, stays_a_series, mixed) for kind in (float, np.float32, np.int64)],
    (chains, float),
    (inner, float),
    (returns_itself, float),
    (columns, "frame"),
    (with_dims, "labelled"),
]


def made(kind: Any) -> Any:
    return {"frame": frame, "labelled": labelled}[kind]() if isinstance(kind, str) else series(kind)


def check(found: Any, wanted: Any) -> None:
    """Check that two results are the same, labels and names included."""
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple | list):
        for one, other in zip(found, wanted, strict=True):
            check(one, other)
    elif isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted, rtol=1e-5 if wanted.dtype == np.float32 else 1e-12)
    elif isinstance(wanted, xr.DataArray):
        xr.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert found.name == wanted.name
    elif isinstance(wanted, str):
        assert found == wanted
    else:
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        narrow = np.asarray(wanted).dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if narrow else 1e-12)


@pytest.mark.parametrize(("function", "kind"), CASES)
def test_they_are_as_in_their_libraries(function: Callable[..., Any], kind: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(3):
            value = made(kind)
            before = value.copy()
            check(compiled(value), function(value))
            check(value.equals(before), True)
        assert compiled.stats().fallbacks == 0
        assert compiled.stats().traces == 1


def test_what_comes_back_is_the_argument() -> None:
    with split():
        s = series()
        assert xjit.jit(returns_itself)(s)[0] is s


def test_another_length_and_type() -> None:
    compiled = xjit.jit(as_arrays)
    with split():
        for s in (series(), series()[:7], series(np.int64), series()[:0] + 1.0):
            if len(s):
                check(compiled(s), as_arrays(s))


def sets_an_item(s: Any) -> Any:
    s.iloc[0] = 5.0
    return s.sum()


def sets_by_label(s: Any) -> Any:
    s[DAYS[1]] = 5.0
    return s.to_numpy() * 2


def writes_to_values(s: Any) -> Any:
    s.values[0] = 5.0
    return s.sum()


def in_place(s: Any) -> Any:
    s += 1
    return s.to_numpy() * 2


def filled(s: Any) -> Any:
    s.fillna(0.0, inplace=True)
    return s.to_numpy() * 2


def missing(s: Any) -> Any:
    return s["nothing"], s.to_numpy() * 2


@pytest.mark.parametrize("function", [sets_an_item, sets_by_label, writes_to_values, in_place, filled, missing])
def test_changes_and_errors_are_their_libraries(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            one = series()
            other = one.copy()
            try:
                wanted = function(one)
            except Exception as error:
                with pytest.raises(type(error)):
                    compiled(other)
            else:
                check(compiled(other), wanted)
            check(other, one)


def test_objects_are_refused() -> None:
    s = pd.Series([1.0, 2.0], dtype=object)

    def doubled(prices: Any) -> Any:
        return np.asarray(prices, dtype=float) * 2

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        patch.setenv("XJIT_STRICT", "0")
        warnings.simplefilter("always")
        check(xjit.jit(doubled)(s), doubled(s))
    (one,) = [str(one.message) for one in caught if issubclass(one.category, FallbackWarning)]
    assert "argument prices: object dtype" in one
    assert "use prices.to_numpy(float)" in one
