"""Programs around libraries: callbacks for SciPy, image pipelines, solvers that print, errors that are handled."""

import numpy as np
from scipy import integrate, ndimage, optimize, signal

from perf.ordinary.record import Ordinary


def lorenz_solved(start, sigma, rho, beta, times):
    """Return the trajectory of Lorenz's system, by a solver of SciPy's."""

    def slope(_, state):
        x, y, z = state
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    solution = integrate.solve_ivp(slope, (times[0], times[-1]), start, t_eval=times, rtol=1e-6)
    return solution.y, solution.nfev


def ring_slopes(_, u, coupling, x):
    """Return how fast the phases of a ring of oscillators change."""
    return x + coupling * (np.sin(np.roll(u, 1) - u) + np.sin(np.roll(u, -1) - u))


def oscillators_solved(u, frequencies, coupling, duration):
    """Return the order of oscillators on a ring over time, with a callback defined outside."""
    times = np.linspace(0.0, duration, 20)
    solution = integrate.solve_ivp(ring_slopes, (0.0, duration), u, t_eval=times, args=(coupling, frequencies))
    return np.abs(np.exp(1j * solution.y).mean(axis=0))


def fitted_curve(t, y, guess):
    """Return the parameters of a damped oscillation that fit data best, and the error that is left."""

    def error(p):
        model = p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t)
        return ((model - y) ** 2).mean()

    found = optimize.minimize(error, guess, method="Nelder-Mead", options={"maxiter": 200})
    return found.x, found.fun


def rosenbrock_minimised(x):
    """Return the minimum of Rosenbrock's function, with its gradient."""

    def value(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    def gradient(x):
        out = np.zeros_like(x)
        out[:-1] = -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2.0 * (1.0 - x[:-1])
        out[1:] += 200.0 * (x[1:] - x[:-1] ** 2)
        return out

    found = optimize.minimize(value, x, jac=gradient, method="L-BFGS-B", options={"maxiter": 60})
    return found.x, float(found.fun)


def line_search_descent(A, b, x, limit):
    """Minimise a quadratic function with a quartic term in place, telling of every tenth step; return its value."""
    value = 0.5 * x @ A @ x - b @ x + 0.25 * np.sum(x**4)
    for step in range(limit):
        gradient = A @ x - b + x**3
        slope = gradient @ gradient
        if slope < 1e-12:
            break
        rate = 1.0
        while True:
            new = x - rate * gradient
            lower = 0.5 * new @ A @ new - b @ new + 0.25 * np.sum(new**4)
            if lower <= value - 1e-4 * rate * slope or rate < 1e-10:
                break
            rate *= 0.5
        x[:] = new
        value = lower
        if step % 10 == 0:
            print(f"step {step:4d}  value {value:.4e}  gradient {np.sqrt(slope):.2e}")
    return value


def cell_pipeline(image, sigma, smallest):
    """Return the label image of bright cells, their areas, mean brightness and centres."""
    smooth = ndimage.gaussian_filter(image, sigma)
    background = ndimage.minimum_filter(smooth, size=15)
    corrected = smooth - background
    mask = corrected > corrected.mean() + corrected.std()
    mask = ndimage.binary_opening(mask, iterations=1)
    labels, _ = ndimage.label(mask)
    areas = np.bincount(labels.ravel())
    kept = areas >= smallest
    kept[0] = False
    labels = np.where(kept[labels], labels, 0)
    index = np.flatnonzero(kept)
    brightness = ndimage.mean(image, labels, index)
    centres = np.array(ndimage.center_of_mass(image, labels, index))
    return labels, areas[index], brightness, centres


def edge_strength(image, sigma):
    """Return the gradient of a smoothed image, thinned by a threshold, and the share of edges."""
    smooth = ndimage.gaussian_filter(image, sigma)
    strength = np.hypot(ndimage.sobel(smooth, axis=0), ndimage.sobel(smooth, axis=1))
    strength /= strength.max()
    edges = strength > 0.3
    return np.where(edges, strength, 0.0), edges.mean()


def beat_rate(ecg, rate):
    """Return times and intervals of heart beats, and how much the intervals vary."""
    b, a = signal.butter(2, [5.0, 15.0], btype="band", fs=rate)
    filtered = signal.filtfilt(b, a, ecg)
    energy = np.convolve(np.gradient(filtered) ** 2, np.ones(rate // 10) / (rate // 10), mode="same")
    peaks, _ = signal.find_peaks(energy, height=0.3 * energy.max(), distance=rate // 3)
    intervals = np.diff(peaks) / rate
    return peaks / rate, intervals, np.sqrt((np.diff(intervals) ** 2).mean())


def inverses_with_fallback(matrices, ridge):
    """Return the inverses of matrices, of singular ones those of a ridge, and how many these were."""
    out = np.empty_like(matrices)
    singular = 0
    for k in range(len(matrices)):
        try:
            out[k] = np.linalg.inv(matrices[k])
        except np.linalg.LinAlgError:
            out[k] = np.linalg.inv(matrices[k].T @ matrices[k] + ridge * np.eye(matrices.shape[1]))
            singular += 1
    return out, singular


def cholesky_with_jitter(K, y):
    """Return the weights of a Gaussian process, with more on the diagonal until the matrix is definite."""
    jitter = 1e-10
    while True:
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(len(K)))
            break
        except np.linalg.LinAlgError:
            jitter *= 10.0
    return np.linalg.solve(L.T, np.linalg.solve(L, y)), jitter


def _lorenz(_, n):
    return np.array([1.0, 1.0, 1.0]), 10.0, 28.0, 8.0 / 3.0, np.linspace(0.0, n / 100.0, n)


def _ring(rng, n, duration):
    return rng.uniform(0.0, 2.0 * np.pi, n), rng.standard_normal(n), 0.8, float(duration)


def _decay(rng, n):
    t = np.linspace(0.0, 10.0, n)
    return t, 2.0 * np.exp(-0.3 * t) * np.cos(2.0 * t) + 0.05 * rng.standard_normal(n), np.array([1.5, 0.2, 2.1])


def _far(rng, n):
    return (rng.uniform(-1.0, 1.0, n),)


def _bowl(rng, n, limit):
    A = rng.standard_normal((n, n))
    return A @ A.T / n + np.eye(n), rng.standard_normal(n), np.ones(n), limit


def _cells(rng, n):
    y, x = np.mgrid[:n, :n]
    image = 0.1 * rng.random((n, n))
    for cy, cx in rng.uniform(0, n, (n // 6, 2)):
        image += np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 12.0)
    return image, 1.5, 8


def _photograph(rng, n):
    return np.cumsum(rng.standard_normal((n, n)), axis=0), 2.0


def _heart(rng, seconds):
    rate = 200
    ecg = 0.05 * rng.standard_normal(seconds * rate)
    ecg[np.cumsum(rng.integers(150, 210, seconds - 2))] += 3.0
    return ecg, rate


def _some_singular(rng, count, n):
    matrices = rng.standard_normal((count, n, n))
    matrices[::7, -1] = 0.0
    return matrices, 1e-3


def _all_regular(rng, count, n):
    return rng.standard_normal((count, n, n)) + n * np.eye(n), 1e-3


def _kernel(rng, n):
    x = np.sort(rng.uniform(0.0, 3.0, n))
    return np.exp(-0.5 * (x[:, None] - x) ** 2) + 1e-3 * np.eye(n), np.sin(x)


PROGRAMS = (
    Ordinary("lorenz-solved", lorenz_solved, _lorenz, {"S": (20,), "L": (2000,)}),
    Ordinary("oscillators-solved", oscillators_solved, _ring, {"S": (10, 2), "L": (5000, 20)}),
    Ordinary("fitted-curve", fitted_curve, _decay, {"S": (40,), "L": (100_000,)}, tolerance=1e-6),
    Ordinary("rosenbrock-minimised", rosenbrock_minimised, _far, {"S": (6,), "L": (20_000,)}, tolerance=1e-6),
    Ordinary("line-search-descent", line_search_descent, _bowl, {"S": (8, 25), "L": (400, 200)}, ("x",), 1e-8),
    Ordinary("cell-pipeline", cell_pipeline, _cells, {"S": (60,), "L": (500,)}),
    Ordinary("edge-strength", edge_strength, _photograph, {"S": (30,), "L": (1000,)}),
    Ordinary("beat-rate", beat_rate, _heart, {"S": (10,), "L": (2000,)}),
    Ordinary("inverses-with-fallback", inverses_with_fallback, _some_singular, {"S": (10, 4), "L": (3000, 8)}),
    Ordinary("inverses-all-regular", inverses_with_fallback, _all_regular, {"S": (10, 4), "L": (3000, 8)}),
    Ordinary("cholesky-with-jitter", cholesky_with_jitter, _kernel, {"S": (15,), "L": (800,)}),
)
