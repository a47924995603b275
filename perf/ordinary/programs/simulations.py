"""Programs with state: generators that are passed on, objects that move on, estimators that are fitted."""

from dataclasses import dataclass, field

import numpy as np

from perf.ordinary.record import Ordinary


def random_walks(rng, walkers, steps):
    """Return the mean squared distance of walkers from their start after every step."""
    position = np.zeros((walkers, 2))
    spread = np.zeros(steps)
    for t in range(steps):
        angle = rng.uniform(0.0, 2.0 * np.pi, walkers)
        position[:, 0] += np.cos(angle)
        position[:, 1] += np.sin(angle)
        spread[t] = (position**2).sum(axis=1).mean()
    return spread


def metropolis(rng, x, scale, steps):
    """Return samples of a density with two modes, and the share of accepted proposals."""
    samples = np.empty((steps, len(x)))
    accepted = 0
    density = -0.5 * np.sum((np.abs(x) - 2.0) ** 2)
    for t in range(steps):
        proposal = x + scale * rng.standard_normal(len(x))
        new = -0.5 * np.sum((np.abs(proposal) - 2.0) ** 2)
        if np.log(rng.random()) < new - density:
            x = proposal
            density = new
            accepted += 1
        samples[t] = x
    return samples, accepted / steps


def asian_option(rng, spot, strike, rate, volatility, years, steps, paths):
    """Return the price of an option on the mean of a path, and its standard error."""
    dt = years / steps
    price = np.full(paths, spot)
    total = np.zeros(paths)
    for _ in range(steps):
        shock = rng.standard_normal(paths)
        price *= np.exp((rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * shock)
        total += price
    payoff = np.exp(-rate * years) * np.maximum(total / steps - strike, 0.0)
    return payoff.mean(), payoff.std(ddof=1) / np.sqrt(paths)


def bootstrap(rng, x, draws):
    """Return the bounds of the confidence interval of a median."""
    medians = np.empty(draws)
    for k in range(draws):
        medians[k] = np.median(x[rng.integers(0, len(x), len(x))])
    return np.percentile(medians, [2.5, 97.5])


class Particles:
    """Particles that fall in a box and bounce from its walls."""

    def __init__(self, pos, vel):
        self.pos = pos
        self.vel = vel
        self.time = 0.0

    def step(self, dt):
        """Move on by one step."""
        self.vel[:, 1] -= 9.81 * dt
        self.pos += self.vel * dt
        outside = (self.pos < 0.0) | (self.pos > 1.0)
        self.vel[outside] *= -0.9
        self.pos = np.clip(self.pos, 0.0, 1.0)
        self.time += dt

    def energy(self):
        """Return the sum of kinetic and potential energy."""
        return 0.5 * (self.vel**2).sum() + 9.81 * self.pos[:, 1].sum()


def bouncing_particles(particles, dt, steps):
    """Move particles on; return their energies after the steps."""
    energies = np.zeros(steps)
    for t in range(steps):
        particles.step(dt)
        energies[t] = particles.energy()
    return energies


class Kalman:
    """A Kalman filter that keeps its estimate."""

    def __init__(self, F, H, Q, R):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x = np.zeros(len(F))
        self.P = np.eye(len(F))

    def predict(self):
        """Move the estimate on by one step."""
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        """Correct the estimate by a measurement; return the residual."""
        residual = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = np.linalg.solve(S, self.H @ self.P).T
        self.x = self.x + K @ residual
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P
        return residual


def kalman_object(tracker, measured):
    """Return the estimates after every measurement."""
    track = np.zeros((len(measured), len(tracker.x)))
    for t, z in enumerate(measured):
        tracker.predict()
        tracker.update(z)
        track[t] = tracker.x
    return track


@dataclass
class Moments:
    """Mean and squares of what has been seen so far."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    extremes: list[float] = field(default_factory=lambda: [np.inf, -np.inf])

    def add(self, value):
        """Take one more value into account."""
        self.count += 1
        difference = value - self.mean
        self.mean += difference / self.count
        self.squares += difference * (value - self.mean)
        self.extremes[0] = min(self.extremes[0], value)
        self.extremes[1] = max(self.extremes[1], value)


def welford_object(moments, x):
    """Take all values into account; return the standard deviation."""
    for value in x:
        moments.add(value)
    return np.sqrt(moments.squares / (moments.count - 1))


def welford_inside(x):
    """Return the moments of each column, each by an object of its own."""
    found = np.zeros((x.shape[1], 2))
    for j in range(x.shape[1]):
        moments = Moments()
        for value in x[:, j]:
            moments.add(value)
        found[j] = moments.mean, moments.squares / (moments.count - 1)
    return found


class Whitening:
    """Principal components that are scaled to unit variance."""

    def __init__(self, components):
        self.components = components

    def fit(self, X):
        """Find the components of the rows of a matrix."""
        self.mean_ = X.mean(axis=0)
        _, s, Vt = np.linalg.svd(X - self.mean_, full_matrices=False)
        self.scale_ = s[: self.components] / np.sqrt(len(X) - 1)
        self.axes_ = Vt[: self.components]
        return self

    def transform(self, X):
        """Return the components of rows."""
        return (X - self.mean_) @ self.axes_.T / self.scale_


def fit_transform(model, train, test):
    """Fit a model; return the squared sizes of the components of other rows."""
    return (model.fit(train).transform(test) ** 2).sum(axis=1)


def fitted_inside(train, test):
    """Return the components of rows under a model of other ones."""
    return np.abs(Whitening(2).fit(train).transform(test))


class Standardiser:
    """Means and deviations of columns, improved batch by batch."""

    def __init__(self, columns):
        self.seen = 0
        self.mean = np.zeros(columns)
        self.var = np.ones(columns)

    def partial_fit(self, X):
        """Take one more batch into account."""
        total = self.seen + len(X)
        shift = X.mean(axis=0) - self.mean
        self.var = (self.seen * self.var + len(X) * X.var(axis=0)) / total
        self.var += self.seen * len(X) / total**2 * shift**2
        self.mean += len(X) / total * shift
        self.seen = total

    def transform(self, X):
        """Return standardised rows."""
        return (X - self.mean) / np.sqrt(self.var + 1e-12)


def standardised_batches(scaler, X, batch):
    """Return rows that are standardised by all batches up to their own."""
    out = np.empty_like(X)
    for first in range(0, len(X), batch):
        scaler.partial_fit(X[first : first + batch])
        out[first : first + batch] = scaler.transform(X[first : first + batch])
    return out


def _walkers(rng, walkers, steps):
    return rng, walkers, steps


def _chain(rng, d, steps):
    return rng, np.zeros(d), 1.5, steps


def _paths(rng, steps, paths):
    return rng, 100.0, 105.0, 0.03, 0.25, 1.0, steps, paths


def _resampled(rng, n, draws):
    return rng, np.random.default_rng(1).standard_normal(n), draws


def _falling(rng, n, steps):
    return Particles(rng.random((n, 2)), rng.standard_normal((n, 2))), 0.01, steps


def _tracked(rng, steps):
    F = np.eye(4) + 0.1 * np.eye(4, k=2)
    tracker = Kalman(F, np.eye(2, 4), 0.01 * np.eye(4), 0.5 * np.eye(2))
    return tracker, np.cumsum(rng.standard_normal((steps, 2)), axis=0)


def _moments(rng, n):
    return Moments(), rng.standard_normal(n)


def _columns(rng, n, columns):
    return (rng.standard_normal((n, columns)),)


def _two_tables(rng, n, d):
    mixing = rng.standard_normal((d, d))
    return rng.standard_normal((n, d)) @ mixing, rng.standard_normal((n, d)) @ mixing


def _modelled(rng, n, d, components):
    return Whitening(components), *_two_tables(rng, n, d)


def _batches(rng, n, columns, batch):
    return Standardiser(columns), 3.0 + rng.standard_normal((n, columns)), batch


PROGRAMS = (
    Ordinary("random-walks", random_walks, _walkers, {"S": (20, 30), "L": (10_000, 200)}, ("rng",)),
    Ordinary("metropolis", metropolis, _chain, {"S": (3, 50), "L": (5, 50_000)}, ("rng",)),
    Ordinary("asian-option", asian_option, _paths, {"S": (10, 40), "L": (100, 50_000)}, ("rng",)),
    Ordinary("bootstrap", bootstrap, _resampled, {"S": (50, 20), "L": (10_000, 400)}, ("rng",)),
    Ordinary("bouncing-particles", bouncing_particles, _falling, {"S": (20, 25), "L": (20_000, 300)}, ("particles",)),
    Ordinary("kalman-object", kalman_object, _tracked, {"S": (40,), "L": (5000,)}, ("tracker",)),
    Ordinary("welford-object", welford_object, _moments, {"S": (200,), "L": (200_000,)}, ("moments",)),
    Ordinary("welford-inside", welford_inside, _columns, {"S": (60, 3), "L": (10_000, 10)}),
    Ordinary("fit-transform", fit_transform, _modelled, {"S": (40, 5, 2), "L": (20_000, 30, 10)}, ("model",)),
    Ordinary("fitted-inside", fitted_inside, _two_tables, {"S": (40, 5), "L": (20_000, 30)}),
    Ordinary(
        "standardised-batches",
        standardised_batches,
        _batches,
        {"S": (60, 4, 20), "L": (200_000, 20, 500)},
        ("scaler",),
    ),
)
