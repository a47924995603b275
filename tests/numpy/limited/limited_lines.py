"""Lines of NumPy code on slices whose bounds are the counter of a loop, each with one number as its result."""

from __future__ import annotations

SLICES = (
    *("x[i:].sum()", "x[:i].sum()", "x[i + 1:].sum()", "x[:-i].sum()", "x[-i:].sum()", "x[i - 3:i + 2].sum()"),
    *("x[i:i + 3].sum()", "x[i - 1:i + 2].sum()", "x[i::-1].sum()", "x[:i:-1].sum()", "x[i - 1::-1].sum()"),
    *("x[::2][i:].sum()", "x[i::3].sum()", "x[:i:2].sum()", "x[2 * i:].sum()", "x[i:2 * i].sum()"),
    *("x[2 * i:i].sum()", "x[i:2 * i:3].sum()", "x[2 * i:i:-2].sum()", "x[i - 100:].sum()", "x[:i + 100].sum()"),
    *("x[i + 100:].sum()", "x[:100 - i].sum()", "x[:i][1:].sum()", "x[i:][:2].sum()", "x[i:][::-1].sum()"),
    *("x[:i][::-2].sum()", "x[:i + 1][-1]", "x[:i + 1][i]", "x[i:][0]", "x[:2 * i + 1][i:].sum()"),
    *("x[:i + 2][1:-1].sum()", "np.flip(x[:i]).sum()", "np.flip(x[i:])[0]", "x[i]", "A[i, -1]", "A[-1 - i, i]"),
)
MATRICES = (
    *("A[i, :i].sum()", "A[:i, i].sum()", "A[i:, :i].sum()", "A[i:, i:].sum(axis=0).sum()"),
    *("A[i:, i:].sum(axis=1).max()", "A[:i + 1, :i + 1].max(axis=0).sum()", "A[:i + 1].sum(axis=1).sum()"),
    *("A[:, :i + 1].mean()", "A[:i + 1, :].mean(axis=0).sum()", "A[i:, None, i].sum()", "A[..., i:].sum()"),
    *("A[i:, 1].sum()", "A[1, i:].sum()", "A[i:, -1].sum()", "A[:i].T.sum(axis=0).sum()"),
    *("np.transpose(A[:i]).sum(axis=1).sum()", "(A[i:] - A[i]).sum()", "(A[i:] - A[i:].max(axis=0)).sum()"),
    *("(A[i:, i:] / A[i:, i:].sum(axis=1, keepdims=True)).sum()", "np.var(A[i:], axis=0).sum()"),
    *("np.cumprod(A[i:], axis=1).sum()", "np.argmax(A[i:, i:], axis=1).sum()", "np.argmax(A[i:, i:], axis=0).sum()"),
)
PRODUCTS = (
    *("(A[:i, :i] * x[:i]).sum()", "(A[:i, :i] * x[:i, None]).sum()", "(A[:i, :] * x).sum()"),
    *("(A[:, :i].T @ x).sum()", "(A[:i, :i] @ x[:i]).sum()", "(x[:i] @ A[:i, :i]).sum()", "(x[:i] @ A[:i]).sum()"),
    *("(A[:i] @ x).sum()", "(A[:i, :i] @ A[:i, :i]).sum()", "(A[:, :i] @ A[:i]).sum()", "(A[:i] @ A).sum()"),
    *("np.outer(x[:i], x[i:]).sum()", "np.outer(x[:i], x).sum()", "np.dot(x[:i], x[:i])"),
    *("np.dot(x[:i], np.flip(x[:i]))", "np.multiply.outer(x[:i], x[i:]).sum()", "np.linalg.norm(x[i:])"),
)
ELEMENTS = (
    *("np.where(x[:i] > 0, x[:i], 0.0).sum()", "np.where(x[i:] > x[i], 1, 0).sum()", "np.abs(x[i:]).max()"),
    *("np.argmax(x[i:])", "np.argmin(x[i:] ** 2)", "x[i:].argmax()", "np.any(x[:i] > 1)", "np.all(x[:i] > -1)"),
    *("np.minimum(x[i:], x[i]).sum()", "np.exp(x[:i]).sum()", "(x[:i] + x[i:][:1]).sum()"),
    *("(x[:i] * x[i:i + 1]).sum()", "x[:i].prod()", "np.sqrt(np.sum(x[i:] ** 2))", "x[:i].shape[0]", "x[i:].size"),
    *("A[i:, :i].size", "A[i:, 2:].shape[0] * 2.0", "x[i:].copy().sum()", "np.clip(x[i:], -1, 1).sum()"),
    *("(-x[i:]).sum()", "(2.0 - x[:i] / 3).sum()", "(x[:i] < x[0]).sum()", "(x[i:] - x[i:].mean()).max()"),
    *("np.sum(x[i:], keepdims=True)[0]", "k[:i].sum()", "k[i:].max()", "(k[i:] // 3).sum()"),
    *("np.count_nonzero(k[i:])", "x[i:].std()", "np.cumsum(x[i:])[-1]", "np.cumsum(x[:i + 1]).max()"),
    *("(np.zeros_like(x[:i]) + x[:i]).sum()", "np.ones_like(x[i:]).sum()", "np.add.reduce(x[i:])"),
    *("np.maximum.reduce(x[i:])", "k[i:].astype(np.float64).sum()", "len(x[:i])", "len(A[i:, :i]) + 2 * len(x)"),
)
CREATED = (
    *(
        "np.zeros(i).sum()",
        "(np.zeros(i) + x[:i]).sum()",
        "(np.arange(i) * x[:i]).sum()",
        "np.arange(i, 2 * i).sum()",
    ),
    *("np.ones((i, 3)).sum()", "np.ones(i, np.int64).sum()", "np.empty(i, dtype=np.float32).size"),
    *(
        "np.arange(2 * i, i).sum()",
        "np.arange(i - 3, i).sum()",
        "x[np.arange(i)].sum()",
        "A[np.arange(i), np.arange(i)].sum()",
        "A[np.arange(i), i - np.arange(i)].sum()",
        "np.arange(len(x[:i])).sum()",
    ),
)
GROUPS = {"slices": SLICES, "matrices": MATRICES, "products": PRODUCTS, "elements": ELEMENTS, "created": CREATED}
