"""A model of a table in words: the errors to expect first, then what was fitted to what."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from greedynet.model.uncertainty.expectation import Expectation
from greedynet.support.phrases import number, percent, plural, score_name
from greedynet.tables.columns import Columns
from greedynet.tables.hold_out import has_scores
from greedynet.tables.kinds import Dates

if TYPE_CHECKING:
    from greedynet.tables.model import TableModel

_MEASURES = {"rmse": "RMSE", "mae": "mean absolute error"}
_GUESSES = {
    "accuracy": "always naming the commonest class",
    "rmse": "always guessing the mean",
    "mae": "always guessing the median",
}


def expectation_of(model: "TableModel") -> Expectation | None:
    """Return what is known of the errors; None for a network without an estimator."""
    found: Expectation | None = getattr(model.estimator, "expectation_", None)
    training = model.about.get("training")
    if training is None or found is None:
        return found
    # On all training rows; the fit may have looked at a sample of them.
    return replace(
        found,
        on_training=training.get(found.measure, found.on_training),
        training_accuracy=training.get("accuracy"),
    )


def held_out_sentence(held_out: Mapping[str, Any]) -> str:
    """Return the errors on rows that were set aside, beside those of a constant."""
    how, measure = held_out["how"], held_out["measure"]
    rows = f"On the {plural(held_out['rows'], 'row')} held out" + (f" ({how})" if how else "")
    if measure == "accuracy":
        said = f"{percent(held_out['accuracy'])} of the classes are right"
        said += f" (log-loss {number(held_out['log_loss'])})"
    elif measure in _MEASURES:
        said = f"it is off by {number(held_out[measure])} ({_MEASURES[measure]})"
    else:
        said = f"its {score_name(measure)} is {number(held_out[measure])}"
    constant = held_out["constant"]
    if constant is None:
        return f"{rows}, {said}."
    text = percent(constant) if measure == "accuracy" else number(constant)
    return f"{rows}, {said}; {_GUESSES[measure]}: {text}."


def first_sentences(model: "TableModel") -> str:
    """Return the errors to expect, those measured on rows that were set aside first."""
    held_out = model.about.get("held_out")
    return errors_in_words(model, held_out_sentence(held_out) if has_scores(held_out) else "")


def errors_in_words(model: "TableModel", on_held_out: str) -> str:
    """Return the errors to expect, after those on rows that were set aside.

    Before all, whether rows that come next are outside the training data.
    """
    expected = expectation_of(model)
    if expected is None:
        return on_held_out
    first = expected.ahead_sentence() if on_held_out else ""
    said = [first, on_held_out, expected_sentence(model, expected, bool(on_held_out))]
    return " ".join(text for text in said if text)


def expected_sentence(model: "TableModel", expected: Expectation, beside_held_out: bool) -> str:
    """Return the errors to expect; how rows count in them, if classes have weights."""
    said = expected.sentence(beside_held_out=beside_held_out)
    if getattr(model.estimator, "class_weight", None) is None or expected.expected_error is None:
        return said
    return f"{said} The rows that the fit itself left out count by the weights of their classes."


def summary_of(model: "TableModel") -> str:
    """Return the errors to expect, the rows, the columns, the target and the network."""
    about, first = model.about, first_sentences(model)
    lines = [first] if first else []
    if about.get("rows") is not None:
        left = f" ({about['left_out']:,} left out)" if about.get("left_out") else ""
        rows = f"{plural(about['rows'], 'row')}{left}{roles_text(about)}"
        lines.append(f"{about['source']}: {rows}, {described(model.columns)}")
    lines.append(_target(model))
    lines.append(f"network: {model.network.describe().splitlines()[0]}")
    return "\n".join(lines)


def roles_text(about: Mapping[str, Any]) -> str:
    """Return how rows belong together, such as ", in groups of patient, weighted by w"."""
    words = {"groups": "in groups of", "time": "in order of", "weights": "weighted by"}
    return "".join(f", {said} {about[role]}" for role, said in words.items() if role in about)


def described(columns: Columns) -> str:
    """Return the number of columns and of the features made from them."""
    n_text = sum(column.levels is not None for column in columns.inputs)
    n_dates = sum(isinstance(column.kind, Dates) for column in columns.inputs)
    counts = ((n_text, "of text"), (n_dates, "of dates"))
    listed = ", ".join(f"{n} {what}" for n, what in counts if n)
    text = f" ({listed})" if listed else ""
    n_columns, n_features = len(columns.names), len(columns.features)
    n_gaps = len(columns.inputs) - n_columns
    tell = "tells" if n_gaps == 1 else "tell"
    gaps = f", of which {n_gaps} {tell} where cells are empty" if n_gaps else ""
    return f"{plural(n_columns, 'column')}{text} as {plural(n_features, 'feature')}{gaps}"


def _target(model: "TableModel") -> str:
    bounds = model.network.bounds
    held = "" if bounds is None else f", within bounds: {bounds.sentence()}"
    if model.classes_ is None:
        return f"target {model.target}: numbers, a regression{held}"
    names = ", ".join(map(str, model.classes_[:5])) + (", ..." if len(model.classes_) > 5 else "")
    odds = held and f", log-odds of {model.classes_[1]}{held}"
    return f"target {model.target}: {len(model.classes_)} classes ({names}), a classifier{odds}"
