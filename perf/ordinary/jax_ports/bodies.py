"""Ports of `perf.ordinary.programs.bodies`."""

import jax.numpy as jnp
from jax import lax


def n_body(steps, dt, softening, position, velocity, mass):
    """Return energies, positions and velocities."""

    def apart(position):
        return position[None, :, :] - position[:, None, :]

    def pull(position):
        d = apart(position)
        square = (d**2).sum(axis=2) + softening**2
        weight = jnp.where(square > 0.0, square**-1.5, square)
        return (d * (weight * mass)[:, :, None]).sum(axis=1)

    def energies(position, velocity):
        distance = jnp.sqrt((apart(position) ** 2).sum(axis=2))
        inverse = jnp.where(distance > 0.0, 1.0 / distance, 0.0)
        kinetic = 0.5 * (mass[:, None] * velocity**2).sum()
        return kinetic, -jnp.triu(jnp.outer(mass, mass) * inverse, 1).sum()

    def step(state, _):
        position, velocity, acceleration = state
        velocity = velocity + 0.5 * dt * acceleration
        position = position + dt * velocity
        acceleration = pull(position)
        velocity = velocity + 0.5 * dt * acceleration
        return (position, velocity, acceleration), energies(position, velocity)

    velocity = velocity - (mass[:, None] * velocity).sum(axis=0) / mass.sum()
    first = energies(position, velocity)
    state, later = lax.scan(step, (position, velocity, pull(position)), None, length=steps)
    energy = [jnp.concatenate([jnp.asarray(a)[None], b]) for a, b in zip(first, later, strict=True)]
    return energy[0], energy[1], state[0], state[1]


PORTS = {"n-body": n_body}
