"""Numbers and names of error measures, as text."""

_SCORES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R2",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
}


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def score_name(name: str) -> str:
    return _SCORES.get(name, name.replace("_", " "))


def number(value: float, digits: int = 3) -> str:
    """Return a number for readers, such as "0.0712", "2.71" or "8,950"; rarely a power of ten."""
    size = abs(value)
    if size != 0 and not 1e-4 <= size < 1e15:
        return f"{value:.{digits}g}"
    if size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float) -> str:
    """Return a share in per cent, with a second decimal place from 99 %."""
    digits = 2 if 0.99 <= share < 1 else 1
    return f"{100 * share:.{digits}f} %"
