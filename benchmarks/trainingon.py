"""Training on in PyTorch: 300 steps of Adam with its defaults, the scaling as a layer or folded.

    python benchmarks/trainingon.py DIR [--tables concrete power daylight] [--batch 64]

DIR holds concrete.csv and power.csv: a header row, numbers, the target in the last column; daylight
is the table of `greedynet demo`. A fifth of the rows is held out. Prints, for one hidden layer and
for two, the RMSE on the training rows before, at its worst and after, and on the others before and
after. Each step is on all training rows, or on `--batch` of them.
"""

import argparse
import io
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import train_test_split

from greedynet import GreedyNetRegressor
from greedynet.cli.demo_data import DAYLIGHT, daylight_text
from greedynet.export import to_torch

STEPS = 300


def table(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    is_own = f"{name}.csv" == DAYLIGHT
    source = io.StringIO(daylight_text()) if is_own else folder / f"{name}.csv"
    rows = np.loadtxt(source, delimiter=",", skiprows=1)
    return rows[:, :-1], rows[:, -1]


def trained(module, tensors, batch: int | None) -> list[tuple[float, float]]:
    """Train on; return the errors on training and on other rows before each step and at the end."""
    X, X_test, y, y_test = tensors
    mse, optimizer = torch.nn.functional.mse_loss, torch.optim.Adam(module.parameters())
    order = torch.Generator().manual_seed(0)

    def errors() -> tuple[float, float]:
        with torch.no_grad():
            return mse(module(X), y).item() ** 0.5, mse(module(X_test), y_test).item() ** 0.5

    found = [errors()]
    for _ in range(STEPS):
        rows = slice(None) if batch is None else torch.randint(len(X), (batch,), generator=order)
        optimizer.zero_grad()
        mse(module(X[rows]), y[rows]).backward()
        optimizer.step()
        found.append(errors())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="+", default=["concrete", "power", "daylight"])
    parser.add_argument("--batch", type=int, default=None)
    given = parser.parse_args()
    print("table     layers  scaling   training: before  worst   after   other rows: before  after")
    for name in given.tables:
        parts = train_test_split(*table(name, given.folder), test_size=0.2, random_state=0)
        tensors = [torch.tensor(a.reshape(len(a), -1), dtype=torch.float32) for a in parts]
        for layers in (1, 2):
            model = GreedyNetRegressor(hidden_layers=layers).fit(parts[0], parts[2])
            for scaling in ("folded", "layer"):
                found = np.array(trained(to_torch(model, scaling=scaling), tensors, given.batch))
                before, after, worst = found[0], found[-1], found[:, 0].max()
                print(
                    f"{name:9s} {layers}       {scaling:9s} {before[0]:16.4g} {worst:6.4g} "
                    f"{after[0]:7.4g} {before[1]:20.4g} {after[1]:6.4g}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
