"""Numbers and names of errors as people write them."""

_SCORES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R2",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
}


def plural(count: int, noun: str) -> str:
    """Return a number and its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def score_name(name: str) -> str:
    """Return what an error is called."""
    return _SCORES.get(name, name.replace("_", " "))
