"""The README and the pages of the documentation, and the code in them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(page, language):
    """Return the blocks of a language, with as many empty lines before as the page has."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return ["\n" * text[: match.start(1)].count("\n") + match.group(1) for match in found]
