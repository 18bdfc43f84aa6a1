"""Lines on which results depend, of every package, each with a mistake one could make there."""

# Module, line, mistake.
CHOSEN = (
    (
        "activations/family.py",
        "return (z > 0).astype(z.dtype)",
        "return (z >= 0).astype(z.dtype)",
    ),
    (
        "activations/family.py",
        "return self.degree * _power(np.maximum(z, 0), self.degree - 1)",
        "return _power(np.maximum(z, 0), self.degree - 1)",
    ),
    ("linalg/factor.py", "h += again", "pass"),
    (
        "linalg/factor.py",
        "if not rho > self.dependent * length:",
        "if not rho > self.dependent:",
    ),
    (
        "losses/logistic.py",
        "loss = np.logaddexp(0.0, logits) - Y * logits",
        "loss = np.logaddexp(0.0, logits) + Y * logits",
    ),
    ("losses/solvers.py", "sums = np.cumsum(weights[order])", "sums = np.cumsum(weights)"),
    (
        "rows/scaling.py",
        "scaled = (by_inputs - by_bias * self.center) / self.width",
        "scaled = (by_inputs + by_bias * self.center) / self.width",
    ),
    (
        "rows/missing.py",
        "return np.hstack([z, missing[:, self.indicated].astype(X.dtype)])",
        "return np.hstack([z, ~missing[:, self.indicated].astype(X.dtype)])",
    ),
    (
        "rows/splitting.py",
        "n_folds = min(n_folds, n_groups)",
        "n_folds = n_groups",
    ),
    (
        "model/network.py",
        "return self.n_hinges + self.n_neurons + (0 if self.linear_weights is None else 2)",
        "return self.n_hinges + self.n_neurons + (0 if self.linear_weights is None else 1)",
    ),
    (
        "model/uncertainty/intervals.py",
        "return coverage if self.below is None else (1.0 + coverage) / 2",
        "return coverage",
    ),
    ("search/scans/relu.py", "g2 += gap * (2.0 * g1 + gap * g0)", "g2 += gap * (g1 + gap * g0)"),
    ("search/scans/relu.py", "out[j, 1] -= a0 * a1", "out[j, 1] += a0 * a1"),
    (
        "correction/evidence.py",
        "return error / n / (1.0 - min(_MAX_SHARE, gamma / n)) ** 2",
        "return error / n / (1.0 - min(_MAX_SHARE, gamma / n))",
    ),
    (
        "correction/all_rows/passes.py",
        "return Look(F @ weighted.T, float(np.sum(residual * weighted)), probed**2 @ weights)",
        "return Look(F @ residual.T, float(np.sum(residual * weighted)), probed**2 @ weights)",
    ),
    (
        "fitting/scores.py",
        "return self._score(self._joined(by_box)) < self.score_of(candidate)",
        "return self._score(self._joined(by_box)) > self.score_of(candidate)",
    ),
    (
        "fitting/refit.py",
        "reach = np.inf if plan.extrapolate else found.scores.reach_of(chosen)",
        "reach = np.inf",
    ),
    (
        "support/threads.py",
        "return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)",
        "return n_jobs if n_jobs > 0 else max(1, cores + n_jobs)",
    ),
    (
        "support/tensorfile.py",
        'return [_without_arrays(value, f"{place}.{i}", arrays) for i, value in enumerate(tree)]',
        "return [_without_arrays(value, place, arrays) for i, value in enumerate(tree)]",
    ),
    (
        "estimators/checkpoint.py",
        "self._due = settings.clock() + settings.seconds",
        "self._due = settings.clock() - settings.seconds",
    ),
    (
        "train/loop.py",
        "counts = np.minimum(batch_size, len(rows) - batch_size * np.arange(n_steps))[:, None]",
        "counts = np.minimum(batch_size, len(rows) + batch_size * np.arange(n_steps))[:, None]",
    ),
    (
        "tables/hold_out.py",
        "chosen = np.arange(len(y)) >= len(y) - round(self.share * len(y))",
        "chosen = np.arange(len(y)) > len(y) - round(self.share * len(y))",
    ),
    ("exact/form.py", "line - down * (inner @ outer),", "line + down * (inner @ outer),"),
    (
        "exact/form.py",
        "constant = self.constant + float(self.outer[flat] @ np.maximum(self.biases[flat], 0.0))",
        "constant = self.constant",
    ),
    (
        "views/effects.py",
        "effect.append((probabilities(outputs) if classes else outputs).mean(axis=0))",
        "effect.append((probabilities(outputs) if classes else outputs).max(axis=0))",
    ),
    (
        "export/fold.py",
        "inner_weights=np.vstack([network.inner_weights, a, -a]),",
        "inner_weights=np.vstack([network.inner_weights, -a, a]),",
    ),
    (
        "report/sections.py",
        "place = np.minimum((confidence * _BINS).astype(int), _BINS - 1)",
        "place = np.minimum((confidence * _BINS).astype(int), _BINS)",
    ),
    (
        "dask/shard.py",
        "found = here if found is None else task.join(found, here)",
        "found = here",
    ),
    ("cli/prediction_columns.py", "self.n_formulas += len(found)", "self.n_formulas = len(found)"),
)
