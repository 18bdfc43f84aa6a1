"""How Sphinx builds the pages.

    pip install -e ".[docs]" && sphinx-build -W --keep-going -b html docs docs/_build/html

Nothing is fetched, neither while building nor while reading.
"""

import os
import sys
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import greedynet

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# One core, as everywhere: the pictures must not depend on how many there are.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

project = "greedynet"
author = "greedynet developers"
version = release = greedynet.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "command_help",
    "parameter_list",
    "demo_report",
    "no_network",
    "own_members",
]
exclude_patterns = ["_build", "_ext", "_static", "images", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the sort keys of the gallery cannot be pickled
nitpicky = False

# Docstrings: a word in single backticks is code, and types are said in words.
default_role = "code"
autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
maximum_signature_line_length = 90

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "subsection_order": ExplicitOrder(["../examples/use", "../examples/method"]),
    "within_subsection_order": "order.ByHand",
    "abort_on_example_error": True,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("greedynet",),
    "download_all_examples": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # those pages fetch scripts from elsewhere
}

html_theme = "pydata_sphinx_theme"
html_title = "greedynet"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_extra_path = ["generated/demo"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
# Only the API and the gallery have pages below them to list.
html_sidebars = {"*": [], "api": ["sidebar-nav-bs"]}
html_theme_options = {
    "logo": {"text": "greedynet"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
copyright = "the greedynet developers, BSD-3-Clause"
