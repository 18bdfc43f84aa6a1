"""Settings of a training that are no parameters: values with defaults; tests inject others."""

from dataclasses import dataclass

from greedynet.support.context import Scope


@dataclass(frozen=True)
class TrainSettings:
    """How a training is split, and when it shows a bar.

    Attributes
    ----------
    block_elements : int
        Values of neurons in one block: 4 MB, so that it stays in the cache.
    parallel_values : int
        If a step computes at least this many values of neurons, networks are trained in groups,
        each on one thread. The grouping depends on the data alone, and so does the result.
    group : int
        Networks in a group.
    seconds_without_bar : float
        Time after which a bar appears on a terminal.
    """

    block_elements: int = 2**19
    parallel_values: int = 2**13
    group: int = 5
    seconds_without_bar: float = 2.0


TRAIN_SETTINGS = Scope("greedynet_train_settings", TrainSettings())
