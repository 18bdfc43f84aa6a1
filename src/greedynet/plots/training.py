"""`TrainingDisplay`: losses per epoch of one or several training runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from greedynet.plots.style import CYCLE, end_labels, merged, one_axes, positive, style_axes
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from matplotlib.lines import Line2D


class TrainingDisplay:
    """Losses per epoch on logarithmic axes; runs with the same label are restarts.

    For each label, the run with the smallest loss is drawn as a thick line, the others as thin
    ones.

    Parameters
    ----------
    losses : sequence of array-like of shape (n_epochs + 1,)
        Training losses of each run, the first before any epoch.
    labels : sequence of str or None, default=None
        Label of each run; None if all are restarts of the same training.
    validation_losses : sequence of array-like or None, default=None
        Validation losses of each run, drawn in a pale colour; the best run is then chosen by them.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Axes and figure of the picture.
    lines_, validation_lines_ : list of Line2D
        The curves, one for each run; validation losses are drawn for the best runs only.
    best_ : dict of str to int
        Position of the best run of each label.
    labels_ : list of Annotation
        The labels of the curves, at their ends.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet.plots import TrainingDisplay
    >>> epochs = np.arange(200)
    >>> histories = [np.exp(-epochs / scale) for scale in (10, 30, 60)]
    >>> display = TrainingDisplay.from_histories(histories, labels=["greedy", "random", "random"])
    >>> display.best_
    {'greedy': 0, 'random': 1}
    """

    def __init__(
        self,
        losses: Sequence[ArrayLike],
        *,
        labels: Sequence[str] | None = None,
        validation_losses: Sequence[ArrayLike] | None = None,
    ) -> None:
        self.losses = [_history(loss, "losses") for loss in losses]
        if not self.losses:
            raise ValueError("`losses` must have at least one run, got none.")
        self.labels = [""] * len(self.losses) if labels is None else list(labels)
        self.validation_losses = None
        if validation_losses is not None:
            self.validation_losses = [_history(v, "validation_losses") for v in validation_losses]
        for name in ("labels", "validation_losses"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.losses):
                raise ValueError(
                    f"`{name}` must have one entry for each of the {len(self.losses)} runs, got "
                    f"{len(given)}."
                )

    @classmethod
    def from_histories(
        cls,
        losses: Sequence[ArrayLike],
        *,
        labels: Sequence[str] | None = None,
        validation_losses: Sequence[ArrayLike] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "TrainingDisplay":
        """Draw loss histories, such as `[result.loss_history for result in results]`.

        Parameters
        ----------
        losses : sequence of array-like of shape (n_epochs + 1,)
            Training losses of each run, the first before any epoch.
        labels : sequence of str or None, default=None
            Label of each run; runs with the same label are restarts.
        validation_losses : sequence of array-like or None, default=None
            Validation losses of each run.
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : TrainingDisplay
        """
        return cls(losses, labels=labels, validation_losses=validation_losses).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "TrainingDisplay":
        """Draw the losses.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for a new figure.
        **kwargs : dict
            Passed to `Axes.plot` for all curves.

        Returns
        -------
        self : TrainingDisplay
        """
        self.ax_ = ax = one_axes(ax, "TrainingDisplay.plot")
        self.figure_ = ax.figure
        self.best_ = {label: self._best(label) for label in dict.fromkeys(self.labels)}
        colour = dict(zip(self.best_, CYCLE * len(self.best_), strict=False))
        self.lines_: list[Line2D] = []
        self.validation_lines_: list[Line2D] = []
        names, alone = [], "" if self.validation_losses is None else "training"
        for run, label in enumerate(self.labels):
            strong = run == self.best_[label]
            weight = {"linewidth": 1.3, "zorder": 3} if strong else {"linewidth": 0.6, "alpha": 0.5}
            style = merged({"color": colour[label], **weight}, kwargs)
            self.lines_ += ax.plot(positive(self.losses[run]), **style)
            names.append((label or alone) if strong else "")
        if self.validation_losses is not None:
            for label, run in self.best_.items():
                style = merged({"color": colour[label], "linewidth": 0.9, "alpha": 0.5}, kwargs)
                self.validation_lines_ += ax.plot(positive(self.validation_losses[run]), **style)
                names.append(f"{label}, validation".lstrip(", "))
        # Epoch 0 is the start, so the logarithmic axis must include zero.
        ax.set_xscale("symlog", linthresh=1, linscale=0.3)
        ax.set(yscale="log", xlabel="epoch")
        ax.set_ylabel("training loss" if self.validation_losses is None else "loss")
        ax.set_xlim(0, 1.05 * max(map(len, self.losses)))
        style_axes(ax)
        self.labels_ = end_labels(ax, self.lines_ + self.validation_lines_, names)
        return self

    def _best(self, label: str) -> int:
        judged = self.losses if self.validation_losses is None else self.validation_losses
        runs = [run for run, other in enumerate(self.labels) if other == label]
        return min(
            runs, key=lambda run: np.min(judged[run], initial=np.inf, where=~np.isnan(judged[run]))
        )


def _history(values: ArrayLike, name: str) -> Float64:
    loss = np.asarray(values, dtype=np.float64)
    if loss.ndim != 1:
        raise ValueError(
            f"`{name}` must be a list of 1-D arrays, one for each run, got an entry with the shape "
            f"{loss.shape}: for one run write `[loss]`."
        )
    return loss
