"""Draw the pictures that are kept in the repository, for the README and the first page.

    pip install -e ".[plots]" && python docs/images/make.py

The last figures of examples, and a part of the demo's report as Chromium (Debian's package
`chromium`) shows it. All other pictures are drawn when the pages are built.
"""

import runpy
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
# From an example, or None for the page of the report; the campaign's figure takes too long.
PICTURES = {"first_network.png": "use/plot_first_network.py", "report.png": None}
# The page, and the lines of it that show the network growing.
REPORT_SIZE, REPORT_PART = "960,2400", slice(884, 2165)


def main(folder=HERE):
    plt.show = lambda: None  # the figure is still wanted
    for name, example in PICTURES.items():
        if example is None:
            shoot_report(Path(folder) / name)
            continue
        runpy.run_path(str(EXAMPLES / example))
        plt.gcf().savefig(Path(folder) / name, dpi=150)
        plt.close("all")


def shoot_report(picture):
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["greedynet", "demo"], cwd=scratch, check=True)
        flags = "headless no-sandbox disable-gpu disable-background-networking hide-scrollbars"
        call = ["chromium", *(f"--{flag}" for flag in flags.split())]
        call += [f"--user-data-dir={scratch}/profile", f"--window-size={REPORT_SIZE}"]
        call += [f"--screenshot={picture}", f"file://{scratch}/greedynet-demo.html"]
        subprocess.run(call, check=True)
    plt.imsave(picture, plt.imread(picture)[REPORT_PART])


if __name__ == "__main__":
    main()
