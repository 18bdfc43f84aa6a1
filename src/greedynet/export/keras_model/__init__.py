"""Keras 3: models from networks, networks from models, and files of them."""

from greedynet.export.keras_model.activations import ACTIVATION_FUNCTIONS
from greedynet.export.keras_model.model import to_keras, write_file
from greedynet.export.keras_model.reading import from_keras

__all__ = ["ACTIVATION_FUNCTIONS", "from_keras", "to_keras", "write_file"]
