"""Programs on sequences: alignments, checksums, hidden states, windows and rows of sparse matrices."""

import numpy as np

from perf.ordinary.record import Ordinary


def crc16(data, polynomial):
    """Return the checksum of bytes, by bits."""
    crc = 0xFFFF
    for byte in data:
        value = byte & 0xFF
        for _ in range(8):
            if (crc & 1) ^ (value & 1):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            value >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | (crc >> 8)) & 0xFFFF


def needleman_wunsch_cells(a, b, match, mismatch, gap):
    """Return the scores of all alignments of two sequences, one cell after the other."""
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    score[:, 0] = gap * np.arange(n + 1)
    score[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(diagonal, score[i - 1, j] + gap, score[i, j - 1] + gap)
    return score


def needleman_wunsch_diagonals(a, b, match, mismatch, gap):
    """Return the scores of all alignments of two sequences, one anti-diagonal after the other."""
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    score[:, 0] = gap * np.arange(n + 1)
    score[0, :] = gap * np.arange(m + 1)
    for d in range(2, n + m + 1):
        i = np.arange(max(1, d - m), min(n, d - 1) + 1)
        j = d - i
        same = np.where(a[i - 1] == b[j - 1], match, mismatch)
        score[i, j] = np.maximum(score[i - 1, j - 1] + same, np.maximum(score[i - 1, j], score[i, j - 1]) + gap)
    return score


def edit_distance(a, b):
    """Return how many insertions, deletions and changes lead from one sequence to the other."""
    previous = np.arange(len(b) + 1)
    current = np.zeros_like(previous)
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            change = previous[j] + (0 if a[i] == b[j] else 1)
            current[j + 1] = min(change, previous[j + 1] + 1, current[j] + 1)
        previous, current = current, previous
    return previous[-1]


def hmm_forward(observations, initial, transition, emission):
    """Return the log-likelihood of observations and the filtered probabilities of the hidden states."""
    steps, states = len(observations), len(initial)
    filtered = np.empty((steps, states))
    likelihood = 0.0
    alpha = initial * emission[:, observations[0]]
    for t in range(steps):
        if t > 0:
            alpha = (alpha @ transition) * emission[:, observations[t]]
        total = alpha.sum()
        alpha = alpha / total
        likelihood += np.log(total)
        filtered[t] = alpha
    return likelihood, filtered


def csr_matvec(data, indices, indptr, x):
    """Return the product of a sparse matrix in rows and a vector."""
    rows = len(indptr) - 1
    y = np.empty(rows)
    for i in range(rows):
        row = slice(indptr[i], indptr[i + 1])
        y[i] = data[row] @ x[indices[row]]
    return y


def rolling_maximum(x, window):
    """Return the maxima of a moving window."""
    out = np.empty(len(x) - window + 1)
    for i in range(len(out)):
        out[i] = x[i : i + window].max()
    return out


def pagerank(source, target, nodes, damping, tolerance):
    """Return the ranks of the nodes of a graph, and how many iterations it took."""
    degree = np.zeros(nodes)
    np.add.at(degree, source, 1.0)
    rank = np.full(nodes, 1.0 / nodes)
    iterations = 0
    change = 1.0
    while change > tolerance:
        share = rank / np.maximum(degree, 1.0)
        received = np.zeros(nodes)
        np.add.at(received, target, share[source])
        lost = rank[degree == 0.0].sum()
        updated = (1.0 - damping) / nodes + damping * (received + lost / nodes)
        change = np.abs(updated - rank).sum()
        rank = updated
        iterations += 1
    return rank, iterations


def sieve(n):
    """Return which numbers up to `n` are prime, and how many."""
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return prime, prime.sum()


def _data(rng, n):
    return rng.integers(0, 256, n, dtype=np.uint8), 0x8408


def _pair(rng, n, m):
    return rng.integers(0, 4, n), rng.integers(0, 4, m)


def _scored_pair(rng, n, m):
    return *_pair(rng, n, m), 2, -1, -2


def _hidden(rng, steps, states, symbols):
    initial, transition, emission = rng.random(states), rng.random((states, states)), rng.random((states, symbols))
    for table in (initial, transition, emission):
        table /= table.sum(axis=-1, keepdims=True)
    return rng.integers(0, symbols, steps), initial, transition, emission


def _sparse(rng, rows, columns, most):
    indptr = np.concatenate([[0], np.cumsum(rng.integers(1, most, rows))])
    return rng.standard_normal(indptr[-1]), rng.integers(0, columns, indptr[-1]), indptr, rng.standard_normal(columns)


def _series(rng, n, window):
    return rng.standard_normal(n), window


def _graph(rng, nodes, links):
    target = (nodes * rng.random(links) ** 2).astype(np.int64)
    return rng.integers(0, nodes, links), target, nodes, 0.85, 1e-8


def _limit(_, n):
    return (n,)


PROGRAMS = (
    Ordinary("crc16", crc16, _data, {"S": (1000,), "L": (50_000,)}, tolerance=0.0),
    Ordinary("needleman-wunsch-cells", needleman_wunsch_cells, _scored_pair, {"S": (60, 50), "L": (800, 700)}),
    Ordinary(
        "needleman-wunsch-diagonals", needleman_wunsch_diagonals, _scored_pair, {"S": (60, 50), "L": (3000, 2500)}
    ),
    Ordinary("edit-distance", edit_distance, _pair, {"S": (60, 50), "L": (800, 700)}),
    Ordinary("hmm-forward", hmm_forward, _hidden, {"S": (100, 8, 12), "L": (20_000, 32, 40)}),
    Ordinary("csr-matvec", csr_matvec, _sparse, {"S": (200, 150, 20), "L": (100_000, 80_000, 40)}),
    Ordinary("rolling-maximum", rolling_maximum, _series, {"S": (500, 20), "L": (100_000, 100)}, tolerance=0.0),
    Ordinary("pagerank", pagerank, _graph, {"S": (50, 400), "L": (100_000, 1_000_000)}),
    Ordinary("sieve", sieve, _limit, {"S": (1000,), "L": (20_000_000,)}, tolerance=0.0),
)
