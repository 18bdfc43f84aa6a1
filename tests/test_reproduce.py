"""`greedynet reproduce`: its parts, the table, the report, bad folders."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from extras import need
from greedynet.cli import main
from greedynet.paper import load_example

need("jax")
need("matplotlib").use("Agg")

from greedynet.paper.reproduce import (  # noqa: E402
    Settings,
    part_names,
    reproduce,
)

pytestmark = pytest.mark.slow

TINY = Settings(epochs=5, restarts=2, batches=5)


@pytest.fixture(scope="module")
def results():
    return reproduce([1], TINY)


def test_parts_hold_what_the_table_needs(results):
    parts = results[1]
    assert [f"example1-{name}" for name in parts] == part_names(1)
    greedy = parts["greedy"]
    assert greedy["published"]["n_nodes"] == 23
    assert greedy["validated"]["n_nodes"] == 29
    assert greedy["published"]["test_error"] == pytest.approx(1.02e-2, rel=0.05)
    assert 0.45 <= greedy["removed"] <= 0.5
    random = parts["random-published"]
    assert len(random["test_errors"]) == 2
    assert random["test_error"] == min(random["test_errors"])
    assert random["median_test_error"] == np.median(random["test_errors"])


def test_errors_belong_to_the_networks(results):
    example = load_example(1)
    for part in (results[1]["greedy"]["published"], results[1]["trained-validated"]):
        network = part["network"]
        miss = np.linalg.norm(network.predict(example.X_test) - example.y_test)
        assert miss / np.linalg.norm(example.y_test) == pytest.approx(part["test_error"], rel=1e-12)


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """One run of the command on example 1, as short as it goes."""
    folder = tmp_path_factory.mktemp("command") / "new"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settings, "quick", staticmethod(lambda: TINY))
        result = CliRunner().invoke(main, ["reproduce", "1", "--quick", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, result.output


def test_command_writes_everything(command):
    folder, output = command
    assert "report.md" in output
    table = (folder / "report.md").read_text()
    assert "| 1 | published | 23 | 1.02e-02 | 1.00e-02 | 6.76e-02 |" in table
    assert table.count("| 1 |") == 3
    names = {path.stem for path in (folder / "figures").iterdir()}
    kinds = ("approximation", "ridgelet", "collapsed", "path", "training")
    assert names == {f"example1-{kind}" for kind in kinds}
    results = json.loads((folder / "results.json").read_text())
    assert results["settings"]["epochs"] == 5
    assert results["examples"]["1"]["greedy"]["published"]["n_nodes"] == 23
    assert "network" not in results["examples"]["1"]["trained-published"]


def test_report_shows_all_figures(command):
    folder, _ = command
    page = (folder / "report.md").read_text()
    shown = re.findall(r"!\[([^]]{20,})\]\((figures/[^)]+)\)", page)
    assert len(shown) == 5
    assert all((folder / file).exists() and page.count(caption) == 2 for caption, file in shown)
    assert "Published: 1.02e-02, 1.00e-02, 6.76e-02." in page


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["reproduce", "1", "--out", str(tmp_path / "file" / "x")])
    assert result.exit_code == 2
    assert "cannot write to the folder" in result.output
    assert "Traceback" not in result.output


def test_interrupt_exits_cleanly(monkeypatch, tmp_path):
    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("greedynet.paper.reproduce.reproduce", interrupt)
    result = CliRunner().invoke(main, ["reproduce", "1", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "interrupted" in result.output
