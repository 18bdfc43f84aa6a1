"""The table of published and measured results, and a page of Markdown with it and the figures."""

from dataclasses import dataclass

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
                {1: "50 %", 2: "70 %"}.get(parts["greedy"]["published"]["network"].n_features, ""),
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


@dataclass(frozen=True)
class Picture:
    """A figure of the report, with what it shows and the published value."""

    name: str
    caption: str
    png: bytes


def markdown(
    results: dict[int, dict[str, Part]], pictures: dict[int, list[Picture]], note: str
) -> str:
    """Return the table as Markdown, with the note below it, and the figures in `figures`."""
    lines = [HEADER, tuple("---" for _ in HEADER), *rows(results)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    parts = ["# Greedy Shallow Networks, reproduced", table, note]
    for number in results:
        parts.append(f"## Example {number}")
        parts += [f"![{p.caption}](figures/{p.name}.png)\n\n{p.caption}" for p in pictures[number]]
    return "\n\n".join(parts) + "\n"
