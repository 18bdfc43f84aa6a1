"""PyTorch: modules from networks, networks from modules, and files of their weights."""

from greedynet.export.torch_module.module import init_torch_, to_torch
from greedynet.export.torch_module.reading import from_torch
from greedynet.export.torch_module.state_file import write_file

__all__ = ["from_torch", "init_torch_", "to_torch", "write_file"]
