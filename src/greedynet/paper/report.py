"""The table of published and measured results, and a page of HTML with it and the figures."""

import base64
from dataclasses import dataclass
from html import escape

from greedynet.paper.examples import load_example
from greedynet.paper.reproduce import Part

HEADER = (
    "example",
    "width",
    "nodes",
    "greedy start",
    "trained from it",
    "from random, best",
    "from random, median",
    "seconds: greedy, trained, random",
    "atoms removed",
)


def rows(results: dict[int, dict[str, Part]]) -> list[tuple[str, ...]]:
    """Return three rows per example: published, measured at that width and at the validated one."""
    table: list[tuple[str, ...]] = []
    for number, parts in results.items():
        published = load_example(number).published
        table.append(
            (
                str(number),
                "published",
                str(published.n_nodes),
                number_text(published.greedy),
                number_text(published.trained),
                number_text(published.random),
                "",
                "",
                {1: "50 %", 2: "70 %"}.get(
                    len(parts["greedy"]["published"]["network"]["inner_weights"][0]), ""
                ),
            )
        )
        table += [_measured(number, parts, width) for width in ("published", "validated")]
    return table


def _measured(number: int, parts: dict[str, Part], width: str) -> tuple[str, ...]:
    greedy, trained, random = (parts["greedy"], parts[f"trained-{width}"], parts[f"random-{width}"])
    removed = greedy["removed"]
    seconds = (greedy["seconds"], trained["seconds"], random["seconds"])
    return (
        str(number),
        "measured" if width == "published" else "measured, validated width",
        str(greedy[width]["n_nodes"]),
        number_text(greedy[width]["test_error"]),
        number_text(trained["test_error"]),
        number_text(random["test_error"]),
        number_text(random["median_test_error"]),
        ", ".join(f"{s:.1f}" for s in seconds),
        "-" if removed is None else f"{removed:.0%}".replace("%", " %"),
    )


def number_text(value: float) -> str:
    """Write an error as the paper does."""
    return f"{value:.2e}"


def markdown(results: dict[int, dict[str, Part]], note: str) -> str:
    """Return the table as Markdown, with the note below it."""
    lines = [HEADER, tuple("---" for _ in HEADER), *rows(results)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\n{note}\n"


STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
h2 { margin-top: 3rem; border-top: 1px solid #8888; padding-top: 1rem; }
p, figcaption { max-width: 44rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .35rem .7rem; text-align: right; }
tr.published td, figcaption { opacity: .7; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
figure { margin: 1rem 0; max-width: 100%; }
figure img { max-width: 100%; background: #fff; }
"""


@dataclass(frozen=True)
class Picture:
    """A figure of the report, with what it shows and the published value."""

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
