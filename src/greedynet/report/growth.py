"""The growth of the network: its errors, the stops of the slider, and the network's values there.

The stops are widths along the path, followed by the finished network. The networks along the path
share their neurons, whose values on the rows are computed once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.model.any_network import Network, is_deep
from greedynet.model.effects import combined, feature_effect, path_effects
from greedynet.model.ladder import MEAN, SHARES, Ladder
from greedynet.model.stop_reason import StopReason
from greedynet.report.packing import rounded
from greedynet.report.subject import Subject
from greedynet.support.phrases import number
from greedynet.support.types import Float64

# Number of stops of the slider. On longer paths, the first half of the stops covers every width,
# and the second half is evenly spaced.
MOST_STOPS = 100

_GCV, LEFT_OUT, REQUESTED = "GCV (root)", "left-out rows", "requested"
_SCORE_TEXTS = {
    LEFT_OUT: "The error on rows that the fit left out decided between the candidates: the best "
    "was kept, or a simpler one that is about as good. The growth shown is a plain one, for "
    "comparison.",
    REQUESTED: "The number of nodes was given: no score decided.",
    "validation": "The same error on the validation rows chose the width.",
    "folds": "The same error in cross-validation, on rows left out of the fit, chose the width.",
    "Akaike": "Akaike's criterion, the loss plus a penalty for the parameters, chose the width.",
    _GCV: "Generalised cross-validation (GCV) chose the width: the training error, increased "
    "for the parameters used.",
}


@dataclass(frozen=True, eq=False)
class Stops:
    """Networks along a path, and the finished network.

    Attributes
    ----------
    grown : list of ShallowNetwork or of DeepNetwork
        Networks along the path; the neurons of each are the first ones of the last network. Empty
        if the growth is not known.
    finished : ShallowNetwork or DeepNetwork
        The last stop.
    """

    grown: list[Network]
    finished: Network

    @staticmethod
    def of(subject: Subject) -> "Stops":
        """Return the stops of a model."""
        path = subject.path
        if path is None or (path.network.path_factor is None and len(path.n_nodes) > 1):
            return Stops([], subject.network)
        widths = some_widths(path.n_nodes)
        return Stops([path.network.truncate(width) for width in widths], subject.network)

    def __len__(self) -> int:
        return len(self.grown) + 1

    def outputs(self, X: Float64) -> Float64:
        """Return the values of the network at all stops, `(n_stops, n_rows, n_outputs)`."""
        found = []
        if self.grown:
            hidden = np.ascontiguousarray(self.grown[-1].hidden(X).T)
            found = [combined(network, hidden, X) for network in self.grown]
        found.append(self.finished.predict(X).reshape(len(X), -1))
        return np.array(found)

    def effects(
        self, X: Float64, features: list[int], values: Float64, *, classes: bool
    ) -> Float64:
        """Return the effect of a feature at all stops, `(n_stops, n_values, n_outputs)`."""
        last = feature_effect(self.finished, X, features, values, classes=classes)[None]
        if not self.grown:
            return last
        return np.concatenate(
            [path_effects(self.grown, X, features, values, classes=classes), last]
        )


def some_widths(n_nodes: NDArray[np.intp]) -> list[int]:
    """Return at most `MOST_STOPS` widths of a path, the first and the last among them."""
    widths = n_nodes.tolist()
    if len(widths) <= MOST_STOPS:
        return widths
    half = MOST_STOPS // 2
    rest = np.linspace(half, len(widths) - 1, MOST_STOPS - half).round().astype(int)
    return widths[:half] + [widths[i] for i in rest]


def growth_section(subject: Subject, stops: Stops) -> dict[str, Any] | None:
    """Return the errors along the path, and those at each stop."""
    path = subject.path
    if path is None or not stops.grown:
        return None
    scores, name = score_curve(subject)
    first = int(path.n_nodes[0])
    steps = [network.n_nodes - first for network in stops.grown]
    candidates = _candidates(subject)
    final_score, final_name = _finished_score(subject)
    texts = dict.fromkeys([name] if scores is not None or name == REQUESTED else [])
    texts |= dict.fromkeys([final_name] if final_score is not None else [])
    # Further training after the fit does not change the path.
    estimator = subject.table.estimator
    refined = any(getattr(estimator, name, None) for name in ("training_", "trained_on_"))
    return {
        "nodes": path.n_nodes.tolist(),
        "training": rounded(path.training_errors),
        "score": None if scores is None else rounded(scores),
        "scoreName": name,
        "candidates": candidates,
        "scoreText": " ".join([*(_SCORE_TEXTS[text] for text in texts), *_other_layers(subject)]),
        "errorName": "log-loss" if subject.classes is not None else "relative error",
        "steps": steps,
        "finished": {
            "nodes": subject.network.n_nodes,
            "training": None if refined else rounded(path.kept_error),
            "score": None if refined else rounded(final_score),
            "scoreName": final_name,
            "corrected": path.finished is not None and subject.network.n_neurons > 0,
        },
    }


def score_curve(subject: Subject) -> tuple[Float64 | None, str]:
    """Return the scores that chose the width, on the scale of the errors, and their name."""
    path = subject.path
    assert path is not None
    if deciding_ladder(subject) is not None:
        return None, LEFT_OUT
    given = getattr(subject.table.estimator, "n_nodes", None) is not None
    if given or path.stop_reason is StopReason.N_NODES:
        return None, REQUESTED
    if path.validation_errors is not None:
        return path.validation_errors, "folds" if _by_folds(subject) else "validation"
    if subject.classes is not None:
        return path.scores, "folds" if path.scores is None else "Akaike"
    scores = path.scores
    return None if scores is None else np.sqrt(scores / path.network.n_outputs), _GCV


def _finished_score(subject: Subject) -> tuple[float | None, str]:
    """Return the score of the finished network, on the scale of the errors, and its name."""
    path = subject.path
    assert path is not None
    scores, name = score_curve(subject)
    ladder = deciding_ladder(subject)
    if ladder is not None:
        return float(_shown_errors(ladder)[ladder.chosen]), name
    if name == REQUESTED:
        return None, name
    if path.finished is None:
        at = int(path.best_n_nodes - path.n_nodes[0])
        return None if scores is None else float(scores[at]), name
    score = path.finished_score
    if score is not None and subject.classes is None and name == _GCV:
        score = float(np.sqrt(score / path.network.n_outputs))
    return score, name


def deciding_ladder(subject: Subject) -> Ladder | None:
    """Return the candidates among which held-out rows decided; None if something else did."""
    ladder: Ladder | None = getattr(subject.table.estimator, "ladder_", None)
    # A trial only tells the error of what was requested, and has no score.
    return None if ladder is None or ladder.score is None else ladder


def _shown_errors(ladder: Ladder) -> Float64:
    """Return the errors of the candidates relative to that of the mean; log-losses as they are."""
    unit = float(ladder.errors[0]) if ladder.kinds[0] == MEAN else 1.0
    return ladder.errors / (unit or 1.0)


def _candidates(subject: Subject) -> list[dict[str, Any]] | None:
    """Return the candidates but constants: their width, error on held-out rows, and kind.

    Those with as many layers as the network, to whose growth they belong.
    """
    ladder = deciding_ladder(subject)
    if ladder is None:
        return None
    assert subject.path is not None
    first, errors = int(subject.path.n_nodes[0]), _shown_errors(ladder)
    alike = ladder.is_deep == is_deep(subject.network)
    return [
        {
            "nodes": first + int(ladder.n_neurons[i]),
            "error": rounded(float(errors[i])),
            "kind": str(ladder.kinds[i]),
            "chosen": i == ladder.chosen,
        }
        for i in range(len(ladder))
        if ladder.kinds[i] not in (MEAN, SHARES) and alike[i]
    ]


def _other_layers(subject: Subject) -> list[str]:
    """Return how good the best candidate with another number of layers is, if there are any."""
    ladder, deep = deciding_ladder(subject), is_deep(subject.network)
    if ladder is None:
        return []
    others = (ladder.is_deep != deep) & ~np.isin(ladder.kinds, [MEAN, SHARES])
    if not others.any() or not ladder.expected_error:
        return []
    which = "one hidden layer" if deep else "two hidden layers"
    ratio = float(ladder.errors[others].min()) / ladder.expected_error
    return [
        f"The best candidate with {which} had {number(ratio)} times the error of the one that was "
        "chosen."
    ]


def _by_folds(subject: Subject) -> bool:
    return getattr(subject.table.estimator, "cv", None) is not None
