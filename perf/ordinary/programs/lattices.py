"""Programs on lattices: cellular automata, reactions, flows, spins."""

import numpy as np

from perf.ordinary.record import Ordinary

# The nine velocities of the lattice: at rest, along the axes, along the diagonals.
VELOCITY_X = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
VELOCITY_Y = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


def game_of_life(board, generations):
    """Let a board of cells live on, in place; its border stays dead."""
    for _ in range(generations):
        around = (
            board[:-2, :-2]
            + board[:-2, 1:-1]
            + board[:-2, 2:]
            + board[1:-1, :-2]
            + board[1:-1, 2:]
            + board[2:, :-2]
            + board[2:, 1:-1]
            + board[2:, 2:]
        )
        born = (around == 3) & (board[1:-1, 1:-1] == 0)
        stays = ((around == 2) | (around == 3)) & (board[1:-1, 1:-1] == 1)
        board[...] = 0
        board[1:-1, 1:-1][born | stays] = 1
    return board.sum()


def gray_scott(U, V, steps, diffusion_u, diffusion_v, feed, kill):
    """Let two substances react and diffuse, in place."""
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    for _ in range(steps):
        laplace_u = U[:-2, 1:-1] + U[1:-1, :-2] - 4 * u + U[1:-1, 2:] + U[2:, 1:-1]
        laplace_v = V[:-2, 1:-1] + V[1:-1, :-2] - 4 * v + V[1:-1, 2:] + V[2:, 1:-1]
        reaction = u * v * v
        u += diffusion_u * laplace_u - reaction + feed * (1 - u)
        v += diffusion_v * laplace_v + reaction - (feed + kill) * v


def lattice_boltzmann(f, obstacle, relaxation, steps):
    """Let a fluid flow around an obstacle, in place; return its density and velocity."""
    for _ in range(steps):
        for i in range(9):
            f[i] = np.roll(np.roll(f[i], VELOCITY_X[i], axis=1), VELOCITY_Y[i], axis=0)
        bounced = f[:, obstacle][OPPOSITE]
        density = f.sum(axis=0)
        ux = (f * VELOCITY_X[:, None, None]).sum(axis=0) / density
        uy = (f * VELOCITY_Y[:, None, None]).sum(axis=0) / density
        square = 1.5 * (ux * ux + uy * uy)
        for i in range(9):
            along = 3.0 * (VELOCITY_X[i] * ux + VELOCITY_Y[i] * uy)
            equilibrium = WEIGHTS[i] * density * (1.0 + along + 0.5 * along * along - square)
            f[i] -= (f[i] - equilibrium) / relaxation
        f[:, obstacle] = bounced
    return density, ux, uy


def ising(spins, uniform, beta):
    """Turn spins by the Metropolis rule, one colour of the checkerboard after the other; return magnetisations."""
    rows, columns = spins.shape
    colours = (np.arange(rows)[:, None] + np.arange(columns)) % 2
    magnetisation = np.empty(len(uniform))
    for sweep in range(len(uniform)):
        for colour in range(2):
            around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
            cost = 2.0 * spins * around
            turned = (uniform[sweep] < np.exp(-beta * cost)) & (colours == colour)
            spins[turned] *= -1
        magnetisation[sweep] = spins.mean()
    return magnetisation


def _board(rng, side, generations):
    board = (rng.random((side, side)) < 0.3).astype(np.uint8)
    board[[0, -1]] = 0
    board[:, [0, -1]] = 0
    return board, generations


def _substances(rng, side, steps):
    U, V = np.ones((side, side)), np.zeros((side, side))
    middle = slice(side // 2 - side // 8, side // 2 + side // 8)
    U[middle, middle], V[middle, middle] = 0.5, 0.25
    return U + 0.01 * rng.random((side, side)), V, steps, 0.16, 0.08, 0.035, 0.065


def _channel(rng, rows, columns, steps):
    y, x = np.indices((rows, columns))
    obstacle = (x - columns / 4) ** 2 + (y - rows / 2) ** 2 < (rows / 6) ** 2
    f = np.ones((9, rows, columns)) + 0.01 * rng.standard_normal((9, rows, columns))
    f[1] += 0.3
    return f, obstacle, 0.6, steps


def _spins(rng, side, sweeps):
    return rng.choice(np.array([-1, 1]), (side, side)), rng.random((sweeps, side, side)), 0.44


PROGRAMS = (
    Ordinary(
        "game-of-life", game_of_life, _board, {"S": (50, 10), "L": (1000, 60)}, written=("board",), tolerance=0.0
    ),
    Ordinary("gray-scott", gray_scott, _substances, {"S": (40, 20), "L": (400, 100)}, written=("U", "V")),
    Ordinary(
        "lattice-boltzmann", lattice_boltzmann, _channel, {"S": (20, 40, 5), "L": (100, 300, 40)}, written=("f",)
    ),
    Ordinary("ising-checkerboard", ising, _spins, {"S": (20, 10), "L": (300, 60)}, written=("spins",)),
)
