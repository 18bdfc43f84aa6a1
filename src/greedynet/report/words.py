"""What the page says before it shows anything."""

from typing import Any

from greedynet.model.stop_reason import StopReason
from greedynet.report.growth import score_curve
from greedynet.report.subject import Subject
from greedynet.support.phrases import plural, score_name

_WHY = {
    StopReason.N_NODES: "so many were asked for.",
    StopReason.TOLERANCE: "the training error reached the tolerance that was set.",
    StopReason.EXACT: "it reproduces the training rows to rounding, and more nodes cannot help.",
    StopReason.VALIDATED: "more did not pay.",
    StopReason.MAX_NODES: "that is the most that was allowed.",
    StopReason.EXHAUSTED: "no further neuron would do anything new on the training rows.",
    StopReason.CALLBACK: "a callback asked to stop.",
}

_TRY = {
    StopReason.MAX_NODES: "Allow more nodes, with --max-nodes or max_nodes=.",
    StopReason.EXHAUSTED: "More nodes take more distinct rows.",
    StopReason.TOLERANCE: "For a closer fit lower tol.",
}


def title(subject: Subject) -> str:
    """Return the page's title."""
    return f"A network for {subject.target}"


def paragraphs(subject: Subject, scores: dict[str, dict[str, Any]]) -> list[str]:
    """Return what was fitted, how good it is, and why the network has the width it has.

    Parameters
    ----------
    subject : Subject
        The model.
    scores : dict of dict
        Errors by name, for each set of rows that is known.
    """
    quality = [_quality(label, found) for label, found in scores.items()]
    if not quality:
        quality = ["How good it is has to be seen on rows; none were given."]
    return [_fitted(subject), " ".join(quality), _width(subject)]


def suggestions(subject: Subject, scores: dict[str, dict[str, Any]], model_file: str) -> list[str]:
    """Return what to try."""
    found = []
    if subject.rows is None:
        found.append(
            "Predictions, effects, importance and misses need rows. Give them with: "
            f"greedynet report {model_file} data.csv"
        )
    gap = _gap(scores)
    if gap is not None and gap > 1.5:
        found.append(
            f"Rows it has not seen come out {gap:.1f} times as wrong as training rows: more rows "
            "would help most."
        )
    if subject.held_out is None and subject.about.get("validation") is None:
        found.append(
            f"See how it does on rows it has not seen: greedynet evaluate {model_file} other.csv"
        )
    reason = None if subject.path is None else subject.path.stop_reason
    if reason in _TRY:
        found.append(_TRY[reason])
    r2 = min((s["r2"] for s in scores.values() if s.get("r2") is not None), default=1.0)
    if r2 < 0.5:
        found.append("Much of the variation is unexplained: look for inputs that say more.")
    return found


def _fitted(subject: Subject) -> str:
    names = subject.columns.names
    n_text = sum(column.levels is not None for column in subject.columns.inputs)
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    listed = ", ".join(names[:6]) + more
    source, rows = subject.about.get("source"), subject.about.get("rows")
    made_of = "" if rows is None else f" to {plural(rows, 'row')}"
    made_of += "" if source in (None, "") or rows is None else f" of {source}"
    what = "numbers" if subject.classes is None else f"{len(subject.classes)} classes"
    text = f", {n_text} of them text" if n_text else ""
    return (
        f"greedynet fitted {subject.target} ({what}){made_of}, from "
        f"{plural(len(names), 'column')}{text}: {listed}."
    )


def _quality(label: str, found: dict[str, Any]) -> str:
    """Say how good the network is on some rows."""
    if "accuracy" in found:
        return (
            f"On the {label} it names the right class {100 * found['accuracy']:.1f} % of the time "
            f"(log-loss {found['log_loss']:.3g})."
        )
    r2 = found.get("r2")
    share = "" if r2 is None else f"; it explains {_percent(r2)} of the variation"
    return (
        f"On the {label} it is off by {found['mae']:.3g} on average (root mean square "
        f"{found['rmse']:.3g}){share}."
    )


def _percent(share: float) -> str:
    """Return a share in per cent, with more digits where it is close to all."""
    if share < 0:
        return "none"
    digits = 1 if share < 0.99 else 2
    return f"{100 * share:.{digits}f} %"


def _width(subject: Subject) -> str:
    network, path = subject.network, subject.path
    affine = "" if network.linear_weights is None else " and an affine term, which counts as two"
    text = (
        f"The network has {plural(network.n_nodes, 'node')} "
        f"({network.n_neurons} {network.activation.name} neurons{affine}) and "
        f"{plural(network.n_parameters, 'weight')}"
    )
    if path is None:
        return f"{text}. How it grew is not known: its file holds the network alone."
    grown = f" It was grown to {plural(int(path.n_nodes[-1]), 'node')}"
    if path.finished is not None and network.n_neurons:
        grown += ", and then all its neurons were corrected together"
    if getattr(subject.table.estimator, "training_", None) is not None:
        grown += ", and last it was trained on by backpropagation"
    return f"{text}: {_why(subject)}{grown}."


def _why(subject: Subject) -> str:
    assert subject.path is not None
    reason = subject.path.stop_reason
    if reason is not StopReason.VALIDATED:
        return _WHY[reason]
    _, name = score_curve(subject)
    judge = {
        "validation": "on the validation rows",
        "folds": "on folds of the training rows",
        "GCV (root)": "by generalised cross-validation",
        "Akaike": "by Akaike's criterion",
    }[name]
    return f"more did not pay {judge}."


def _gap(scores: dict[str, dict[str, Any]]) -> float | None:
    """Return how much larger the error on unseen rows is than on training rows."""
    seen, unseen = scores.get("training rows"), scores.get("held-out rows")
    if seen is None or unseen is None:
        return None
    name = "rmse" if "rmse" in seen else "log_loss"
    return float(unseen[name] / seen[name]) if seen[name] > 0 else None


def score_table(scores: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return the errors as a table of text, its header first."""
    if not scores:
        return []
    names = list(next(iter(scores.values())))
    body = [
        [label, *("" if found.get(name) is None else f"{found[name]:.4g}" for name in names)]
        for label, found in scores.items()
    ]
    return [["", *map(score_name, names)], *body]
