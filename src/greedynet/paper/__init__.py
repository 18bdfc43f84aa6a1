"""The five examples of the paper, exactly as its protocol draws them."""

from greedynet.paper.examples import Example, Published, load_example

__all__ = ["Example", "Published", "load_example"]
