"""The page: an HTML template, style, script and data, assembled into one file.

Names of columns, classes and files are untrusted. In the template they are escaped; in the data
they cannot close the element that contains them; the script writes them as text only, and the page
forbids any script but its own, by its hash.
"""

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any

# Drawing, then texts and tables, then the sections in their order, and last the script that starts
# them.
_SCRIPTS = (
    *("elements", "numbers", "chart", "colours", "legend"),
    *("data", "stops", "thinning", "table"),
    *("path", "curve", "map", "scatter", "confusion", "effects", "player", "growth"),
    *("columns", "neurons", "importance", "errors", "ridgelets", "code"),
    "page",
)


def page(title: str, parts: dict[str, str], data: dict[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    title : str
        Its title, as text.
    parts : dict of str
        HTML for the placeholders of the template.
    data : dict
        What the script draws.
    """
    script = "\n".join(_script(name) for name in _SCRIPTS)
    style = _asset("page.css")
    places = {
        "title": escape(title),
        "policy": policy(script, style),
        "style": style,
        "data": embedded(data),
        "script": script,
        **parts,
    }
    text = _asset("page.html")
    # A single pass, so that placeholders in inserted text are not expanded.
    pieces = text.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [places[name.strip()], rest]
    return "".join(filled)


def embedded(data: dict[str, Any]) -> str:
    """Return data as JSON that is safe inside a script element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def shows_rows(text: str) -> bool:
    """Whether a page is a report in which rows are shown."""
    return '<script type="application/json" id="data">' in text and '"rows":{"all":' in text


def policy(script: str, style: str) -> str:
    """Return the content security policy: run this script, use this style, fetch nothing."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _asset(name: str) -> str:
    return files("greedynet.report").joinpath("web", name).read_text(encoding="utf-8").strip()


def _script(name: str) -> str:
    """Return a script without indentation and comment lines, to keep the page small."""
    lines = map(str.strip, _asset(f"{name}.js").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


# Parts of the template


def paragraphs_html(texts: list[str]) -> str:
    """Return paragraphs."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def list_html(texts: list[str]) -> str:
    """Return a list of suggestions, or an empty text."""
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<h3>Suggestions</h3>\n<ul>{items}</ul>"


def table_html(rows: list[list[str]], caption: str) -> str:
    """Return a table whose first row and first column are headers, or an empty text."""
    if not rows:
        return ""
    head = "".join(
        f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in rows[0]
    )
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows[1:]
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of errors"><table>'
        f"<caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def code_html(blocks: dict[str, str]) -> str:
    """Return blocks of code, each with its name and room for a button."""
    return "\n".join(
        f'<h3>{escape(name)}</h3>\n<div class="code"><pre tabindex="0"><code>{escape(text)}</code>'
        "</pre></div>"
        for name, text in blocks.items()
    )
