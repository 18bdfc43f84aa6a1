"""The paper: its algorithm, its five examples by its protocol, and their reproduction.

May import everything but `cli`; only `cli` imports it.
"""

from greedynet.paper.examples import Example, Published, load_example
from greedynet.paper.regressor import GreedyShallowNetwork

__all__ = ["Example", "GreedyShallowNetwork", "Published", "load_example"]
