"""Bodies that attract each other, over time."""

import numpy as np

from perf.ordinary.record import Ordinary


def pull(position, mass, softening):
    """Return the acceleration of every body; none pulls itself."""
    apart = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    weight = np.sum(apart**2, axis=2) + softening**2
    near = weight > 0.0
    weight[near] = weight[near] ** -1.5
    return np.sum(apart * (weight * mass)[:, :, np.newaxis], axis=1)


def energies(position, velocity, mass):
    """Return kinetic and potential energy."""
    kinetic = 0.5 * np.sum(mass[:, np.newaxis] * velocity**2)
    apart = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    inverse = np.sqrt(np.sum(apart**2, axis=2))
    inverse[inverse > 0.0] = 1.0 / inverse[inverse > 0.0]
    potential = -np.sum(np.triu(np.outer(mass, mass) * inverse, 1))
    return kinetic, potential


def n_body(steps, dt, softening, position, velocity, mass):
    """Advance the bodies by leaps; position and velocity are written, energies of all steps returned."""
    velocity -= np.sum(mass[:, np.newaxis] * velocity, axis=0) / np.sum(mass)
    kinetic, potential = np.zeros(steps + 1), np.zeros(steps + 1)
    acceleration = pull(position, mass, softening)
    kinetic[0], potential[0] = energies(position, velocity, mass)
    for i in range(steps):
        velocity += 0.5 * dt * acceleration
        position += dt * velocity
        acceleration = pull(position, mass, softening)
        velocity += 0.5 * dt * acceleration
        kinetic[i + 1], potential[i + 1] = energies(position, velocity, mass)
    return kinetic, potential


def _bodies(rng, count, steps):
    return steps, 0.01, 0.1, rng.standard_normal((count, 3)), rng.standard_normal((count, 3)), rng.random(count)


PROGRAMS = (Ordinary("n-body", n_body, _bodies, {"S": (8, 4), "L": (200, 50)}, ("position", "velocity")),)
