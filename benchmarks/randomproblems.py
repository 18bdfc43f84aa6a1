"""Random problems: tables of many kinds, so that decisions are judged on data nobody chose.

`draw(seed)` returns a regression problem and `draw_classes(seed)` a classification problem. A seed
determines the kind of the inputs, the target, the noise and the size. Seeds with an even number
are for tuning, odd ones for judging: see `judgement.py`.
"""

from dataclasses import dataclass

import numpy as np

N_NEW = 2_000


@dataclass(frozen=True, eq=False)
class RandomProblem:
    """Training rows, new rows, and what they are."""

    seed: int
    inputs: str
    target: str
    noise: float
    noise_kind: str
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray

    @property
    def shape(self):
        return self.X.shape


# Inputs: functions of a generator, the number of rows and the number of columns.


def uniform(rng, n, d):
    return rng.uniform(-1, 1, (n, d))


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def very_heavy_tails(rng, n, d):
    return rng.standard_t(1.5, (n, d))


def heavy_tails(rng, n, d):
    return rng.standard_t(3, (n, d))


def lognormal(rng, n, d):
    return np.exp(rng.normal(size=(n, d)))


def few_values(rng, n, d):
    levels = rng.integers(2, 11, d)
    return np.column_stack([rng.integers(0, k, n) / max(1, k - 1) for k in levels])


def binary(rng, n, d):
    shares = rng.uniform(0.05, 0.95, d)
    return (rng.uniform(size=(n, d)) < shares).astype(float)


def one_hot(rng, n, d):
    """A categorical column as indicators, the rest numbers."""
    k = max(1, int(rng.integers(1, d + 1)))
    chosen = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    return np.column_stack([np.eye(k)[chosen], rng.normal(size=(n, d - k))])


def clusters(rng, n, d):
    centers = rng.normal(scale=3.0, size=(int(rng.integers(2, 7)), d))
    return centers[rng.integers(0, len(centers), n)] + rng.normal(scale=0.4, size=(n, d))


def correlated(rng, n, d):
    factors = max(1, d // 4)
    loadings = rng.normal(size=(factors, d))
    return rng.normal(size=(n, factors)) @ loadings + 0.3 * rng.normal(size=(n, d))


def autocorrelated(rng, n, d):
    X, rho = rng.normal(size=(n, d)), rng.uniform(0.5, 0.98)
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def near_constant(rng, n, d):
    """Some columns are constant, or differ from a constant in a few rows, or only slightly."""
    X = rng.normal(size=(n, d))
    for j in range(d):
        kind = rng.integers(0, 5)
        if kind == 0:
            X[:, j] = 3.0
        elif kind == 1:
            X[:, j] = np.where(rng.uniform(size=n) < 0.03, X[:, j], 1.0)
        elif kind == 2:
            X[:, j] = 1000 + 1e-3 * X[:, j]
    return X


def counts(rng, n, d):
    return rng.poisson(rng.uniform(0.3, 20, d), (n, d)).astype(float)


def units(rng, n, d):
    """Columns of very different size, not centred."""
    return rng.gamma(2.0, size=(n, d)) * 10.0 ** rng.uniform(-4, 6, d)


def mixed(rng, n, d):
    kinds = (uniform, normal, heavy_tails, lognormal, few_values, binary, counts)
    return np.column_stack([kinds[rng.integers(0, len(kinds))](rng, n, 1) for _ in range(d)])


def repeated_columns(rng, n, d):
    """Some columns are copies of others, or nearly so."""
    X = rng.normal(size=(n, max(1, (d + 1) // 2)))
    copies = X[:, rng.integers(0, X.shape[1], d - X.shape[1])]
    return np.column_stack(
        [X, copies + rng.choice([0.0, 1e-6, 0.05]) * rng.normal(size=copies.shape)]
    )


INPUTS = {
    f.__name__: f
    for f in (
        uniform, normal, very_heavy_tails, heavy_tails, lognormal, few_values, binary, one_hot,
        clusters, correlated, autocorrelated, near_constant, counts, units, mixed, repeated_columns,
    )
}  # fmt: skip


# Targets: functions of a generator and the number of columns, that return a function of the
# standardised inputs.


def pure_noise(rng, d):
    return lambda Z: np.zeros(len(Z))


def line(rng, d):
    w = rng.normal(size=d) / np.sqrt(d)
    return lambda Z: Z @ w


def sparse_line(rng, d):
    chosen = rng.choice(d, min(d, 3), replace=False)
    w = rng.normal(size=len(chosen))
    return lambda Z: Z[:, chosen] @ w


def sparse(rng, d, most=3):
    """A few directions, of one or of several columns."""
    k = int(rng.integers(1, most + 1))
    W = np.zeros((k, d))
    for w in W:
        chosen = rng.choice(d, min(d, int(rng.integers(1, 4))), replace=False)
        w[chosen] = rng.normal(size=len(chosen))
        w /= np.linalg.norm(w)
    return W


def kinks(rng, d):
    W = sparse(rng, d)
    t, c = rng.normal(scale=0.7, size=len(W)), rng.choice([-1.0, 1.0], len(W))
    slope = sparse_line(rng, d)
    return lambda Z: np.maximum(Z @ W.T - t, 0) @ c + 0.3 * slope(Z)


def steps(rng, d):
    W = sparse(rng, d)
    t, c = rng.normal(scale=0.7, size=len(W)), rng.normal(size=len(W))
    return lambda Z: np.sign(Z @ W.T - t) @ c


def bumps(rng, d):
    chosen = rng.choice(d, min(d, int(rng.integers(1, 4))), replace=False)
    centers = rng.normal(scale=0.8, size=(int(rng.integers(1, 4)), len(chosen)))
    heights, width = rng.choice([-1.0, 1.0], len(centers)), rng.uniform(0.4, 1.5)

    def f(Z):
        far = ((Z[:, None, chosen] - centers) ** 2).sum(axis=2)
        return np.exp(-far / (2 * width**2)) @ heights

    return f


def waves(rng, d):
    W, phase = sparse(rng, d, 2), rng.uniform(0, 6)
    frequency = rng.choice([1.5, 3.0, 6.0])
    return lambda Z: np.sin(frequency * Z @ W.T + phase).sum(axis=1)


def interactions(rng, d):
    pairs = rng.integers(0, d, (int(rng.integers(1, 4)), 2))
    return lambda Z: sum(Z[:, i] * Z[:, j] for i, j in pairs)


def spikes(rng, d):
    chosen = rng.choice(d, min(d, 2), replace=False)
    center = rng.normal(scale=0.5, size=len(chosen))
    return lambda Z: np.exp(-((Z[:, chosen] - center) ** 2).sum(axis=1) / 0.02) * 5


def additive(rng, d):
    chosen = rng.choice(d, min(d, 5), replace=False)
    kinds = (np.sin, np.abs, np.tanh, np.square, lambda z: np.maximum(z, 0))
    parts = [kinds[rng.integers(0, len(kinds))] for _ in chosen]
    return lambda Z: sum(f(1.5 * Z[:, j]) for f, j in zip(parts, chosen, strict=True))


def friedman(rng, d):
    a, b, c, e = rng.integers(0, d, 4)
    return lambda Z: np.sin(1.5 * Z[:, a] * Z[:, b]) + 0.7 * Z[:, c] ** 2 + 0.8 * Z[:, e]


def tree(rng, d):
    depth = int(rng.integers(2, 4))
    chosen, cuts = rng.integers(0, d, depth), rng.normal(scale=0.5, size=depth)
    leaves = rng.normal(size=2**depth)
    return lambda Z: leaves[(Z[:, chosen] > cuts) @ (2 ** np.arange(depth))]


def many_planes(rng, d):
    W = rng.normal(size=(6, d)) / np.sqrt(d)
    return lambda Z: (Z @ W.T + np.linspace(-1, 1, 6)).max(axis=1)


def exponential(rng, d):
    f = sparse_line(rng, d)
    return lambda Z: np.exp(np.clip(f(Z), -6, 4))


TARGETS = {
    f.__name__: f
    for f in (
        pure_noise, line, sparse_line, kinks, steps, bumps, waves, interactions, spikes, additive,
        friedman, tree, many_planes, exponential,
    )
}  # fmt: skip

NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n) / np.sqrt(2),
    "t3": lambda rng, n: rng.standard_t(3, n) / np.sqrt(3),
    "t2": lambda rng, n: rng.standard_t(2, n) / 3,
    "skewed": lambda rng, n: rng.exponential(size=n) - 1,
}
LEVELS = (0.0, 0.0, 0.05, 0.2, 0.5, 1.0, 2.0)


def standardised(Z, like):
    """Return inputs of median 0 and of robust deviation 1, as measured on other rows."""
    center = np.median(like, axis=0)
    low, high = np.quantile(like, [0.16, 0.84], axis=0)
    width = (high - low) / 2
    width = np.where(width > 0, width, like.std(axis=0))
    return (Z - center) / np.where(width > 0, width, 1.0)


def size(rng, most=5_000):
    """Sizes 20 to 5,000 x 1 to 200, at most 300,000 numbers, logarithmically uniform."""
    while True:
        n = round(float(np.exp(rng.uniform(np.log(20), np.log(most)))))
        d = round(float(np.exp(rng.uniform(np.log(0.6), np.log(200)))))
        if d >= 1 and n * d <= 300_000:
            return n, d


def draw(seed: int, shape=None, target=None, inputs=None) -> RandomProblem:
    """Return the regression problem of a seed; some of its traits may be given."""
    rng = np.random.default_rng([seed, 15])
    n, d = size(rng) if shape is None else shape
    drawn = rng.choice(list(INPUTS)), rng.choice(list(TARGETS)), rng.choice(list(NOISES))
    inputs, target = inputs or str(drawn[0]), target or str(drawn[1])
    level, noise_kind = float(rng.choice(LEVELS)), str(drawn[2])
    X = INPUTS[inputs](rng, n + N_NEW, d)
    repeats = rng.uniform() < 0.07
    Z = standardised(X, X)
    signal = TARGETS[target](rng, d)(Z)
    spread = signal.std()
    if not spread > 0:
        target, spread = "pure_noise", 1.0
    y = (signal - signal.mean()) / spread
    if target == "pure_noise":
        level = 1.0
    if level > 0:
        y = y + level * NOISES[noise_kind](rng, n + N_NEW)
    y = y * 10.0 ** rng.uniform(-3, 4) + rng.choice([0.0, 100.0])
    taken = rng.integers(0, max(5, n // 2), n) if repeats else np.arange(n)
    return RandomProblem(seed, inputs, target, level, noise_kind, X[taken], y[taken], X[n:], y[n:])


def draw_classes(seed: int) -> RandomProblem:
    """Return the classification problem of a seed: `y` are the numbers of the classes."""
    rng = np.random.default_rng([seed, 16])
    n, d = size(rng, most=3_000)
    n = max(n, 40)
    k = int(rng.choice([2, 2, 2, 3, 4, 6]))
    inputs, target = str(rng.choice(list(INPUTS))), str(rng.choice(list(TARGETS)))
    X = INPUTS[inputs](rng, n + N_NEW, d)
    Z = standardised(X, X)
    signals = np.column_stack([TARGETS[target](rng, d)(Z) for _ in range(k)])
    spread = signals.std(axis=0)
    signals = (signals - signals.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if not (spread > 0).any():
        target = "pure_noise"
    strength = float(rng.choice([1.0, 2.0, 4.0, 20.0]))
    logits = strength * signals + rng.normal(scale=0.7, size=k)
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return RandomProblem(seed, inputs, target, 1 / strength, "labels", X[:n], y[:n], X[n:], y[n:])


def draw_heteroscedastic(seed: int) -> RandomProblem:
    """Return a regression problem whose noise depends on the place, at most 40 columns wide."""
    rng = np.random.default_rng([seed, 17])
    n, d = size(rng, most=3_000)
    while d > 40:
        n, d = size(rng, most=3_000)
    n = max(n, 60)
    inputs, target = str(rng.choice(list(INPUTS))), str(rng.choice(list(TARGETS)))
    of_noise = str(rng.choice([*TARGETS, "of the signal"]))
    noise_kind = str(rng.choice(list(NOISES)))
    X = INPUTS[inputs](rng, n + N_NEW, d)
    Z = standardised(X, X)

    def drawn(name):
        values = TARGETS[name](rng, d)(Z)
        return (values - values.mean()) / (values.std() or 1.0)

    signal = drawn(target)
    log_size = signal if of_noise == "of the signal" else drawn(of_noise)
    level = float(rng.choice([0.05, 0.2, 0.5, 1.0]))
    sizes = level * np.exp(0.7 * np.clip(log_size, -3, 3))
    y = signal + sizes * NOISES[noise_kind](rng, n + N_NEW)
    return RandomProblem(seed, inputs, target, level, noise_kind, X[:n], y[:n], X[n:], y[n:])
