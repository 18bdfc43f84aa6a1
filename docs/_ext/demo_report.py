"""Put what `greedynet demo` writes beside the pages, for readers to look at before they install."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from greedynet.cli import main

FOLDER = "generated/demo"


def run_demo(app: Sphinx) -> None:
    """Run the demo, once for all later builds of the same pages."""
    folder = Path(app.srcdir) / FOLDER
    if not (folder / "greedynet-demo.html").is_file():
        with redirect_stdout(StringIO()):
            main(["demo", "--out", str(folder)], standalone_mode=False)


def setup(app: Sphinx) -> dict[str, Any]:
    (Path(app.srcdir) / FOLDER).mkdir(parents=True, exist_ok=True)
    app.connect("builder-inited", run_demo)
    return {"parallel_read_safe": True}
