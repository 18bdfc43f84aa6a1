"""Every Python snippet of the README and of the pages runs as it stands."""

import re
from pathlib import Path

import pytest

from extras import need

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Libraries that a page's snippets use, by the page's name.
USES = {"README.md": ("torch", "onnx", "onnxruntime")}


def snippets(page):
    """Return the Python blocks of a page, with as many empty lines before as the page has."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return ["\n" * text[: match.start(1)].count("\n") + match.group(1) for match in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    for library in USES.get(page.name, ()):
        need(library)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "snippet"}
    for code in snippets(page):
        exec(compile(code, str(page), "exec"), names)


def test_there_are_snippets():
    assert len(snippets(ROOT / "README.md")) >= 3
