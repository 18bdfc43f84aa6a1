"""In which order the examples of a gallery stand."""

from sphinx_gallery.sorting import ExplicitOrder

EXAMPLES = [
    "plot_first_network.py",
    "plot_decision.py",
    "plot_path.py",
    "plot_kinks.py",
    "plot_activations.py",
    "plot_outliers.py",
    "plot_quantiles.py",
    "plot_classes.py",
    "plot_two_layers.py",
    "plot_questions.py",
    "plot_shapes.py",
    "plot_training.py",
    "plot_neuron.py",
    "plot_scan.py",
    "plot_growth.py",
    "plot_correction.py",
    "plot_ridgelet.py",
]


class ByHand(ExplicitOrder):
    """The order of `EXAMPLES`; an example that is not there is an error."""

    def __init__(self, folder: str) -> None:
        super().__init__(EXAMPLES)
