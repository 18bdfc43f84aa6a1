"""Draw the pictures that are kept in the repository, for the README and the first page.

    pip install -e ".[plots]" && python docs/images/make.py

Each is the last figure of an example; all other pictures are drawn when the pages are built.
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
PICTURES = {"first_network.png": "use/plot_first_network.py"}


def main(folder=HERE):
    plt.show = lambda: None  # the figure is still wanted
    for name, example in PICTURES.items():
        runpy.run_path(str(EXAMPLES / example))
        plt.gcf().savefig(Path(folder) / name, dpi=150)
        plt.close("all")


if __name__ == "__main__":
    main()
