"""One self-contained HTML page: the table and the figures, each with the published value."""

import base64
from dataclasses import dataclass
from html import escape

from greedynet.paper.store import Part
from greedynet.paper.table import HEADER, rows

STYLE = """
:root { color-scheme: light dark; --ink: #1f2430; --soft: #667; --line: #d5d9e2; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaf0; --soft: #9aa3b5; --line: #3a4152; --paper: #171a21; }
  figure img { background: #fff; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
h1 { line-height: 1.2; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
p { max-width: 44rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .35rem .7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid var(--line); white-space: normal; vertical-align: bottom; }
th:nth-child(2), td:nth-child(2) { text-align: left; }
tr.published td { color: var(--soft); border-top: 1px solid var(--line); padding-top: .8rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.figures figure { flex: 0 1 auto; max-width: 100%; }
figure { margin: 1rem 0; display: table; }
figcaption { display: table-caption; caption-side: bottom; }
figure img { max-width: 100%; height: auto; border-radius: 4px; }
figcaption { color: var(--soft); font-size: .9rem; max-width: 44rem; }
"""


@dataclass(frozen=True)
class Picture:
    """A figure of the report.

    Attributes
    ----------
    name : str
        File name without extension.
    caption : str
        What it shows, and the published value; also the alternative text of the image.
    png : bytes
        The picture.
    """

    name: str
    caption: str
    png: bytes


def report(
    results: dict[int, dict[str, Part]], pictures: dict[int, list[Picture]], note: str
) -> str:
    """Return the page as one self-contained HTML text."""
    sections = "\n".join(
        f'<h2>Example {number}</h2>\n<div class="figures">\n'
        + "\n".join(map(_figure, pictures.get(number, [])))
        + "\n</div>"
        for number in results
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Greedy Shallow Networks, reproduced</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Greedy Shallow Networks, reproduced</h1>
<p>The five examples of the paper, reproduced by greedynet. Errors are relative l2 errors on the
test data. {escape(note)}</p>
<div class="table" tabindex="0" role="region" aria-label="Published and measured errors">
{_table(results)}
</div>
{sections}
</body>
</html>
"""


def _table(results: dict[int, dict[str, Part]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEADER)
    body = "\n".join(
        f"<tr{' class=published' if row[1] == 'published' else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows(results)
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _figure(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode()
    caption = escape(picture.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )
