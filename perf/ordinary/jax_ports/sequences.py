"""Ports of `perf.ordinary.programs.sequences`."""

import jax
import jax.numpy as jnp
from jax import lax


def hmm_forward(observations, initial, transition, emission):
    """Return likelihood and probabilities."""

    def normalised(alpha):
        total = alpha.sum()
        return alpha / total, jnp.log(total)

    def step(alpha, symbol):
        alpha, log = normalised((alpha @ transition) * emission[:, symbol])
        return alpha, (alpha, log)

    first, log = normalised(initial * emission[:, observations[0]])
    _, (filtered, logs) = lax.scan(step, first, observations[1:])
    return log + logs.sum(), jnp.concatenate([first[None], filtered])


def csr_matvec(data, indices, indptr, x):
    """Return the product."""
    rows = len(indptr) - 1
    row = jnp.repeat(jnp.arange(rows), jnp.diff(indptr), total_repeat_length=len(data))
    return jax.ops.segment_sum(data * x[indices], row, num_segments=rows, indices_are_sorted=True)


def rolling_maximum(x, window):
    """Return maxima of windows."""
    return lax.reduce_window(x, -jnp.inf, lax.max, (window,), (1,), "VALID")


def pagerank(source, target, nodes, damping, tolerance):
    """Return ranks and the number of iterations."""
    degree = jnp.zeros(nodes).at[source].add(1.0)

    def step(state):
        rank, iterations, _ = state
        share = rank / jnp.maximum(degree, 1.0)
        received = jnp.zeros(nodes).at[target].add(share[source])
        lost = jnp.where(degree == 0.0, rank, 0.0).sum()
        updated = (1.0 - damping) / nodes + damping * (received + lost / nodes)
        return updated, iterations + 1, jnp.abs(updated - rank).sum()

    start = jnp.full(nodes, 1.0 / nodes), 0, 1.0
    rank, iterations, _ = lax.while_loop(lambda state: state[2] > tolerance, step, start)
    return rank, iterations


PORTS = {
    "hmm-forward": hmm_forward,
    "csr-matvec": csr_matvec,
    "rolling-maximum": rolling_maximum,
    "pagerank": pagerank,
}
