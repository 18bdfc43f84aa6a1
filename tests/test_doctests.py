"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import greedynet
from extras import need
from greedynet.export.registry import EXPORTERS

# What the examples of a module need beyond the core; the last one is a library's own subclass.
NEEDS = {
    "greedynet.dask": "distributed",
    **{f"greedynet.export.{e.home}": e.libraries[-1] for e in EXPORTERS if e.libraries},
    "greedynet.export.torch_skip": "torch",
    "greedynet.paper.reproduce": "jax",
    "greedynet.paper.figures": "jax",
    "greedynet.cli.commands.reproduce": "jax",
    "greedynet.plots": "matplotlib",
    "greedynet.train": "jax",
}

MODULES = [
    module.name
    for module in pkgutil.walk_packages(
        greedynet.__path__, "greedynet.", onerror=lambda name: need(NEEDS[name])
    )
    if module.name != "greedynet.__main__"
]


def needed(name):
    return next((NEEDS[known] for known in NEEDS if name.startswith(known)), None)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library = needed(name)
    if library is not None:
        need(library)
    if library == "matplotlib":
        need("matplotlib").use("Agg")
    failures = doctest.testmod(importlib.import_module(name)).failed
    if library == "matplotlib":
        need("matplotlib.pyplot").close("all")
    assert failures == 0


def test_there_are_examples():
    assert len(MODULES) > 50
