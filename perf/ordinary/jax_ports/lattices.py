"""Ports of `perf.ordinary.programs.lattices`."""

import jax.numpy as jnp
from jax import lax

from perf.ordinary.programs.lattices import OPPOSITE, VELOCITY_X, VELOCITY_Y, WEIGHTS


def game_of_life(board, generations):
    """Return the number of living cells and the board."""

    def step(_, board):
        rows, columns = board.shape
        around = sum(
            board[1 + i : rows - 1 + i, 1 + j : columns - 1 + j]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        alive = (around == 3) | ((around == 2) & (board[1:-1, 1:-1] == 1))
        return jnp.zeros_like(board).at[1:-1, 1:-1].set(alive.astype(board.dtype))

    board = lax.fori_loop(0, generations, step, board)
    return board.sum(), board


def gray_scott(U, V, steps, diffusion_u, diffusion_v, feed, kill):
    """Return both substances."""

    def laplace(a):
        return a[:-2, 1:-1] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1] + a[1:-1, 2:] + a[2:, 1:-1]

    def step(_, state):
        U, V = state
        u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
        reaction = u * v * v
        new_u = u + (diffusion_u * laplace(U) - reaction + feed * (1 - u))
        new_v = v + (diffusion_v * laplace(V) + reaction - (feed + kill) * v)
        return U.at[1:-1, 1:-1].set(new_u), V.at[1:-1, 1:-1].set(new_v)

    return lax.fori_loop(0, steps, step, (U, V))


def lattice_boltzmann(f, obstacle, relaxation, steps):
    """Return density, velocity and the distributions."""
    cx, cy, weights = VELOCITY_X[:, None, None], VELOCITY_Y[:, None, None], WEIGHTS[:, None, None]

    def step(_, state):
        f = state[0]
        f = jnp.stack([jnp.roll(f[i], (VELOCITY_Y[i], VELOCITY_X[i]), axis=(0, 1)) for i in range(9)])
        density = f.sum(axis=0)
        ux, uy = (f * cx).sum(axis=0) / density, (f * cy).sum(axis=0) / density
        along = 3.0 * (cx * ux + cy * uy)
        equilibrium = weights * density * (1.0 + along + 0.5 * along * along - 1.5 * (ux * ux + uy * uy))
        return jnp.where(obstacle, f[OPPOSITE], f - (f - equilibrium) / relaxation), density, ux, uy

    empty = jnp.zeros(f.shape[1:])
    f, density, ux, uy = lax.fori_loop(0, steps, step, (f, empty, empty, empty))
    return density, ux, uy, f


def ising(spins, uniform, beta):
    """Return magnetisations and spins."""
    rows, columns = spins.shape
    colours = (jnp.arange(rows)[:, None] + jnp.arange(columns)) % 2

    def sweep(spins, chance):
        for colour in range(2):
            around = jnp.roll(spins, 1, 0) + jnp.roll(spins, -1, 0) + jnp.roll(spins, 1, 1) + jnp.roll(spins, -1, 1)
            turned = (chance < jnp.exp(-beta * 2.0 * spins * around)) & (colours == colour)
            spins = jnp.where(turned, -spins, spins)
        return spins, spins.mean()

    spins, magnetisation = lax.scan(sweep, spins, uniform)
    return magnetisation, spins


PORTS = {
    "game-of-life": game_of_life,
    "gray-scott": gray_scott,
    "lattice-boltzmann": lattice_boltzmann,
    "ising-checkerboard": ising,
}
