"""The page: an HTML template, style, script and data, assembled into one file.

Names of columns, classes and files are untrusted. In the template they are escaped; in the data
they cannot close the element that contains them; the script writes them as text only, and the page
forbids any script but its own, by its hash.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# What the scripts of the sections use: drawing, then texts and tables, then parts of the growth.
_COMMON = (
    *("elements", "numbers", "chart", "colours", "legend"),
    *("data", "stops", "thinning", "table"),
    *("path", "curve", "map", "scatter", "confusion", "effects", "player"),
)
# What a section has below its text; `growth` has a file of its own.
_LEGEND = '<ul class="legend" id="{name}-legend"></ul>\n'
_BODIES = {
    "picture": _LEGEND + '<div class="picture" id="{name}-picture"></div>',
    "multiples": _LEGEND + '<div class="multiples" id="{name}-pictures"></div>',
    "pair": '<div class="pair" id="{name}-pictures"></div>',
    "table": '<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-title">\n'
    '<table id="{name}-table"></table>\n</div>',
}
_BODIES["tall table"] = _BODIES["table"].replace("scroll", "scroll tall")


@dataclass(frozen=True)
class Section:
    """A section of the page, which is hidden until its script shows it."""

    name: str  # of its script, the function in it, its data, its element and the link to it
    title: str
    data: Callable[[Any], Any]  # takes the `Content`; what the script draws, or None
    body: str = "picture"  # for the script to fill: also "multiples", "pair", "table", "tall table"
    of_rows: bool = False  # do the data depend on the rows that are shown?

    @property
    def link(self) -> str:
        return f'<li hidden><a href="#{self.name}">{self.name.capitalize()}</a></li>'

    @property
    def html(self) -> str:
        name = self.name
        content = _asset(f"{name}.html") if self.body == name else _standard_body(self)
        return (
            f'<section id="{name}" aria-labelledby="{name}-title" hidden>\n'
            f'<h2 id="{name}-title">{escape(self.title)}</h2>\n{content}\n</section>\n'
        )


def _standard_body(section: Section) -> str:
    body = '<p id="{name}-text"></p>\n' + _BODIES[section.body]
    return body.format(name=section.name)


def page(
    title: str, parts: dict[str, str], sections: Sequence[Section], data: dict[str, Any]
) -> str:
    """Return the page.

    `parts` has HTML for the placeholders of the template by name, and `data` is what the scripts
    draw.
    """
    names = (*_COMMON, *(section.name for section in sections), "code", "page")
    script = "\n".join(_script(name) for name in names)
    style = _asset("page.css")
    places = {
        "title": escape(title),
        "policy": policy(script, style),
        "style": style,
        "links": "\n".join(section.link for section in sections),
        "sections": "\n".join(section.html for section in sections),
        "data": embedded(data),
        "script": script,
        **parts,
    }
    # A single pass, so that placeholders in inserted text are not expanded.
    return re.sub(r"{{(\w+)}}", lambda found: places[found[1]], _asset("page.html"))


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
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def list_html(texts: list[str]) -> str:
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
    return "\n".join(
        f'<h3>{escape(name)}</h3>\n<div class="code"><pre tabindex="0"><code>{escape(text)}</code>'
        "</pre></div>"
        for name, text in blocks.items()
    )


def rounded(value: Any, digits: int = 5) -> Any:
    """Return numbers or lists of them, rounded to significant digits; None if not finite."""
    if isinstance(value, np.ndarray):
        return rounded(value.tolist(), digits)
    if isinstance(value, list | tuple):
        return [rounded(part, digits) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def packed(values: ArrayLike, low: float, high: float, *, bits: int = 16) -> dict[str, Any]:
    """Return an array quantised to integers of 8 or 16 bits between two values, in base 64.

    Values are clipped to the limits, which 0 and the largest integer stand for.
    """
    array = np.asarray(values, dtype=np.float64)
    top = 2**bits - 1
    share = np.clip((array - low) / ((high - low) or 1.0), 0.0, 1.0)
    data = np.round(share * top).astype(f"<u{bits // 8}")
    return {"low": float(low), "high": float(high), **packed_bytes(data)}


def packed_bytes(data: NDArray[Any]) -> dict[str, Any]:
    """Return integers of 8 or 16 bits in base 64."""
    text = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode("ascii")
    return {"bits": 8 * data.dtype.itemsize, "shape": list(data.shape), "data": text}


def limits(*arrays: ArrayLike, margin: float = 0.0) -> tuple[float, float]:
    """Return the smallest and the largest of all values, extended by a relative margin."""
    low = min(float(np.min(array)) for array in arrays)
    high = max(float(np.max(array)) for array in arrays)
    if low == high:
        half = 0.5 * abs(low) or 1.0
        return low - half, high + half
    return low - margin * (high - low), high + margin * (high - low)
