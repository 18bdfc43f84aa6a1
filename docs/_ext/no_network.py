"""Warn of what a reader's browser would fetch from elsewhere: pages must work without a network.

Links to other sites are for readers to click, and lawful.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc\s*=\s*["'](?:https?:)?//[^"']+"""
    r"""|<link\b(?=[^>]*rel\s*=\s*["'](?:stylesheet|preload|icon|preconnect|modulepreload))"""
    r"""[^>]*\bhref\s*=\s*["'](?:https?:)?//[^"']+"""
    r"""|url\(\s*["']?(?:https?:)?//[^)"']+|@import\s*["'](?:https?:)?//[^"']+""",
    flags=re.IGNORECASE,
)


def fetched(text: str) -> list[str]:
    """Return the places of a page or a style sheet that fetch something from elsewhere."""
    return _FETCHED.findall(text)


def findings(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield every page and style sheet below a folder with what it fetches."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        for what in fetched(path.read_text(encoding="utf-8")):
            yield path.relative_to(folder), what


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warn of all findings in what was built."""
    if exception is None and app.builder.format == "html":
        for path, what in findings(Path(app.outdir)):
            logging.getLogger(__name__).warning("%s fetches from elsewhere: %s", path, what)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
