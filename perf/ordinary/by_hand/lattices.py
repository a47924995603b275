"""Loops for `perf.ordinary.programs.lattices`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import parallel
from perf.ordinary.programs.lattices import OPPOSITE, VELOCITY_X, VELOCITY_Y, WEIGHTS


@parallel
def game_of_life(board, generations):
    """Let the board live on."""
    rows, columns = board.shape
    last = board.copy()
    for _ in range(generations):
        last, board = board, last
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                around = last[i - 1, j - 1] + last[i - 1, j] + last[i - 1, j + 1] + last[i, j - 1]
                around += last[i, j + 1] + last[i + 1, j - 1] + last[i + 1, j] + last[i + 1, j + 1]
                board[i, j] = np.uint8((around == 3) | ((around == 2) & (last[i, j] == 1)))
    if generations % 2:
        last[:] = board
    return board.sum()


@parallel
def gray_scott(U, V, steps, diffusion_u, diffusion_v, feed, kill):
    """Let the substances react."""
    rows, columns = U.shape
    new_u, new_v = U.copy(), V.copy()
    last_u, last_v, next_u, next_v = U, V, new_u, new_v
    for _ in range(steps):
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                u, v = last_u[i, j], last_v[i, j]
                lu = last_u[i - 1, j] + last_u[i, j - 1] - 4 * u + last_u[i, j + 1] + last_u[i + 1, j]
                lv = last_v[i - 1, j] + last_v[i, j - 1] - 4 * v + last_v[i, j + 1] + last_v[i + 1, j]
                reaction = u * v * v
                next_u[i, j] = u + (diffusion_u * lu - reaction + feed * (1 - u))
                next_v[i, j] = v + (diffusion_v * lv + reaction - (feed + kill) * v)
        last_u, next_u, last_v, next_v = next_u, last_u, next_v, last_v
    if steps % 2:
        U[:], V[:] = new_u, new_v


@parallel
def lattice_boltzmann(f, obstacle, relaxation, steps):
    """Let the fluid flow."""
    _, rows, columns = f.shape
    density, ux, uy = np.empty((rows, columns)), np.empty((rows, columns)), np.empty((rows, columns))
    other = np.empty_like(f)
    last, new = f, other
    for _ in range(steps):
        for i in prange(rows):
            here = np.empty(9)
            for j in range(columns):
                total, x, y = 0.0, 0.0, 0.0
                for k in range(9):
                    from_i, from_j = i - VELOCITY_Y[k], j - VELOCITY_X[k]
                    if from_i < 0:
                        from_i += rows
                    elif from_i >= rows:
                        from_i -= rows
                    if from_j < 0:
                        from_j += columns
                    elif from_j >= columns:
                        from_j -= columns
                    value = last[k, from_i, from_j]
                    here[k] = value
                    total += value
                    x += value * VELOCITY_X[k]
                    y += value * VELOCITY_Y[k]
                x, y = x / total, y / total
                density[i, j], ux[i, j], uy[i, j] = total, x, y
                if obstacle[i, j]:
                    for k in range(9):
                        new[k, i, j] = here[OPPOSITE[k]]
                else:
                    square = 1.5 * (x * x + y * y)
                    for k in range(9):
                        along = 3.0 * (VELOCITY_X[k] * x + VELOCITY_Y[k] * y)
                        equilibrium = WEIGHTS[k] * total * (1.0 + along + 0.5 * along * along - square)
                        new[k, i, j] = here[k] - (here[k] - equilibrium) / relaxation
        last, new = new, last
    if steps % 2:
        f[:] = other
    return density, ux, uy


@parallel
def ising(spins, uniform, beta):
    """Turn spins."""
    rows, columns = spins.shape
    magnetisation = np.empty(len(uniform))
    accepted = np.empty(9)
    for cost in range(-4, 5):
        accepted[cost + 4] = math.exp(-beta * 2.0 * cost)
    for sweep in range(len(uniform)):
        for colour in range(2):
            for i in prange(rows):
                above, below = spins[i - 1 if i else rows - 1], spins[i + 1 if i + 1 < rows else 0]
                for j in range((i + colour) % 2, columns, 2):
                    left, right = j - 1 if j else columns - 1, j + 1 if j + 1 < columns else 0
                    around = above[j] + below[j] + spins[i, left] + spins[i, right]
                    if uniform[sweep, i, j] < accepted[spins[i, j] * around + 4]:
                        spins[i, j] = -spins[i, j]
        total = 0
        for i in prange(rows):
            for j in range(columns):
                total += spins[i, j]
        magnetisation[sweep] = total / spins.size
    return magnetisation


BY_HAND = {
    "game-of-life": game_of_life,
    "gray-scott": gray_scott,
    "lattice-boltzmann": lattice_boltzmann,
    "ising-checkerboard": ising,
}
