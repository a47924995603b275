"""Loops for `perf.ordinary.programs.bodies`."""

import math

import numpy as np
from numba import prange

from perf.loops.parallel import inline, parallel


@parallel
def pull(position, mass, softening, out):
    """Write the acceleration of every body; return the potential energy."""
    count = mass.size
    potential = 0.0
    for i in prange(count):
        ax, ay, az, part = 0.0, 0.0, 0.0, 0.0
        for j in range(count):
            if j != i:
                x, y, z = (
                    position[j, 0] - position[i, 0],
                    position[j, 1] - position[i, 1],
                    position[j, 2] - position[i, 2],
                )
                square = x * x + y * y + z * z
                soft = square + softening * softening
                weight = mass[j] / (soft * math.sqrt(soft))
                ax += x * weight
                ay += y * weight
                az += z * weight
                part += mass[j] / math.sqrt(square)
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
        potential -= 0.5 * mass[i] * part
    return potential


@inline
def n_body(steps, dt, softening, position, velocity, mass):
    """Advance the bodies."""
    count = mass.size
    whole = mass.sum()
    for axis in range(3):
        velocity[:, axis] -= (mass * velocity[:, axis]).sum() / whole
    kinetic, potential = np.zeros(steps + 1), np.zeros(steps + 1)
    acceleration = np.empty_like(position)
    for turn in range(steps + 1):
        if turn:
            for i in range(count):
                for axis in range(3):
                    velocity[i, axis] += 0.5 * dt * acceleration[i, axis]
                    position[i, axis] += dt * velocity[i, axis]
        potential[turn] = pull(position, mass, softening, acceleration)
        energy = 0.0
        for i in range(count):
            for axis in range(3):
                if turn:
                    velocity[i, axis] += 0.5 * dt * acceleration[i, axis]
                energy += mass[i] * velocity[i, axis] ** 2
        kinetic[turn] = 0.5 * energy
    return kinetic, potential


BY_HAND = {"n-body": n_body}
