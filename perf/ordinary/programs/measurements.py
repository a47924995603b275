"""Programs that clean, shorten and classify measured data: masks, sorting and lengths that the data decides."""

import numpy as np

from perf.ordinary.record import Ordinary


def clean_readings(station, value):
    """Return the stations that have valid readings, how many each has, and their means."""
    valid = np.isfinite(value) & (value > -90.0) & (value < 60.0)
    names, place, counts = np.unique(station[valid], return_inverse=True, return_counts=True)
    sums = np.bincount(place, weights=value[valid], minlength=len(names))
    return names, counts, sums / counts


def sigma_clipping(x, limit):
    """Return mean and deviation of what is left when outliers have been removed, and how many are left."""
    kept = x
    while True:
        mean, deviation = kept.mean(), kept.std()
        inside = np.abs(kept - mean) <= limit * deviation
        if inside.all():
            break
        kept = kept[inside]
    return mean, deviation, len(kept)


def run_lengths(x):
    """Return where each run of equal values starts, how long it is, and its value."""
    starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
    lengths = np.diff(np.r_[starts, len(x)])
    return starts, lengths, x[starts]


def run_decoding(lengths, values):
    """Return the values, each as often as its run is long, and their running sum."""
    decoded = np.repeat(values, lengths)
    return decoded, np.cumsum(decoded)


def nearest_neighbours(points, labels, queries, k, classes):
    """Return for each query the class that most of its nearest points have."""
    squares = (queries**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2.0 * queries @ points.T
    nearest = np.argpartition(squares, k, axis=1)[:, :k]
    votes = np.zeros((len(queries), classes), dtype=np.int64)
    for c in range(classes):
        votes[:, c] = (labels[nearest] == c).sum(axis=1)
    return votes.argmax(axis=1), votes.max(axis=1) / k


def histogram_matching(source, template):
    """Return an image whose grey values are distributed as those of another one."""
    _, place, counts = np.unique(source.ravel(), return_inverse=True, return_counts=True)
    values, template_counts = np.unique(template.ravel(), return_counts=True)
    quantiles = np.cumsum(counts) / source.size
    template_quantiles = np.cumsum(template_counts) / template.size
    matched = np.interp(quantiles, template_quantiles, values)
    return matched[place].reshape(source.shape)


def absorbed_particles(position, velocity, drag, dt):
    """Return how many particles are left after every step, until all have left the box, and the time of the last."""
    left = []
    steps = 0
    while len(position) > 0 and steps < 500:
        position = position + dt * velocity
        velocity = velocity - dt * drag * velocity
        inside = (np.abs(position) < 1.0).all(axis=1)
        position, velocity = position[inside], velocity[inside]
        left.append(len(position))
        steps += 1
    return np.array(left), steps * dt


def pareto_front(costs):
    """Return which rows no other row beats in every cost, in ascending order."""
    index = np.arange(len(costs))
    next_point = 0
    while next_point < len(costs):
        better = (costs < costs[next_point]).any(axis=1)
        better[next_point] = True
        index = index[better]
        costs = costs[better]
        next_point = better[:next_point].sum() + 1
    return index


def fill_gaps(t, x):
    """Fill gaps of NaN in place by linear interpolation; return the number of gaps and the longest one."""
    missing = np.isnan(x)
    x[missing] = np.interp(t[missing], t[~missing], x[~missing])
    edges = np.diff(np.concatenate(([0], missing.astype(np.int64), [0])))
    begins, ends = np.where(edges == 1)[0], np.where(edges == -1)[0]
    if len(begins) == 0:
        return 0, 0
    return len(begins), (ends - begins).max()


def frame_receiver(signal, preamble, length, frames):
    """Return the symbols of frames that are found by correlation with their preamble, and where they begin."""
    symbols = np.zeros((frames, length))
    begins = np.zeros(frames, dtype=np.int64)
    start = 0
    for k in range(frames):
        window = signal[start : start + 2 * (length + len(preamble))]
        correlation = np.correlate(window, preamble, mode="valid")
        first = int(np.argmax(correlation[: length + len(preamble)]))
        begin = start + first + len(preamble)
        symbols[k] = np.sign(signal[begin : begin + length])
        begins[k] = begin
        start = begin + length
    return symbols, begins


def _readings(rng, n):
    value = 15.0 + 10.0 * rng.standard_normal(n)
    value[rng.random(n) < 0.05] = np.nan
    value[rng.random(n) < 0.02] = -99.0
    return rng.integers(100, 160, n), value


def _with_outliers(rng, n):
    return rng.standard_normal(n) + 20.0 * (rng.random(n) < 0.02) * rng.standard_normal(n), 3.0


def _runs(rng, n):
    return (np.repeat(rng.integers(0, 5, n // 8), rng.integers(1, 16, n // 8)),)


def _encoded(rng, n):
    return rng.integers(1, 16, n), rng.standard_normal(n)


def _classified(rng, n, queries, d):
    points = rng.standard_normal((n, d))
    labels = (points[:, 0] > 0.0) + 2 * (points[:, 1] > 0.3)
    return points, labels.astype(np.int64), rng.standard_normal((queries, d)), 7, 4


def _two_images(rng, n):
    return rng.integers(0, 256, (n, n)), (255.0 * rng.random((n, n)) ** 2).astype(np.int64)


def _box(rng, n):
    return rng.uniform(-1.0, 1.0, (n, 3)), rng.standard_normal((n, 3)), 0.05, 0.02


def _costs(rng, n):
    return (rng.random((n, 3)),)


def _gappy(rng, n):
    t = np.cumsum(rng.uniform(0.5, 1.5, n))
    x = np.sin(0.01 * t)
    x[rng.random(n) < 0.1] = np.nan
    x[[0, -1]] = 0.0
    return t, x


def _frames(rng, length, frames):
    preamble = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0])
    parts = []
    for _ in range(frames):
        parts += [np.zeros(int(rng.integers(1, 9))), 3.0 * preamble, rng.choice([-1.0, 1.0], length)]
    signal = np.concatenate([*parts, np.zeros(2 * length)])
    return signal + 0.1 * rng.standard_normal(len(signal)), preamble, length, frames


PROGRAMS = (
    Ordinary("clean-readings", clean_readings, _readings, {"S": (500,), "L": (1_000_000,)}),
    Ordinary("sigma-clipping", sigma_clipping, _with_outliers, {"S": (500,), "L": (1_000_000,)}),
    Ordinary("run-lengths", run_lengths, _runs, {"S": (400,), "L": (1_000_000,)}, tolerance=0.0),
    Ordinary("run-decoding", run_decoding, _encoded, {"S": (60,), "L": (100_000,)}),
    Ordinary("nearest-neighbours", nearest_neighbours, _classified, {"S": (100, 20, 3), "L": (2000, 1000, 8)}),
    Ordinary("histogram-matching", histogram_matching, _two_images, {"S": (24,), "L": (700,)}),
    Ordinary("absorbed-particles", absorbed_particles, _box, {"S": (50,), "L": (20_000,)}),
    Ordinary("pareto-front", pareto_front, _costs, {"S": (60,), "L": (20_000,)}, tolerance=0.0),
    Ordinary("fill-gaps", fill_gaps, _gappy, {"S": (300,), "L": (500_000,)}, ("x",)),
    Ordinary("frame-receiver", frame_receiver, _frames, {"S": (30, 5), "L": (500, 400)}, tolerance=0.0),
)
