"""`Network`: a network of one hidden layer or of two."""

from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork

Network = ShallowNetwork | DeepNetwork
