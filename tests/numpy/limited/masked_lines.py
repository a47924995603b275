"""Lines of NumPy code on elements that masks choose, each with an array or a number as its result."""

from __future__ import annotations

PACKED = (
    *("x[m]", "x[m] + x[m]", "x[m] + y[m]", "x[m] * 2 + 1", "x[x > 0]", "np.sin(x[m])", "x[m].copy()", "-x[~m]"),
    *("x[m].astype(np.float32)", "x[m] > 0", "np.where(x[m] > 0, x[m], -1.0)", "z[m]", "q[m]", "b[m]"),
    *("np.cumsum(x[m])", "np.zeros_like(x[m])", "np.outer(x[m], y[m])", "x[m][None]", "x[m][:, None] * A[0]"),
    *("x[q[m]]", "x[m][1:3]", "x[m][:k]", "x[m][-k:]", "x[m][::2] * 1.0", "x[m][::-1] * 1.0", "np.clip(x[m], -1, 1)"),
    *("np.round(x[m], 1)", "np.sign(x[m])", "np.minimum(x[m], 0.0)", "np.abs(x[m] - x[m].mean())", "x[::2][m[::2]]"),
)
COUNTED = (
    *("A[:, c].sum()", "len(A[:, c])"),
    *(
        "len(x[m])",
        "x[m].size",
        "x[m].shape[0]",
        "x[m].ndim",
        "len(A[r])",
        "A[r].size",
        "A[r].shape[1]",
        "len(A[:, c])",
    ),
    *("x[m].sum()", "np.dot(x[m], y[m])", "np.linalg.norm(x[m])", "np.prod(x[m])", "np.exp(x[m]).sum()"),
    *("np.cumsum(x[m]).sum()", "np.isnan(x[m]).any()", "(x[m] > 0).all()", "x[m].sum() + len(x[m])"),
)
ROWS = (
    *("A[r]", "A[r].sum(axis=0)", "A[r].sum(axis=1)", "A[:, c]", "A[A > 0]", "A.T[A.T > 0]", "A[r] @ A.T", "A[r].T"),
    *("A[r] * 2 + A[0]", "B[:, c]", "B[r]", "B[B > 0]", "T[t]", "T[:, t[0]]", "T[T > 0]", "T[t] + 1"),
)
ELEMENTS = ("x[m][0]", "x[m][-1]", "np.max(x[m])", "np.argmax(x[m])", "x[m].min()", "np.argmin(x[m] ** 2)")
"""Of no element there is none."""
FOUND = (
    *("np.nonzero(m)", "np.nonzero(x)", "np.nonzero(A > 0)", "np.flatnonzero(x > 0)", "np.flatnonzero(A > 0)"),
    *(
        "np.where(m)",
        "np.where(A > 0)[1]",
        "np.argwhere(A > 0)",
        "np.argwhere(m)",
        "x.nonzero()",
        "np.compress(m, x)",
    ),
    *("np.compress(r, A, axis=0)", "x.compress(m)", "np.extract(A > 0, A)"),
    *("np.count_nonzero(x[m])", "x[np.flatnonzero(m)]", "A[np.nonzero(A > 0)]", "A[np.nonzero(r)[0]]"),
    *("np.flatnonzero(m) + 1", "np.flatnonzero(x[m] > 0)", "x[m][np.flatnonzero(x[m] > 0)]", "x[m][x[m] > 0.5]"),
    *("A[r, 0]", "A[r, :]", "A[r, 1:3]", "A[2, c]", "A[1:, c]", "A[r][A[r][:, 0] > 0]", "x[np.flatnonzero(m)][:2]"),
)
JOINED = (
    *(
        "np.concatenate((x[m], x[~m]))",
        "np.concatenate([y, x[m]])",
        "np.hstack([x[m], 1.0 * q])",
        "np.append(x[m], 1.0)",
    ),
    *(
        "np.stack([x[m], y[m]])",
        "np.vstack([x[m], y[m]])",
        "np.column_stack([x[m], y[m]])",
        "np.concatenate([A[r], A])",
    ),
    *("np.diff(x[m])", "np.diff(x[m], prepend=0.0)", "np.diff(b[m])", "np.repeat(x[m], 3)", "np.full_like(x[m], 2)"),
    *(
        "x[m].reshape(-1, 1)",
        "A[r].ravel()",
        "np.trapezoid(x[m])",
        "np.array_equal(x[m], y[m])",
        "np.add.accumulate(x[m])",
    ),
    *("np.array_equal(x[m], x[m])", "np.diff(np.flatnonzero(np.diff(q // 4)))"),
)
IN_LIBRARY = (
    *("np.sort(x[m])", "np.argsort(x[m], kind='stable')", "np.median(x[m])", "np.searchsorted(np.sort(x), x[m])"),
    *(
        "np.searchsorted(np.sort(x[m]), y)",
        "np.searchsorted(np.sort(x[m]), 0.5, side='right')",
        "np.searchsorted(np.sort(x[m]), x[0])",
        "np.isin(q[0], q[m])",
        "np.isin(q[m], q[:3])",
        "np.interp(x[m], np.sort(x), y)",
        "np.nansum(x[m])",
    ),
)
SETS = (
    *("np.unique(q)", "np.unique(x)", "np.unique(A)", "np.unique(q, return_counts=True)", "np.unique(m)"),
    *("np.unique(q, return_index=True)", "np.unique(A // 1, return_inverse=True)", "np.unique(x[m])"),
    *("np.unique(q[m], True, True, True)", "np.unique(np.where(x > 1, np.nan, np.round(x)), return_counts=True)"),
    *(
        "np.union1d(q, q[m] + 5)",
        "np.intersect1d(q[m], q[:7])",
        "np.setdiff1d(q, q[:3])",
        "np.setdiff1d(q[m], q[:3])",
    ),
    *("np.setxor1d(q[:3], q[m])", "np.setxor1d(q[:3], q[3:8])", "np.intersect1d(q[:3], q[3:8])", "np.unique(x[:0])"),
    *(
        "np.bincount(q[m], minlength=9)",
        "len(np.unique(q[m]))",
    ),
    *("np.diff(np.concatenate(([0], np.flatnonzero(np.diff(q)) + 1, [len(q)])))", "x[np.unique(q[m])].sum()"),
)
