"""The report: one HTML file that shows what was fitted, how good it is, and how it grew.

May import everything up to `views`; export, plots and dask do not know it, nor it them.

    model, rows -> Subject (subject.py) -> plain values (sections.py) -> page (page.py)

Python computes every number that is shown, so that any activation is supported; the page's script
only draws (`web/`, one script per section), and lists what it draws in tables for readers who
cannot see it. Nothing is fetched when the page is opened.
"""

from greedynet.report.write import write_report

__all__ = ["write_report"]
