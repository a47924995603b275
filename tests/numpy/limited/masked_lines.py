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
