"""The paper: its five examples, drawn exactly by its protocol, and their reproduction.

May import everything but `cli`; only `cli` imports it.
"""

from greedynet.paper.examples import Example, Published, load_example

__all__ = ["Example", "Published", "load_example"]
