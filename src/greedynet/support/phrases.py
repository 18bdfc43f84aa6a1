"""Numbers and names of error measures, as text."""

_SCORES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R2",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
}


def plural(count: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def score_name(name: str) -> str:
    """Return the usual name of an error measure."""
    return _SCORES.get(name, name.replace("_", " "))
