"""The report: one HTML file that shows what was fitted, how good it is, and how it grew.

    model, rows -> Subject (subject.py) -> plain values, section by section -> page (page.py)

Python computes every number that is shown, so that any activation will do; the page's script only
draws. Nothing is fetched when the page is opened.
"""

from greedynet.report.write import write_report

__all__ = ["write_report"]
